/* SPDX-License-Identifier: MIT */
/* How long a loop with a thread of its own looks for mail before it sleeps in the kernel.
 *
 * Waking a sleeping thread costs tens of microseconds, so a loop that had slept only briefly when
 * mail came spins before its next sleep. Spinning in vain halves the time and puts the next try
 * off, twice as far each time: an idle loop spins once and sleeps, a steady trickle of mail slower
 * than the spin ends in sleeping as well. Time is an argument; one loop's thread. */
#ifndef ACTOR_SPIN_H
#define ACTOR_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define ACTOR__SPIN_NS 50000u

struct actor__spin {
	uint64_t ns;	   /* to spin before the next sleep, 0 = not at all */
	uint64_t slept_at; /* when the last sleep began, 0 = it did not sleep */
	uint32_t penalty;  /* short sleeps to let pass before spinning again */
	uint32_t passed;   /* of them so far */
};

/* The spin has ended; `found`: with mail. */
static inline void actor__spin_result(struct actor__spin *spin, bool found)
{
	if (found) {
		spin->ns = ACTOR__SPIN_NS;
		spin->penalty = 0;
		return;
	}
	spin->ns /= 2;
	if (spin->ns < ACTOR__SPIN_NS / 16)
		spin->ns = 0;
	spin->penalty = spin->penalty < 512 ? spin->penalty * 2 + 1 : spin->penalty;
	spin->passed = 0;
}

/* The loop goes to sleep, and is back; `mail`: because of mail. */
static inline void actor__spin_sleep(struct actor__spin *spin, uint64_t now_ns)
{
	spin->slept_at = now_ns;
}

static inline void actor__spin_woken(struct actor__spin *spin, uint64_t now_ns, bool mail)
{
	/* Twice: the wake-up of the peer and our own are part of it. */
	if (mail && spin->slept_at && now_ns - spin->slept_at < 4 * ACTOR__SPIN_NS &&
		spin->passed++ >= spin->penalty)
		spin->ns = ACTOR__SPIN_NS;
	spin->slept_at = 0;
}

#endif
