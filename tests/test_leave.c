/* SPDX-License-Identifier: MIT */
/* Nothing is left behind: in the program, in the kernel, in another process, however it ends. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/collected.h"
#include "tests/loaded.h"
#include "tests/program.h"
#include "tests/sanitized.h"

#define ATTACHED  "observing process"
#define WORKERS	  4	/* the first one by perf events, which the kernel takes away one by one */
#define PATIENCE  1000	/* ms until all is as it was */
#define KERNEL_MS 20000 /* maps are freed in the background */

#define WAYS 4

static const char *const ways[WAYS] = {"--mode trace", "--mode ledger",
	"--mode trace --perf-events", "--mode ledger --perf-events"};

static struct program tool;

/* ---- what the kernel holds ---- */

static const char *bpftool(void)
{
	static const char *const paths[] = {
		"/usr/sbin/bpftool", "/sbin/bpftool", "/usr/bin/bpftool"};

	for (size_t i = 0; i < 3; i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

/* Ids of all links and maps, each as " link:7 ". */
static char *kernel_objects(void)
{
	static const char *const kinds[] = {"link", "map"};
	struct program *p = malloc(sizeof(*p));
	char *ids = calloc(1, PROGRAM_BYTES);

	for (size_t k = 0; k < 2; k++) {
		json_t *list, *object;
		size_t i;

		program_run(p, "%s -j %s list", bpftool(), kinds[k]);
		list = json_loads(p->out, 0, NULL);
		json_array_foreach(list, i, object)
		{
			sprintf(ids + strlen(ids), " %s:%lld ", kinds[k],
				json_integer_value(json_object_get(object, "id")));
		}
		json_decref(list);
	}
	free(p);
	return ids;
}

/* Is each object of `now` one of `before`? */
static bool nothing_new(const char *before, char *now)
{
	for (char *id = strtok(now, " "); id; id = strtok(NULL, " ")) {
		char padded[64];

		snprintf(padded, sizeof(padded), " %s ", id);
		if (!strstr(before, padded))
			return false;
	}
	return true;
}

static void assert_nothing_new(const char *before)
{
	bool clean = false;

	for (unsigned int waited = 0; !clean && waited < KERNEL_MS; waited += 500) {
		char *now = kernel_objects();

		clean = nothing_new(before, now);
		free(now);
		if (!clean)
			usleep(500000);
	}
	assert_true(clean);
}

/* ---- attach and leave ---- */

/* Runs collectors one after the other; exits with the number of failures. */
static int worker(pid_t target, int number, int times)
{
	static struct program p;
	int failed = 0;

	for (int i = 0; i < times; i++) {
		struct collected c;

		program_run(&p, "$A hist -j -d 0.01 --mode %s %s -p %d", i % 2 ? "trace" : "ledger",
			number == 0 ? "--perf-events" : "", target);
		c = collected_account(p.out);
		if (p.exit != 0 || *p.err || c.lost || c.delivered != c.recorded + c.unstamped) {
			fprintf(stderr, "%d: exit %d %s, %lu of %lu + %lu + %lu\n", i, p.exit,
				p.err, (unsigned long)c.delivered, (unsigned long)c.recorded,
				(unsigned long)c.unstamped, (unsigned long)c.lost);
			failed++;
		}
	}
	return failed;
}

static void wait_for_all(const pid_t *pids, int count)
{
	for (int i = 0; i < count; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

/* Four collectors at a time, by links and by perf events, on a process with three loops and some
 * 20 000 messages per second; another process of the same file is watched meanwhile. (On two cores
 * that never rest the kernel's grace periods last for seconds, and each leaving takes several.) */
static void two_hundred_attaches_leave_nothing(void **state)
{
	struct loaded load, other;
	pid_t workers[WORKERS];
	const char *factor = getenv("LEAVE_FACTOR");
	int by_links = SANITIZED ? 6 : 60, by_perf = SANITIZED ? 2 : 20;
	char *before = kernel_objects();
	uint64_t handled;
	int running = WORKERS;

	(void)state;
	loaded_start(&load, "loops=3 messages=0 rest=500");
	loaded_start(&other, "loops=3 messages=0 rest=500");
	loaded_say(&load, "go");
	loaded_say(&other, "go");
	fflush(NULL);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0)
			_exit(worker(load.pid, i,
				(i ? by_links : by_perf) * (factor ? atoi(factor) : 1)));
	}
	while (running) {
		siginfo_t info = {0};

		assert_int_equal(loaded_semaphores(&other), 0);
		usleep(20000);
		running = 0;
		for (int i = 0; i < WORKERS; i++) {
			info.si_pid = 0;
			waitid(P_PID, (id_t)workers[i], &info, WEXITED | WNOHANG | WNOWAIT);
			running += info.si_pid == 0;
		}
	}
	wait_for_all(workers, WORKERS);
	assert_true(loaded_clean_within(&load, PATIENCE));
	assert_int_equal(loaded_traps(&other), 0);
	/* It still works, and its counts are whole: each message told was handled. */
	handled = loaded_handled(&load);
	usleep(10000);
	assert_true(loaded_handled(&load) > handled);
	loaded_say(&load, "stop");
	loaded_expect(&load, "done");
	assert_int_equal(loaded_handled(&load), atomic_load(&load.counts->told));
	loaded_stop(&load);
	loaded_stop(&other);
	assert_nothing_new(before);
	free(before);
}

static void a_killed_collector_leaves_nothing(void **state)
{
	char *before = kernel_objects();
	struct loaded load;

	(void)state;
	loaded_start(&load, "loops=3 messages=0 rest=500");
	loaded_say(&load, "go");
	for (int i = 0; i < 8; i++) {
		program_start(&tool, "$A hist -v --mode %s %s -p %d", i < 4 ? "trace" : "ledger",
			i % 2 ? "--perf-events" : "", load.pid);
		program_expect(&tool, tool.err, ATTACHED);
		assert_true(loaded_semaphores(&load) >= (i < 4 ? 4 : 1));
		assert_true(loaded_traps(&load) >= (i < 4 ? 4 : 1));
		usleep(20000);
		kill(tool.pid, SIGKILL);
		assert_true(loaded_clean_within(&load, PATIENCE));
		program_wait(&tool);
		assert_int_equal(tool.exit, 128 + SIGKILL);
	}
	loaded_say(&load, "stop");
	loaded_expect(&load, "done");
	assert_int_equal(loaded_handled(&load), atomic_load(&load.counts->told));
	loaded_stop(&load);
	assert_nothing_new(before);
	free(before);
}

/* ---- the target leaves ---- */

static void assert_final_output(const char *json)
{
	char ended[64];

	if (json) {
		struct collected c = collected_account(tool.out);

		assert_true(c.recorded > 0);
		assert_int_equal(c.delivered, c.recorded + c.unstamped + c.lost);
		assert_false(c.alive);
	} else {
		assert_non_null(strstr(tool.out, "delivered "));
	}
	snprintf(ended, sizeof(ended), "has ended; all that was seen is printed\n");
	assert_non_null(strstr(tool.err, ended));
	assert_int_equal(tool.exit, 0);
}

/* By itself, or by force; each command gives what it saw, and its exit code is 0. */
static void the_end_of_the_target_ends_the_run(void **state)
{
	static const char *const lines[] = {"hist -v -j --mode trace", "hist -v -j", "hist -v",
		"-v", "hist -v -j --perf-events"};
	char *before = kernel_objects();

	(void)state;
	for (int by_force = 0; by_force < 2; by_force++)
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
			struct loaded load;

			loaded_start(&load, "loops=3 messages=10007 rest=200");
			program_start(&tool, "$A %s -p %d", lines[i], load.pid);
			program_expect(&tool, tool.err, ATTACHED);
			loaded_say(&load, "go");
			if (by_force) {
				while (loaded_handled(&load) < 1009)
					usleep(1000);
				kill(load.pid, SIGKILL);
			} else {
				loaded_say(&load, "end");
			}
			program_wait(&tool);
			assert_final_output(strstr(lines[i], "-j"));
			if (!by_force && strstr(lines[i], "-j"))
				assert_int_equal(collected_account(tool.out).recorded, 10007);
			loaded_stop(&load);
		}
	assert_nothing_new(before);
	free(before);
}

/* The same process with another memory: it is followed, and each of its lives is counted. */
static void a_target_that_executes_itself_is_followed(void **state)
{
	(void)state;
	for (size_t w = 0; w < WAYS; w++) {
		struct loaded load;
		struct collected c;

		loaded_start(&load, "loops=1 messages=1009");
		program_start(&tool, "$A hist -v -j %s -p %d", ways[w], load.pid);
		program_expect(&tool, tool.err, ATTACHED);
		loaded_say(&load, "go");
		loaded_expect(&load, "done");
		loaded_say(&load, "exec");
		loaded_expect(&load, "ready");
		loaded_say(&load, "go");
		loaded_expect(&load, "done");
		kill(tool.pid, SIGINT);
		program_wait(&tool);
		assert_int_equal(tool.exit, 0);
		c = collected_account(tool.out);
		assert_true(c.alive);
		assert_int_equal(c.lost, 0);
		assert_int_equal(c.delivered, c.recorded + c.unstamped);
		assert_int_equal(loaded_handled(&load), 2 * 1009);
		assert_int_equal(c.recorded, 2 * 1009);
		loaded_stop(&load);
	}
}

/* The child inherits raised semaphores and traps, and must not be hurt by them. */
static void a_target_that_forks_is_still_the_one(void **state)
{
	(void)state;
	for (size_t w = 0; w < WAYS; w++) {
		struct loaded load;
		struct collected c;
		int child, rc;

		loaded_start(&load, "loops=3 messages=10007");
		program_start(&tool, "$A hist -v -j %s -p %d", ways[w], load.pid);
		program_expect(&tool, tool.err, ATTACHED);
		loaded_say(&load, "fork");
		assert_int_equal(sscanf(loaded_expect(&load, "forked"), "%d %d", &child, &rc), 2);
		assert_int_equal(rc, -ECHILD);
		loaded_say(&load, "go");
		loaded_expect(&load, "done");
		kill(tool.pid, SIGINT);
		program_wait(&tool);
		c = collected_account(tool.out);
		assert_int_equal(c.recorded, 10007);
		assert_int_equal(c.delivered, 10007);
		assert_int_equal(kill(child, 0), 0);
		kill(child, SIGKILL);
		assert_true(loaded_clean_within(&load, PATIENCE));
		loaded_stop(&load);
	}
}

static void everything_that_attaches(void **state)
{
	(void)state;
	print_message(geteuid() ? "SKIP test_leave: attaching needs root\n"
				: "SKIP test_leave: bpftool is not installed\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest not_here[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hundred_attaches_leave_nothing),
		cmocka_unit_test(a_killed_collector_leaves_nothing),
		cmocka_unit_test(the_end_of_the_target_ends_the_run),
		cmocka_unit_test(a_target_that_executes_itself_is_followed),
		cmocka_unit_test(a_target_that_forks_is_still_the_one),
	};

	if (geteuid() != 0 || !bpftool())
		return cmocka_run_group_tests(not_here, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
