/* SPDX-License-Identifier: MIT */
/* Each failure an operator can meet: one line on stderr with cause and way out, and its exit code.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/error.h"
#include "probe/programs.h"
#include "tests/collected.h"
#include "tests/fake.h"
#include "tests/loaded.h"
#include "tests/program.h"

static struct program tool;
static struct loaded load;
static struct fake fake;
static char directory[] = "/tmp/actorprobe-errors-XXXXXX";
static pid_t sleeper, old;

struct row {
	const char *line; /* of a shell that knows the variables of begin() */
	int exit;
	const char *text;
};

static void set_pid(const char *name, pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", pid);
	setenv(name, text, 1);
}

/* Runs a line; what it prints on stderr is one line that begins with the program's name. */
static void check(const struct row *row)
{
	program_run(&tool, "%s", row->line);
	if (tool.exit != row->exit || !strstr(tool.err, row->text) ||
		strncmp(tool.err, "actorprobe: ", 12) != 0 ||
		strchr(tool.err, '\n') != tool.err + strlen(tool.err) - 1) {
		print_error("%s\n%s(exit %d)\n", row->line, tool.err, tool.exit);
		fail();
	}
}

static void check_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&rows[i]);
}

#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof((rows)[0]))

static void a_wrong_command_line_is_1(void **state)
{
	static const struct row rows[] = {
		{"$A hist --nonsense -p $LOAD", 1, "unknown or ambiguous option '--nonsense'; "},
		{"$A frob", 1, "unknown command 'frob'; "},
		{"$A hist", 1, "which process? give -p PID; "},
		{"$A hist -p", 1, "option '-p' needs a value; "},
		{"$A hist -p 0", 1, "bad process id '0'; "},
		{"$A hist -p 99999999999", 1, "bad process id '99999999999'; "},
		{"$A hist -p $LOAD 0", 1, "bad interval '0'; "},
		{"$A -p $LOAD 1x", 1, "bad interval '1x'; "},
		{"$A hist -p $LOAD 1 0", 1, "bad count '0'; "},
		{"$A hist -p $LOAD -d -1", 1, "bad duration '-1'; "},
		{"$A export -p $LOAD --listen shop:80", 1, "bad address 'shop:80'; "},
	};

	(void)state;
	CHECK_ALL(rows);
}

static void an_address_in_use_is_1(void **state)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char line[128];

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	snprintf(line, sizeof(line), "$A export -p $LOAD --listen 127.0.0.1:%d",
		ntohs(address.sin_port));
	check(&(struct row){line, 1, " is in use; choose another one"});
	close(fd);
}

static void an_output_that_nobody_takes_is_1(void **state)
{
	static const struct row rows[] = {
		{"$A hist -p $LOAD -d 0.1 > /dev/full", 1, "the output cannot be written"},
		{"$A hist -p $LOAD -d 0.1 >&-", 1, "standard output is closed; "},
	};

	(void)state;
	CHECK_ALL(rows);
	program_run(&tool, "bash -c '\"$A\" hist -p $LOAD 0.1 | :; echo ${PIPESTATUS[0]}'");
	assert_string_equal(tool.out, "1\n");
	assert_non_null(strstr(tool.err, "closed by its reader; "));
	assert_ptr_equal(strchr(tool.err, '\n'), tool.err + strlen(tool.err) - 1);
}

static void a_target_that_is_not_there_is_2(void **state)
{
	static const struct row rows[] = {
		{"$A hist -p 4194305", 2, "there is no process 4194305; "},
		{"$A -p 4194305", 2, "there is no process 4194305; "},
		{"$A export -p 4194305", 2, "there is no process 4194305; "},
	};

	(void)state;
	CHECK_ALL(rows);
}

/* A thread's id is taken for its process, with a word. */
static void a_thread_leads_to_its_process(void **state)
{
	static const struct row row = {"$A hist -d 0.1 -p $THREAD", 0, " is a thread of process "};

	(void)state;
	check(&row);
}

static void a_32_bit_program_is_2(void **state)
{
	static const struct row row = {
		"$A hist -p $OLD", 2, " is a 32-bit program; only 64-bit programs can be observed"};
	char path[64];
	FILE *source;

	(void)state;
	snprintf(path, sizeof(path), "%s/a.s", directory);
	source = fopen(path, "we");
	fputs(".globl _start\n_start: mov $29, %eax\nint $0x80\njmp _start\n",
		source); /* pause() */
	fclose(source);
	program_run(&tool, "sh -c 'cd %s && as --32 -o a.o a.s && ld -m elf_i386 -o old a.o'",
		directory);
	assert_string_equal(tool.err, "");
	old = fork();
	if (old == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(directory) == 0)
			execl("./old", "old", (char *)NULL);
		_exit(127);
	}
	usleep(100000);
	if (waitpid(old, NULL, WNOHANG) == old) {
		print_message("SKIP %s: this kernel runs no 32-bit programs\n", __func__);
		old = 0;
		skip();
	}
	set_pid("OLD", old);
	check(&row);
}

static void a_target_without_our_probes_is_5(void **state)
{
	static const struct row rows[] = {
		{"$A hist -p $SLEEP", 5, " does not carry libactor; "},
		{"$A -p $SLEEP", 5, " does not carry libactor; "},
		{"$A hist -p $FAKE", 5,
			" than this actorprobe knows (ABI 1); use "
			"a newer"},
	};

	(void)state;
	CHECK_ALL(rows);
	program_run(&tool, "cat /proc/2/comm");
	if (strcmp(tool.out, "kthreadd\n") == 0) /* not in a container */
		check(&(struct row){"$A hist -p 2", 5, "; it is a thread of the kernel"});
}

/* The kernel names the running file by its inode, so that a name that is gone does not matter. */
static void a_replaced_program_is_observed(void **state)
{
	static const char *const ways[] = {"rm load", "mv other load"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		struct loaded moved;

		program_run(&tool, "sh -c 'cp %s %s/load && cp /bin/true %s/other'",
			loaded_program(), directory, directory);
		snprintf(path, sizeof(path), "%s/load", directory);
		loaded_start_file(&moved, path, "loops=1 messages=1009");
		program_run(&tool, "sh -c 'cd %s && %s'", directory, ways[i]);
		program_start(&tool, "$A hist -v -j -p %d", moved.pid);
		program_expect(&tool, tool.err, "observing process");
		loaded_say(&moved, "go");
		loaded_expect(&moved, "done");
		kill(tool.pid, SIGINT);
		program_wait(&tool);
		assert_int_equal(tool.exit, 0);
		assert_int_equal(collected_account(tool.out).recorded, 1009);
		loaded_stop(&moved);
	}
}

/* Who may not use /proc/PID/map_files needs the name of a library, and says so when it is stale. */
static void a_replaced_library_is_2_without_the_right_to_it(void **state)
{
	static const struct row row = {"$WITH,+bpf,+perfmon,+sys_ptrace --ambient-caps=-all,+bpf,"
				       "+perfmon,+sys_ptrace $TOOL hist -d 0.1 -p $MOVED",
		2, " was replaced on disk since it started; restart the process, or run"};
	const char *build = getenv("B") ? getenv("B") : "build";
	char path[64];
	struct loaded moved;

	(void)state;
	program_run(&tool,
		"sh -c 'cp %s/libactor.so.0 %s/ && cd %s/examples && ${CC:-cc} $SAN -o %s/shared "
		"../tests/load.o fastlane.o metering.o tracing.o %s/libactor.so.0 -Wl,-rpath,%s "
		"-luv -pthread'",
		build, directory, build, directory, directory, directory);
	assert_int_equal(tool.exit, 0);
	snprintf(path, sizeof(path), "%s/shared", directory);
	loaded_start_file(&moved, path, "loops=1 messages=1009");
	set_pid("MOVED", moved.pid);
	program_run(
		&tool, "sh -c 'cd %s && cp libactor.so.0 new && mv new libactor.so.0'", directory);
	check(&row);
	program_run(&tool, "$A hist -d 0.1 -p %d", moved.pid); /* root may */
	assert_int_equal(tool.exit, 0);
	loaded_stop(&moved);
}

static void a_missing_permission_is_3_and_named(void **state)
{
#define CAPS(list) "$WITH" list " --ambient-caps=-all" list " $TOOL hist -d 0.1 -p $LOAD"
	static const struct row rows[] = {
		{CAPS(""), 3, "grant the missing CAP_SYS_PTRACE\n"},
		{CAPS(",+bpf,+perfmon"), 3, "grant the missing CAP_SYS_PTRACE\n"},
		{CAPS(",+sys_ptrace"), 3, "grant the missing CAP_BPF and CAP_PERFMON\n"},
		{CAPS(",+sys_ptrace,+bpf"), 3, "grant the missing CAP_PERFMON\n"},
		{CAPS(",+sys_ptrace,+perfmon"), 3, "grant the missing CAP_BPF\n"},
		{CAPS(",+sys_ptrace,+bpf,+perfmon") " --perf-events", 3,
			"grant the missing CAP_SYS_ADMIN\n"},
		{"ulimit -n 12 && $A hist -p $LOAD", 3, "too few; raise the limit"},
	};

	(void)state;
	check_all(rows, 6);
	program_run(&tool, "sh -c '%s'", rows[6].line);
	assert_int_equal(tool.exit, 3);
	assert_non_null(strstr(tool.err, rows[6].text));
	program_run(&tool, "%s", CAPS(",+sys_ptrace,+bpf,+perfmon"));
	assert_int_equal(tool.exit, 0);
	assert_string_equal(tool.err, "");
}

/* Without its event source, which is hidden here, perf knows no uprobes. */
static void a_kernel_without_uprobes_is_4(void **state)
{
	static const struct row row = {
		"unshare -m sh -c 'mount -t tmpfs none /sys/bus/event_source/devices && "
		"exec \"$A\" hist --perf-events -p $LOAD'",
		4, "this kernel cannot attach uprobes ("};

	(void)state;
	check(&row);
}

/* What the kernel may answer, and what becomes of it. */
static void each_answer_of_the_kernel_has_its_code(void **state)
{
	static const struct {
		int error, exit;
	} rows[] = {{EOPNOTSUPP, EXIT_KERNEL}, {ENOSYS, EXIT_KERNEL}, {EINVAL, EXIT_KERNEL},
		{ENODEV, EXIT_KERNEL}, {E2BIG, EXIT_KERNEL}, {ENOMEM, EXIT_KERNEL},
		{EPERM, EXIT_PERMISSION}, {EACCES, EXIT_PERMISSION}, {EMFILE, EXIT_PERMISSION},
		{ESRCH, EXIT_TARGET}, {ENOENT, EXIT_PROBES}, {EPROTO, EXIT_PROBES}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error error = {0};

		assert_int_equal(
			programs_explain(-rows[i].error, ATTACH_MULTI, 7, &error), rows[i].exit);
		assert_int_equal(error.exit, rows[i].exit);
		assert_null(strchr(error.text, '\n'));
		assert_true(strlen(error.text) > 20);
	}
}

/* ---- a process of each kind, and the shell's variables ---- */

static pid_t other_thread(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	pid_t thread = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
			thread = atoi(entry->d_name);
	closedir(dir);
	return thread;
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(directory) || chmod(directory, 0755) < 0)
		return -1;
	loaded_start(&load, "loops=3 messages=1009");
	fake_start(&fake, "monotonic");
	fake_tell(&fake, "major 2");
	sleeper = fork();
	if (sleeper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "600", (char *)NULL);
		_exit(127);
	}
	set_pid("LOAD", load.pid);
	set_pid("THREAD", other_thread(load.pid));
	set_pid("FAKE", fake.pid);
	set_pid("SLEEP", sleeper);
	setenv("WITH", "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all", 1);
	/* Where a stranger can execute it. */
	program_run(&tool, "sh -c 'cp \"$A\" %s/actorprobe'", directory);
	snprintf(tool.out, sizeof(tool.out), "%s/actorprobe", directory);
	setenv("TOOL", tool.out, 1);
	return access(tool.out, X_OK);
}

static int end(void **state)
{
	(void)state;
	loaded_stop(&load);
	fake_stop(&fake);
	kill(sleeper, SIGKILL);
	if (old > 0)
		kill(old, SIGKILL);
	program_run(&tool, "rm -r %s", directory);
	return 0;
}

static void everything_that_attaches(void **state)
{
	(void)state;
	print_message("SKIP test_errors: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {
		cmocka_unit_test(each_answer_of_the_kernel_has_its_code),
		cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_command_line_is_1),
		cmocka_unit_test(an_address_in_use_is_1),
		cmocka_unit_test(an_output_that_nobody_takes_is_1),
		cmocka_unit_test(a_target_that_is_not_there_is_2),
		cmocka_unit_test(a_thread_leads_to_its_process),
		cmocka_unit_test(a_32_bit_program_is_2),
		cmocka_unit_test(a_target_without_our_probes_is_5),
		cmocka_unit_test(a_replaced_program_is_observed),
		cmocka_unit_test(a_replaced_library_is_2_without_the_right_to_it),
		cmocka_unit_test(a_missing_permission_is_3_and_named),
		cmocka_unit_test(a_kernel_without_uprobes_is_4),
		cmocka_unit_test(each_answer_of_the_kernel_has_its_code),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
