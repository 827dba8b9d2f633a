/* SPDX-License-Identifier: MIT */
/* The receive time-out: when it comes, what begins it anew, what it overtakes. */
#include "tests/lab.h"

#include "runtime/memory.h"

/* An order: set the time-out to `set` (below 0: leave it), let `pass` milliseconds pass inside the
 * handler, by the clock of the test. */
struct order {
	int32_t set;
	uint32_t pass;
	char letter;
	bool stop;
};

static struct lab lab;
static actor_ref clerk;
static char trail[64]; /* letters of what was handled; T: the time-out */
static int last_rc, off_at;
static struct actor_type order_type = ACTOR_TYPE("order");

static int clerk_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct order o = {.letter = 'T', .set = -1};
	size_t n = strlen(trail);

	if (m->type == &actor_timeout) {
		assert_int_equal(m->bytes, 0);
		assert_int_equal(m->sender, ACTOR_NONE);
		if (off_at && --off_at == 0)
			o.set = 0;
	} else {
		memcpy(&o, m->payload, sizeof(o));
	}
	trail[n] = o.letter;
	if (o.set >= 0)
		last_rc = actor_receive_timeout(ctx, o.set);
	if (o.pass)
		actor_system_advance(actor_ctx_system(ctx), o.pass);
	if (o.stop)
		actor_stop_self(ctx);
	return 0;
}

static void clerk_stop(struct actor_ctx *ctx)
{
	last_rc = actor_receive_timeout(ctx, 10);
}

static struct actor_class clerk_class = {.size = sizeof(struct actor_class),
	.name = "clerk",
	.on_message = clerk_message,
	.on_stop = clerk_stop};

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static int setup(void **state)
{
	memset(trail, 0, sizeof(trail));
	off_at = 0;
	last_rc = 1;
	lab_open_with(&lab, with_manual_clock);
	assert_int_equal(actor_system_spawn(lab.system, &clerk_class, NULL, &clerk), 0);
	return 0;
}

static int teardown(void **state)
{
	lab_close(&lab);
	return 0;
}

static void queue(struct order o)
{
	assert_int_equal(actor_system_tell(lab.system, clerk, &order_type, &o, sizeof(o)), 0);
}

static void order(struct order o)
{
	queue(o);
	lab_run(&lab);
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

static void assert_trail(const char *expected)
{
	assert_string_equal(trail, expected);
	memset(trail, 0, sizeof(trail));
}

static void it_comes_when_nothing_was_handled_and_repeats(void **state)
{
	uint64_t before;

	order((struct order){30, 0, 'a', false});
	assert_int_equal(last_rc, 0);
	pass_and_run(29);
	assert_trail("a");
	before = lab_stats(&lab).delivered;
	pass_and_run(1);
	assert_trail("T");
	pass_and_run(29);
	assert_trail("");
	pass_and_run(1);
	assert_trail("T");
	assert_int_equal(lab_stats(&lab).delivered, before + 2);
}

static void each_message_begins_it_anew(void **state)
{
	order((struct order){30, 0, 'a', false});
	for (int i = 0; i < 5; i++) {
		pass_and_run(20);
		order((struct order){-1, 0, 'b', false});
	}
	assert_trail("abbbbb");
	pass_and_run(29);
	assert_trail("");
	pass_and_run(1);
	assert_trail("T");
}

static void it_overtakes_what_is_queued(void **state)
{
	order((struct order){30, 0, 'a', false});
	queue((struct order){-1, 0, 'b', false});
	queue((struct order){-1, 0, 'c', false});
	pass(30);
	lab_run(&lab);
	assert_trail("aTbc");
}

/* Whether or not something waits: the actor has worked all the time. */
static void case_20_a_handler_that_takes_longer_is_not_followed_by_it(void **state)
{
	order((struct order){30, 0, 'a', false});
	queue((struct order){-1, 50, 'b', false});
	queue((struct order){-1, 50, 'c', false});
	lab_run(&lab);
	assert_trail("abc");
	pass_and_run(29);
	assert_trail("");
	pass_and_run(1);
	assert_trail("T");
}

static void it_can_be_changed_and_switched_off(void **state)
{
	order((struct order){30, 0, 'a', false});
	order((struct order){10, 0, 'b', false});
	pass_and_run(10);
	assert_trail("abT");
	order((struct order){0, 0, 'c', false});
	pass_and_run(1000);
	assert_trail("c");
	order((struct order){10, 0, 'd', false});
	off_at = 2; /* its second message switches it off */
	for (int i = 0; i < 5; i++)
		pass_and_run(10);
	assert_trail("dTT");
	/* due, but the message before it switches it off */
	order((struct order){10, 0, 'e', false});
	queue((struct order){0, 20, 'f', false});
	lab_run(&lab);
	assert_trail("ef");
}

static void it_ends_with_the_actor(void **state)
{
	order((struct order){10, 0, 'a', false});
	queue((struct order){-1, 0, 'b', true});
	lab_run(&lab);
	pass_and_run(100);
	assert_trail("ab");
	assert_int_equal(last_rc, ACTOR_ECLOSED);
	assert_int_equal(lab_stats(&lab).terminated, 1);
}

static int refused_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	last_rc = actor_receive_timeout(ctx, -1) == -EINVAL &&
		  actor_receive_timeout(ctx, 0) == 0 &&
		  actor_receive_timeout(ctx, INT64_MAX) == 0;
	return 0;
}

static struct actor_class refused_class = {
	.size = sizeof(struct actor_class), .name = "refused", .on_message = refused_message};

static void what_cannot_be_meant_is_refused(void **state)
{
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &refused_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &order_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(last_rc, 1);
	assert_int_equal(actor_receive_timeout(NULL, 10), -EINVAL);
}

/* One message per turn, all of the turn: the time-out is not forgotten when the budget is used. */
static void it_comes_with_a_budget_of_one_as_well(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .throughput = 1};

	assert_int_equal(actor_system_spawn(lab.system, &clerk_class, &options, &clerk), 0);
	order((struct order){10, 0, 'a', false});
	for (int i = 0; i < 5; i++)
		queue((struct order){-1, 0, (char)('b' + i), false});
	pass(10);
	lab_run(&lab);
	pass_and_run(10);
	assert_trail("aTbcdefT");
}

/* It lies in no mailbox: no bound counts it, and no mailbox takes its place for one of its own. */
static void it_passes_a_full_mailbox(void **state)
{
	static const struct actor_mailbox_options boxes[] = {
		{.size = sizeof(boxes[0]), .capacity = 2, .overflow = ACTOR_DROP_NEW},
		{.size = sizeof(boxes[0]), .capacity = 2, .overflow = ACTOR_REJECT},
		{.size = sizeof(boxes[0]), .capacity = 2, .overflow = ACTOR_DROP_HEAD},
	};

	for (size_t i = 0; i < COUNT(boxes); i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &boxes[i]};

		assert_int_equal(
			actor_system_spawn(lab.system, &clerk_class, &options, &clerk), 0);
		order((struct order){10, 0, 'a', false});
		for (int round = 0; round < 20; round++) {
			memset(trail, 0, sizeof(trail));
			queue((struct order){-1, 0, 'b', false});
			queue((struct order){-1, 0, 'c', false});
			pass(10);
			lab_run(&lab);
			assert_trail("Tbc");
			pass_and_run(10);
			assert_trail("T");
		}
		order((struct order){-1, 0, 'z', true});
	}
	assert_int_equal(lab_stats(&lab).dropped, 0);
}

/* Its handler may go on after its return, too. */
static struct actor_token token;

static int pending_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type != &actor_timeout)
		return clerk_message(ctx, m);
	clerk_message(ctx, m);
	return actor_pending(ctx, &token);
}

static struct actor_class pending_class = {
	.size = sizeof(struct actor_class), .name = "pending", .on_message = pending_message};

static void its_handler_may_be_pending(void **state)
{
	static const struct actor_mailbox_options box = {
		.size = sizeof(box), .capacity = 5, .overflow = ACTOR_DROP_NEW};
	struct actor_spawn_options options = {.size = sizeof(options)};

	for (int boxed = 0; boxed < 2; boxed++) {
		options.mailbox = boxed ? &box : NULL;
		assert_int_equal(
			actor_system_spawn(lab.system, &pending_class, &options, &clerk), 0);
		order((struct order){10, 0, 'a', false});
		for (int round = 0; round < 20; round++) {
			memset(trail, 0, sizeof(trail));
			pass_and_run(10);
			queue((struct order){-1, 0, 'b', false});
			pass_and_run(100); /* none while it is pending */
			assert_trail("T");
			assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
			lab_run(&lab);
			assert_trail("b");
		}
		order((struct order){-1, 0, 'z', true});
	}
}

static struct actor__heap usual;
static uint64_t allocations;

static void *counting_alloc(size_t align, size_t bytes)
{
	allocations++;
	return usual.alloc(align, bytes);
}

static void it_allocates_nothing_once_it_is_set(void **state)
{
	order((struct order){10, 0, 'a', false});
	pass_and_run(10);
	usual = actor__heap;
	actor__heap.alloc = counting_alloc;
	allocations = 0;
	for (int i = 0; i < 1000; i++) {
		memset(trail, 0, sizeof(trail));
		pass_and_run(i % 12);
		order((struct order){10, 0, 'a', false});
	}
	actor__heap = usual;
	assert_int_equal(allocations, 0);
}

/* ---- the real clock ---- */

static _Atomic uint64_t slow_end, told_at;
static _Atomic uint32_t slow_handled, early;

static int slow_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &actor_timeout) {
		atomic_store(&told_at, now_ns());
		if (atomic_load(&slow_handled) < 2)
			atomic_fetch_add(&early, 1);
		actor_stop_self(ctx);
		return 0;
	}
	if (atomic_fetch_add(&slow_handled, 1) == 0)
		actor_receive_timeout(ctx, 30);
	spin_ns(50000000);
	atomic_store(&slow_end, now_ns());
	return 0;
}

static struct actor_class slow_class = {
	.size = sizeof(struct actor_class), .name = "slow", .on_message = slow_message};

static void case_20_by_the_real_clock(void **state)
{
	struct lab other;
	actor_ref ref;

	lab_open_owned(&other, 1);
	assert_int_equal(actor_system_spawn(other.system, &slow_class, NULL, &ref), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			actor_system_tell(other.system, ref, &order_type, NULL, 0), 0);
	assert_true(lab_wait_terminated(&other, 1));
	lab_close(&other);
	assert_int_equal(early, 0);
	assert_in_range(told_at - slow_end, 29000000, UINT64_MAX); /* whole milliseconds */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_comes_when_nothing_was_handled_and_repeats),
		TEST(each_message_begins_it_anew),
		TEST(it_overtakes_what_is_queued),
		TEST(case_20_a_handler_that_takes_longer_is_not_followed_by_it),
		TEST(it_can_be_changed_and_switched_off),
		TEST(it_ends_with_the_actor),
		TEST(what_cannot_be_meant_is_refused),
		TEST(it_comes_with_a_budget_of_one_as_well),
		TEST(it_passes_a_full_mailbox),
		TEST(its_handler_may_be_pending),
		TEST(it_allocates_nothing_once_it_is_set),
		TEST(case_20_by_the_real_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
