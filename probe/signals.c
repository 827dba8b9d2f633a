/* SPDX-License-Identifier: MIT */
/* Reads signals from a signalfd. */
#include "probe/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals_open(int *fd, struct error *error)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*fd < 0)
		return error_set(error, EXIT_KERNEL,
			"no descriptor for signals (%s); raise the limit with ulimit -n",
			strerror(errno));
	return 0;
}

unsigned int signals_read(int fd)
{
	struct signalfd_siginfo info;
	unsigned int events = 0;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		events |= info.ssi_signo == SIGWINCH ? SIGNALS_RESIZE : SIGNALS_STOP;
	return events;
}
