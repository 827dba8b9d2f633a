/* SPDX-License-Identifier: MIT */
/* When a pass that systems share ends: with drains by hand, and check handles that do not come. */
#include "tests/court.h"

/* ---- drain by hand ---- */

static int drain_mask; /* bit i: the i-th side's system */
static int drained[2];

static void on_idle(uv_idle_t *idle)
{
	lab.pass_units[lab.passes++] = lab.units;
	lab.units = 0;
	for (int i = 0; i < 2; i++)
		if (drain_mask & 1 << i)
			drained[i] += actor_system_drain(sides[i].system);
}

static void drained_passes_run(int mask)
{
	uv_idle_t idle;

	drain_mask = mask;
	drained[0] = drained[1] = 0;
	lab.units = lab.passes = 0;
	uv_idle_init(&lab.loop, &idle);
	uv_idle_start(&idle, on_idle);
	passes_run(100);
	uv_close((uv_handle_t *)&idle, NULL);
	passes_run(1);
	assert_each_pass(1, "drained by hand");
}

/* An idle callback is between two check phases; what it runs is of the pass that it is in. */
static void drain_spends_the_loop_s_one_unit(void **state)
{
	static const struct {
		int mask;
		int drained[2]; /* of 100 passes */
	} rows[] = {{0, {0, 0}}, {1, {50, 0}}, {2, {0, 50}}, {3, {50, 50}}};

	for (size_t row = 0; row < COUNT(rows); row++) {
		court_open(2);
		side_play(&sides[0]);
		side_play(&sides[1]);
		passes_run(50);
		hits_reset(2);
		drained_passes_run(rows[row].mask);
		assert_int_equal(sides[0].hits + sides[1].hits, 101);
		for (int i = 0; i < 2; i++) {
			assert_in_range(sides[i].hits, 50, 51);
			assert_int_equal(drained[i], rows[row].drained[i]);
		}
		court_close(2);
	}
}

/* ---- check handles that do not come ---- */

static void close_any(uv_handle_t *handle, void *data)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void nobody_waits_for_a_system_whose_handles_were_closed(void **state)
{
	for (int dead = 0; dead < 2; dead++) {
		struct side *other = &sides[1 - dead];

		court_open(2);
		for (int i = 0; i < 2; i++)
			side_play(&sides[i]);
		passes_run(50);
		uv_walk(&lab.loop, close_any, NULL); /* both have a unit ready */
		other->stop = true;
		side_serve(other);
		passes_run(10);
		other->stop = false;
		side_serve(other);
		hits_reset(2);
		lab_count(&lab);
		passes_run(100);
		lab_count_stop(&lab);
		assert_int_equal(sides[dead].hits, 0);
		assert_each_pass(1, "one is dead");
		drained_passes_run(dead ? 1 : 2);
		assert_int_equal(drained[1 - dead], 100);
		side_serve(&sides[dead]);
		passes_run(10);
		hits_reset(2);
		passes_run(100);
		assert_int_equal(sides[0].hits, 50);
		assert_int_equal(sides[1].hits, 50);
		court_close(2);
	}
}

static void on_check_open(uv_check_t *check)
{
	uv_close((uv_handle_t *)check, NULL);
	side_open(&sides[1], -1);
}

/* The new system's check does not come in the phase that it was opened in. */
static void a_drain_after_an_incomplete_check_phase_is_of_the_next_pass(void **state)
{
	uv_check_t check;

	court_open(1);
	sides[1].system = NULL;
	uv_check_init(&lab.loop, &check);
	uv_check_start(&check, on_check_open);
	passes_run(1);
	assert_non_null(sides[1].system);
	ordered = 0;
	side_queue(&sides[0], 0, 5);
	assert_int_equal(actor_system_drain(sides[0].system), 1);
	assert_int_equal(actor_system_drain(sides[0].system), 0);
	passes_run(1);
	assert_int_equal(ordered, 1);
	passes_run(1);
	assert_int_equal(ordered, 2);
	lab_run(&lab);
	assert_int_equal(ordered, 5);
	court_close(2);
}

/* ---- anything at any time ---- */

#define CALLS 6000

static uint64_t seed;
static uint32_t calls, looks;
static bool over;
static bool in_check; /* of ours: all members may be through, a drain were of the next pass */

/* The test's own; closed by nobody's walk. */
static union uv_any_handle own[5];

static void close_others(uv_handle_t *handle, void *data)
{
	if (handle->data != own && !uv_is_closing(handle))
		uv_close(handle, NULL);
}

static int anything_on_hit(struct side *side);

static void side_anything(struct side *side)
{
	uint32_t what = random_below(&seed, 20);

	if (!side->system) {
		if (what < 4 && !over) {
			side_open(side, -1);
			side->on_hit = anything_on_hit;
			side_play(side);
		}
	} else if (side->closed) {
		side->system = NULL;
	} else if (what == 0) {
		side_close(side);
	} else if (what == 1) {
		uv_walk(&lab.loop, close_others, NULL);
	} else if (what < 8) {
		if (!in_check)
			actor_system_drain(side->system);
	} else if (what < 12) {
		actor_system_tell(side->system, side->players[1], &plain_type, NULL, 0);
	}
}

static void anything(void)
{
	calls++;
	if (random_below(&seed, 3) == 0)
		side_anything(&sides[random_below(&seed, SIDES)]);
}

/* Most hits end the ball's way: others tell anew. */
static int anything_on_hit(struct side *side)
{
	anything();
	return random_below(&seed, 4) == 0;
}

static void anything_prepare(uv_prepare_t *handle)
{
	anything();
}

static void anything_check(uv_check_t *handle)
{
	in_check = true;
	anything();
	in_check = false;
}

static void anything_timer(uv_timer_t *handle)
{
	anything();
	uv_timer_start(handle, anything_timer, 1, 0);
}

static void anything_idle(uv_idle_t *handle)
{
	anything();
}

/* Started first, so the last of its phase: what ran since the last look ran in one pass. */
static void on_last_check(uv_check_t *handle)
{
	if (lab.units > 1)
		fail_msg("look %u ran %u units", looks, lab.units);
	lab.units = 0;
	looks++;
}

/* Those that are left, and new ones, share as ever. */
static void all_is_well_afterwards(void)
{
	over = true;
	for (int i = 0; i < SIDES; i++) {
		sides[i].stop = true;
		if (!sides[i].system || sides[i].closed)
			continue;
		if (sides[i].closing)
			side_close(&sides[i]); /* somebody may have walked over it */
		else
			side_serve(&sides[i]);
	}
	lab_run(&lab); /* until all balls rest */
	for (int i = 0; i < SIDES; i++) {
		assert_int_equal(sides[i].closing, sides[i].closed);
		if (!sides[i].system || sides[i].closed)
			side_open(&sides[i], -1);
		sides[i].stop = false;
		sides[i].on_hit = NULL;
		side_play(&sides[i]);
	}
	passes_run(100);
	hits_reset(SIDES);
	lab_count(&lab);
	passes_run(SIDES * 10);
	lab_count_stop(&lab);
	assert_each_pass(1, "after all that");
	for (int i = 0; i < SIDES; i++)
		assert_int_equal(sides[i].hits, 10);
}

static void own_open(void)
{
	uv_check_init(&lab.loop, &own[0].check);
	uv_check_start(&own[0].check, on_last_check);
	uv_check_init(&lab.loop, &own[1].check);
	uv_check_start(&own[1].check, anything_check);
	uv_prepare_init(&lab.loop, &own[2].prepare);
	uv_prepare_start(&own[2].prepare, anything_prepare);
	uv_idle_init(&lab.loop, &own[3].idle);
	uv_idle_start(&own[3].idle, anything_idle);
	uv_timer_init(&lab.loop, &own[4].timer);
	uv_timer_start(&own[4].timer, anything_timer, 1, 0);
	for (size_t i = 0; i < COUNT(own); i++)
		own[i].handle.data = own;
}

static void at_most_one_unit_per_pass_whatever_happens(void **state)
{
	const char *text = getenv("STRESS_SEED");
	uint32_t hits = 0;

	seed = text ? strtoull(text, NULL, 0) : now_ns() | 1;
	print_message("seed %#llx\n", (unsigned long long)seed);
	over = false;
	calls = looks = 0;
	memset(sides, 0, sizeof(sides));
	court_open(0);
	own_open();
	while (calls < CALLS) {
		passes_run(1);
		for (int i = 0; i < SIDES; i++) {
			hits += sides[i].hits;
			sides[i].hits = 0;
		}
	}
	assert_true(hits > CALLS / 20);
	for (size_t i = 0; i < COUNT(own); i++)
		uv_close(&own[i].handle, NULL);
	all_is_well_afterwards();
	court_close(SIDES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drain_spends_the_loop_s_one_unit),
		cmocka_unit_test(nobody_waits_for_a_system_whose_handles_were_closed),
		cmocka_unit_test(a_drain_after_an_incomplete_check_phase_is_of_the_next_pass),
		cmocka_unit_test(at_most_one_unit_per_pass_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
