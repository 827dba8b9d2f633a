/* SPDX-License-Identifier: MIT */
/* Reading a target's memory without ever being held up by it.
 *
 * A page can be made to hang its reader for good. So reads run as jobs on a thread of their own,
 * the caller waits with a deadline, and a job that is late is abandoned: the thread frees it when,
 * if ever, it comes back. Memory is opened for reading only.
 */
#ifndef PROBE_REMOTE_H
#define PROBE_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_DEADLINE_NS 200000000u

struct remote;

/* Opens /proc/PID/task/TASK/mem and starts the thread. Returns 0 or -errno. */
int remote_open(struct remote **out, pid_t pid, pid_t task);

/* Wraps an open descriptor, which the remote owns from now on; offsets in it are addresses. */
int remote_wrap(struct remote **out, int fd);

/* Runs `job(remote, argument)` on the thread. Returns its result; -ETIMEDOUT when it is late, then
 * `drop(argument)` runs later on the thread, and the argument must not be touched any more;
 * -EBUSY while a late job is still running, then `argument` stays the caller's. */
int remote_run(struct remote *remote, int (*job)(struct remote *, void *), void *argument,
	void (*drop)(void *));

/* Copies `bytes` bytes at `address`. Only for jobs. Returns 0, or -EFAULT for any byte missing. */
int remote_copy(const struct remote *remote, uint64_t address, void *to, size_t bytes);

/* Copies a string of at most `bytes` - 1 characters and ends it. Only for jobs. */
int remote_string(const struct remote *remote, uint64_t address, char *to, size_t bytes);

/* Ends the thread, or leaves it to itself if it hangs. NULL is fine. */
void remote_close(struct remote *remote);

#endif
