/* SPDX-License-Identifier: MIT */
/* Which processes are found, through which of their files and threads, and which are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/doctor.h"
#include "probe/target.h"
#include "probe/target_list.h"
#include "tests/fake.h"

static void a_fake_target_is_found_with_its_root(void **state)
{
	struct fake fake;
	struct target t;
	struct error error = {0};

	(void)state;
	fake_start(&fake, "tsc");
	assert_int_equal(target_open(&t, fake.pid, &error), 0);
	assert_string_equal(t.command, "fake_target");
	assert_int_equal(t.notes.site_count, 12);
	assert_true(t.root_address != 0);
	assert_true(target_alive(&t));
	fake_stop(&fake);
	assert_false(target_alive(&t));
	target_close(&t);
	assert_int_equal(target_open(&t, fake.pid ? fake.pid : 0x3ffffe, &error), EXIT_TARGET);
}

/* The program is copied, started, and then its file is taken away or replaced. */
static void replaced(bool unlink_only)
{
	char path[] = "/tmp/actorprobe-test-XXXXXX", line[256];
	const char *program =
		getenv("FAKE_TARGET") ? getenv("FAKE_TARGET") : "build/tests/fake_target";
	int fd = mkstemp(path);
	struct fake fake;
	struct target t;
	struct error error = {0};

	assert_true(fd >= 0);
	close(fd);
	snprintf(line, sizeof(line), "cp '%s' %s && chmod 755 %s", program, path, path);
	assert_int_equal(system(line), 0);
	fake_start_as(&fake, path, "tsc");
	assert_int_equal(unlink(path), 0);
	if (!unlink_only) {
		snprintf(line, sizeof(line), "cp /bin/true %s", path);
		assert_int_equal(system(line), 0);
	}
	assert_int_equal(target_open(&t, fake.pid, &error), 0);
	assert_int_equal(t.notes.site_count, 12);
	target_close(&t);
	fake_stop(&fake);
	unlink(path);
}

static void a_deleted_program_is_reached_by_its_inode(void **state)
{
	(void)state;
	replaced(true);
}

static void a_replaced_program_is_reached_by_its_inode(void **state)
{
	(void)state;
	replaced(false);
}

static void *thread_main(void *argument)
{
	*(_Atomic pid_t *)argument = gettid();
	pause();
	return NULL;
}

static void a_thread_leads_to_its_process(void **state)
{
	_Atomic pid_t tid = 0;
	pthread_t thread;
	struct target t;
	struct error error = {0};

	(void)state;
	pthread_create(&thread, NULL, thread_main, (void *)&tid);
	while (!tid)
		usleep(1000);
	assert_int_equal(target_open(&t, tid, &error), EXIT_PROBES); /* this program has none */
	snprintf(error.text + 400, 64, "process %d ", getpid());
	assert_non_null(strstr(error.text, error.text + 400));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void *outlive(void *argument)
{
	(void)argument;
	pause();
	return NULL;
}

static void another_thread_serves_when_the_main_one_has_ended(void **state)
{
	pid_t pid = fork(), task = 0;

	(void)state;
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	for (int i = 0; i < 200 && (task == 0 || task == pid); i++) {
		usleep(5000);
		task = target_task(pid);
	}
	assert_true(task > 0 && task != pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The smallest 32-bit program: jmp to itself. */
static void a_32_bit_program_is_refused(void **state)
{
	static const uint8_t program[] = {0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 3, 0, 1, 0, 0, 0, 0x54, 0x80, 4, 8, 52, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 52,
		0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 4, 8, 0, 0x80, 4,
		8, 0x60, 0, 0, 0, 0x60, 0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0, 0, 0xeb, 0xfe, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0};
	char path[] = "/tmp/actorprobe-test-XXXXXX";
	int fd = mkostemp(path, 0), exec_failed;
	struct error error = {0};
	struct target t;
	pid_t pid;

	(void)state;
	assert_int_equal(write(fd, program, sizeof(program)), sizeof(program));
	fchmod(fd, 0755);
	close(fd);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, (char *)NULL);
		_exit(99);
	}
	usleep(50000);
	exec_failed = waitpid(pid, NULL, WNOHANG) == pid;
	if (!exec_failed) {
		assert_int_equal(target_open(&t, pid, &error), EXIT_TARGET);
		assert_non_null(strstr(error.text, "32-bit"));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	unlink(path);
	if (exec_failed) {
		print_message("SKIP %s: this kernel runs no 32-bit programs\n", __func__);
		skip();
	}
}

static void the_list_names_systems_and_actors(void **state)
{
	struct target_list list = {0};
	struct error error = {0};
	struct fake fake;
	int found = 0;

	(void)state;
	fake_start(&fake, "tsc");
	assert_int_equal(target_list_read(&list, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		const struct target_entry *e = &list.entries[i];

		assert_true(i == 0 || list.entries[i - 1].pid < e->pid);
		if (e->pid != fake.pid)
			continue;
		found++;
		assert_string_equal(e->systems, "fake");
		assert_int_equal(e->loops, 1);
		assert_int_equal(e->actors, 4095);
		assert_int_equal(e->probes, 12);
		assert_int_equal(e->abi_major, 1);
	}
	assert_int_equal(found, 1);
	target_list_fini(&list);
	fake_stop(&fake);
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void the_doctor_leaves_nothing_open(void **state)
{
	struct doctor_report report;
	int before = open_files();

	(void)state;
	doctor_run(&report);
	/* A reader of the tests before may close its own meanwhile. */
	assert_in_range(open_files(), 0, before);
	assert_true(report.count > 8);
	for (size_t i = 0; i < report.count; i++) {
		assert_true(*report.checks[i].text);
		if (report.checks[i].state == DOCTOR_FAIL)
			assert_true(*report.checks[i].way_out);
	}
	if (geteuid() == 0)
		assert_int_equal(doctor_exit(&report), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fake_target_is_found_with_its_root),
		cmocka_unit_test(a_deleted_program_is_reached_by_its_inode),
		cmocka_unit_test(a_replaced_program_is_reached_by_its_inode),
		cmocka_unit_test(a_thread_leads_to_its_process),
		cmocka_unit_test(another_thread_serves_when_the_main_one_has_ended),
		cmocka_unit_test(a_32_bit_program_is_refused),
		cmocka_unit_test(the_list_names_systems_and_actors),
		cmocka_unit_test(the_doctor_leaves_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
