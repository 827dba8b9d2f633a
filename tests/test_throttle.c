/* SPDX-License-Identifier: MIT */
/* Throttled actors: how many turns and messages per time, what passes, what is dropped. */
#include "tests/lab.h"

static struct lab lab;
static actor_ref actor;
static uint32_t handled, stopped, timeouts, answers;
static uint64_t last_number;
static int last_rc;
static const struct actor_throttle_options *next_options; /* that an order sets */

static struct actor_type number_type = ACTOR_TYPE("number");
static struct actor_type order_type = ACTOR_TYPE("order");

enum order { SET, ASK, TIMEOUT, STOP_SELF, TIMER };

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	answers += status == 0 || status == -ETIMEDOUT;
	return 0;
}

static int obey(struct actor_ctx *ctx, enum order order)
{
	switch (order) {
	case SET:
		last_rc = actor_throttle(ctx, next_options);
		return 0;
	case ASK:
		return actor_ask(
			ctx, actor_self(ctx), &number_type, NULL, 0, 5, on_answer, NULL);
	case TIMEOUT:
		return actor_receive_timeout(ctx, 20);
	case TIMER:
		return actor_timer_fixed_delay(ctx, 1, 10, 10, &number_type, NULL, 0);
	default:
		actor_stop_self(ctx);
		return 0;
	}
}

static int actor_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	enum order order;

	if (m->type == &actor_timeout) {
		timeouts++;
		return 0;
	}
	handled++;
	if (m->type == &order_type) {
		memcpy(&order, m->payload, sizeof(order));
		return obey(ctx, order);
	}
	if (m->type == &number_type && m->bytes) {
		uint64_t number;

		memcpy(&number, m->payload, sizeof(number));
		if (number <= last_number)
			return -ERANGE;
		last_number = number;
	}
	return 0;
}

static void actor_stopped(struct actor_ctx *ctx)
{
	stopped++;
}

static struct actor_class limited_class = {.size = sizeof(struct actor_class),
	.name = "limited",
	.on_message = actor_message,
	.on_stop = actor_stopped};

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static void spawn(const struct actor_throttle_options *throttle)
{
	struct actor_spawn_options options = {.size = sizeof(options), .throttle = throttle};

	handled = stopped = timeouts = answers = 0;
	last_number = 0;
	last_rc = 1;
	assert_int_equal(actor_system_spawn(lab.system, &limited_class, &options, &actor), 0);
	lab_run(&lab);
}

static int setup(void **state)
{
	tokens_alive = 0;
	lab_open_with(&lab, with_manual_clock);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(lab_stats(&lab).failed, 0);
	lab_close(&lab);
	assert_int_equal(tokens_alive, 0);
	return 0;
}

static void tell(uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n <= to; n++)
		assert_int_equal(
			actor_system_tell(lab.system, actor, &number_type, &n, sizeof(n)), 0);
}

static void order(enum order order)
{
	assert_int_equal(
		actor_system_tell(lab.system, actor, &order_type, &order, sizeof(order)), 0);
}

static void pass_and_run(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
	lab_run(&lab);
}

#define THROTTLE(...) &(const struct actor_throttle_options){                              \
	.size = sizeof(struct actor_throttle_options), __VA_ARGS__}

static void a_burst_passes_then_the_rate(void **state)
{
	spawn(THROTTLE(.messages = 10, .burst = 3));
	tell(1, 20);
	lab_run(&lab);
	assert_int_equal(handled, 3);
	for (uint32_t i = 1; i <= 5; i++) {
		pass_and_run(99);
		assert_int_equal(handled, 2 + i);
		pass_and_run(1);
		assert_int_equal(handled, 3 + i);
	}
	pass_and_run(100000); /* at most the burst at once */
	assert_int_equal(handled, 11);
	lab_run(&lab); /* nothing passes without time */
	assert_int_equal(handled, 11);
}

static void case_5_a_paused_actor_asks_for_no_turns(void **state)
{
	uint64_t before;

	spawn(THROTTLE(.messages = 10));
	tell(1, 10);
	lab_run(&lab);
	assert_int_equal(handled, 10);
	before = lab_stats(&lab).turns;
	tell(11, 20); /* on the empty bucket, in front of each tick as well */
	lab_run(&lab);
	for (uint64_t tick = 1; tick <= 3; tick++) {
		tell(20 + tick, 20 + tick);
		pass_and_run(100);
	}
	assert_int_equal(handled, 13);
	assert_in_range(lab_stats(&lab).turns - before, 3, 29);
}

/* The same by the real clock: a pass that spins would count thousands. */
static void case_5_by_the_real_clock(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options),
		.throttle = THROTTLE(.messages = 10, .burst = 1)};
	struct lab other;
	uint64_t before;

	handled = 0;
	last_number = 0;
	lab_open_owned(&other, 1);
	assert_int_equal(actor_system_spawn(other.system, &limited_class, &options, &actor), 0);
	for (uint64_t n = 1; n <= 50; n++)
		assert_int_equal(actor_system_tell(
					 other.system, actor, &number_type, &n, sizeof(n)),
			0);
	while (lab_stats(&other).delivered < 2)
		sleep_ms(1);
	before = lab_stats(&other).turns;
	while (lab_stats(&other).delivered < 5)
		sleep_ms(1);
	assert_in_range(lab_stats(&other).turns - before, 3, 29);
	lab_close(&other);
	assert_in_range(other.dead_letters, 1, 45);
}

static void dropped_messages_are_counted_and_destroyed(void **state)
{
	spawn(THROTTLE(.messages = 10, .burst = 2, .mode = ACTOR_THROTTLE_DROP));
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t token = token_new(i);

		assert_int_equal(actor_system_tell(
					 lab.system, actor, &token_type, &token, sizeof(token)),
			0);
	}
	lab_run(&lab);
	assert_int_equal(handled, 2);
	assert_int_equal(lab_stats(&lab).dropped, 998);
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
	assert_int_equal(tokens_alive, 0);
	pass_and_run(100);
	tell(1, 3);
	lab_run(&lab);
	assert_int_equal(handled, 3);
	assert_int_equal(last_number, 1); /* the first one had the token */
	assert_int_equal(lab_stats(&lab).dropped, 1000);
}

/* A flood that is dropped holds the loop no longer than one that is handled. */
static void dropping_keeps_to_the_turns_budget(void **state)
{
	uint64_t before;

	spawn(THROTTLE(.messages = 1, .mode = ACTOR_THROTTLE_DROP));
	tell(1, 1);
	lab_run(&lab);
	before = lab_stats(&lab).turns;
	tell(2, 1601);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).dropped, 1600);
	assert_in_range(lab_stats(&lab).turns - before, 100, 101);
}

static void stops_and_answers_need_no_token(void **state)
{
	spawn(THROTTLE(.messages = 1, .mode = ACTOR_THROTTLE_DROP));
	order(ASK); /* takes the only token; its own question is dropped */
	lab_run(&lab);
	assert_int_equal(handled, 1);
	assert_int_equal(lab_stats(&lab).dropped, 1);
	pass_and_run(5); /* the answer: that there is none */
	assert_int_equal(answers, 1);
	assert_int_equal(actor_system_stop(lab.system, actor), 0);
	lab_run(&lab);
	assert_int_equal(stopped, 1);
}

static void a_paused_actor_stops_behind_its_mail_or_at_once(void **state)
{
	spawn(THROTTLE(.messages = 1, .burst = 1));
	tell(1, 3);
	assert_int_equal(actor_system_stop(lab.system, actor), 0);
	lab_run(&lab);
	assert_int_equal(stopped, 0); /* two are in front of it */
	pass_and_run(1000);
	assert_int_equal(stopped, 0);
	pass_and_run(1000);
	assert_int_equal(stopped, 1); /* with the last message */
	assert_int_equal(handled, 3);
	/* closing does not wait for it: see teardown, which would take half an hour */
	spawn(THROTTLE(.messages = 1, .per_ms = 1000000));
	tell(1, 3);
	lab_run(&lab);
}

static void a_throttle_is_replaced_and_taken_off_at_once(void **state)
{
	struct actor_throttle_options slow = {.size = sizeof(slow), .messages = 1};
	struct actor_throttle_options fast = {.size = sizeof(fast), .messages = 5, .per_ms = 1};

	spawn(NULL);
	next_options = &slow;
	order(SET);
	tell(1, 10);
	lab_run(&lab);
	assert_int_equal(last_rc, 0);
	assert_int_equal(handled, 2); /* the order, and one of a full bucket */
	next_options = &fast;
	order(SET); /* behind nine messages */
	for (int i = 0; i < 9; i++)
		pass_and_run(1000);
	assert_int_equal(handled, 11);
	pass_and_run(1000);
	assert_int_equal(handled, 12); /* the order */
	tell(11, 20);
	lab_run(&lab);
	assert_int_equal(handled, 17);
	next_options = NULL;
	pass_and_run(1);
	order(SET);
	tell(21, 100);
	pass_and_run(1);
	assert_int_equal(handled, 12 + 10 + 1 + 80);
}

static void a_receive_time_out_comes_while_the_actor_is_paused(void **state)
{
	spawn(THROTTLE(.messages = 1, .burst = 1));
	order(TIMEOUT);
	tell(1, 5);
	lab_run(&lab);
	assert_int_equal(handled, 1);
	for (int i = 0; i < 40; i++)
		pass_and_run(20);
	assert_int_equal(timeouts, 40);
	assert_int_equal(handled, 1);
	pass_and_run(200);
	assert_int_equal(handled, 2);
}

/* Its delay counts from the drop. */
static void a_timer_goes_on_when_its_message_is_dropped(void **state)
{
	spawn(THROTTLE(.messages = 1, .per_ms = 1000000, .mode = ACTOR_THROTTLE_DROP));
	order(TIMER);
	lab_run(&lab);
	for (int i = 0; i < 7; i++)
		pass_and_run(10);
	assert_int_equal(handled, 1);
	assert_int_equal(lab_stats(&lab).dropped, 7);
}

static int64_t highest_first(const struct actor_message *m, void *data)
{
	uint64_t number;

	memcpy(&number, m->payload, sizeof(number));
	return 1000 - (int64_t)number;
}

static uint64_t order_seen[8];
static uint32_t order_count;

static int ordered_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	memcpy(&order_seen[order_count++ % COUNT(order_seen)], m->payload, sizeof(uint64_t));
	return 0;
}

static struct actor_class ordered_class = {
	.size = sizeof(struct actor_class), .name = "ordered", .on_message = ordered_message};

/* What comes while the actor is paused takes part in the order, and in the bound. */
static void other_mailboxes_are_throttled_as_well(void **state)
{
	static const struct {
		struct actor_mailbox_options box;
		uint64_t dropped;
		uint64_t seen[5];
	} rows[] = {
		{{.size = sizeof(rows[0].box), .rank = highest_first}, 0, {1, 5, 4, 3, 2}},
		{{.size = sizeof(rows[0].box), .capacity = 2, .overflow = ACTOR_DROP_HEAD}, 2,
			{1, 4, 5}},
		{{.size = sizeof(rows[0].box), .capacity = 2, .overflow = ACTOR_DROP_NEW}, 2,
			{1, 2, 3}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_spawn_options options = {.size = sizeof(options),
			.mailbox = &rows[i].box,
			.throttle = THROTTLE(.messages = 1, .burst = 1)};
		uint64_t dropped = lab_stats(&lab).dropped;

		memset(order_seen, 0, sizeof(order_seen));
		order_count = 0;
		assert_int_equal(
			actor_system_spawn(lab.system, &ordered_class, &options, &actor), 0);
		tell(1, 1);
		lab_run(&lab);
		tell(2, 5);
		for (int second = 0; second < 5; second++)
			pass_and_run(1000);
		assert_memory_equal(order_seen, rows[i].seen, sizeof(rows[i].seen));
		assert_int_equal(lab_stats(&lab).dropped - dropped, rows[i].dropped);
	}
}

static void what_cannot_be_meant_is_refused(void **state)
{
	static const struct actor_throttle_options rows[] = {
		{0},
		{.size = 8, .messages = 1},
		{.size = sizeof(rows[0])},
		{.size = sizeof(rows[0]), .messages = -1},
		{.size = sizeof(rows[0]), .messages = 1000000001},
		{.size = sizeof(rows[0]), .messages = 1, .per_ms = -1},
		{.size = sizeof(rows[0]), .messages = 1, .per_ms = 86400001},
		{.size = sizeof(rows[0]), .messages = 1, .burst = -1},
		{.size = sizeof(rows[0]), .messages = 1, .burst = 1000000001},
		{.size = sizeof(rows[0]), .messages = 1, .mode = 3},
	};

	spawn(NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .throttle = &rows[i]};

		assert_int_equal(actor_system_spawn(lab.system, &limited_class, &options, NULL),
			ACTOR_EOPTIONS);
		next_options = &rows[i];
		order(SET);
		lab_run(&lab);
		assert_int_equal(last_rc, ACTOR_EOPTIONS);
	}
	assert_int_equal(actor_throttle(NULL, NULL), -EINVAL);
	tell(1, 100);
	lab_run(&lab);
	assert_int_equal(handled, COUNT(rows) + 100);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_burst_passes_then_the_rate),
		TEST(case_5_a_paused_actor_asks_for_no_turns),
		TEST(case_5_by_the_real_clock),
		TEST(dropped_messages_are_counted_and_destroyed),
		TEST(dropping_keeps_to_the_turns_budget),
		TEST(stops_and_answers_need_no_token),
		TEST(a_paused_actor_stops_behind_its_mail_or_at_once),
		TEST(a_throttle_is_replaced_and_taken_off_at_once),
		TEST(a_receive_time_out_comes_while_the_actor_is_paused),
		TEST(a_timer_goes_on_when_its_message_is_dropped),
		TEST(other_mailboxes_are_throttled_as_well),
		TEST(what_cannot_be_meant_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
