/* SPDX-License-Identifier: MIT */
/* Configuration files: what is refused with which sentence, and what is taken. */
#include "tests/configured.h"

#include <sys/stat.h>

/* ---- what is refused ---- */

#define A_BUDGET "is not allowed: a whole number from 1 to 1000000"
#define A_KIND	 "is not allowed: hybrid, microtask, immediate or throughput"

static const struct refusal {
	const char *text;
	const char *sentence; /* behind "actor.conf:" */
} refusals[] = {
	{"actor = { throughput = 0; };", "1: actor.throughput = 0 " A_BUDGET},
	{"actor = { throughput = -1; };", "1: actor.throughput = -1 " A_BUDGET},
	{"\nactor = {\n throughput = 1000001;\n};", "3: actor.throughput = 1000001 " A_BUDGET},
	{"actor = { throughput = \"16\"; };", "1: actor.throughput = \"16\" " A_BUDGET},
	{"actor = { throughput = 1.5; };", "1: actor.throughput = 1.5 " A_BUDGET},
	{"actor = { throughput = true; };", "1: actor.throughput = true " A_BUDGET},
	{"actor = { throughput = { a = 1; }; };", "1: actor.throughput = {...} " A_BUDGET},
	{"actor = { throughput = [ 1 ]; };", "1: actor.throughput = (...) " A_BUDGET},
	/* libconfig would read these as 16 */
	{"actor = { throughput = 4294967312; };",
		"1: the number 4294967312 is too long: at most 9 digits"},
	{"actor = { throughput = 0x100000010; };",
		"1: the number 0x100000010 is too long: at most 9 digits"},
	{"actor = { troughput = 1; };",
		"1: there is no key actor.troughput; allowed here: throughput"},
	{"actor = 5;", "1: actor = 5 is not allowed: a group of keys in braces"},
	{"dispatcher = { default = \"fast\"; };", "1: dispatcher.default = \"fast\" " A_KIND},
	{"dispatcher = { default = \"\"; };", "1: dispatcher.default = \"\" " A_KIND},
	{"dispatcher = { default = 1; };", "1: dispatcher.default = 1 " A_KIND},
	{"dispatcher = { throughput = 0; };", "1: dispatcher.throughput = 0 " A_BUDGET},
	{"dispatcher = { hybrid_budget = 0; };", "1: dispatcher.hybrid_budget = 0 " A_BUDGET},
	{"dispatcher = { hybrid_budget = -64; };", "1: dispatcher.hybrid_budget = -64 " A_BUDGET},
	{"dispatcher = { hybrid_budget = 2000000; };",
		"1: dispatcher.hybrid_budget = 2000000 " A_BUDGET},
	{"dispatcher = { budget = 3; };", "1: there is no key dispatcher.budget; allowed here: "
					  "default, throughput, hybrid_budget"},
	{"system = { drain_ms = -1; };",
		"1: system.drain_ms = -1 is not allowed: a whole number of "
		"milliseconds from 0 to 3600000"},
	{"log = { level = \"loud\"; };", "1: log.level = \"loud\" is not allowed: debug, info, "
					 "warning, error or off"},
	{"shutdown = { phase_timeout_ms = 0; };",
		"1: shutdown.phase_timeout_ms = 0 is not allowed: a whole number of milliseconds "
		"from 1 to 3600000"},
	{"override = 1;", "1: override = 1 is not allowed: true or false"},
	{"colour = 1;", "1: there is no key colour; allowed here: override, actor, class, "
			"dispatcher, log, shutdown, system"},
	{"class = 1;", "1: class = 1 is not allowed: a group of classes, or a list"},
	{"class = { look = 3; };",
		"1: class.look = 3 is not allowed: a group like { throughput = 16; }"},
	{"class = { look = { throughput = 0; }; };", "1: class.look.throughput = 0 " A_BUDGET},
	{"class = { look = { name = \"x\"; }; };", "1: there is no key class.look.name; allowed "
						   "here: throughput, dispatcher"},
	{"class = { look = { dispatcher = \"odd\"; }; };",
		"1: class.look.dispatcher = \"odd\" " A_KIND
		", or { kind = \"...\"; budget = ...; }"},
	{"class = { look = { dispatcher = {\nkind = \"odd\"; }; }; };",
		"2: class.look.dispatcher.kind = \"odd\" " A_KIND},
	{"class = { look = { dispatcher = { budget = 5; }; }; };",
		"1: class.look.dispatcher.kind is missing: hybrid, microtask, immediate or "
		"throughput"},
	{"class = { look = { dispatcher = { kind = \"microtask\"; budget = 5; }; }; };",
		"1: class.look.dispatcher.budget is not allowed: only hybrid and throughput have "
		"one"},
	{"class = { look = { dispatcher = { kind = \"hybrid\"; budget = 0; }; }; };",
		"1: class.look.dispatcher.budget = 0 " A_BUDGET},
	{"class = { look = { dispatcher = { kind = \"hybrid\"; size = 0; }; }; };",
		"1: there is no key class.look.dispatcher.size; allowed here: kind, budget"},
	{"class = ( { throughput = 3; } );", "1: a class in a list needs its name: { name = "
					     "\"...\"; throughput = 16; }"},
	{"class = ( 3 );",
		"1: class.element = 3 is not allowed: a group like { throughput = 16; }"},
	{"class = (\n{ name = \"a\"; },\n{ name = \"a\"; } );", "3: class a is there twice"},
	{"class = ( { name = \"a/b\"; } );",
		"1: \"a/b\" cannot be a class: a name must have 1 to 63 bytes, no '/', '\\' or "
		"control bytes, no '$' in front, and must not be '.' or '..'"},
	{"actor = { throughput = 1; };\nactor = { throughput = 2; };", "2: duplicate setting name"},
	{"actor = {\nthroughput 1; };", "2: syntax error"},
	{"actor.throughput = 1;", "1: syntax error"},
	{"/* no end\n", "1: the comment has no end"},
	{"\nlog = { level = \"no end\n", "2: the string has no end"},
	{"# fine\n @include \"" FILE_NAME "\"\n",
		"2: @include is not allowed: all keys stand in one file"},
	{"/*\n@include \"x\"\n*/", "2: @include is not allowed: all keys stand in one file"},
	{"a = ((((((((( 1 )))))))));", "1: groups and lists are nested more than 8 levels deep"},
	{"log = { level = \"\x1b[31mred\"; };",
		"1: log.level = \"?[31mred\" is not allowed: debug, "
		"info, warning, error or off"},
};

static void a_wrong_key_or_value_is_refused_with_line_and_what_is_allowed(void **state)
{
	char expected[1024];

	for (size_t i = 0; i < COUNT(refusals); i++) {
		setup(NULL);
		assert_int_equal(open_text(refusals[i].text), ACTOR_ECONFIG);
		snprintf(expected, sizeof(expected), FILE_NAME ":%s", refusals[i].sentence);
		assert_int_equal(line_count, 1);
		assert_int_equal(lines[0].level, ACTOR_LOG_ERROR);
		assert_string_equal(lines[0].text, expected);
	}
}

static void budgets_of_0_and_below_are_refused_case_29(void **state)
{
	static const char *const keys[] = {"actor = { throughput", "dispatcher = { throughput",
		"dispatcher = { hybrid_budget", "class = { a = { throughput"};
	static const char *const values[] = {"0", "-1", "-1000000", "1000001", "999999999"};
	char text[128];

	for (size_t k = 0; k < COUNT(keys); k++)
		for (size_t v = 0; v < COUNT(values); v++) {
			snprintf(text, sizeof(text), "%s = %s; }%s", keys[k], values[v],
				k == 3 ? "; }" : "");
			assert_int_equal(open_text(text), ACTOR_ECONFIG);
		}
}

static void what_is_no_small_regular_file_is_refused(void **state)
{
	struct actor_system_options options = {.config = FILE_NAME};
	char *large = malloc(65537);

	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	assert_string_equal(lines[0].text, "actor.conf: cannot be read: No such file or directory");
	assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	assert_string_equal(lines[1].text, "actor.conf: is not a regular file");
	unlink(FILE_NAME);
	memset(large, ' ', 65537);
	file_write(large, 65537);
	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	assert_string_equal(lines[2].text, "actor.conf: is larger than 65536 bytes");
	file_write("# a\n\0", 5);
	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	assert_string_equal(lines[3].text, "actor.conf:2: a NUL byte is not allowed");
	options.config = "/";
	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	assert_string_equal(lines[4].text, "/: is not a regular file");
	file_write(large, 65536);
	options.config = FILE_NAME;
	assert_int_equal(open_with(&options), 0);
	close_it();
	free(large);
}

/* ---- what is taken ---- */

static const struct accepted {
	const char *text;
	uint32_t throughput;
	const char *dispatcher;
} acceptances[] = {
	{"", 16, "hybrid"},
	{"# a comment\n// another\n/* and\none */", 16, "hybrid"},
	{"actor = { throughput = 1; };", 1, "hybrid"},
	{"actor : { throughput = 0x10L }", 16, "hybrid"},
	{"actor = { throughput = 1000000; };", 1000000, "hybrid"},
	{"dispatcher = { default = \"hybrid\"; };", 16, "hybrid"},
	{"dispatcher = { default = \"MicroTask\"; };", 16, "microtask"},
	{"dispatcher = { default = \"IMMEDIATE\"; };", 16, "immediate"},
	{"dispatcher = { default = \"throughput\"; };", 16, "throughput"},
	{"dispatcher = { default = \"throughput\"; throughput = 5; };", 16, "throughput-5"},
	{"dispatcher = { throughput = 5; };", 16, "hybrid"},
	{"dispatcher = { hybrid_budget = 5; };", 16, "hybrid-5"},
	{"dispatcher = { default = \"immediate\"; hybrid_budget = 5; };", 16, "immediate"},
	{"class = { };", 16, "hybrid"},
	{"class = ( );", 16, "hybrid"},
	{"class = { look = { }; };", 16, "hybrid"},
	{"class = { Look = { throughput = 3; }; };", 16, "hybrid"},
	{"class = { a = {}; look = { throughput = 3; }; z = {}; };", 3, "hybrid"},
	{"class = { look = { dispatcher = \"immediate\"; }; };", 16, "immediate"},
	{"class = { look = { dispatcher = \"hybrid\"; }; };", 16, "hybrid"},
	{"class = { look = { dispatcher = \"throughput\"; }; };", 16, "throughput"},
	{"dispatcher = { throughput = 7; }; class = { look = { dispatcher = \"throughput\"; }; };",
		16, "throughput-7"},
	{"class = { look = { dispatcher = { kind = \"Hybrid\"; budget = 8; }; throughput = 2; }; "
	 "};",
		2, "hybrid-8"},
	{"class = ( { name = \"look\"; throughput = 3; }, { name = \"x\"; } );", 3, "hybrid"},
};

static void a_file_configures_a_program_that_says_nothing(void **state)
{
	for (size_t i = 0; i < COUNT(acceptances); i++) {
		if (open_text(acceptances[i].text))
			fail_msg("row %zu: %s", i, lines[line_count - 1].text);
		look(&look_class, 0, NULL);
		assert_int_equal(seen_throughput, acceptances[i].throughput);
		assert_string_equal(seen_dispatcher, acceptances[i].dispatcher);
		close_it();
	}
}

static struct actor_class odd_class = {.size = sizeof(odd_class),
	.name = "an odd name, 2.0",
	.on_start = look_start,
	.on_message = look_message};

static void a_class_of_any_name_stands_in_a_list(void **state)
{
	assert_int_equal(
		open_text("class = ( { name = \"an odd name, 2.0\"; throughput = 9; } );"), 0);
	look(&odd_class, 0, NULL);
	assert_int_equal(seen_throughput, 9);
	look(&look_class, 0, NULL);
	assert_int_equal(seen_throughput, 16);
	close_it();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wrong_key_or_value_is_refused_with_line_and_what_is_allowed),
		TEST(budgets_of_0_and_below_are_refused_case_29),
		TEST(what_is_no_small_regular_file_is_refused),
		TEST(a_file_configures_a_program_that_says_nothing),
		TEST(a_class_of_any_name_stands_in_a_list),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
