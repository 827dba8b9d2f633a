/* SPDX-License-Identifier: MIT */
/* What a diagnosis rests on: its end, and the names of system calls that block. */
#include "probe/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static void classes_free(struct evidence *e)
{
	for (size_t i = 0; i < e->class_count; i++) {
		free(e->classes[i].dispatcher);
		free(e->classes[i].name);
		free(e->classes[i].actor);
		free(e->classes[i].sender.actor);
		free(e->classes[i].sender.class_name);
	}
	free(e->classes);
}

static void loops_free(struct evidence *e)
{
	for (size_t i = 0; i < e->loop_count; i++) {
		free(e->loops[i].actor);
		free(e->loops[i].class_name);
		free(e->loops[i].dispatcher);
		free(e->loops[i].type);
	}
	free(e->loops);
}

static void deep_free(struct evidence *e)
{
	for (size_t i = 0; i < e->deep_count; i++) {
		free(e->deep[i].actor);
		free(e->deep[i].class_name);
		free(e->deep[i].dispatcher);
	}
	free(e->deep);
}

void evidence_fini(struct evidence *e)
{
	if (!e)
		return;
	classes_free(e);
	for (size_t i = 0; i < e->dispatcher_count; i++)
		free(e->dispatchers[i].name);
	free(e->dispatchers);
	loops_free(e);
	deep_free(e);
	free(e->command);
	free(e->unscheduled);
	*e = (struct evidence){0};
}

static const struct {
	int64_t call;
	const char *name;
} calls[] = {
	{EVIDENCE_NO_CALL, "no system call (a page that was away)"},
	{SYS_read, "read"},
	{SYS_write, "write"},
	{SYS_pread64, "pread64"},
	{SYS_pwrite64, "pwrite64"},
	{SYS_readv, "readv"},
	{SYS_writev, "writev"},
	{SYS_nanosleep, "nanosleep"},
	{SYS_clock_nanosleep, "clock_nanosleep"},
	{SYS_futex, "futex"},
	{SYS_connect, "connect"},
	{SYS_recvfrom, "recvfrom"},
	{SYS_recvmsg, "recvmsg"},
	{SYS_sendto, "sendto"},
	{SYS_sendmsg, "sendmsg"},
	{SYS_accept4, "accept4"},
	{SYS_accept, "accept"},
	{SYS_fsync, "fsync"},
	{SYS_fdatasync, "fdatasync"},
	{SYS_openat, "openat"},
	{SYS_ppoll, "ppoll"},
	{SYS_epoll_pwait, "epoll_pwait"},
	{SYS_wait4, "wait4"},
	{SYS_waitid, "waitid"},
	{SYS_flock, "flock"},
	{SYS_fcntl, "fcntl"},
	{SYS_ioctl, "ioctl"},
	{SYS_rt_sigtimedwait, "rt_sigtimedwait"},
	{SYS_munmap, "munmap"},
	{SYS_mmap, "mmap"},
	{SYS_getdents64, "getdents64"},
	{SYS_io_getevents, "io_getevents"},
	{SYS_semtimedop, "semtimedop"},
	{SYS_msgrcv, "msgrcv"},
	{SYS_pselect6, "pselect6"},
#ifdef SYS_poll
	{SYS_poll, "poll"},
	{SYS_select, "select"},
	{SYS_pause, "pause"},
	{SYS_open, "open"},
	{SYS_epoll_wait, "epoll_wait"},
#endif
};

const char *evidence_call_name(int64_t call)
{
	static _Thread_local char other[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call == call)
			return calls[i].name;
	snprintf(other, sizeof(other), "system call %" PRId64, call);
	return other;
}
