/* SPDX-License-Identifier: MIT */
/* The file for node_exporter, alone and from the program, and one exposition on stdout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <sys/stat.h>

#include "probe/textfile.h"
#include "tests/fixture.h"
#include "tests/program.h"

static char directory[64];
static char path[PATH_MAX], unfinished[PATH_MAX];
static struct program tool;

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/actorprobe-textfile-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/" TEXTFILE_NAME, directory);
	snprintf(unfinished, sizeof(unfinished), "%s/." TEXTFILE_NAME ".new", directory);
	return 0;
}

/* Fails when anything is left in it. */
static int remove_directory(void **state)
{
	return rmdir(directory);
}

static const char *content(void)
{
	static char bytes[PROGRAM_BYTES];
	FILE *file = fopen(path, "r");
	size_t used;

	if (!file)
		return NULL;
	used = fread(bytes, 1, sizeof(bytes) - 1, file);
	bytes[used] = '\0';
	fclose(file);
	return bytes;
}

static void write_text(struct textfile *f, const char *bytes, int expected)
{
	const struct text page = {.bytes = (char *)bytes, .used = strlen(bytes)};
	struct error error = {0};

	assert_int_equal(textfile_write(f, &page, &error), expected);
}

static void a_write_replaces_the_file_as_a_whole(void **state)
{
	mode_t mask = umask(077);
	struct textfile *f;
	struct error error = {0};
	struct stat first, second;

	assert_int_equal(textfile_open(&f, directory, &error), 0);
	assert_null(content());
	write_text(f, "a 1\n", 0);
	assert_string_equal(content(), "a 1\n");
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(first.st_mode & 07777, 0644);
	write_text(f, "a 2\n", 0);
	assert_string_equal(content(), "a 2\n");
	assert_int_equal(stat(path, &second), 0);
	assert_true(first.st_ino != second.st_ino);
	assert_int_equal(access(unfinished, F_OK), -1);
	textfile_close(f);
	assert_null(content());
	umask(mask);
}

static void a_failure_leaves_the_file_before_it(void **state)
{
	const struct text failed = {.failed = true};
	struct textfile *f;
	struct error error = {0};

	assert_int_equal(textfile_open(&f, directory, &error), 0);
	write_text(f, "a 1\n", 0);
	assert_int_equal(textfile_write(f, &failed, &error), EXIT_USAGE);
	assert_string_equal(content(), "a 1\n");
	assert_int_equal(access(unfinished, F_OK), -1);
	/* A directory of that name cannot be replaced by a file. */
	assert_int_equal(mkdir(unfinished, 0755), 0);
	write_text(f, "a 2\n", EXIT_USAGE);
	assert_string_equal(content(), "a 1\n");
	assert_int_equal(rmdir(unfinished), 0);
	textfile_close(f);
}

static void a_link_that_lies_there_is_not_followed(void **state)
{
	char victim[PATH_MAX];
	struct textfile *f;
	struct error error = {0};

	snprintf(victim, sizeof(victim), "%s/victim", directory);
	assert_int_equal(symlink(victim, unfinished), 0);
	assert_int_equal(textfile_open(&f, directory, &error), 0);
	write_text(f, "a 1\n", 0);
	assert_int_equal(access(victim, F_OK), -1);
	assert_string_equal(content(), "a 1\n");
	textfile_close(f);
}

static void a_directory_that_is_not_there_is_refused(void **state)
{
	struct textfile *f;
	struct error error = {0};

	assert_int_equal(textfile_open(&f, "/does/not/exist", &error), EXIT_USAGE);
	assert_null(f);
	assert_non_null(strstr(error.text, "/does/not/exist/actorprobe.prom"));
	textfile_close(NULL);
}

/* ---- the program ---- */

static void a_file_is_kept_while_the_program_runs(void **state)
{
	struct fake fake;
	struct stat first, next;
	unsigned int tries = 0;

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	program_start(&tool, "$A export -p %d --textfile %s --every 0.1", (int)fake.pid, directory);
	program_expect(&tool, tool.err, "writing process");
	assert_null(strstr(tool.err, "serving"));
	assert_non_null(strstr(content(), "\nactorprobe_attached 1\n"));
	assert_int_equal(stat(path, &first), 0);
	do {
		usleep(20000);
		assert_int_equal(stat(path, &next), 0);
	} while (next.st_ino == first.st_ino && tries++ < 1000);
	assert_true(next.st_ino != first.st_ino);
	kill(tool.pid, SIGTERM);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
	assert_null(content());
	fake_stop(&fake);
}

static void once_prints_one_exposition_and_ends(void **state)
{
	struct fake fake;

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	program_run(&tool, "$A export -p %d --once -d 0.1", (int)fake.pid);
	assert_int_equal(tool.exit, 0);
	assert_int_equal(strncmp(tool.out, "# HELP ", 7), 0);
	assert_non_null(strstr(tool.out, "\nactorprobe_attached 1\n"));
	assert_int_equal(tool.out[tool.used[0] - 1], '\n');
	/* One of its classes has a name that is a terminal's command, and no UTF-8. */
	assert_non_null(
		strstr(tool.out, "\nactor_created_total{class=\"beta\\\\x1b[31m\\\\xff\"} 0\n"));
	assert_string_equal(tool.err, "");
	fake_stop(&fake);
}

static void options_that_exclude_each_other_are_refused(void **state)
{
	static const char *const lines[] = {"--once --listen :0", "--once --textfile /tmp",
		"--every 5", "--textfile /tmp --every 0", "--once --otlp http://[::1]",
		"--otlp file:///etc/passwd", "--textfile /does/not/exist"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		program_run(&tool, "$A export -p 1 %s", lines[i]);
		assert_int_equal(tool.exit, EXIT_USAGE);
		assert_int_equal(strncmp(tool.err, "actorprobe: ", 12), 0);
		assert_string_equal(tool.out, "");
	}
	program_run(&tool, "$A hist -p 1 --once");
	assert_int_equal(tool.exit, EXIT_USAGE);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(a_write_replaces_the_file_as_a_whole),
		IN_DIRECTORY(a_failure_leaves_the_file_before_it),
		IN_DIRECTORY(a_link_that_lies_there_is_not_followed),
		cmocka_unit_test(a_directory_that_is_not_there_is_refused),
		IN_DIRECTORY(a_file_is_kept_while_the_program_runs),
		cmocka_unit_test(once_prints_one_exposition_and_ends),
		cmocka_unit_test(options_that_exclude_each_other_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
