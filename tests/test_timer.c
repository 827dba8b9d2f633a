/* SPDX-License-Identifier: MIT */
/* Keyed timers of actors, by a clock that the tests move: order, keys, misses, ownership, ends. */
#include "tests/lab.h"

#include "runtime/memory.h"

/* ---- an actor that does what it is told about timers, and notes what its timers tell ---- */

enum verb { SINGLE, RATE, DELAY, CANCEL, ACTIVE, START_OWNED, STOP };

struct order {
	enum verb verb;
	uint32_t key;
	int32_t first_ms;
	int32_t interval_ms;
	int32_t *rc; /* where the result goes */
};

struct seen {
	uint32_t count;
	uint32_t keys[64];
	uint64_t missed;
	uint64_t values; /* sum of what counted payloads had */
	uint32_t cancel_key; /* the tick of this key cancels it */
	int cancel_rc;
	bool take;
};

static struct actor_type order_type = ACTOR_TYPE("order");
static struct actor_type tick_type = ACTOR_TYPE("tick");

static int counted_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_fetch_add(&counted_alive, 1);
	return 0;
}

static void copied_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static struct actor_type copied_type = {
	sizeof(copied_type), "copied", copied_destroy, counted_copy, 0};

static int start_owned(struct actor_ctx *ctx, const struct order *o)
{
	struct counted *c = counted_new(o->key);
	int rc = o->interval_ms ? actor_timer_fixed_rate(ctx, o->key, o->first_ms, o->interval_ms,
					  &copied_type, c, sizeof(*c))
				: actor_timer_single(ctx, o->key, o->first_ms, &copied_type, c,
					  sizeof(*c));

	if (rc)
		copied_destroy(c, sizeof(*c));
	return rc;
}

static int obey(struct actor_ctx *ctx, const struct order *o)
{
	switch (o->verb) {
	case SINGLE:
		return actor_timer_single(
			ctx, o->key, o->first_ms, &tick_type, &o->key, sizeof(o->key));
	case RATE:
		return actor_timer_fixed_rate(ctx, o->key, o->first_ms, o->interval_ms, &tick_type,
			&o->key, sizeof(o->key));
	case DELAY:
		return actor_timer_fixed_delay(ctx, o->key, o->first_ms, o->interval_ms,
			&tick_type, &o->key, sizeof(o->key));
	case CANCEL:
		return actor_timer_cancel(ctx, o->key);
	case ACTIVE:
		return actor_timer_active(ctx, o->key);
	case START_OWNED:
		return start_owned(ctx, o);
	default:
		actor_stop_self(ctx);
		return 0;
	}
}

static void note(struct actor_ctx *ctx, struct seen *seen, const struct actor_message *m)
{
	uint32_t key = 0;

	assert_int_equal(m->sender, ACTOR_NONE);
	assert_int_equal(actor_sender(ctx), ACTOR_NONE);
	memcpy(&key, m->payload, sizeof(key)); /* of counted: the low half of its value */
	if (seen->count < COUNT(seen->keys))
		seen->keys[seen->count] = key;
	seen->count++;
	seen->missed += actor_timer_missed(ctx);
	if (m->type == &copied_type)
		seen->values += ((const struct counted *)m->payload)->value;
	if (seen->cancel_key && key == seen->cancel_key)
		seen->cancel_rc = actor_timer_cancel(ctx, key);
	if (seen->take && m->type == &copied_type)
		copied_destroy(actor_take(ctx), sizeof(struct counted));
}

static int clerk_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct seen *seen = *(struct seen **)actor_state(ctx);
	struct order o;
	int32_t rc;

	if (m->type != &order_type) {
		note(ctx, seen, m);
		return 0;
	}
	assert_int_equal(actor_timer_missed(ctx), 0);
	memcpy(&o, m->payload, sizeof(o));
	rc = obey(ctx, &o);
	if (o.rc)
		*o.rc = rc;
	return 0;
}

static struct actor_class clerk_class = {.size = sizeof(struct actor_class),
	.name = "clerk",
	.state_bytes = sizeof(struct seen *),
	.on_message = clerk_message};

/* ---- one clerk on a loop whose clock stands still ---- */

static struct lab lab;
static struct seen seen;
static actor_ref clerk;

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static void clerk_spawn(void)
{
	struct seen *at = &seen;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &at};

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(actor_system_spawn(lab.system, &clerk_class, &options, &clerk), 0);
}

static int setup(void **state)
{
	counted_alive = 0;
	lab_open_with(&lab, with_manual_clock);
	clerk_spawn();
	return 0;
}

static int teardown(void **state)
{
	lab_close(&lab);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static void queue(enum verb verb, uint32_t key, int32_t first_ms, int32_t interval_ms, int32_t *rc)
{
	struct order o = {verb, key, first_ms, interval_ms, rc};

	assert_int_equal(
		actor_system_tell(lab.system, clerk, &order_type, &o, sizeof(o)), 0);
}

/* Tells an order and lets it be carried out. */
static int32_t order(enum verb verb, uint32_t key, int32_t first_ms, int32_t interval_ms)
{
	int32_t rc = INT32_MIN;

	queue(verb, key, first_ms, interval_ms, &rc);
	lab_run(&lab);
	return rc;
}

static void pass(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
}

static void pass_and_run(uint64_t ms)
{
	pass(ms);
	lab_run(&lab);
}

static void assert_seen(uint32_t count, ...)
{
	va_list keys;

	assert_int_equal(seen.count, count);
	va_start(keys, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(seen.keys[i], va_arg(keys, int));
	va_end(keys);
	seen.count = 0;
}

static void a_single_timer_tells_its_message_once(void **state)
{
	order(SINGLE, 3, 30, 0);
	order(SINGLE, 1, 10, 0);
	order(SINGLE, 2, 20, 0);
	order(SINGLE, 4, 20, 0);
	assert_int_equal(order(ACTIVE, 3, 0, 0), 1);
	pass_and_run(9);
	assert_seen(0);
	pass_and_run(1);
	assert_seen(1, 1);
	pass_and_run(100);
	assert_seen(3, 2, 4, 3);
	assert_int_equal(order(ACTIVE, 3, 0, 0), 0);
	pass_and_run(1000);
	assert_seen(0);
}

static void case_18_cancelling_a_fired_single_timer_is_0(void **state)
{
	order(SINGLE, 1, 10, 0);
	assert_int_equal(order(CANCEL, 1, 0, 0), 1);
	assert_int_equal(order(CANCEL, 1, 0, 0), 0);
	order(SINGLE, 1, 10, 0);
	pass_and_run(10);
	assert_seen(1, 1);
	assert_int_equal(order(CANCEL, 1, 0, 0), 0);
	assert_int_equal(order(ACTIVE, 1, 0, 0), 0);
	assert_int_equal(order(CANCEL, 77, 0, 0), 0);
}

/* The message is in the mailbox when the order to cancel is carried out: before it, or behind it. */
static void a_cancel_also_holds_for_the_message_that_is_queued(void **state)
{
	int32_t rc = -1;

	order(SINGLE, 1, 10, 0);
	queue(CANCEL, 1, 0, 0, &rc);
	pass_and_run(10); /* the order was first */
	assert_int_equal(rc, 1);
	assert_seen(0);
	order(SINGLE, 1, 10, 0);
	pass(10);
	queue(CANCEL, 1, 0, 0, &rc);
	lab_run(&lab); /* the message was first */
	assert_int_equal(rc, 0);
	assert_seen(1, 1);
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
}

static void starting_a_key_again_forgets_the_old_timer_and_its_message(void **state)
{
	/* The same message in all: how often it comes tells. */
	order(SINGLE, 1, 10, 0);
	order(SINGLE, 1, 30, 0);
	pass_and_run(29);
	assert_seen(0);
	pass_and_run(1);
	assert_seen(1, 1);
	order(RATE, 2, 10, 10);
	queue(SINGLE, 2, 5, 0, NULL);
	pass_and_run(10); /* the tick was told before the order was carried out */
	assert_seen(0);
	pass_and_run(5);
	assert_seen(1, 2);
	pass_and_run(500);
	assert_seen(0);
}

static void case_19_a_periodic_timer_cancels_itself_in_its_first_tick(void **state)
{
	static const enum verb verbs[] = {RATE, DELAY};

	for (size_t i = 0; i < COUNT(verbs); i++) {
		seen.cancel_key = 5;
		order(verbs[i], 5, 10, 10);
		pass_and_run(10);
		assert_int_equal(seen.cancel_rc, 1);
		assert_seen(1, 5);
		assert_int_equal(order(ACTIVE, 5, 0, 0), 0);
		pass_and_run(1000);
		assert_seen(0);
	}
}

static void a_fixed_rate_keeps_its_distance(void **state)
{
	order(RATE, 1, 5, 10);
	for (int i = 0; i < 3; i++) {
		pass_and_run(4);
		assert_seen(0);
		pass_and_run(i ? 6 : 1); /* due at 5, 15, 25 after the start */
		assert_seen(1, 1);
	}
	assert_int_equal(seen.missed, 0);
}

/* A slow actor: no message piles up behind the one that is not handled yet. */
static void ticks_that_find_their_message_unhandled_are_only_counted(void **state)
{
	order(RATE, 1, 10, 10);
	pass(1000);
	lab_run(&lab);
	assert_int_equal(seen.missed, 99);
	assert_seen(1, 1);
	pass_and_run(10);
	assert_int_equal(seen.missed, 99);
	assert_seen(1, 1);
}

static void a_fixed_delay_counts_from_the_end_of_the_handler(void **state)
{
	order(DELAY, 1, 5, 10);
	pass(5);
	pass(100); /* its message waits: nothing is due */
	lab_run(&lab);
	assert_seen(1, 1);
	pass_and_run(9);
	assert_seen(0);
	pass_and_run(1);
	assert_seen(1, 1);
	pass_and_run(1000);
	assert_seen(1, 1);
	assert_int_equal(seen.missed, 0);
}

static void a_payload_is_destroyed_once_whatever_happens_to_its_timer(void **state)
{
	seen.values = 0;
	order(START_OWNED, 1, 10, 0); /* handled */
	order(START_OWNED, 2, 10, 0); /* cancelled */
	order(START_OWNED, 3, 10, 0); /* replaced */
	order(START_OWNED, 3, 20, 0);
	order(START_OWNED, 4, 10, 10); /* copied for each tick */
	assert_int_equal(counted_alive, 4);
	order(CANCEL, 2, 0, 0);
	for (int i = 0; i < 5; i++)
		pass_and_run(10);
	assert_int_equal(seen.count, 1 + 1 + 5);
	assert_int_equal(seen.values, 1 + 3 + 5 * 4);
	assert_int_equal(counted_alive, 1);
	seen.take = true; /* a copy is the handler's own */
	pass_and_run(10);
	assert_int_equal(counted_alive, 1);
	/* told, then cancelled, then its turn comes */
	queue(CANCEL, 4, 0, 0, NULL);
	pass_and_run(10);
	assert_int_equal(counted_alive, 0);
	order(START_OWNED, 5, 10, 0);  /* queued when the actor stops */
	order(START_OWNED, 6, 100, 0); /* armed then */
	order(START_OWNED, 7, 10, 7);
	queue(STOP, 0, 0, 0, NULL);
	pass_and_run(10);
	assert_int_equal(lab_stats(&lab).terminated, 1);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
}

/* ---- what is refused ---- */

static struct actor_ctx *kept; /* beyond its handler, as no program may */

static int refused_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	int *wrong = *(int **)actor_state(ctx);
	uint64_t token = 1;
	struct actor_type nameless = {sizeof(nameless), NULL, NULL, NULL, 0};

	*wrong += actor_timer_single(ctx, 1, -1, &tick_type, NULL, 0) != -EINVAL;
	*wrong += actor_timer_fixed_rate(ctx, 1, 0, 0, &tick_type, NULL, 0) != -EINVAL;
	*wrong += actor_timer_fixed_rate(ctx, 1, -1, 1, &tick_type, NULL, 0) != -EINVAL;
	*wrong += actor_timer_fixed_delay(ctx, 1, 0, 0, &tick_type, NULL, 0) != -EINVAL;
	*wrong += actor_timer_single(ctx, 1, 0, NULL, NULL, 0) != ACTOR_ETYPE;
	*wrong += actor_timer_single(ctx, 1, 0, &nameless, NULL, 0) != ACTOR_ETYPE;
	*wrong += actor_timer_single(ctx, 1, 0, &tick_type, NULL, 8) != ACTOR_ETYPE;
	/* destroyed for each message, but nobody can copy it */
	*wrong += actor_timer_fixed_rate(ctx, 1, 0, 1, &token_type, &token, sizeof(token)) !=
		  ACTOR_ETYPE;
	*wrong += actor_timer_active(ctx, 1) != 0;
	*wrong += actor_timer_single(ctx, 1, INT64_MAX, &tick_type, NULL, 0) != 0;
	*wrong += actor_timer_fixed_delay(ctx, 2, 0, INT64_MAX, &tick_type, NULL, 0) != 0;
	kept = ctx;
	actor_stop_self(ctx);
	return 0;
}

static void refused_stop(struct actor_ctx *ctx)
{
	int *wrong = *(int **)actor_state(ctx);

	*wrong += actor_timer_single(ctx, 1, 0, &tick_type, NULL, 0) != ACTOR_ECLOSED;
	*wrong -= 1000; /* it was here */
}

static struct actor_class refused_class = {.size = sizeof(struct actor_class),
	.name = "refused",
	.state_bytes = sizeof(int *),
	.on_message = refused_message,
	.on_stop = refused_stop};

static void what_cannot_be_meant_is_refused(void **state)
{
	int wrong = 0;
	int *at = &wrong;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &at};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &refused_class, &options, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &tick_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(wrong, -1000);
	assert_int_equal(actor_timer_single(NULL, 1, 1, &tick_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_timer_fixed_rate(kept, 1, 1, 1, &tick_type, NULL, 0), -EINVAL);
	assert_non_null(strstr(lab.last_log, "actor_timer_fixed_rate"));
	assert_int_equal(actor_timer_cancel(kept, 1), -EINVAL);
	assert_int_equal(actor_timer_active(kept, 1), -EINVAL);
}

/* ---- ends ---- */

static void case_17_a_system_closes_with_armed_intervals(void **state)
{
	struct lab other;
	struct seen *at = &seen;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &at};
	struct order o = {RATE, 1, 20000, 20000, NULL};
	actor_ref ref;

	lab_open(&other, NULL); /* by the real clock */
	assert_int_equal(actor_system_spawn(other.system, &clerk_class, &options, &ref), 0);
	for (o.key = 1; o.key < 100; o.key++)
		actor_system_tell(other.system, ref, &order_type, &o, sizeof(o));
	lab_run(&other); /* which returns: a timer keeps no loop alive */
	lab_close(&other); /* which fails if a handle is left */
	assert_int_equal(seen.count, 0);
}

/* ---- many ---- */

#define MANY 100003u

static int many_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct seen *own = *(struct seen **)actor_state(ctx);
	uint64_t random = 0x9e37;

	if (m->bytes) {
		own->count++;
		return 0;
	}
	for (uint64_t i = 0; i < MANY; i++)
		if (actor_timer_single(ctx, i << 20, random_below(&random, 5000), &tick_type, &i,
			    sizeof(i)))
			return -ENOMEM;
	for (uint64_t i = 0; i < MANY; i += 2)
		if (actor_timer_cancel(ctx, i << 20) != 1)
			return -EINVAL;
	return 0;
}

static struct actor_class many_class = {.size = sizeof(struct actor_class),
	.name = "many",
	.state_bytes = sizeof(struct seen *),
	.on_message = many_message};

static void a_hundred_thousand_timers_of_one_actor(void **state)
{
	struct seen *at = &seen;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &at};
	uint64_t start = now_ns();
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &many_class, &options, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &tick_type, NULL, 0), 0);
	lab_run(&lab);
	for (int i = 0; i < 50; i++)
		pass_and_run(100);
	assert_int_equal(seen.count, MANY / 2);
	assert_int_equal(lab_stats(&lab).failed, 0);
	/* Quadratic would be minutes. */
	print_message("%u timers: %llu ms\n", MANY,
		(unsigned long long)((now_ns() - start) / 1000000));
	assert_in_range(now_ns() - start, 0, 30000000000ull);
}

/* ---- memory ---- */

static struct actor__heap usual;
static uint64_t allocations;

static void *counting_alloc(size_t align, size_t bytes)
{
	allocations++;
	return usual.alloc(align, bytes);
}

static void steady_ticking_allocates_nothing(void **state)
{
	order(RATE, 1, 1, 1);
	order(RATE, 2, 1, 3);
	order(DELAY, 3, 1, 2);
	for (int i = 0; i < 100; i++)
		pass_and_run(1);
	usual = actor__heap;
	actor__heap.alloc = counting_alloc;
	allocations = 0;
	seen.count = 0;
	for (int i = 0; i < 3000; i++) {
		pass_and_run(1);
		if (i % 10 == 0)
			order(SINGLE, 4, 5, 0); /* starting a key again as well */
	}
	actor__heap = usual;
	assert_int_equal(seen.count, 3000 + 1000 + 1500 + 300);
	assert_int_equal(allocations, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_single_timer_tells_its_message_once),
		TEST(case_18_cancelling_a_fired_single_timer_is_0),
		TEST(a_cancel_also_holds_for_the_message_that_is_queued),
		TEST(starting_a_key_again_forgets_the_old_timer_and_its_message),
		TEST(case_19_a_periodic_timer_cancels_itself_in_its_first_tick),
		TEST(a_fixed_rate_keeps_its_distance),
		TEST(ticks_that_find_their_message_unhandled_are_only_counted),
		TEST(a_fixed_delay_counts_from_the_end_of_the_handler),
		TEST(a_payload_is_destroyed_once_whatever_happens_to_its_timer),
		TEST(what_cannot_be_meant_is_refused),
		TEST(case_17_a_system_closes_with_armed_intervals),
		TEST(a_hundred_thousand_timers_of_one_actor),
		TEST(steady_ticking_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
