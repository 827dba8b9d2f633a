/* SPDX-License-Identifier: MIT */
/* actorprobe: reads the command line, runs one command, turns its error into one sentence. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/command.h"

#define FEWEST_FILES 64

static int command_help(const struct arguments *a, struct error *error)
{
	arguments_help();
	return 0;
}

static int command_version(const struct arguments *a, struct error *error)
{
	puts("actorprobe " ACTORPROBE_VERSION);
	return 0;
}

static int (*const commands[])(const struct arguments *a, struct error *error) = {
	[OPTION_LIVE] = command_live,
	[OPTION_LIST] = command_list,
	[OPTION_HIST] = command_hist,
	[OPTION_EXPORT] = command_export,
	[OPTION_DOCTOR] = command_doctor,
	[OPTION_RECORD] = command_record,
	[OPTION_REPORT] = command_report,
	[OPTION_DIAGNOSE] = command_diagnose,
	[OPTION_HELP] = command_help,
	[OPTION_VERSION] = command_version,
};

/* A descriptor that is closed would be given to the next file that is opened. */
static int check_output(struct error *error)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return error_set(error, EXIT_USAGE,
			"standard output is closed; redirect it to a file or to /dev/null");
	return 0;
}

/* With fewer descriptors, failures in many places would look like other causes. */
static int check_files(struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FEWEST_FILES)
		return 0;
	limit.rlim_cur = limit.rlim_max < FEWEST_FILES ? limit.rlim_max : FEWEST_FILES;
	if (limit.rlim_cur == FEWEST_FILES && setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return 0;
	return error_set(error, EXIT_PERMISSION,
		"only %llu open files are allowed, too few; raise the limit with `ulimit -n 1024`",
		(unsigned long long)limit.rlim_cur);
}

static int flush(struct error *error)
{
	if (fflush(stdout) == 0)
		return 0;
	return error_set(error, EXIT_USAGE,
		"the output cannot be written; keep its reader open and its disk from filling up");
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	struct error error = {0};
	int code;

	signal(SIGPIPE, SIG_IGN);
	code = check_output(&error);
	if (!code)
		code = arguments_parse(&arguments, argc, argv, &error);
	if (!code && arguments.command != OPTION_HELP && arguments.command != OPTION_VERSION)
		code = check_files(&error);
	if (!code)
		code = commands[arguments.command](&arguments, &error);
	if (!code)
		code = flush(&error);
	if (error.text[0])
		error_report(&error);
	return code;
}
