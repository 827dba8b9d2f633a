/* SPDX-License-Identifier: MIT */
/* The test kit: a system and who drives it, its failures, and the rules for its callers. */
#ifndef ACTOR_KIT_H
#define ACTOR_KIT_H

#include "actor_test.h"
#include "core.h"

struct actor_test {
	struct actor__driver driver; /* first: it is the kit */
	struct actor_system *system;
	struct actor_test_options options;
	uint64_t seed;
	uint64_t random; /* state of the generator, never 0 */
	uint64_t trace;
	uint64_t steps;
	uint64_t place; /* in order: which dispatcher had the last unit */
	bool inside;    /* a loop does something */
	bool gone;      /* the system has ended; its memory is there until the kit goes */
	struct actor_test_probe *probes;
};

/* May this function be called now? 0; -EINVAL, ACTOR_ETHREAD, -EBUSY, the last two logged. */
int actor__kit_check(const struct actor_test *kit, const char *function);

/* Makes the calling thread the loop's own, and no one's again. */
void actor__kit_enter(struct actor_test *kit, struct actor__loop *loop);
void actor__kit_leave(struct actor_test *kit, struct actor__loop *loop);

/* Tells the test what went wrong; returns `code`. */
int actor__kit_failed(struct actor_test *kit, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* xorshift64* (Vigna 2016). A number below `bound`. */
uint32_t actor__kit_random(struct actor_test *kit, uint32_t bound);

/* A generator's state from any seed but 0 (the finaliser of MurmurHash3, Appleby 2011). */
uint64_t actor__kit_spread(uint64_t seed);

/* The seed that the environment names; 0: none. */
uint64_t actor__kit_seed_wish(void);

uint64_t actor__kit_now(const struct actor_test *kit);

#endif
