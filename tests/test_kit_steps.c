/* SPDX-License-Identifier: MIT */
/* The test kit: steps, the clock by hand, work, the end. */
#include "tests/lab.h"

#include "tests/kitted.h"

/* ---- steps ---- */

static uint64_t handled;

static int count_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	handled++;
	return 0;
}

static struct actor_class count_class = {
	.size = sizeof(count_class), .name = "count", .on_message = count_message};

static void a_step_is_one_unit(void **state)
{
	struct actor_test *kit = kit_open(1);
	actor_ref ref = spawn(kit, &count_class, 1, NULL);

	handled = 0;
	for (uint64_t i = 0; i < 40; i++)
		tell(kit, ref, i);
	for (uint64_t done = 16; done <= 48; done += 16) {
		assert_int_equal(actor_test_step(kit), 1);
		assert_int_equal(handled, done < 40 ? done : 40);
	}
	assert_int_equal(actor_test_step(kit), 0);
	tell(kit, ref, 1);
	assert_int_equal(actor_test_run(kit), 1);
	assert_int_equal(actor_test_close(kit), 0);
}

static int again(struct actor_ctx *ctx, const struct actor_message *m)
{
	handled++;
	return actor_tell(ctx, actor_self(ctx), &word_type, m->payload, m->bytes);
}

static struct actor_class endless_class = {
	.size = sizeof(endless_class), .name = "endless", .on_message = again};

static void what_goes_on_for_ever_is_a_failure(void **state)
{
	struct actor_system_options system = {
		.size = sizeof(system), .drain_ms = 20, .config = ""};
	struct actor_test_options options = {.size = sizeof(options),
		.system = &system,
		.units = 50,
		.on_failure = on_failure};
	struct actor_test *kit;

	failures = 0;
	handled = 0;
	assert_int_equal(actor_test_open(&kit, &options), 0);
	tell(kit, spawn(kit, &endless_class, 1, NULL), 1);
	assert_int_equal(actor_test_run(kit), -ELOOP);
	assert_int_equal(handled, 51 * 16);
	assert_int_equal(failures, 1);
	assert_non_null(strstr(failure, "not quiet after 50 units"));
	assert_int_equal(actor_test_close(kit), 0);
}

/* ---- time ---- */

struct tick {
	struct actor_test *kit;
	uint64_t at_ms;
	uint64_t what;
};
static struct tick ticks[16];
static uint32_t tick_count;
static struct actor_test *ticking;

struct plan {
	actor_ref to;
	uint64_t first;
	int64_t every_ms;
};

static int timer_start(struct actor_ctx *ctx)
{
	const struct plan *plan = actor_state(ctx);

	return actor_timer_fixed_rate(ctx, 1, plan->every_ms, plan->every_ms, &word_type,
		&plan->first, sizeof(plan->first));
}

static int timer_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (tick_count < COUNT(ticks))
		ticks[tick_count++] = (struct tick){
			.at_ms = actor_test_now(ticking), .what = value_of(m)};
	return 0;
}

static struct actor_class timer_class = {.size = sizeof(timer_class),
	.name = "timer",
	.state_bytes = sizeof(struct plan),
	.on_start = timer_start,
	.on_message = timer_message};

static void timers_of_all_loops_fire_in_order_at_their_time(void **state)
{
	static const struct tick wanted[] = {{.at_ms = 31, .what = 30}, {.at_ms = 51, .what = 50},
		{.at_ms = 61, .what = 30}, {.at_ms = 91, .what = 30}, {.at_ms = 101, .what = 50}};
	struct actor_test *kit = kit_open(2);

	ticking = kit;
	tick_count = 0;
	spawn(kit, &timer_class, 1, &(struct plan){.first = 50, .every_ms = 50});
	spawn(kit, &timer_class, 2, &(struct plan){.first = 30, .every_ms = 30});
	assert_int_equal(actor_test_run(kit), 2);
	assert_int_equal(actor_test_advance(kit, 29), 0);
	assert_int_equal(actor_test_advance(kit, 1), 1);
	assert_int_equal(actor_test_advance(kit, 75), 4);
	assert_int_equal(tick_count, COUNT(wanted));
	for (uint32_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(ticks[i].at_ms, wanted[i].at_ms);
		assert_int_equal(ticks[i].what, wanted[i].what);
	}
	assert_int_equal(actor_test_now(kit), 106);
	assert_int_equal(actor_test_close(kit), 0);
}

/* ---- work on other threads ---- */

static void square(void *payload, size_t bytes)
{
	*(uint64_t *)payload *= *(uint64_t *)payload;
}

static int work(struct actor_ctx *ctx, void *data)
{
	uint64_t value = 9;

	return actor_work(ctx, actor_self(ctx), &word_type, &value, 8, square);
}

static void work_of_the_thread_pool_is_waited_for(void **state)
{
	struct actor_test *kit = kit_open(1);
	struct actor_test_probe *probe = probe_open(kit, "worker", 0);
	uint64_t wanted = 81;

	assert_int_equal(actor_test_within(probe, work, NULL), 0);
	actor_test_run(kit);
	assert_int_equal(actor_test_count(probe), 1);
	assert_int_equal(actor_test_expect(probe, &word_type, is_value, &wanted, 0, NULL), 0);
	assert_int_equal(actor_test_close(kit), 0);
}

/* ---- the end ---- */

static bool closed;

static void on_close(struct actor_system *system, void *data)
{
	closed = true;
}

static void a_kit_ends_also_when_the_test_closed_its_system(void **state)
{
	for (int how = 0; how < 2; how++) {
		struct actor_test *kit = kit_open(3);
		struct actor_system *system = actor_test_system(kit);
		struct actor_test_probe *probe = probe_open(kit, NULL, 3);

		closed = false;
		tell(kit, actor_test_ref(probe), 1);
		assert_int_equal(how ? actor_system_shutdown(system, on_close, NULL)
				     : actor_system_close(system, on_close, NULL), 0);
		assert_int_equal(actor_system_close_wait(system), -EINVAL);
		assert_int_equal(actor_test_close(kit), 0);
		assert_true(closed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_one_unit),
		cmocka_unit_test(what_goes_on_for_ever_is_a_failure),
		cmocka_unit_test(timers_of_all_loops_fire_in_order_at_their_time),
		cmocka_unit_test(work_of_the_thread_pool_is_waited_for),
		cmocka_unit_test(a_kit_ends_also_when_the_test_closed_its_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
