/* SPDX-License-Identifier: MIT */
/* Command lines that are understood, and one sentence for each that is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "probe/arguments.h"

static int parse(struct arguments *a, const char *line, struct error *error)
{
	static char words[512];
	char *argv[32] = {"actorprobe"};
	int argc = 1;
	char *rest;

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	*error = (struct error){0};
	return arguments_parse(a, argc, argv, error);
}

static void lines_that_are_understood(void **state)
{
	static const struct {
		const char *line;
		enum option_command command;
		int pid;
		uint64_t interval_ns, count, duration_ns;
		enum grouping by;
	} rows[] = {
		{"-p 7", OPTION_LIVE, 7, 0, 0, 0, GROUPING_FULL},
		{"-p7 0.5", OPTION_LIVE, 7, 500000000, 0, 0, GROUPING_FULL},
		{"--pid=7 1 5", OPTION_LIVE, 7, 1000000000, 5, 0, GROUPING_FULL},
		{"hist -p 7", OPTION_HIST, 7, 0, 0, 0, GROUPING_FULL},
		{"-p 7 hist 2 3 -d 4", OPTION_HIST, 7, 2000000000, 3, 4000000000, GROUPING_FULL},
		{"hist -p 7 --by class", OPTION_HIST, 7, 0, 0, 0, GROUPING_CLASS},
		{"hist -p 7 --by=actor", OPTION_HIST, 7, 0, 0, 0, GROUPING_ACTOR},
		{"hist -p 7 --by dispatcher", OPTION_HIST, 7, 0, 0, 0, GROUPING_DISPATCHER},
		{"hist -p 7 --mode trace --perf-events -jTv", OPTION_HIST, 7, 0, 0, 0,
			GROUPING_FULL},
		{"export -p 7 --listen [::1]:1", OPTION_EXPORT, 7, 0, 0, 0, GROUPING_FULL},
		{"list -j", OPTION_LIST, 0, 0, 0, 0, GROUPING_FULL},
		{"doctor", OPTION_DOCTOR, 0, 0, 0, 0, GROUPING_FULL},
		{"--help", OPTION_HELP, 0, 0, 0, 0, GROUPING_FULL},
		{"hist --help", OPTION_HELP, 0, 0, 0, 0, GROUPING_FULL},
		{"--version", OPTION_VERSION, 0, 0, 0, 0, GROUPING_FULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arguments a;
		struct error error;

		assert_int_equal(parse(&a, rows[i].line, &error), 0);
		assert_string_equal(error.text, "");
		assert_int_equal(a.command, rows[i].command);
		assert_int_equal(a.pid, rows[i].pid);
		assert_int_equal(a.interval_ns, rows[i].interval_ns);
		assert_int_equal(a.count, rows[i].count);
		assert_int_equal(a.duration_ns, rows[i].duration_ns);
		assert_int_equal(a.by, rows[i].by);
	}
}

static void options_reach_their_fields(void **state)
{
	struct arguments a;
	struct error error;

	assert_int_equal(parse(&a, "hist -p 7 -j -T -v --perf-events --max-series 12", &error), 0);
	assert_true(a.json && a.timestamps && a.verbose && a.force_perf);
	assert_int_equal(a.max_series, 12);
	assert_int_equal(parse(&a, "hist -p 7", &error), 0);
	assert_false(a.json || a.timestamps || a.verbose || a.force_perf);
	assert_int_equal(a.max_series, 1000);
}

static void lines_that_are_refused(void **state)
{
	static const struct {
		const char *line;
		const char *says;
	} rows[] = {
		{"", "give -p PID"},
		{"hist", "give -p PID"},
		{"export", "give -p PID"},
		{"hist -p", "option '-p' needs a value"},
		{"hist --pid", "option '--pid' needs a value"},
		{"hist -p 0", "bad process id '0'"},
		{"hist -p -1", "bad process id '-1'"},
		{"hist -p 12x", "bad process id '12x'"},
		{"hist -p 2147483648", "bad process id"},
		{"hist -p 99999999999999999999", "bad process id"},
		{"-p 7 --nonsense", "unknown or ambiguous option '--nonsense'"},
		{"-p 7 -z", "unknown or ambiguous option '-z'"},
		{"hist -p 7 -jz", "unknown or ambiguous option '-jz'"},
		{"hist -p 7 -zj", "unknown or ambiguous option '-zj'"},
		{"hist -p 7 --m x", "unknown or ambiguous option '--m'"},
		{"hist -p 7 --json=1", "option '--json=1' takes no value"},
		{"nonsense -p 7", "unknown command 'nonsense'"},
		{"-p 7 -- -5", "unknown command '-5'"},
		{"hist -p 7 0", "bad interval '0'"},
		{"hist -p 7 -1", "unknown or ambiguous option '-1'"},
		{"hist -p 7 abc", "bad interval 'abc'"},
		{"hist -p 7 1e9", "bad interval '1e9'"},
		{"hist -p 7 99999999999", "bad interval"},
		{"hist -p 7 1 0", "bad count '0'"},
		{"hist -p 7 1 1.5", "bad count '1.5'"},
		{"hist -p 7 1 4294967296", "bad count"},
		{"hist -p 7 1 2 3", "one argument too many: '3'"},
		{"hist -p 7 -d 0", "bad duration '0'"},
		{"hist -p 7 -d soon", "bad duration 'soon'"},
		{"hist -p 7 --by loop", "cannot group by 'loop'"},
		{"hist -p 7 --by", "option '--by' needs a value"},
		{"hist -p 7 --mode trace --sample 2", "--sample takes whole batches"},
		{"hist -p 7 --max-overhead 0", "bad share '0'"},
		{"hist -p 7 --max-overhead 2x", "bad share '2x'"},
		{"hist -p 7 --max-overhead much", "bad share"},
		{"hist -p 7 --sample 0", "bad sampling '0'"},
		{"hist -p 7 --mode x", "unknown mode 'x'"},
		{"hist -p 7 --max-series 0", "bad number of series"},
		{"export -p 7 --listen", "option '--listen' needs a value"},
		{"export -p 7 --listen nowhere", "bad address 'nowhere'"},
		{"export -p 7 --listen 127.0.0.1:99999", "bad address"},
		{"export -p 7 1", "'export' takes no interval"},
		{"list -p 7", "option '--pid' means nothing to 'list'"},
		{"list 1", "'list' takes no interval"},
		{"doctor -d 1", "option '--duration' means nothing to 'doctor'"},
		{"-p 7 -j", "option '--json' means nothing to '-p PID'"},
		{"-p 7 --by class", "option '--by' means nothing to '-p PID'"},
		{"hist -p 7 --listen ::1", "option '--listen' means nothing to 'hist'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arguments a;
		struct error error;

		assert_int_equal(parse(&a, rows[i].line, &error), EXIT_USAGE);
		if (!strstr(error.text, rows[i].says))
			fail_msg("'%s' says '%s'", rows[i].line, error.text);
		/* Cause and way out in one sentence. */
		assert_non_null(strstr(error.text, rows[i].line[0] ? "; " : "? "));
		assert_null(strchr(error.text, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_are_understood),
		cmocka_unit_test(options_reach_their_fields),
		cmocka_unit_test(lines_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
