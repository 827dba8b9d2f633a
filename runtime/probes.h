/* SPDX-License-Identifier: MIT */
/* The probe sites of libactor and the test whether anybody listens.
 *
 * Each probe is one out-of-line function that consists of a single-byte nop with its arguments in
 * the argument registers. The kernel raises a probe's semaphore while a tracer is attached. The
 * semaphores lie in one block, so that one load tests a group; their value is not a count of
 * tracers, only `!= 0` means something.
 */
#ifndef ACTOR_PROBES_H
#define ACTOR_PROBES_H

#include "abi.h"

/* In the order of ACTOR_ABI_PROBES, 2 bytes each. Two 8-byte words are tested as a whole: the one
 * that begins with turn_end, and the one before it by 2 bytes, which has in place of turn_start
 * how many handlers have a context for lines of log at the moment. No word crosses a cache line. */
struct actor__semaphores {
	_Alignas(16) uint16_t contexts; /* the runtime's, see logging.c */
	uint16_t turn_end;
	uint16_t ledger;
	uint16_t enqueue;
	uint16_t turn_start;
	uint16_t dispatcher_yield;
	uint16_t spawn;
	uint16_t stop;
	uint16_t failure;
	uint16_t restart;
	uint16_t drop;
	uint16_t dead_letter;
	uint16_t dispatcher_error;
};

#ifndef ACTOR_NO_PROBES

extern volatile struct actor__semaphores actor__semaphores
	__attribute__((visibility("hidden")));

typedef volatile uint64_t __attribute__((may_alias, aligned(2))) actor__semaphores_any;
typedef volatile uint32_t __attribute__((may_alias, aligned(2))) actor__semaphores_records;

/* Compilers load a volatile into a register before they test it; this is one instruction less on
 * the way of each message. */
#if defined(__clang__)
#define ACTOR__COLD_LABEL /* only for functions there */
#else
#define ACTOR__COLD_LABEL __attribute__((cold))
#endif
#if defined(__x86_64__)
#define ACTOR__SEMAPHORE_TEST(type, compare, offset)                                               \
	do {                                                                                       \
		/* By name: given as an operand, its address would cost a register. */             \
		__asm__ goto(compare " $0, actor__semaphores+" #offset                                     \
			      "(%%rip)\n\tjne %l[listened]"                                        \
			:                                                                          \
			:                                                                          \
			: "cc"                                                                     \
			: listened);                                                               \
		return 0;                                                                          \
	listened:                                                                                  \
		ACTOR__COLD_LABEL;                                                                 \
		return 1;                                                                          \
	} while (0)
#else
#define ACTOR__SEMAPHORE_TEST(type, compare, offset)                                               \
	return __builtin_expect(                                                                   \
		*(const type *)((const volatile char *)&actor__semaphores + (offset)) != 0, 0)
#endif

/* Is any of turn_end, ledger, enqueue and turn_start listened to? */
static inline __attribute__((always_inline)) int actor__probes_any(void)
{
	ACTOR__SEMAPHORE_TEST(actor__semaphores_any, "cmpq", 2);
}

/* Must a tell take its slow way? Any of turn_end, ledger and enqueue is listened to, or a handler
 * has a context that travels with what it tells. */
static inline __attribute__((always_inline)) int actor__probes_tell(void)
{
	ACTOR__SEMAPHORE_TEST(actor__semaphores_any, "cmpq", 0);
}

/* One handler more or less has a context. Any thread; the neighbours are the kernel's. */
static inline void actor__contexts_add(int difference)
{
	__atomic_fetch_add((uint16_t *)(uintptr_t)&actor__semaphores.contexts, difference,
		__ATOMIC_RELAXED);
}

/* Are records wanted? Then messages and turns are stamped. */
static inline __attribute__((always_inline)) int actor__probes_records(void)
{
	ACTOR__SEMAPHORE_TEST(actor__semaphores_records, "cmpl", 2);
}

/* Given that some probe of the first four is listened to: is it `ledger` alone? */
static inline int actor__probes_ledger_only(void)
{
	return !(actor__semaphores.turn_end | actor__semaphores.enqueue |
		 actor__semaphores.turn_start);
}

/* Does anybody want to know of a yield, by its own probe or in the ledger? */
static inline int actor__probes_yield(void)
{
	return actor__semaphores.dispatcher_yield | actor__semaphores.ledger;
}

#define ACTOR__LISTENED(probe) __builtin_expect(actor__semaphores.probe != 0, 0)

#define ACTOR__PROBE_3 uint64_t, uint64_t, uint64_t
#define ACTOR__PROBE_4 ACTOR__PROBE_3, uint64_t
#define ACTOR__PROBE_5 ACTOR__PROBE_4, uint64_t
#define ACTOR__PROBE_6 ACTOR__PROBE_5, uint64_t
#define ACTOR__DECLARE(probe, n)                                                                   \
	void actor__probe_##probe(ACTOR__PROBE_##n) __attribute__((visibility("hidden")));
ACTOR_ABI_PROBES(ACTOR__DECLARE)
#undef ACTOR__DECLARE

/* One line at each site: the arguments are not computed while nobody listens. */
#define ACTOR__FIRE(probe, ...)                                                                    \
	do {                                                                                       \
		if (ACTOR__LISTENED(probe))                                                        \
			actor__probe_##probe(__VA_ARGS__);                                         \
	} while (0)

#else /* a build without any probe, for comparison in benchmarks */

static inline int actor__probes_any(void)
{
	return 0;
}

/* Contexts of log lines do not travel then. */
static inline int actor__probes_tell(void)
{
	return 0;
}

static inline void actor__contexts_add(int difference)
{
	(void)difference;
}

static inline int actor__probes_records(void)
{
	return 0;
}

static inline int actor__probes_ledger_only(void)
{
	return 0;
}

static inline int actor__probes_yield(void)
{
	return 0;
}

#define ACTOR__LISTENED(probe)  0
#define ACTOR__FIRE(probe, ...) ((void)0)

#endif
#endif
