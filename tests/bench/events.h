/* SPDX-License-Identifier: MIT */
/* Events as a program's author would add them by hand, for the comparison with other tracers:
 * told, handler begins, handler ends, each with the message's id and the actor. Nothing in the
 * default build.
 */
#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#if defined(EVENTS_SDT)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
extern volatile unsigned short peer_enqueue_semaphore, peer_turn_start_semaphore,
	peer_turn_end_semaphore;
#define EVENT(name, id, actor)                                                                     \
	do {                                                                                       \
		if (__builtin_expect(peer_##name##_semaphore != 0, 0))                             \
			STAP_PROBE2(peer, name, (id), (actor));                                    \
	} while (0)
#elif defined(EVENTS_LTTNG)
#include "peer_tp.h"
#define EVENT(name, id, actor) lttng_ust_tracepoint(peer, name, (id), (actor))
#else
#define EVENT(name, id, actor) ((void)sizeof(id), (void)(actor))
#endif

#endif
