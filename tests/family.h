/* SPDX-License-Identifier: MIT */
/* Families of actors for tests of supervision: each has a letter, obeys orders, and leaves a trail
 * of what happens to it. After tests/lab.h.
 *
 * The trail: "+x" on_start, "-x" on_stop, "~x" on_pre_restart, "*x" on_post_restart, "x" a message,
 * "!x" a message that fails, "(x" the word that somebody called x has ended. */
#ifndef TESTS_FAMILY_H
#define TESTS_FAMILY_H

#include "tests/lab.h"

#define TRAIL_BYTES 65536

enum order_kind {
	NOTE,
	FAIL, /* with -EIO, or `number` if that is below 0 */
	FAIL_TEXT,
	SPAWN, /* a child by the letter, on loop `number`, of the class `cls` */
	STOP_SELF,
	STOP, /* `ref` */
	KILL,
	TERMINATE,
	WATCH,
	WATCH_WITH, /* the message is a token with `number`, a letter: told as the end of that one */
	UNWATCH,
	GRACEFUL, /* within `number` ms */
	TELL,	  /* `ref` a NOTE */
	BECOME,	  /* something that marks "b" */
	SLEEP,	  /* `number` ms */
};

struct order {
	uint8_t kind; /* enum order_kind */
	char letter;
	uint8_t fails; /* SPAWN: its first so many starts fail */
	int32_t number;
	actor_ref ref;
	struct actor_class *cls; /* NULL: of the one who spawns */
};

struct member {
	char letter;
	bool fails_start; /* always */
	int fails_starts; /* the first so many, counted for all together */
	char child;	  /* spawned by on_start, by this name */
	struct actor_class *child_class;
	int child_loop;
	const struct actor_strategy *child_strategy;
	uint32_t handled;
};

extern struct actor_type order_type;

/* member_class: plain. hooked_class: with hooks for restarts. keeper_class: keeps its children.
 * Further classes may be copied from them. */
extern struct actor_class member_class, hooked_class, keeper_class;

extern char trail[TRAIL_BYTES];
extern _Atomic int last_rc;	      /* of what was ordered last */
extern _Atomic int64_t members_alive; /* instances that have started and not ended */
extern _Atomic int last_reason;	      /* of the last word of an end */

void mark(char what, char letter);
void trail_reset(void);

/* What the trail says of one letter, in order. */
const char *trail_of(char letter);

/* At top level. */
actor_ref member_spawn(struct lab *lab, struct actor_class *cls, struct member init,
	const char *name, const struct actor_strategy *strategy, int loop);

void give(struct lab *lab, actor_ref to, struct order o);

/* Waits up to ten seconds until the trail of a letter is this; prints both if it is not. */
bool trail_becomes(char letter, const char *text);

#endif
