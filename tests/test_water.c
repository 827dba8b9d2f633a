/* SPDX-License-Identifier: MIT */
/* Long mailboxes: when a warning is logged, and what stands in the root's table meanwhile. */
#include "tests/lab.h"

#include "runtime/abi.h"
#include "runtime/deep.h"
#include "runtime/core.h"
#include "runtime/memory.h"
#include "runtime/root.h"

#include <stdio.h>

#ifdef ACTOR__TSAN
#define MANY 1000000
#else
#define MANY 10000000
#endif

#define CHUNK 15 /* messages: how far what is known of a plain mailbox may be off */

static int on_any(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static struct actor_class sink_class = {
	.size = sizeof(sink_class), .name = "sink", .on_message = on_any};

static actor_ref sink_spawn(
	struct lab *lab, const char *name, const struct actor_mailbox_options *mailbox)
{
	const struct actor_spawn_options options = {
		.size = sizeof(options), .name = name, .mailbox = mailbox};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &sink_class, &options, &ref), 0);
	return ref;
}

static void tell(struct lab *lab, actor_ref ref, uint32_t count)
{
	while (count--)
		assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, NULL, 0), 0);
}

/* The entry of an actor; NULL: it has none. */
static const struct actor_abi_deep *entry_of(actor_ref ref)
{
	const struct actor_abi_deep *found = NULL;

	for (uint32_t i = 0; i < ACTOR_ABI_DEEP; i++) {
		if (actor_root.deep[i].actor != ref)
			continue;
		assert_null(found);
		found = &actor_root.deep[i];
	}
	return found;
}

static uint32_t entries(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ACTOR_ABI_DEEP; i++)
		count += actor_root.deep[i].actor != 0;
	return count;
}

static int64_t rank(const struct actor_message *m, void *data)
{
	(void)m;
	(void)data;
	return 1;
}

static const struct {
	struct actor_mailbox_options mailbox;
	uint32_t told;
	uint32_t warnings;
	uint32_t exact; /* depth that the last warning names, 0 = to within a chunk */
} rows[] = {
	{{0}, 9999, 0, 0},
	{{0}, 10000 + CHUNK, 1, 0},
	{{0}, 19999, 1, 0},
	{{0}, 20000 + CHUNK, 2, 0},
	{{0}, 90000, 4, 0}, /* 10 000, 20 000, 40 000, 80 000 */
	{{.high_water = -1}, 90000, 0, 0},
	{{.high_water = 100}, 99, 0, 0},
	{{.high_water = 100}, 100 + CHUNK, 1, 0},
	{{.high_water = 100}, 1000, 4, 0},
	{{.high_water = 100, .rank = rank}, 99, 0, 0},
	{{.high_water = 100, .rank = rank}, 1000, 4, 800},
	{{.capacity = 50}, 90000, 0, 0},
	{{.capacity = 50, .high_water = 50}, 90000, 1, 50},
	{{.capacity = 20000}, 90000, 2, 20000},
};

static void a_warning_comes_at_the_mark_and_at_each_doubling(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_mailbox_options mailbox = rows[i].mailbox;
		char depth[64];
		struct lab lab;
		actor_ref ref;

		mailbox.size = sizeof(mailbox);
		lab_open(&lab, NULL);
		ref = sink_spawn(&lab, "full", &mailbox);
		tell(&lab, ref, rows[i].told);
		if (lab.logged != rows[i].warnings)
			fail_msg("row %zu: %u warnings", i, lab.logged);
		snprintf(depth, sizeof(depth), " holds %u messages", rows[i].exact);
		if (rows[i].warnings) {
			assert_non_null(strstr(lab.last_log, "/user/full (sink) holds "));
			assert_true(!rows[i].exact || strstr(lab.last_log, depth));
		}
		/* Never again, however often it is emptied and filled. */
		lab_run(&lab);
		tell(&lab, ref, rows[i].told);
		lab_run(&lab);
		assert_int_equal(lab.logged, rows[i].warnings);
		lab_close(&lab);
		assert_int_equal(entries(), 0);
	}
}

/* ---- the table ---- */

static uint32_t pass_depth[LAB_PASSES];
static uint32_t passes;
static actor_ref watched;
static uv_prepare_t prepare;

/* Between two passes: what the table says. */
static void on_prepare(uv_prepare_t *handle)
{
	const struct actor_abi_deep *entry = entry_of(watched);

	if (passes < LAB_PASSES)
		pass_depth[passes++] = entry ? (uint32_t)entry->depth : 0;
}

static void deep_follows(const struct actor_mailbox_options *mailbox)
{
	const uint32_t told = 20011;
	struct lab lab;
	uint32_t left;

	lab_open(&lab, NULL);
	watched = sink_spawn(&lab, "deep", mailbox);
	for (uint32_t i = 1; i <= told; i++) {
		const struct actor_abi_deep *entry;

		tell(&lab, watched, 1);
		entry = entry_of(watched);
		if (i < ACTOR__DEEP)
			assert_null(entry);
		else if (i >= ACTOR__DEEP + CHUNK)
			assert_in_range(entry->depth, i - CHUNK - 1, i);
	}
	assert_int_equal(entries(), 1);
	passes = 0;
	uv_prepare_init(&lab.loop, &prepare);
	uv_prepare_start(&prepare, on_prepare);
	uv_unref((uv_handle_t *)&prepare);
	lab_run(&lab);
	/* A pass handles 16 messages: one turn of the only actor, up to 64 times. */
	left = told;
	for (uint32_t i = 1; i < passes; i++) {
		assert_true(pass_depth[i] <= left);
		if (pass_depth[i])
			left = pass_depth[i];
		else
			assert_true(left < ACTOR__DEEP + 64 * 16 + CHUNK);
	}
	assert_true(left < told);
	assert_int_equal(entries(), 0);
	uv_close((uv_handle_t *)&prepare, NULL);
	lab_close(&lab);
}

static void the_table_follows_growth_and_shrinking(void **state)
{
	static const struct actor_mailbox_options by_rank = {.size = sizeof(by_rank), .rank = rank};

	(void)state;
	deep_follows(NULL);
	deep_follows(&by_rank);
}

static void an_actor_that_ends_leaves_the_table(void **state)
{
	static const struct actor_mailbox_options kinds[] = {
		{.size = sizeof(kinds[0])}, {.size = sizeof(kinds[0]), .rank = rank}};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct lab lab;
		actor_ref ref;

		lab_open(&lab, NULL);
		ref = sink_spawn(&lab, NULL, &kinds[i]);
		assert_int_equal(actor_system_stop(lab.system, ref), 0);
		tell(&lab, ref, 12000);
		assert_non_null(entry_of(ref));
		lab_run(&lab);
		assert_int_equal(entries(), 0);
		assert_int_equal(atomic_load(&lab.dead_letters), 12000);
		lab_close(&lab);
	}
}

static void more_deep_mailboxes_than_the_table_has_places_are_fine(void **state)
{
	actor_ref refs[ACTOR_ABI_DEEP + 3];
	struct lab lab;

	(void)state;
	lab_open(&lab, NULL);
	for (size_t i = 0; i < COUNT(refs); i++) {
		refs[i] = sink_spawn(&lab, NULL, NULL);
		tell(&lab, refs[i], 10100);
	}
	assert_int_equal(entries(), ACTOR_ABI_DEEP);
	assert_null(entry_of(refs[COUNT(refs) - 1]));
	lab_run(&lab);
	assert_int_equal(entries(), 0);
	/* Who found no place takes one when it grows and there is one. */
	tell(&lab, refs[COUNT(refs) - 1], 10100);
	assert_non_null(entry_of(refs[COUNT(refs) - 1]));
	lab_run(&lab);
	lab_close(&lab);
}

static struct actor__heap usual_heap;
static int64_t slabs;

static void *slab_alloc(size_t align, size_t bytes)
{
	slabs += bytes == ACTOR__SLAB_BYTES;
	return usual_heap.alloc(align, bytes);
}

/* Hardly anything but a slab has that alignment. */
static void slab_free(void *block)
{
	slabs -= (uintptr_t)block % ACTOR__SLAB_BYTES == 0;
	usual_heap.free(block);
}

static void on_rest(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

/* A loop gives memory back when it is about to sleep. */
static void rest(struct lab *lab)
{
	uv_timer_t timer;

	uv_timer_init(&lab->loop, &timer);
	uv_timer_start(&timer, on_rest, 20, 0);
	lab_run(lab);
}

/* Ten million in a plain mailbox, a tenth of it in others; what they took is given back. */
static void ten_million_messages_come_and_go(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		uint32_t told;
	} kinds[] = {
		{{.size = sizeof(kinds[0].mailbox), .high_water = -1}, MANY},
		{{.size = sizeof(kinds[0].mailbox), .high_water = -1, .rank = rank}, MANY / 10},
		{{.size = sizeof(kinds[0].mailbox), .high_water = -1, .capacity = MANY / 10}, MANY / 10 + 100},
	};

	(void)state;
	usual_heap = actor__heap;
	actor__heap = (struct actor__heap){slab_alloc, slab_free};
	for (size_t i = 0; i < COUNT(kinds); i++) {
		uint64_t began = now_ns();
		int64_t before = slabs;
		struct lab lab;
		actor_ref ref;

		lab_open(&lab, NULL);
		ref = sink_spawn(&lab, NULL, &kinds[i].mailbox);
		tell(&lab, ref, kinds[i].told);
		assert_true(slabs > before + kinds[i].told / 1024);
		lab_run(&lab);
		rest(&lab);
		assert_int_equal(
			lab_stats(&lab).delivered + lab_stats(&lab).dropped, kinds[i].told);
		assert_true(now_ns() - began < 100 * 1000000000ull);
		assert_true(slabs <= before + ACTOR__SLABS_FREE + 3);
		lab_close(&lab);
	}
	actor__heap = usual_heap;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_warning_comes_at_the_mark_and_at_each_doubling),
		cmocka_unit_test(the_table_follows_growth_and_shrinking),
		cmocka_unit_test(an_actor_that_ends_leaves_the_table),
		cmocka_unit_test(more_deep_mailboxes_than_the_table_has_places_are_fine),
		cmocka_unit_test(ten_million_messages_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
