/* SPDX-License-Identifier: MIT */
/* From hand-made batches to evidence: what is counted, who is named, what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probe/gather.h"

#define ROOM   300u
#define MS     1000000ull
#define SINK   (1ull << 56 | 7ull << 32 | 5) /* loop 1, slot 7, generation 5 */
#define TELLER (1u << 24 | 9u)		     /* a slot */

static struct {
	struct ring_batch batch;
	struct actor_abi_record records[ROOM];
} b;

static struct gather *g;
static struct directory directory;
static struct directory_name classes[3], dispatchers[3];
static const struct calibration nanoseconds = {1u << 24, 24};

static int set_up(void **state)
{
	(void)state;
	memset(&b, 0, sizeof(b));
	classes[1] = (struct directory_name){.text = (char *)"sink"};
	dispatchers[1] = (struct directory_name){
		.text = (char *)"hybrid", .kind = ACTOR_ABI_HYBRID, .budget = 64};
	directory = (struct directory){.classes = {classes, 3}, .dispatchers = {dispatchers, 3}};
	g = gather_new();
	assert_non_null(g);
	gather_start(g, &nanoseconds);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gather_free(g);
	return 0;
}

static void put(uint64_t kind, uint64_t flags, uint64_t who, uint64_t first, uint64_t second)
{
	assert_true(b.batch.records < ROOM);
	b.batch.record[b.batch.records++] =
		(struct actor_abi_record){actor_abi_meta(kind, flags, 1, 1, 1), who, first, second};
}

static void message(uint64_t flags, uint32_t sender, uint64_t wait, uint64_t depth)
{
	put(ACTOR_ABI_MESSAGE, flags, SINK >> 32 << 32 | sender, actor_abi_pack(wait, depth),
		actor_abi_pack(2000, SINK & 0xffff));
}

static void turn(uint64_t outcome, uint64_t messages)
{
	put(ACTOR_ABI_TURN, 0, SINK, actor_abi_pack(3000, messages),
		actor_abi_pack(messages * 2000, outcome));
}

static void hand_over(uint64_t at_ns)
{
	b.batch.loop = 1;
	b.batch.head.monotonic_ns = at_ns;
	gather_batch(g, &b.batch, sizeof(b));
	b.batch.records = 0;
}

static void fill(struct evidence *e)
{
	struct directory_wish *wishes;
	size_t count;

	memset(e, 0, sizeof(*e));
	e->loops = calloc(1, sizeof(*e->loops));
	e->loops[0].loop = 1;
	e->loop_count = 1;
	assert_int_equal(gather_wishes(g, &wishes, &count), 0);
	for (size_t i = 0; i < count; i++)
		wishes[i].path = strdup(wishes[i].mask ? "/user/sink" : "/user/teller");
	assert_int_equal(gather_fill(g, &directory, wishes, count, e), 0);
	for (size_t i = 0; i < count; i++)
		free(wishes[i].path);
	free(wishes);
}

static void messages_and_turns_are_counted_by_class(void **state)
{
	struct evidence e;

	(void)state;
	for (int i = 0; i < 10; i++)
		message(0, TELLER, 5000, 3);
	message(ACTOR_ABI_FOREIGN, 0, 5000, 3);
	message(0, 0, 5000, 3);
	message(ACTOR_ABI_UNSTAMPED, 0, 0, 3);
	turn(ACTOR_ABI_BUDGET, 8);
	turn(ACTOR_ABI_EMPTY, 5);
	put(ACTOR_ABI_YIELD, 0, 2ull << 32 | 4, ACTOR_ABI_YIELD_BUDGET, 0);
	hand_over(1000 * MS);
	fill(&e);
	assert_int_equal(e.class_count, 1);
	assert_string_equal(e.classes[0].name, "sink");
	assert_string_equal(e.classes[0].dispatcher, "hybrid");
	assert_int_equal(e.classes[0].messages, 13);
	assert_int_equal(e.classes[0].foreign, 1);
	assert_int_equal(e.classes[0].unsent, 2);
	assert_int_equal(e.classes[0].wait.count, 12); /* one was not stamped */
	assert_int_equal(e.classes[0].handler.sum_ns, 12 * 2000);
	assert_int_equal(e.classes[0].turns, 2);
	assert_int_equal(e.classes[0].budget_turns, 1);
	assert_int_equal(e.classes[0].cap, 8);
	assert_string_equal(e.classes[0].actor, "/user/sink");
	assert_string_equal(e.classes[0].sender.actor, "/user/teller");
	assert_int_equal(e.classes[0].senders, 2);
	assert_int_equal(e.dispatchers[0].turns, 2);
	assert_int_equal(e.dispatchers[0].budget, 64);
	assert_int_equal(e.dispatchers[0].budget_yields, 1);
	assert_int_equal(e.dispatchers[0].left, 4);
	assert_int_equal(e.loops[0].turn_ns, 13 * 2000);
	evidence_fini(&e);
}

/* One sender among three hundred is found, and its share is not overstated. */
static void a_frequent_sender_is_found_among_many(void **state)
{
	struct evidence e;

	(void)state;
	for (uint32_t round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < 30; i++) {
			message(0, 1u << 24 | (100 + round * 30 + i), 5000, 1);
			message(0, TELLER, 5000, 1);
		}
		hand_over((1000 + round) * MS);
	}
	fill(&e);
	assert_string_equal(e.classes[0].sender.actor, "/user/teller");
	assert_true(e.classes[0].sender.share <= 0.5);
	assert_true(e.classes[0].sender.share > 0.3);
	evidence_fini(&e);
}

static void growing_waits_are_told_from_steady_ones(void **state)
{
	struct evidence e;

	(void)state;
	for (uint64_t t = 0; t < 10; t++) {
		message(0, TELLER, t * 50 * MS, 1000); /* half of the time that passes */
		hand_over((1000 + t * 100) * MS);
	}
	fill(&e);
	assert_true(e.classes[0].wait_growth > 0.49 && e.classes[0].wait_growth < 0.51);
	evidence_fini(&e);
}

static void a_loop_that_does_not_poll_has_a_gap_without_end(void **state)
{
	struct evidence e;

	(void)state;
	for (uint64_t t = 0; t < 10; t++) {
		turn(ACTOR_ABI_EMPTY, 1);
		hand_over((1000 + t * 100) * MS);
	}
	fill(&e);
	assert_int_equal(e.loops[0].longest_gap_ns, 900 * MS);
	assert_int_equal(e.loops[0].passes, 0);
	evidence_fini(&e);
	put(ACTOR_ABI_LOOP, 0, 1, 7000, 0);
	hand_over(2000 * MS);
	turn(ACTOR_ABI_EMPTY, 1);
	hand_over(2050 * MS);
	fill(&e);
	assert_int_equal(e.loops[0].passes, 1);
	assert_int_equal(e.loops[0].gap.max_ns, 7000);
	assert_int_equal(e.loops[0].longest_gap_ns, 900 * MS);
	evidence_fini(&e);
}

static void a_clock_that_runs_back_makes_no_gap(void **state)
{
	struct evidence e;

	(void)state;
	for (uint64_t t = 0; t < 3; t++) {
		message(0, TELLER, 5000, 1);
		turn(ACTOR_ABI_EMPTY, 1);
		hand_over((1000 - t * 100) * MS);
	}
	fill(&e);
	assert_int_equal(e.loops[0].longest_gap_ns, 0);
	assert_true(e.classes[0].wait_growth == 0);
	evidence_fini(&e);
}

static void the_kernels_word_goes_to_the_actors_class(void **state)
{
	struct evidence e;
	const struct gather_blocked rows[] = {
		{SINK, 35, true, 4 * MS, 3 * MS}, {SINK, 0, true, 1 * MS, 1 * MS},
		{SINK, 0, false, 2 * MS, 2 * MS},
		{SINK + (1ull << 32), 0, true, 900 * MS, 9 * MS}, /* nobody we know */
	};

	(void)state;
	message(0, TELLER, 5000, 1);
	turn(ACTOR_ABI_EMPTY, 1);
	hand_over(1000 * MS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		gather_blocked(g, &rows[i]);
	fill(&e);
	assert_int_equal(e.classes[0].blocked_ns, 5 * MS);
	assert_int_equal(e.classes[0].blocked_max_ns, 3 * MS);
	assert_int_equal(e.classes[0].call, 35);
	assert_int_equal(e.classes[0].runnable_ns, 2 * MS);
	evidence_fini(&e);
}

static void what_finds_no_room_is_said_to_be_unseen(void **state)
{
	struct evidence e;

	(void)state;
	for (uint32_t i = 1; i <= 600; i++) {
		b.batch.record[b.batch.records++] =
			(struct actor_abi_record){actor_abi_meta(ACTOR_ABI_MESSAGE, 0, 1, i, 1),
				(uint64_t)(1u << 24 | i) << 32, 5000, 2000};
		if (b.batch.records == ROOM)
			hand_over(1000 * MS);
	}
	turn(ACTOR_ABI_EMPTY, 1);
	hand_over(1001 * MS);
	fill(&e);
	assert_int_equal(e.class_count, 512);
	assert_true(e.unseen >= 88);
	evidence_fini(&e);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(messages_and_turns_are_counted_by_class),
		CASE(a_frequent_sender_is_found_among_many),
		CASE(growing_waits_are_told_from_steady_ones),
		CASE(a_loop_that_does_not_poll_has_a_gap_without_end),
		CASE(a_clock_that_runs_back_makes_no_gap),
		CASE(the_kernels_word_goes_to_the_actors_class),
		CASE(what_finds_no_room_is_said_to_be_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
