/* SPDX-License-Identifier: MIT */
/* Attaches to a program in which actors come, go and fail, and finds each counter of it among the
 * metrics, exactly. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <unistd.h>

#include "tests/loaded.h"
#include "tests/program.h"

static struct program tool, page;

static const struct {
	const char *sample;
	double count;
} samples[] = {
	{"actor_created_total{class=\"worker\"}", LOAD_CREATED},
	{"actor_created_total{class=\"patient\"}", 1},
	{"actor_terminated_total{class=\"worker\"}", LOAD_TERMINATED},
	{"actor_restarted_total{class=\"patient\"}", LOAD_RESTARTED},
	/* Whoever told a reference of long ago told nobody that a class is known of. */
	{"actor_dead_letters_total{class=\"(unknown)\"}", LOAD_DEAD_LETTERS},
	{"actor_dead_letters_total{class=\"worker\"}", LOAD_LEFT},
	{"actor_dispatcher_errors_total{dispatcher=\"fragile\"}", LOAD_DISPATCHER_ERRORS},
	{"actor_messages_delivered_total{class=\"patient\"}", LOAD_RESTARTED},
};

static double value_of(const char *sample)
{
	char start[160];
	const char *at;

	snprintf(start, sizeof(start), "\n%s ", sample);
	at = strstr(page.out, start);
	return at ? strtod(at + strlen(start), NULL) : -1;
}

static void read_page(void)
{
	char url[128];

	assert_int_equal(sscanf(strstr(tool.err, "http://"), "%127s", url), 1);
	program_run(&page, "curl -sf %s", url);
	assert_int_equal(page.exit, 0);
}

static void each_life_event_is_a_counter(void **state)
{
	char file[PATH_MAX], path[PATH_MAX];
	struct loaded load;

	(void)state;
	snprintf(file, sizeof(file), "%s_lives", loaded_program());
	assert_non_null(realpath(file, path));
	loaded_start_file(&load, path, "");
	program_start(&tool, "$A export -p %d --listen 127.0.0.1:0", load.pid);
	program_expect(&tool, tool.err, "/metrics\n");
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	read_page();
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (value_of(samples[i].sample) != samples[i].count)
			fail_msg("%s is %g in place of %g", samples[i].sample,
				value_of(samples[i].sample), samples[i].count);
	kill(tool.pid, SIGTERM);
	program_wait(&tool);
	loaded_stop(&load);
}

static void everything_that_attaches(void **state)
{
	(void)state;
	print_message("SKIP test_lives: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_life_event_is_a_counter)};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
