/* SPDX-License-Identifier: MIT */
/* Reads its own memory as a target: names, paths, hostile tables, and memory that hangs. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/directory.h"
#include "probe/escape.h"
#include "probe/remote.h"

#define LOOP 9u

static struct actor_abi_root root;
static struct actor_abi_name classes[64];
static struct actor_abi_actor actors[8];
static struct actor_abi_loop loop;
static uint64_t class_segments[4], actor_segments[1];
static struct remote *remote;

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t id(uint32_t index)
{
	return (uint64_t)LOOP << 56 | (uint64_t)index << 32 | actors[index].generation;
}

static int set_up(void **state)
{
	(void)state;
	memset(&root, 0, sizeof(root));
	memset(classes, 0, sizeof(classes));
	memset(&loop, 0, sizeof(loop));
	memset(actors, 0, sizeof(actors));
	root.magic = ACTOR_ABI_MAGIC;
	root.major = ACTOR_ABI_MAJOR;
	root.bytes = sizeof(root);
	root.first_monotonic_ns = 1;
	class_segments[0] = at(classes);
	root.classes = (struct actor_abi_table){at(class_segments), 4, 64, sizeof(classes[0]), 3};
	classes[1].bytes = 5;
	strcpy(classes[1].text, "alpha");
	classes[2].bytes = 4000000000u;
	memset(classes[2].text, 'y', sizeof(classes[2].text));
	loop.state = ACTOR_ABI_LOOP_OPEN;
	strcpy(loop.system, "sys\ntem");
	actor_segments[0] = at(actors);
	loop.actors = (struct actor_abi_table){at(actor_segments), 1, 8, sizeof(actors[0]), 8};
	root.loops[LOOP] = at(&loop);
	for (uint32_t i = 1; i < 6; i++)
		actors[i].generation = 0x20000 + i;
	return remote_open(&remote, getpid(), getpid());
}

static int tear_down(void **state)
{
	(void)state;
	remote_close(remote);
	return 0;
}

static struct directory *read_all(int expected)
{
	struct directory *d = NULL;

	assert_int_equal(directory_read(&d, remote, at(&root), 1), expected);
	return d;
}

static void assert_label(const struct directory *d, uint32_t class_id, const char *expected)
{
	char *text = directory_label(&d->classes, class_id);

	assert_string_equal(text, expected);
	free(text);
}

static void names_are_cut_and_escaped(void **state)
{
	struct directory *d = read_all(0);
	char *text = directory_label(&d->classes, 2);

	(void)state;
	assert_label(d, 1, "alpha");
	assert_label(d, 0, "#0");
	assert_label(d, 3, "#3");
	assert_label(d, 0xffffffff, "#4294967295");
	assert_int_equal(strlen(text), ACTOR_ABI_NAME_BYTES - 1);
	assert_string_equal(d->loops[0].system, "sys\\x0atem");
	assert_int_equal(d->loops[0].loop, LOOP);
	assert_int_equal(d->actors[0], 5);
	free(text);
	directory_free(d);
}

static void hostile_tables_have_no_names(void **state)
{
	static const struct actor_abi_table tables[] = {
		{0, 4, 64, 80, 3},
		{8, 4, 64, 80, 4000000000u},
		{UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
		{UINT64_MAX - 8, 4, 1, 80, 65536},
		{0, 4, 0, 80, 3},
		{0, 4, 64, 1, 3},
		{0, 4, 64, 0, 3},
		{0, 0, 64, 80, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct directory *d;

		root.classes = root.types = tables[i];
		loop.actors = tables[i];
		d = read_all(0);
		assert_label(d, 1, "#1");
		directory_free(d);
	}
}

static void an_entry_may_be_larger_than_ours(void **state)
{
	struct directory *d;
	static uint8_t large[3][200];

	(void)state;
	memcpy(large[1], &classes[1], sizeof(classes[1]));
	class_segments[0] = at(large);
	root.classes.entry_bytes = sizeof(large[0]);
	d = read_all(0);
	assert_label(d, 1, "alpha");
	directory_free(d);
}

static void roots_that_are_none_are_refused(void **state)
{
	struct directory *d = NULL;

	(void)state;
	root.magic++;
	read_all(-EPROTO);
	root.magic--;
	root.bytes = 8;
	read_all(-EPROTO);
	assert_int_equal(directory_read(&d, remote, 0, 0), -EFAULT);
	assert_int_equal(directory_read(&d, remote, UINT64_MAX - 3, 0), -EFAULT);
	root.bytes = sizeof(root);
	root.major = 9;
	d = read_all(0);
	assert_int_equal(d->major, 9);
	assert_int_equal(d->loop_count, 0);
	directory_free(d);
}

static void check_path(uint64_t actor, uint64_t mask, const char *expected)
{
	struct directory *d = read_all(0);
	struct directory_wish wish = {.actor = actor, .mask = mask};

	assert_int_equal(directory_resolve(d, remote, &wish, 1), 0);
	if (expected) {
		assert_non_null(wish.path);
		assert_string_equal(wish.path, expected);
	} else {
		assert_null(wish.path);
	}
	free(wish.path);
	directory_free(d);
}

static void paths_follow_parents(void **state)
{
	(void)state;
	actors[1].name = at("shop");
	actors[2].name = at("till");
	actors[2].parent = id(1);
	actors[3].parent = id(2);
	check_path(id(1), UINT32_MAX, "/user/shop");
	check_path(id(2), UINT32_MAX, "/user/shop/till");
	check_path(id(3), UINT32_MAX, "/user/shop/till/$3.131075");
	check_path(id(2) & ~0xffff0000ull, 0xffff, "/user/shop/till");
	check_path(id(2) + 1, UINT32_MAX, NULL); /* another generation */
	check_path(id(7), UINT32_MAX, NULL);	 /* a free slot */
	check_path(id(0) | 0xffffff00000000ull, UINT32_MAX, NULL);
	actors[1].generation++; /* the parent has gone */
	check_path(id(2), UINT32_MAX, "/user/#1/till");
}

static void chains_of_parents_end(void **state)
{
	struct directory *d;
	struct directory_wish wish = {.mask = UINT32_MAX};
	static char endless[8192];

	(void)state;
	memset(endless, 'e', sizeof(endless) - 1);
	actors[1].name = at("a");
	actors[1].parent = id(2);
	actors[2].name = at("b");
	actors[2].parent = id(1);
	actors[3].name = at(endless);
	actors[3].parent = id(3);
	d = read_all(0);
	for (uint32_t i = 1; i < 4; i++) {
		wish.actor = id(i);
		assert_int_equal(directory_resolve(d, remote, &wish, 1), 0);
		assert_int_equal(strncmp(wish.path, "/user/.../", 10), 0);
		assert_true(strlen(wish.path) < 1024);
		free(wish.path);
	}
	directory_free(d);
}

/* A page that nobody supplies. Returns the descriptor that holds it back. */
static int page_hold(void *page)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {at(page), 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 &&
		(ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void memory_that_hangs_is_left_alone(void **state)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec from, to, wait = {.tv_nsec = 50000000};
	struct directory *d = NULL;
	int fd = page_hold(page), r;

	(void)state;
	if (fd < 0) {
		print_message("SKIP %s: no userfaultfd\n", __func__);
		skip();
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	r = directory_read(&d, remote, at(page), 0); /* some kernels refuse, others hang */
	assert_true(r == -ETIMEDOUT || r == -EFAULT);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 2);
	r = -EBUSY;
	close(fd);
	for (int i = 0; i < 100 && r == -EBUSY; i++) {
		nanosleep(&wait, NULL);
		r = directory_read(&d, remote, at(&root), 0);
	}
	assert_int_equal(r, 0);
	directory_free(d);
	munmap(page, 4096);
}

static int sleepy_job(struct remote *r, void *argument)
{
	struct timespec while_ = {.tv_nsec = 600000000};

	(void)r;
	nanosleep(&while_, NULL);
	*(int *)argument = 1;
	return 0;
}

static void drop_job(void *argument)
{
	free(argument);
}

static void a_late_job_is_abandoned_and_freed(void **state)
{
	int *first = calloc(1, sizeof(*first)), second = 0;
	struct timespec while_ = {.tv_nsec = 700000000};

	(void)state;
	assert_int_equal(remote_run(remote, sleepy_job, first, drop_job), -ETIMEDOUT);
	assert_int_equal(remote_run(remote, sleepy_job, &second, NULL), -EBUSY);
	assert_int_equal(second, 0);
	nanosleep(&while_, NULL);
	directory_free(read_all(0)); /* it serves again */
}

static void foreign_text_is_made_safe(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{"plain", "plain"},
		{"", ""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\x1b[2J", "\\x1b[2J"},
		{"a\nb\tc", "a\\x0ab\\x09c"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc3", "\\xc3"},			      /* cut off */
		{"\xc0\xaf", "\\xc0\\xaf"},		      /* longer than needed */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},	      /* a surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
		{"\xe2\x80\xae", "\\xe2\\x80\\xae"},	      /* right to left */
		{"\xc2\x9b", "\\xc2\\x9b"},		      /* a control of eight bits */
		{"\x7f", "\\x7f"},
	};
	char small[6];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = escape_copy(rows[i].from, strlen(rows[i].from));

		assert_string_equal(text, rows[i].to);
		free(text);
	}
	assert_int_equal(escape_text(small, sizeof(small), "abcd\x01", 5), 4);
	assert_string_equal(small, "abcd");
	assert_int_equal(escape_text(small, sizeof(small), "ab\xf0\x9f\x98\x80", 6), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_cut_and_escaped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_tables_have_no_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_entry_may_be_larger_than_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(roots_that_are_none_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(paths_follow_parents, set_up, tear_down),
		cmocka_unit_test_setup_teardown(chains_of_parents_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_that_hangs_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_late_job_is_abandoned_and_freed, set_up, tear_down),
		cmocka_unit_test(foreign_text_is_made_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
