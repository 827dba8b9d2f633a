/* SPDX-License-Identifier: MIT */
/* The example dispatchers on top of each of the four: counts, order, loops, ends. */
#include "tests/lab.h"

#include "runtime/examples/fastlane.h"
#include "runtime/examples/metering.h"
#include "runtime/examples/tracing.h"

static struct lab lab;
static struct actor_dispatcher_spec inner, wrapped, outer, slow;

static struct actor_type word_type = ACTOR_TYPE("word");

/* ---- what the handlers see ---- */

static uint64_t order[4096]; /* marks of the handlers, as they ran */
static uint32_t ordered;
static uint32_t in_span; /* handlers that found a span */

static int mark_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (ordered < COUNT(order))
		order[ordered++] = *(uint64_t *)actor_state(ctx);
	in_span += tracing_current() != 0;
	return 0;
}

static struct actor_class mark_class = {.size = sizeof(mark_class),
	.name = "mark",
	.state_bytes = sizeof(uint64_t),
	.on_message = mark_message};

static actor_ref spawn(const struct actor_dispatcher_spec *spec, uint64_t mark, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options),
		.dispatcher = spec,
		.init = &mark,
		.loop = loop,
		.throughput = 4};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &mark_class, &options, &ref), 0);
	return ref;
}

static void tell(actor_ref to, int times)
{
	uint64_t nothing = 0;

	while (times--)
		assert_int_equal(actor_system_tell(lab.system, to, &word_type, &nothing, 8), 0);
}

enum { KINDS = 4 };

/* The four, with budgets that matter; the immediate one has none. */
static void inner_choose(int kind)
{
	static int (*const with_budget[KINDS])(
		struct actor_dispatcher_spec *, int64_t, const char *) = {
		actor_dispatcher_hybrid, actor_dispatcher_throughput, NULL, NULL};

	if (with_budget[kind])
		assert_int_equal(with_budget[kind](&inner, 3, "below"), 0);
	else if (kind == 2)
		assert_int_equal(actor_dispatcher_immediate(&inner, "below"), 0);
	else
		assert_int_equal(actor_dispatcher_microtask(&inner, "below"), 0);
}

static uint32_t spans, spans_wrong;
static uint64_t last_span;

static void on_span(void *data, const struct tracing_span *span)
{
	spans++;
	spans_wrong += span->id == last_span || span->ended_ns < span->began_ns || span->rc != 0 ||
		       strcmp(span->dispatcher, data) != 0;
	last_span = span->id;
}

/* Units per pass, and marks, of ten actors with 8 messages each. */
static uint32_t run_ten(const struct actor_dispatcher_spec *spec, uint32_t *passes, uint32_t room)
{
	actor_ref refs[10];
	uint32_t before, count;

	for (int i = 0; i < 10; i++)
		refs[i] = spawn(spec, (uint64_t)i, 1);
	lab_run(&lab);
	ordered = in_span = 0;
	for (int i = 0; i < 10; i++)
		tell(refs[i], 8);
	before = (uint32_t)lab_stats(&lab).turns;
	for (count = 0; ordered < 80 && count < room; count++) {
		uint32_t turns = (uint32_t)lab_stats(&lab).turns;

		uv_run(&lab.loop, UV_RUN_NOWAIT);
		passes[count] = (uint32_t)lab_stats(&lab).turns - turns;
	}
	lab_run(&lab);
	assert_int_equal(ordered, 80);
	assert_int_equal(lab_stats(&lab).turns - before, 20);
	return count;
}

static void wrapping_changes_neither_order_nor_passes(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		static uint64_t plain_order[80];
		uint32_t plain[64], with[64], n;
		struct tracing tracing = {.inner = &inner, .on_span = on_span, .data = "below"};
		struct metering metering = {.inner = &wrapped};
		struct metering_counts counts;

		inner_choose(kind);
		lab_open(&lab, NULL);
		n = run_ten(&inner, plain, COUNT(plain));
		memcpy(plain_order, order, sizeof(plain_order));
		assert_int_equal(in_span, 0);
		lab_close(&lab);

		spans = spans_wrong = 0;
		assert_int_equal(tracing_dispatcher(&wrapped, &tracing, "tracing"), 0);
		assert_int_equal(metering_dispatcher(&outer, &metering, "metering"), 0);
		lab_open(&lab, NULL);
		assert_int_equal(run_ten(&outer, with, COUNT(with)), n);
		assert_memory_equal(with, plain, n * sizeof(with[0]));
		assert_memory_equal(order, plain_order, sizeof(plain_order));
		assert_int_equal(in_span, 80);
		lab_close(&lab);
		metering_read(&metering, &counts);
		/* Ten starts, twenty turns with mail, ten stops. */
		assert_int_equal(counts.asked, 40);
		assert_int_equal(counts.ran, 40);
		assert_int_equal(counts.failed, 0);
		assert_int_equal(spans, 40);
		assert_int_equal(spans_wrong, 0);
	}
}

static int failing_run(struct actor_unit *unit)
{
	return -EIO;
}

static void failed_units_are_counted_and_a_third_wrapper_does_no_harm(void **state)
{
	static struct actor_dispatcher_spec third;
	struct metering metering = {.inner = &inner};
	struct tracing tracing = {.inner = &wrapped};
	struct metering last = {.inner = &outer};
	struct metering_counts counts;
	struct actor_dispatcher *d;
	struct actor_unit unit;

	inner_choose(0);
	assert_int_equal(metering_dispatcher(&wrapped, &metering, "metering"), 0);
	assert_int_equal(tracing_dispatcher(&outer, &tracing, "tracing"), 0);
	assert_int_equal(metering_dispatcher(&third, &last, "third"), 0);
	lab_open(&lab, NULL);
	actor_unit_init(&unit, failing_run);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, &third, &d), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(actor_dispatcher_execute(d, &unit), 0);
		lab_run(&lab);
	}
	assert_int_equal(lab_stats(&lab).dispatcher_errors, 3);
	lab_close(&lab);
	metering_read(&last, &counts);
	assert_int_equal(counts.asked, 3);
	assert_int_equal(counts.ran, 3); /* the outer two have the places */
	assert_int_equal(counts.failed, 3);
	metering_read(&metering, &counts);
	assert_int_equal(counts.asked, 3);
	assert_int_equal(counts.ran, 0);
}

/* ---- as the default of a system with several loops ---- */

static struct actor_dispatcher_spec *standard;

static void with_standard(struct actor_system_options *options)
{
	options->loops = 2;
	options->dispatcher = standard;
}

static int pass_on(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t left;

	memcpy(&left, m->payload, sizeof(left));
	return left-- ? actor_tell(ctx, *(actor_ref *)actor_state(ctx), &word_type, &left, 8) : 0;
}

static struct actor_class pass_class = {.size = sizeof(pass_class),
	.name = "pass",
	.state_bytes = sizeof(actor_ref),
	.on_message = pass_on};

static void each_loop_has_its_own_instance(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct metering metering = {.inner = &inner};
		struct fastlane lane = {.inner = &inner};
		struct metering_counts counts;
		uint64_t turns, hops = 30;
		actor_ref to = 0;

		inner_choose(kind);
		assert_int_equal(fastlane_dispatchers(&lane, &wrapped, "fast", &slow, "slow"), 0);
		metering.inner = &wrapped;
		assert_int_equal(metering_dispatcher(&outer, &metering, "metering"), 0);
		standard = &outer;
		lab_open_with(&lab, with_standard);
		lab_count(&lab); /* keeps the loop alive */
		for (int i = 0; i < 31; i++) {
			struct actor_spawn_options options = {
				.size = sizeof(options), .init = &to, .loop = 1 + i % 3};

			assert_int_equal(actor_system_spawn(
				lab.system, &pass_class, &options, &to), 0);
		}
		assert_int_equal(actor_system_tell(lab.system, to, &word_type, &hops, 8), 0);
		for (int i = 0; i < 10000 && lab_stats(&lab).delivered < 31; i++) {
			uv_run(&lab.loop, UV_RUN_NOWAIT);
			sleep_ms(1);
		}
		assert_int_equal(lab_stats(&lab).delivered, 31);
		turns = lab_stats(&lab).turns;
		metering_read(&metering, &counts);
		assert_true(counts.ran >= 31 && counts.ran <= turns);
		lab_close(&lab);
		metering_read(&metering, &counts);
		assert_int_equal(counts.asked, counts.ran);
		assert_null(lane.loops);
	}
}

/* ---- the fast lane ---- */

static void the_fast_lane_goes_first_and_the_slow_one_is_not_forgotten(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct fastlane lane = {.inner = &inner, .patience = 3};
		actor_ref user[4], system[8];
		/* Four messages per turn: 1 is a turn of the fast lane, 2 of the slow one. */
		static const uint64_t wanted[] = {1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 2, 2};

		inner_choose(kind);
		assert_int_equal(
			fastlane_dispatchers(&lane, &wrapped, "system", &slow, "user"), 0);
		lab_open(&lab, NULL);
		for (int i = 0; i < 4; i++)
			user[i] = spawn(&slow, 2, 1);
		for (int i = 0; i < 8; i++)
			system[i] = spawn(&wrapped, 1, 1);
		lab_run(&lab);
		ordered = 0;
		for (int i = 0; i < 4; i++)
			tell(user[i], 4);
		for (int i = 0; i < 8; i++)
			tell(system[i], 4);
		lab_run(&lab);
		assert_int_equal(ordered, 48);
		for (uint32_t i = 0; i < 48; i++)
			assert_int_equal(order[i], wanted[i / 4]);
		assert_int_equal(lab_stats(&lab).dispatcher_errors, 0);
		lab_close(&lab);
		assert_null(lane.loops);
	}
}

static void a_dispatcher_below_that_is_refused_refuses_the_wrapper(void **state)
{
	struct actor_dispatcher_spec bad;
	struct metering metering = {.inner = &bad};
	struct tracing tracing = {.inner = &bad};
	struct fastlane lane = {.inner = &bad};
	struct actor_dispatcher *d, *below;

	assert_int_equal(actor_dispatcher_hybrid(&bad, 0, NULL), ACTOR_EBUDGET);
	lab_open(&lab, NULL);
	metering_dispatcher(&wrapped, &metering, NULL);
	assert_true(actor_system_dispatcher(lab.system, 1, &wrapped, &d) < 0);
	tracing_dispatcher(&outer, &tracing, "tracing");
	assert_true(actor_system_dispatcher(lab.system, 1, &outer, &d) < 0);
	fastlane_dispatchers(&lane, &inner, "fast", &slow, "slow");
	assert_true(actor_system_dispatcher(lab.system, 1, &inner, &d) < 0);
	assert_null(lane.loops);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, NULL, &d), 0);
	assert_int_equal(actor_dispatcher_delegate(NULL, &inner, &below), -EINVAL);
	assert_int_equal(actor_dispatcher_delegate(d, NULL, &below), -EINVAL);
	assert_int_equal(actor_dispatcher_delegate(d, &inner, NULL), -EINVAL);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrapping_changes_neither_order_nor_passes),
		cmocka_unit_test(failed_units_are_counted_and_a_third_wrapper_does_no_harm),
		cmocka_unit_test(each_loop_has_its_own_instance),
		cmocka_unit_test(the_fast_lane_goes_first_and_the_slow_one_is_not_forgotten),
		cmocka_unit_test(a_dispatcher_below_that_is_refused_refuses_the_wrapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
