/* SPDX-License-Identifier: MIT */
/* Configuration files: who wins over whom, which file counts, and what is done without memory. */
#include "tests/configured.h"

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
		("actor.conf:5: override: class look runs with the file's settings instead of the "
		 "program's"),
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
		TEST(spawn_class_system_and_file_decide_in_this_order),
		TEST(dispatchers_are_decided_in_the_same_order),
		TEST(an_override_is_logged_with_what_it_replaced),
		TEST(budgets_leave_other_kinds_of_dispatcher_alone),
		TEST(a_class_whose_dispatcher_has_another_meaning_keeps_the_programs),
		TEST(a_file_above_1000_is_one_warning),
		TEST(the_environment_names_a_file_unless_the_program_does),
		TEST(the_log_level_of_the_file_counts),
		TEST(the_programs_log_level_wins_over_the_file),
		TEST(without_memory_no_system_opens_and_nothing_leaks),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
