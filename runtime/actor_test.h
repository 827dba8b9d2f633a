/* SPDX-License-Identifier: MIT */
/* The test kit of libactor: a system whose loops are all driven from the calling thread.
 *
 * A kit opens an actor system with one or more loops that have no thread. Nothing runs by itself:
 * the test takes step after step, runs until all is quiet, or waits for a message at a *probe*, and
 * the clock is moved by hand. The system is otherwise a usual one: actors, dispatchers, timers,
 * supervision, and mail between loops, which passes through the rings between them. The test stands
 * outside the loops, as another thread would: what it tells and spawns with actor_system_...() goes
 * through the inboxes and is taken in by the next steps.
 *
 * A *step* is one of: a loop takes in its mail, a loop's timers that are due fire, one unit of one
 * dispatcher runs. In order, mail comes first, then timers, then a unit of each dispatcher by
 * turns; budgets per pass do not matter. With ACTOR_TEST_SEEDED each step is chosen among all that
 * are possible by a generator of random numbers: the same seed makes the same choices, so an order
 * in which a program fails can be had again. What promises an order keeps it: messages between the
 * same two actors, the units of one dispatcher, the timers of one loop.
 *
 * Not repeated by a seed is what other threads do, the thread pool included, and the jitter of
 * restarts with a back-off (jitter_percent -1 has none).
 *
 * An expectation that is not met is a negative result, and a sentence with the time and the seed
 * that goes to the kit's on_failure, or else to the system's log. All functions are for the thread
 * that opened the kit, and not for handlers: ACTOR_ETHREAD, -EBUSY. NULL for a kit or probe is
 * -EINVAL. */
#ifndef ACTOR_TEST_H
#define ACTOR_TEST_H

#include "actor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACTOR_TEST_TIMEOUT_MS 3000    /* default time of an expectation */
#define ACTOR_TEST_QUIET_MS   300     /* default time of actor_test_expect_none() */
#define ACTOR_TEST_UNITS      1000000 /* default of what may run until all is quiet */

struct actor_test;
struct actor_test_probe;

enum actor_test_order {
	ACTOR_TEST_IN_ORDER = 1, /* the default */
	ACTOR_TEST_SEEDED,
};

enum actor_test_what {
	ACTOR_TEST_MAIL = 1, /* a loop takes in what came from other loops and from outside */
	ACTOR_TEST_TIMERS,   /* what is due on a loop fires, which only queues messages */
	ACTOR_TEST_UNIT,     /* a unit runs: a turn of an actor, or one of the program's own */
};

/* What is about to be done; valid until the callback returns. */
struct actor_test_step {
	size_t size;            /* sizeof(struct actor_test_step) */
	uint64_t number;        /* 1 is the first */
	enum actor_test_what what;
	int loop;               /* 1 is the first */
	const char *dispatcher; /* its id; "" unless it is a unit */
	const char *class_name; /* of the unit's actor; "" if there is none */
	actor_ref actor;        /* 0: none */
	uint64_t now_ms;        /* by the kit's clock */
};

struct actor_test_options {
	size_t size; /* sizeof(struct actor_test_options) */
	/* Of the system. `loops` is the number of loops, default 1; `loop` and shutdown_signals must
	 * not be set. manual_ms 0 is 1: a clock by hand is the usual one here. NULL: all defaults. */
	const struct actor_system_options *system;
	enum actor_test_order order;
	/* Default: the number in the environment variable ACTOR_TEST_SEED, else one from the clock. It
	 * is logged, and in the sentence of each failure. */
	uint64_t seed;
	/* 1: the real clock in place of one by hand. Waiting then takes its time, and timers are no
	 * steps of their own. */
	int real_time;
	int64_t units; /* that may run until all is quiet; default ACTOR_TEST_UNITS */
	/* Gets the sentence of each failure, for instance to hand it to a test framework; it may
	 * longjmp() away from there. NULL: it is logged as an error. */
	void (*on_failure)(void *data, const char *text);
	void *on_failure_data;
	/* Called before each step. May be NULL. */
	void (*on_step)(void *data, const struct actor_test_step *step);
	void *on_step_data;
};

/* Opens a kit with its system; `options` may be NULL. Errors: ACTOR_EOPTIONS, -EINVAL (kit NULL),
 * -ENOMEM, and those of actor_system_open(). */
ACTOR_EXPORT int actor_test_open(struct actor_test **kit, const struct actor_test_options *options);

/* Closes the system as actor_system_close() does, unless the test did so already, steps until that
 * is done, and frees kit and probes. Pending handlers are abandoned after the system's drain_ms, in
 * real time. */
ACTOR_EXPORT int actor_test_close(struct actor_test *kit);

/* The kit's system, for all functions of actor.h but actor_system_drain(), actor_system_ask() on
 * this thread (-EDEADLK), and those that wait for the end. It is gone after actor_test_close(). */
ACTOR_EXPORT struct actor_system *actor_test_system(struct actor_test *kit);

/* The libuv loop of the n-th loop, 1 is the first, for handles of the test's own; NULL: none. Their
 * callbacks run when no step is left to do. */
ACTOR_EXPORT uv_loop_t *actor_test_loop(struct actor_test *kit, int loop);

/* ---- steps and time ---- */

/* Steps until one unit has run. 1: one has; 0: all is quiet. */
ACTOR_EXPORT int actor_test_step(struct actor_test *kit);

/* Steps until all is quiet: no mail, no timer that is due, no unit, no work on the thread pool.
 * Pending handlers and time are not waited for. Returns how many units ran. -ELOOP: more than the
 * options allow, a failure. */
ACTOR_EXPORT int64_t actor_test_run(struct actor_test *kit);

/* Moves the clock on by so many milliseconds, from one time at which something is due to the next,
 * over all loops, and runs until all is quiet at each of them and at the end. Real clock: waits.
 * Returns how many units ran; -ELOOP. */
ACTOR_EXPORT int64_t actor_test_advance(struct actor_test *kit, uint64_t ms);

/* The time of the kit's clock in milliseconds. */
ACTOR_EXPORT uint64_t actor_test_now(struct actor_test *kit);

/* ---- seeds ---- */

ACTOR_EXPORT uint64_t actor_test_seed(struct actor_test *kit);

/* A number that stands for all steps so far, by kind, loop, dispatcher and class: two runs with the
 * same trace took the same way. */
ACTOR_EXPORT uint64_t actor_test_trace(struct actor_test *kit);

/* Calls `test` with `count` seeds, `first` being the first, which must not be 0, until it returns
 * anything but 0; that is returned, with the seed in `failing` (may be NULL) and on stderr. If the
 * environment variable ACTOR_TEST_SEED is set, that is the only seed. 0: no seed failed. Any
 * thread; kit is the test's own. */
ACTOR_EXPORT int actor_test_seeds(uint64_t first, uint64_t count,
	int (*test)(uint64_t seed, void *data), void *data, uint64_t *failing);

/* ---- the synchronous dispatcher ---- */

/* Describes a dispatcher of the calling thread: what actor_system_tell() and actor_test_tell() tell
 * its actors has been handled when they return, with all that came of it on synchronous
 * dispatchers, on any loop. Turns do not nest: a unit that becomes ready while another one runs waits for its
 * end, in the order of arrival, so no stack grows; a tell inside a handler returns before the
 * receiver's turn, as always. Only for kits: elsewhere opening it is ACTOR_EDISPATCHER, since a
 * program must not wait for its receivers. `id` NULL is "synchronous". ACTOR_ENAME. Any thread. */
ACTOR_EXPORT int actor_test_synchronous(struct actor_dispatcher_spec *spec, const char *id);

/* ---- probes ---- */

/* Makes a probe on the n-th loop (0: the first): an actor at top level that keeps what it is told,
 * in order, for the test to look at. `name` may be NULL. It lives as long as the kit; `*probe` is
 * not to be freed. Errors as actor_system_spawn(). */
ACTOR_EXPORT int actor_test_probe_open(
	struct actor_test *kit, const char *name, int loop, struct actor_test_probe **probe);

/* What to tell it by. ACTOR_NONE for NULL. */
ACTOR_EXPORT actor_ref actor_test_ref(const struct actor_test_probe *probe);

/* Tells `to` something with the probe as its sender. Errors as actor_tell(). */
ACTOR_EXPORT int actor_test_tell(struct actor_test_probe *probe, actor_ref to,
	struct actor_type *type, const void *payload, size_t bytes);

/* Runs `cb` in a turn of the probe, for whatever needs a context: to ask, watch, spawn a child,
 * subscribe, start a timer. Steps until it has run, and returns its result; a negative one is no
 * failure of the probe. -ESRCH: the probe has stopped. */
ACTOR_EXPORT int actor_test_within(
	struct actor_test_probe *probe, int (*cb)(struct actor_ctx *ctx, void *data), void *data);

/* True if a message is the one that is wanted. */
typedef int (*actor_test_predicate)(const struct actor_message *message, void *data);

/* Of all expectations: they step until the message is there, and when all is quiet let the clock go
 * on to the next time at which something is due, within timeout_ms; 0 is ACTOR_TEST_TIMEOUT_MS.
 * What they give stays valid until the next one of this probe. `type` NULL: any type; `predicate`
 * NULL: any message of the type; `message` may be NULL.
 * Failures: -ETIMEDOUT; -EBADMSG: it is another message, which is given in `message` all the same;
 * -ESRCH: the probe has stopped; -ELOOP, see actor_test_run(). */

/* The next message is of this type, and the predicate is true of it. */
ACTOR_EXPORT int actor_test_expect(struct actor_test_probe *probe, const struct actor_type *type,
	actor_test_predicate predicate, void *data, int64_t timeout_ms,
	struct actor_message *message);

/* One of the next messages is; those before it are destroyed. */
ACTOR_EXPORT int actor_test_fish(struct actor_test_probe *probe, const struct actor_type *type,
	actor_test_predicate predicate, void *data, int64_t timeout_ms,
	struct actor_message *message);

/* Takes the next `count` messages, which come within the time together. */
ACTOR_EXPORT int actor_test_receive(struct actor_test_probe *probe, size_t count,
	int64_t timeout_ms, struct actor_message *messages);

/* No message is there, nor comes within the time; 0 is ACTOR_TEST_QUIET_MS. -EBADMSG: one did,
 * which stays where it is. */
ACTOR_EXPORT int actor_test_expect_none(struct actor_test_probe *probe, int64_t timeout_ms);

/* The actor is gone within the time, whatever ended it. */
ACTOR_EXPORT int actor_test_expect_stopped(
	struct actor_test *kit, actor_ref ref, int64_t timeout_ms);

/* Watches an actor by the probe, as actor_watch() does; its errors, and -ESRCH. */
ACTOR_EXPORT int actor_test_watch(struct actor_test_probe *probe, actor_ref ref);

/* The next message says that this actor has ended, which the probe watches; `termination` (may be
 * NULL) gets the payload. */
ACTOR_EXPORT int actor_test_expect_terminated(struct actor_test_probe *probe, actor_ref ref,
	int64_t timeout_ms, struct actor_termination *termination);

/* The sender of the last message that an expectation gave; 0: none. */
ACTOR_EXPORT actor_ref actor_test_sender(const struct actor_test_probe *probe);

/* Answers that message, once: completes the ask it came from, or tells its sender. -EINVAL: there
 * is no such message, or nobody to answer. Errors as actor_tell(). */
ACTOR_EXPORT int actor_test_reply(struct actor_test_probe *probe, struct actor_type *type,
	const void *payload, size_t bytes);

/* How many messages wait in the probe for an expectation; no step is taken. */
ACTOR_EXPORT size_t actor_test_count(const struct actor_test_probe *probe);

/* Destroys them. */
ACTOR_EXPORT void actor_test_clear(struct actor_test_probe *probe);

#ifdef __cplusplus
}
#endif

#endif
