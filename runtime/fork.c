/* SPDX-License-Identifier: MIT */
/* Notices fork(). */
#include "fork.h"

uint32_t actor__fork_count;

static void in_child(void)
{
	actor__fork_count++;
}

static void watch(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void actor__fork_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
}
