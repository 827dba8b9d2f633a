/* SPDX-License-Identifier: MIT */
/* The semaphores of the events in events.h. */
#if defined(EVENTS_SDT)
#define SEMAPHORE(name)                                                                            \
	volatile unsigned short peer_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(enqueue);
SEMAPHORE(turn_start);
SEMAPHORE(turn_end);
#else
typedef int events_none; /* ISO C wants a translation unit to hold something */
#endif
