/* SPDX-License-Identifier: MIT */
/* A crowd of actors that do, at each message, a few of all things by chance, and accounts of every
 * payload, instance and completion. After tests/lab.h. */
#ifndef TESTS_CROWD_H
#define TESTS_CROWD_H

#include "tests/lab.h"

#define CROWD_LOOPS    3
#define CROWD_PLACES   24 /* at top level */
#define CROWD_DEPTH    3  /* generations below */
#define CROWD_DANGLING 64

enum kind { DEED, CRATE, TICK, NEWS, WORK, ANSWER, KINDS };

/* Of the payloads of one kind. */
struct account {
	_Alignas(64) _Atomic int64_t made, ended, handled, dead;
};

extern struct account accounts[KINDS];
extern _Atomic int64_t instances; /* begun and not ended */
extern _Atomic int64_t spawned;
extern _Atomic int64_t called; /* completions that are due, less those that came */
extern _Atomic int64_t wrong;
extern _Atomic bool over; /* nothing new is begun any more */
extern _Atomic actor_ref places[CROWD_PLACES];
extern bool drops;  /* whether this run has mailboxes and throttles that drop */
extern bool scarce; /* whether memory may fail */
extern uint64_t seed;

/* What is done at each message, and how often of a thousand. A run in which one of them never
 * succeeded has tested nothing of it. */
#define CROWD_DEEDS(X)                                                                             \
	X(tell, 450)                                                                               \
	X(crate, 200)                                                                              \
	X(answer, 300)                                                                             \
	X(ask, 60)                                                                                 \
	X(cancel, 20)                                                                              \
	X(tick, 40)                                                                                \
	X(untick, 20)                                                                              \
	X(quiet, 10)                                                                               \
	X(throttle, 10)                                                                            \
	X(watch, 30)                                                                               \
	X(unwatch, 15)                                                                             \
	X(stash, 50)                                                                               \
	X(unstash, 40)                                                                             \
	X(become, 10)                                                                              \
	X(unbecome, 10)                                                                            \
	X(later, 20)                                                                               \
	X(work, 15)                                                                                \
	X(context, 10)                                                                             \
	X(publish, 4)                                                                              \
	X(subscribe, 6)                                                                            \
	X(unsubscribe, 4)                                                                          \
	X(child, 15)                                                                               \
	X(move, 4)                                                                                 \
	X(stop, 4)                                                                                 \
	X(stop_within, 4)                                                                          \
	X(suspend, 6)                                                                              \
	X(resume, 12)                                                                              \
	X(kill, 3)                                                                                 \
	X(terminate, 3)                                                                            \
	X(take, 30)                                                                                \
	X(pend, 15)                                                                                \
	X(pend_work, 8)                                                                            \
	X(fail, 8)

enum deed {
#define DEED_NUMBER(name, weight) DO_##name,
	CROWD_DEEDS(DEED_NUMBER)
#undef DEED_NUMBER
		DEED_COUNT
};

extern _Atomic uint64_t done[DEED_COUNT];
extern const char *const deed_names[];

struct deed_payload {
	uint64_t sender, number;
	uint32_t hops;
};

struct crate_payload {
	struct deed_payload deed;
	char fill[200];
};

extern struct actor_type deed_type, crate_type, tick_type, news_type, work_type, answer_type,
	word_type;

struct actor {
	uint64_t random;
	uint32_t place; /* CROWD_PLACES: below another one */
	uint32_t depth;
	uint32_t behaviours;
};

enum kind kind_of(const struct actor_type *type);

/* ---- accounts ---- */

/* Something that must not be has happened. */
void complain(int line, int rc);

void count_made(enum kind kind);
void count_ended(enum kind kind);

/* After a payload was handed over, or refused: then it was not made. */
bool accepted(enum kind kind, int rc, enum deed deed);

/* After a call without a payload. */
void count_call(enum deed deed, int rc);

struct crate_payload *crate_new(struct deed_payload deed);

/* ---- the crowd ---- */

uint64_t new_random(void);
void crowd_begin(void);
actor_ref somebody(uint64_t *random);

/* A new actor at a place, at top level or below the running one. */
int settle(struct actor_system *system, struct actor_ctx *ctx, uint32_t place, uint64_t *random);

/* A new actor anywhere. */
int crowd_spawn(struct actor_system *system, struct actor_ctx *ctx, struct actor init,
	uint64_t *random, actor_ref *ref);

int crowd_message(struct actor_ctx *ctx, const struct actor_message *message);

/* ---- pending handlers, completed by anybody ---- */

/* Puts a token at a random place and gives back the one that was there. */
struct actor_token dangle(struct actor_token token, uint64_t *random);
void complete(struct actor_system *system, struct actor_token token, uint64_t *random);
int on_complete(struct actor_ctx *ctx, int status, const struct actor_message *message, void *data);

/* All that dangle are completed, without a system only forgotten. */
void dangling_end(struct actor_system *system, uint64_t *random);

/* ---- a run ---- */

/* Before the system is opened. */
void crowd_reset(uint32_t loops, bool may_drop);

/* All choices begin anew as from the seed. */
void crowd_again(void);

/* Callbacks of the system. `data` of crowd_closed: a struct actor_stats. */
void crowd_dead(void *data, actor_ref recipient, const struct actor_message *message);
void crowd_closed(struct actor_system *system, void *data);
void crowd_log(void *data, enum actor_log_level level, const char *text);

/* What a run has told of a kind is handled, dead or dropped, and destroyed once; all actors and
 * instances have ended, all completions come. */
void crowd_balance(const struct actor_stats *stats);

#endif
