/* SPDX-License-Identifier: MIT */
/* Configuration files: what is refused with which sentence, and who wins over whom. */
#include "tests/lab.h"

#include "runtime/core.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "actor.conf"
#define LINES	  8

static char directory[] = "/tmp/test_config.XXXXXX";

/* What was logged, in order. */
static struct line {
	enum actor_log_level level;
	char text[1024];
} lines[LINES];
static uint32_t line_count;

static void on_log(void *data, enum actor_log_level level, const char *text)
{
	if (line_count < LINES) {
		lines[line_count].level = level;
		strncpy(lines[line_count].text, text, sizeof(lines[0].text) - 1);
	}
	line_count++;
}

static void file_write(const char *text, size_t bytes)
{
	FILE *file = fopen(FILE_NAME, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static int setup_all(void **state)
{
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int teardown_all(void **state)
{
	unlink(FILE_NAME);
	return chdir("/") || rmdir(directory);
}

static int setup(void **state)
{
	line_count = 0;
	memset(lines, 0, sizeof(lines));
	unsetenv("ACTOR_CONFIG");
	unlink(FILE_NAME);
	return 0;
}

/* ---- a system that a file configures ---- */

static uv_loop_t loop;
static struct actor_system *the_system;

static int open_with(struct actor_system_options *options)
{
	int rc;

	options->size = sizeof(*options);
	options->loop = &loop;
	options->log = on_log;
	assert_int_equal(uv_loop_init(&loop), 0);
	rc = actor_system_open(&the_system, options);
	if (rc) {
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
	return rc;
}

static void close_it(void)
{
	assert_int_equal(actor_system_close(the_system, NULL, NULL), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static int open_text(const char *text)
{
	struct actor_system_options options = {.config = FILE_NAME};

	file_write(text, strlen(text));
	return open_with(&options);
}

/* What an actor finds itself to be. */
static uint32_t seen_throughput;
static char seen_dispatcher[ACTOR_NAME_BYTES + 1];

static int look_start(struct actor_ctx *ctx)
{
	seen_throughput = ctx->cell->throughput;
	strcpy(seen_dispatcher, ctx->cell->unit.dispatcher->spec.id);
	return 0;
}

static int look_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static struct actor_class look_class = {.size = sizeof(look_class),
	.name = "look",
	.on_start = look_start,
	.on_message = look_message};
static struct actor_class odd_class = {.size = sizeof(odd_class),
	.name = "an odd name, 2.0",
	.on_start = look_start,
	.on_message = look_message};

static void look(
	struct actor_class *cls, int64_t throughput, const struct actor_dispatcher_spec *dispatcher)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .throughput = throughput, .dispatcher = dispatcher};

	seen_throughput = 0;
	assert_int_equal(actor_system_spawn(the_system, cls, &options, NULL), 0);
	for (int i = 0; i < 100 && !seen_throughput; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_not_equal(seen_throughput, 0);
}

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

/* ---- who wins ---- */

/* Each of five may have said something, and the file may say override. */
static void spawn_class_system_and_file_decide_in_this_order(void **state)
{
	enum { SPAWN = 1, CLASS = 2, SYSTEM = 4, ACTOR = 8, OVERRIDE = 16, ALL = 32 };

	for (int set = 0; set < ALL; set++) {
		struct actor_system_options options = {
			.config = FILE_NAME, .throughput = set & SYSTEM ? 22 : 0};
		static const int usual[] = {SPAWN, CLASS, SYSTEM, ACTOR};
		static const int overridden[] = {CLASS, SPAWN, ACTOR, SYSTEM};
		const int *order = set & OVERRIDE ? overridden : usual;
		uint32_t expected = 16;
		char text[256];

		for (int i = 3; i >= 0; i--)
			if (set & order[i])
				expected = order[i] == SPAWN	? 20
					   : order[i] == CLASS	? 21
					   : order[i] == SYSTEM ? 22
								: 23;
		snprintf(text, sizeof(text), "%s %s %s", set & OVERRIDE ? "override = true;" : "",
			set & CLASS ? "class = { look = { throughput = 21; }; };" : "",
			set & ACTOR ? "actor = { throughput = 23; };" : "");
		file_write(text, strlen(text));
		assert_int_equal(open_with(&options), 0);
		look(&look_class, set & SPAWN ? 20 : 0, NULL);
		if (seen_throughput != expected)
			fail_msg("set %d: %u, expected %u", set, seen_throughput, expected);
		close_it();
	}
}

/* The same for dispatchers. */
static void dispatchers_are_decided_in_the_same_order(void **state)
{
	enum { SPAWN = 1, CLASS = 2, SYSTEM = 4, DEFAULT = 8, OVERRIDE = 16, ALL = 32 };
	struct actor_dispatcher_spec of_spawn, of_system;

	actor_dispatcher_throughput(&of_spawn, 3, "spawn");
	actor_dispatcher_hybrid(&of_system, 5, "system");
	for (int set = 0; set < ALL; set++) {
		struct actor_system_options options = {
			.config = FILE_NAME, .dispatcher = set & SYSTEM ? &of_system : NULL};
		static const int usual[] = {SPAWN, CLASS, SYSTEM, DEFAULT};
		static const int overridden[] = {CLASS, SPAWN, DEFAULT, SYSTEM};
		const int *order = set & OVERRIDE ? overridden : usual;
		const char *expected = "hybrid";
		char text[256];

		for (int i = 3; i >= 0; i--)
			if (set & order[i])
				expected = order[i] == SPAWN	? "spawn"
					   : order[i] == CLASS	? "immediate"
					   : order[i] == SYSTEM ? "system"
								: "microtask";
		snprintf(text, sizeof(text), "%s %s %s", set & OVERRIDE ? "override = true;" : "",
			set & CLASS ? "class = { look = { dispatcher = \"immediate\"; }; };" : "",
			set & DEFAULT ? "dispatcher = { default = \"microtask\"; };" : "");
		file_write(text, strlen(text));
		assert_int_equal(open_with(&options), 0);
		look(&look_class, 0, set & SPAWN ? &of_spawn : NULL);
		if (strcmp(seen_dispatcher, expected) != 0)
			fail_msg("set %d: %s, expected %s", set, seen_dispatcher, expected);
		close_it();
	}
}

static void an_override_is_logged_with_what_it_replaced(void **state)
{
	static const char text[] = "override = true;\nactor = { throughput = 8; };\n"
				   "system = { drain_ms = 0; };\n"
				   "dispatcher = { hybrid_budget = 7; };\n"
				   "class = { look = { throughput = 2; }; };\n";
	static const char *const expected[] = {
		"actor.conf: override: actor.throughput = 8 instead of the program's 32",
		"actor.conf: override: system.drain_ms = 0 instead of the program's 100",
		"actor.conf: override: dispatcher hybrid-7 instead of the program's mine",
		"configured by actor.conf",
		"actor.conf:5: override: class look runs with the file's settings instead of the "
		"program's",
	};
	struct actor_dispatcher_spec mine;
	struct actor_system_options options = {
		.config = FILE_NAME, .throughput = 32, .drain_ms = 100, .dispatcher = &mine};

	actor_dispatcher_hybrid(&mine, 64, "mine");
	file_write(text, sizeof(text) - 1);
	assert_int_equal(open_with(&options), 0);
	look(&look_class, 4, NULL);
	assert_int_equal(seen_throughput, 2);
	look(&look_class, 4, NULL); /* is not logged again */
	close_it();
	assert_int_equal(line_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_string_equal(lines[i].text, expected[i]);
		assert_int_equal(lines[i].level, i == 3 ? ACTOR_LOG_INFO : ACTOR_LOG_WARN);
	}
}

/* A hybrid budget is nothing that a program's own dispatcher has. */
static int own_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct actor_dispatcher_spec spec;

	actor_dispatcher_immediate(&spec, NULL);
	return actor_system_dispatcher(
		actor_dispatcher_system(dispatcher), 1, &spec, (struct actor_dispatcher **)self);
}

static void own_execute(void *self, struct actor_unit *unit)
{
	unit->run(unit);
}

static void budgets_leave_other_kinds_of_dispatcher_alone(void **state)
{
	static const char text[] = "override = true; dispatcher = { hybrid_budget = 7; };";
	static const struct actor_dispatcher_ops ops = {
		.size = sizeof(ops), .open = own_open, .execute = own_execute};
	struct actor_dispatcher_spec own, immediate;
	const struct actor_dispatcher_spec *const specs[] = {&own, &immediate};

	actor_dispatcher_custom(&own, &ops, NULL, "own");
	actor_dispatcher_immediate(&immediate, NULL);
	for (size_t i = 0; i < COUNT(specs); i++) {
		struct actor_system_options options = {.config = FILE_NAME, .dispatcher = specs[i]};
		struct actor_dispatcher *standard;

		file_write(text, sizeof(text) - 1);
		assert_int_equal(open_with(&options), 0);
		assert_int_equal(actor_system_dispatcher(the_system, 1, NULL, &standard), 0);
		assert_string_equal(actor_dispatcher_id(standard), specs[i]->id);
		close_it();
	}
}

/* The program uses the name for something else. */
static void a_class_whose_dispatcher_has_another_meaning_keeps_the_programs(void **state)
{
	struct actor_dispatcher_spec other;
	struct actor_dispatcher *made;

	assert_int_equal(open_text("class = { look = { dispatcher = { kind = \"hybrid\"; "
				   "budget = 9; }; throughput = 2; }; };"),
		0);
	actor_dispatcher_hybrid(&other, 10, "hybrid-9");
	assert_int_equal(actor_system_dispatcher(the_system, 1, &other, &made), 0);
	for (int i = 0; i < 2; i++) {
		look(&look_class, 0, NULL);
		assert_string_equal(seen_dispatcher, "hybrid");
		assert_int_equal(seen_throughput, 2);
	}
	close_it();
	assert_int_equal(line_count, 2);
	assert_string_equal(lines[1].text,
		"actor.conf:1: the dispatcher of class look is not used: "
		"the dispatcher's id is taken by another specification");
}

static void a_file_above_1000_is_one_warning(void **state)
{
	static const char *const texts[] = {
		"actor = { throughput = 1001; };",
		"dispatcher = { hybrid_budget = 1001; };",
		"class = { look = { throughput = 1001; }; };",
		"class = { look = { dispatcher = { kind = \"throughput\"; budget = 1001; }; }; };",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		uint32_t warnings = 0;

		setup(NULL);
		assert_int_equal(open_text(texts[i]), 0);
		look(&look_class, 0, NULL);
		look(&look_class, 0, NULL);
		close_it();
		for (uint32_t n = 0; n < line_count; n++)
			warnings += lines[n].level == ACTOR_LOG_WARN;
		assert_int_equal(warnings, 1);
	}
}

/* ---- which file ---- */

static void the_environment_names_a_file_unless_the_program_does(void **state)
{
	struct actor_system_options options = {0};

	file_write("actor = { throughput = 5; };", 28);
	setenv("ACTOR_CONFIG", FILE_NAME, 1);
	assert_int_equal(open_with(&options), 0);
	look(&look_class, 0, NULL);
	assert_int_equal(seen_throughput, 5);
	close_it();
	options.config = "";
	assert_int_equal(open_with(&options), 0);
	look(&look_class, 0, NULL);
	assert_int_equal(seen_throughput, 16);
	close_it();
	options.config = FILE_NAME;
	setenv("ACTOR_CONFIG", "/does/not/exist", 1);
	assert_int_equal(open_with(&options), 0);
	close_it();
	options.config = NULL;
	assert_int_equal(open_with(&options), ACTOR_ECONFIG);
	setenv("ACTOR_CONFIG", "", 1);
	assert_int_equal(open_with(&options), 0);
	close_it();
	/* A program that was compiled before there was the option. */
	setenv("ACTOR_CONFIG", FILE_NAME, 1);
	options =
		(struct actor_system_options){.size = offsetof(struct actor_system_options, config),
			.loop = &loop,
			.log = on_log};
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(actor_system_open(&the_system, &options), 0);
	look(&look_class, 0, NULL);
	assert_int_equal(seen_throughput, 5);
	close_it();
}

static void the_log_level_of_the_file_counts(void **state)
{
	static const struct {
		const char *level;
		uint32_t logged; /* a warning, an information, and one about the class at the end */
	} rows[] = {{"debug", 3}, {"info", 3}, {"warning", 1}, {"error", 0}, {"off", 0}};
	char text[128];

	for (size_t i = 0; i < COUNT(rows); i++) {
		setup(NULL);
		snprintf(text, sizeof(text),
			"actor = { throughput = 2000; }; log = { level = \"%s\"; };"
			" class = { nobody = { }; };",
			rows[i].level);
		assert_int_equal(open_text(text), 0);
		close_it();
		assert_int_equal(line_count, rows[i].logged);
	}
	assert_int_equal(open_text("\nclass = { nobody = { }; look = { }; };"), 0);
	look(&look_class, 0, NULL);
	close_it();
	assert_string_equal(lines[line_count - 1].text,
		"actor.conf:2: there was no actor of class nobody; is that its name?");
}

static void the_programs_log_level_wins_over_the_file(void **state)
{
	static const char *const texts[] = {
		"log = { level = \"error\"; };", "override = true; log = { level = \"error\"; };"};

	for (int i = 0; i < 2; i++) {
		struct actor_system_options options = {
			.config = FILE_NAME, .log_level = ACTOR_LOG_DEBUG};

		file_write(texts[i], strlen(texts[i]));
		assert_int_equal(open_with(&options), 0);
		assert_int_equal(actor_system_log_level(the_system, 0),
			i ? ACTOR_LOG_ERROR : ACTOR_LOG_DEBUG);
		close_it();
	}
}

/* libconfig's own memory is not counted here. */
static void without_memory_no_system_opens_and_nothing_leaks(void **state)
{
	struct actor_system_options options = {.config = FILE_NAME};
	struct actor_spawn_options spawn = {.size = sizeof(spawn)};
	static const char text[] = "class = { look = { dispatcher = { kind = \"hybrid\"; "
				   "budget = 3; }; }; a = { }; };";
	int64_t before;
	int rc = -ENOMEM;

	file_write(text, sizeof(text) - 1);
	lab_heap_begin();
	assert_int_equal(open_with(&options), 0); /* what the process keeps for ever is there now */
	look(&look_class, 0, NULL);
	close_it();
	before = lab_heap_blocks;
	for (int64_t n = 1; rc == -ENOMEM; n++) {
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		rc = open_with(&options);
		if (!rc) {
			/* The opening has had its failures; now the dispatcher of a class. */
			lab_heap_fail(1, LAB_FAIL_ONCE, 0);
			assert_int_equal(
				actor_system_spawn(the_system, &look_class, &spawn, NULL), 0);
			close_it();
		}
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_true(n < 100);
	}
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_int_equal(rc, 0);
	assert_int_equal(lab_heap_blocks, before);
	lab_heap_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			a_wrong_key_or_value_is_refused_with_line_and_what_is_allowed, setup),
		cmocka_unit_test_setup(budgets_of_0_and_below_are_refused_case_29, setup),
		cmocka_unit_test_setup(what_is_no_small_regular_file_is_refused, setup),
		cmocka_unit_test_setup(a_file_configures_a_program_that_says_nothing, setup),
		cmocka_unit_test_setup(a_class_of_any_name_stands_in_a_list, setup),
		cmocka_unit_test_setup(spawn_class_system_and_file_decide_in_this_order, setup),
		cmocka_unit_test_setup(dispatchers_are_decided_in_the_same_order, setup),
		cmocka_unit_test_setup(an_override_is_logged_with_what_it_replaced, setup),
		cmocka_unit_test_setup(budgets_leave_other_kinds_of_dispatcher_alone, setup),
		cmocka_unit_test_setup(
			a_class_whose_dispatcher_has_another_meaning_keeps_the_programs, setup),
		cmocka_unit_test_setup(a_file_above_1000_is_one_warning, setup),
		cmocka_unit_test_setup(the_environment_names_a_file_unless_the_program_does, setup),
		cmocka_unit_test_setup(the_log_level_of_the_file_counts, setup),
		cmocka_unit_test_setup(the_programs_log_level_wins_over_the_file, setup),
		cmocka_unit_test_setup(without_memory_no_system_opens_and_nothing_leaks, setup),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
