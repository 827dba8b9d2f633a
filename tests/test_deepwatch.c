/* SPDX-License-Identifier: MIT */
/* The root's table of deep mailboxes, read from this process's own memory: true ones and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/deepwatch.h"
#include "probe/remote.h"

#define LOOP 9u

static struct actor_abi_root root;
static struct actor_abi_name classes[8], dispatchers[8];
static struct actor_abi_actor actors[8];
static struct actor_abi_loop loop;
static uint64_t class_segments[1], dispatcher_segments[1], actor_segments[1];
static struct remote *remote;
static const struct calibration nanoseconds = {1u << 30, 30};

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t id(uint32_t index)
{
	return (uint64_t)LOOP << 56 | (uint64_t)index << 32 | actors[index].generation;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void name(struct actor_abi_name *entry, const char *text)
{
	entry->bytes = (uint32_t)strlen(text);
	strcpy(entry->text, text);
}

static int set_up(void **state)
{
	(void)state;
	memset(&root, 0, sizeof(root));
	memset(&loop, 0, sizeof(loop));
	memset(actors, 0, sizeof(actors));
	root.magic = ACTOR_ABI_MAGIC;
	root.major = ACTOR_ABI_MAJOR;
	root.bytes = sizeof(root);
	root.first_monotonic_ns = 1;
	class_segments[0] = at(classes);
	root.classes = (struct actor_abi_table){at(class_segments), 1, 8, sizeof(classes[0]), 3};
	name(&classes[1], "sink");
	dispatcher_segments[0] = at(dispatchers);
	root.dispatchers = (struct actor_abi_table){
		at(dispatcher_segments), 1, 8, sizeof(dispatchers[0]), 3};
	name(&dispatchers[1], "hybrid");
	loop.state = ACTOR_ABI_LOOP_OPEN;
	actor_segments[0] = at(actors);
	loop.actors = (struct actor_abi_table){at(actor_segments), 1, 8, sizeof(actors[0]), 8};
	root.loops[LOOP] = at(&loop);
	for (uint32_t i = 1; i < 6; i++)
		actors[i] = (struct actor_abi_actor){
			.generation = 7 + i, .class_id = 1, .dispatcher = 1};
	actors[1].name = at("one\n");
	return remote_open(&remote, getpid(), getpid());
}

static int tear_down(void **state)
{
	(void)state;
	remote_close(remote);
	return 0;
}

static struct aggregate fill(void)
{
	struct aggregate a = {0};
	struct directory *d = NULL;

	assert_int_equal(directory_read(&d, remote, at(&root), 0), 0);
	assert_int_equal(deepwatch_fill(d, remote, &nanoseconds, &a), 0);
	directory_free(d);
	return a;
}

static void deep_mailboxes_are_named_and_aged(void **state)
{
	struct aggregate a;

	(void)state;
	root.deep[3] = (struct actor_abi_deep){id(1), 10007, now_ns() - 2000000000u};
	root.deep[63] = (struct actor_abi_deep){id(2), UINT64_MAX, 0};
	a = fill();
	assert_int_equal(a.deep_count, 2);
	assert_string_equal(a.deep[0].actor, "/user/one\\x0a");
	assert_string_equal(a.deep[0].class_name, "sink");
	assert_string_equal(a.deep[0].dispatcher, "hybrid");
	assert_int_equal(a.deep[0].messages, 10007);
	assert_true(a.deep[0].timed);
	assert_in_range(a.deep[0].oldest_ns, 2000000000u, 60000000000u);
	assert_string_equal(a.deep[1].actor, "/user/$2.9");
	assert_int_equal(a.deep[1].messages, UINT64_MAX);
	assert_false(a.deep[1].timed);
	aggregate_fini(&a);
}

static void an_empty_table_has_no_rows(void **state)
{
	struct aggregate a = fill();

	(void)state;
	assert_int_equal(a.deep_count, 0);
	assert_null(a.deep);
	aggregate_fini(&a);
}

static void entries_that_cannot_be_true_are_left_out(void **state)
{
	const struct {
		struct actor_abi_deep entry;
		size_t rows;
	} cases[] = {
		{{id(1), 9999, 0}, 0},
		{{id(1), 0, 0}, 0},		   /* taken, and not filled yet */
		{{0, 20000, 0}, 0},		   /* free */
		{{id(1) + 1, 20000, 0}, 0},	   /* another generation */
		{{id(7), 20000, 0}, 0},		   /* a free slot */
		{{UINT64_MAX, UINT64_MAX, UINT64_MAX}, 0},
		{{id(1), 20000, UINT64_MAX}, 1},   /* told in the future: not timed */
		{{id(1), 20000, 1}, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aggregate a;

		for (size_t j = 0; j < ACTOR_ABI_DEEP; j++)
			root.deep[j] = cases[i].entry;
		a = fill();
		assert_int_equal(a.deep_count, cases[i].rows * ACTOR_ABI_DEEP);
		if (cases[i].entry.oldest_ticks == UINT64_MAX && a.deep_count)
			assert_false(a.deep[0].timed);
		aggregate_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			deep_mailboxes_are_named_and_aged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_table_has_no_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			entries_that_cannot_be_true_are_left_out, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
