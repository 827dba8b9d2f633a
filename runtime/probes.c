/* SPDX-License-Identifier: MIT */
/* One site per probe: a one-byte nop with its note, and all semaphores in one block. */
#ifndef ACTOR_NO_PROBES

/* Registers, not memory: the collector reads the argument registers, and index-scaled operands
 * that compilers otherwise choose are refused by older tracers. */
#define STAP_SDT_ARG_CONSTRAINT r
#define _SDT_HAS_SEMAPHORES     1
#include <sys/sdt.h>

#include "probes.h"

#define SEMAPHORE(probe, n)                                                                        \
	".globl actor_" #probe "_semaphore\n"                                                      \
	".hidden actor_" #probe "_semaphore\n"                                                     \
	".type actor_" #probe "_semaphore, @object\n"                                              \
	".size actor_" #probe "_semaphore, 2\n"                                                    \
	"actor_" #probe "_semaphore: .2byte 0\n"

__asm__(".pushsection .probes, \"aw\", @progbits\n"
	".balign 16\n"
	".globl actor__semaphores\n"
	".hidden actor__semaphores\n"
	".type actor__semaphores, @object\n"
	"actor__semaphores:\n"
	".2byte 0\n" ACTOR_ABI_PROBES(SEMAPHORE)
	".size actor__semaphores, . - actor__semaphores\n"
	".balign 8\n"
	".popsection\n");

/* sys/sdt.h only takes the address of these; the definitions stand above. */
#define DECLARE(probe, n)                                                                          \
	extern unsigned short actor_##probe##_semaphore __attribute__((visibility("hidden")));
ACTOR_ABI_PROBES(DECLARE)

/* A linker that drops unused functions would leave their notes behind, with address 0. */
#if defined(__has_attribute) && __has_attribute(retain)
#define KEPT used, retain
#else
#define KEPT used
#endif

/* gcc: no inlining, cloning or argument removal; clang knows no `noipa`. */
#if defined(__clang__)
#define SITE __attribute__((noinline, KEPT, cold, visibility("hidden")))
#else
#define SITE __attribute__((noipa, noinline, KEPT, cold, visibility("hidden")))
#endif

/* Sanitizers must not spill an argument between the register and the nop. */
#define ARG(n, name, where) register uint64_t r##n __asm__(where) = name

#if defined(__x86_64__)
#define ARG1 ARG(1, a, "rdi")
#define ARG2 ARG(2, b, "rsi")
#define ARG3 ARG(3, c, "rdx")
#define ARG4 ARG(4, d, "rcx")
#define ARG5 ARG(5, e, "r8")
#define ARG6 ARG(6, f, "r9")
#elif defined(__aarch64__)
#define ARG1 ARG(1, a, "x0")
#define ARG2 ARG(2, b, "x1")
#define ARG3 ARG(3, c, "x2")
#define ARG4 ARG(4, d, "x3")
#define ARG5 ARG(5, e, "x4")
#define ARG6 ARG(6, f, "x5")
#else
#error "libactor's probes know the argument registers of x86-64 and aarch64 only"
#endif

#define SITE_3(probe)                                                                              \
	SITE void actor__probe_##probe(uint64_t a, uint64_t b, uint64_t c)                         \
	{                                                                                          \
		ARG1;                                                                              \
		ARG2;                                                                              \
		ARG3;                                                                              \
		STAP_PROBE3(actor, probe, r1, r2, r3);                                             \
	}
#define SITE_4(probe)                                                                              \
	SITE void actor__probe_##probe(uint64_t a, uint64_t b, uint64_t c, uint64_t d)             \
	{                                                                                          \
		ARG1;                                                                              \
		ARG2;                                                                              \
		ARG3;                                                                              \
		ARG4;                                                                              \
		STAP_PROBE4(actor, probe, r1, r2, r3, r4);                                         \
	}
#define SITE_5(probe)                                                                              \
	SITE void actor__probe_##probe(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) \
	{                                                                                          \
		ARG1;                                                                              \
		ARG2;                                                                              \
		ARG3;                                                                              \
		ARG4;                                                                              \
		ARG5;                                                                              \
		STAP_PROBE5(actor, probe, r1, r2, r3, r4, r5);                                     \
	}
#define SITE_6(probe)                                                                              \
	SITE void actor__probe_##probe(                                                            \
		uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)            \
	{                                                                                          \
		ARG1;                                                                              \
		ARG2;                                                                              \
		ARG3;                                                                              \
		ARG4;                                                                              \
		ARG5;                                                                              \
		ARG6;                                                                              \
		STAP_PROBE6(actor, probe, r1, r2, r3, r4, r5, r6);                                 \
	}
#define DEFINE(probe, n) SITE_##n(probe)
ACTOR_ABI_PROBES(DEFINE)

#else
typedef int actor__no_probes; /* ISO C wants a translation unit to hold something */
#endif
