/* SPDX-License-Identifier: MIT */
/* libactor: actors on libuv, observable from outside without cost. The public header.
 *
 * A *system* is a family of actors. It lives on the caller's uv_loop_t, on loops with threads of
 * its own, or on both. An *actor* belongs to one loop for its whole life and handles one message
 * at a time; whoever holds its `actor_ref` may tell it something, from any thread. A *dispatcher*
 * decides when an actor's *turn* runs: up to `throughput` messages, then the actor asks again.
 *
 * Conventions. Functions return 0 or a positive value, or a negative error: -errno, which is also
 * libuv's code, or one of enum actor_error; actor_strerror() has a sentence for each. Options
 * structures begin with their own size, and a zero field means the documented default.
 * Unless a function says otherwise it may be called on the loop's thread only; functions that take
 * a `struct actor_ctx` may be called only while that handler runs.
 *
 * Wrong calls. NULL in place of what a function needs is -EINVAL, or NULL, 0 or nothing by what it
 * returns, unless it names another error. A call with a context whose handler does not run, or on
 * another thread, is -EINVAL or ACTOR_ETHREAD, and the system logs a sentence. Only what is on the
 * way of each message looks at its context in debug builds alone, where such a call ends the process
 * with a sentence: actor_tell(), actor_reply(), actor_ask(), actor_self(), actor_state(),
 * actor_sender(), actor_parent(), actor_ctx_system(), actor_ctx_loop(). A build of libactor with
 * -DACTOR_DEBUG, or with a sanitizer, is one.
 *
 * C11 or C++. With -std=c11, which hides POSIX, libuv's header needs _POSIX_C_SOURCE 200809L.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACTOR_VERSION_MAJOR 0
#define ACTOR_VERSION_MINOR 1
#define ACTOR_VERSION_PATCH 0

#if defined(__GNUC__)
#define ACTOR_EXPORT __attribute__((visibility("default")))
#else
#define ACTOR_EXPORT
#endif

/* An actor's address: a value, safe to keep for ever and to send anywhere in the process. A ref of
 * an actor that is gone never reaches another one. */
typedef uint64_t actor_ref;

#define ACTOR_NONE           ((actor_ref)0)
#define ACTOR_INLINE_BYTES   32 /* payloads up to this size travel inside the envelope */
#define ACTOR_NAME_BYTES     63 /* longest name of a class, type, dispatcher, system or actor */
#define ACTOR_BUDGET_MAX     1000000 /* highest throughput and dispatcher budget */
#define ACTOR_THROUGHPUT     16 /* default messages per turn, and units of a throughput dispatcher */
#define ACTOR_HYBRID_BUDGET  64 /* default units per pass of a hybrid dispatcher */
#define ACTOR_ASK_TIMEOUT_MS 5000
#define ACTOR_STOP_TIMEOUT_MS 5000 /* default time of a stop that is waited for */
#define ACTOR_STASH_CAPACITY 1024 /* default number of messages that an actor may stash */
#define ACTOR_PHASE_TIMEOUT_MS 5000 /* default time of each phase of a shutdown */
#define ACTOR_DRAIN_MS       2000 /* default time that closing waits for queued work */
#define ACTOR_CAPACITY_MAX   1000000000 /* largest bound of a mailbox, in messages */
#define ACTOR_HIGH_WATER     10000 /* messages in a mailbox that are worth a warning */
#define ACTOR_RANK_LAST      INT64_MAX

struct actor_system;
struct actor_ctx;
struct actor_dispatcher;

/* ---- errors ---- */

#define ACTOR_ERRORS(X)                                                                            \
	X(-5001, ACTOR_EBUDGET, "a throughput or budget must be between 1 and 1000000")            \
	X(-5002, ACTOR_ENAME, "a name must have 1 to 63 bytes, no '/', '\\' or control bytes, no '$' "    \
			      "in front, and must not be '.' or '..'")                             \
	X(-5003, ACTOR_ETYPE, "a message type needs its size field, a name, and a matching payload") \
	X(-5004, ACTOR_ECLASS, "an actor class needs its size field, a valid name, on_message, " \
			       "and a valid strategy or none") \
	X(-5005, ACTOR_ELIMIT, "the process has no room for another loop, class, type or dispatcher") \
	X(-5006, ACTOR_ECLOSED, "the actor system is closing or closed")                           \
	X(-5007, ACTOR_ETHREAD, "this function may be called on the loop's own thread only")       \
	X(-5008, ACTOR_EDISPATCHER, "the dispatcher's id is taken by another specification")       \
	X(-5009, ACTOR_EUNIT, "a unit must run once per execute, and not inside execute")          \
	X(-5010, ACTOR_EOPTIONS, "the options structure is too small, or a field is out of range")       \
	X(-5011, ACTOR_ESTASH, "the actor has stashed as many messages as it may")                   \
	X(-5012, ACTOR_ECONFIG, "the configuration file was refused; the log says why and where")              \
	X(-5013, ACTOR_EFULL, "the receiver's mailbox is full and rejects the message") \
	X(-5014, ACTOR_EKILLED, "the actor was killed")

enum actor_error {
#define ACTOR_ERROR_VALUE(code, name, text) name = code,
	ACTOR_ERRORS(ACTOR_ERROR_VALUE)
#undef ACTOR_ERROR_VALUE
};

/* The sentence for an error code; never NULL. Any thread. */
ACTOR_EXPORT const char *actor_strerror(int code);

/* "0.1.0". Any thread. */
ACTOR_EXPORT const char *actor_version(void);

/* ---- messages ---- */

/* A kind of message. Define one per kind, with static storage; the runtime registers it at its
 * first use and from then on knows it by number. `destroy` runs exactly once for each message that
 * was accepted (unless the handler took it): handled, dropped, dead-lettered or shut down.
 */
struct actor_type {
	size_t size;      /* sizeof(struct actor_type) */
	const char *name; /* copied at registration; a label for observers */
	/* Releases what the payload owns. Payloads above 32 bytes: also the block itself. Any thread. */
	void (*destroy)(void *payload, size_t bytes);
	/* Makes a deep copy in `to`, which has `bytes` bytes of memory from malloc() or the envelope. */
	int (*copy)(void *to, const void *payload, size_t bytes);
	uint32_t mark; /* the runtime's; 0 until its first use */
};

#define ACTOR_TYPE(name_)                                                                          \
	{                                                                                          \
		sizeof(struct actor_type), name_, NULL, NULL, 0                                    \
	}

/* What a handler receives; valid until it returns. The payload itself is valid, and stays where it
 * is, until a handler that becomes pending has ended. */
struct actor_message {
	const struct actor_type *type;
	void *payload; /* 16-byte aligned if it travelled inside the envelope */
	size_t bytes;
	actor_ref sender; /* 0 = told from outside any actor */
};

/* Handles a message; a negative return value is a failure. */
typedef int (*actor_receive_cb)(struct actor_ctx *ctx, const struct actor_message *message);

/* ---- mailboxes ---- */

/* What happens when a message comes to a mailbox that has as many as its capacity. Each message
 * that is dropped is counted, fires the probe `drop` and is destroyed. Never dropped are answers to
 * the actor's own questions, requests to stop, and notifications; a mailbox may hold more of these
 * than its capacity. */
enum actor_overflow {
	ACTOR_DROP_HEAD = 1, /* the oldest is dropped; the default */
	ACTOR_DROP_NEW,      /* the new one is dropped */
	/* Its teller gets ACTOR_EFULL and keeps it. A teller on another loop or in a thread without
	 * one cannot be told: then it is dropped. */
	ACTOR_REJECT,
	/* By rank only, and the default there: the last by rank is dropped, which may be the new one;
	 * of equals the newest. */
	ACTOR_DROP_LOWEST,
};

/* Ranks a message: 0 comes first, equal ranks in the order in which they were told. A negative
 * value, which is an error, ranks last, as ACTOR_RANK_LAST does. Called once per message, before it
 * is admitted, on the receiver's loop; it may not use the runtime, nor change the message. Answers
 * come before all ranks and are not asked about. A request to stop is handled when all mail that
 * was told before it is, whatever its rank. */
typedef int64_t (*actor_rank_cb)(const struct actor_message *message, void *data);

/* A message in a custom mailbox. It belongs to the runtime; the mailbox only keeps its order. */
struct actor_mail;

ACTOR_EXPORT const struct actor_type *actor_mail_type(const struct actor_mail *mail);
ACTOR_EXPORT const void *actor_mail_payload(const struct actor_mail *mail);
ACTOR_EXPORT size_t actor_mail_bytes(const struct actor_mail *mail);
ACTOR_EXPORT actor_ref actor_mail_sender(const struct actor_mail *mail); /* 0 = no actor */

/* Two words beside a message that are the mailbox's own while it has it, NULL at first: with them
 * a list or heap of messages needs no memory. */
ACTOR_EXPORT void **actor_mail_links(struct actor_mail *mail);

/* Is it a notification, which must not be dropped? */
ACTOR_EXPORT int actor_mail_kept(const struct actor_mail *mail);

/* Gives up a message that the mailbox has: it is counted as dropped and destroyed soon, and must
 * not be handed out any more. Not for the message that is just being pushed, which the mailbox may
 * refuse. -EINVAL: it is not in the mailbox; -EPERM: it must be kept. */
ACTOR_EXPORT int actor_mail_drop(struct actor_mail *mail);

/* A mailbox of the program's own: the order in which one actor handles its messages. All functions
 * but `open` run on the actor's loop, one at a time. They may not use the runtime but by the
 * functions above. What breaks the contract is logged once per actor: a message that is lost is a
 * counted drop, one that was handed out twice is not handled twice. Answers to the actor's own
 * questions and requests to stop do not pass through the mailbox: an answer is handled first, a
 * request to stop when the mailbox has handed out all that was told before it. */
struct actor_mailbox_ops {
	size_t size; /* sizeof(struct actor_mailbox_ops) */
	/* Makes the mailbox of one actor, on the thread that spawns it; `*self` is passed to the others.
	 * A negative value is the spawn's error. NULL: `self` is the options' `ops_data`. */
	int (*open)(void **self, void *data);
	/* Takes a message. A negative value refuses it: its teller gets ACTOR_EFULL, as with
	 * ACTOR_REJECT; a notification that is refused is handled without the mailbox. */
	int (*push)(void *self, struct actor_mail *mail);
	/* Hands out the next message. NULL: none. */
	struct actor_mail *(*pop)(void *self);
	/* How many it has. */
	size_t (*count)(const void *self);
	/* Frees the mailbox at the end of its actor. Messages that are still in it have gone to the
	 * dead letters and may not be looked at. May be NULL. */
	void (*close)(void *self);
};

/* Without capacity, rank and ops a mailbox is an unbounded FIFO. */
struct actor_mailbox_options {
	size_t size; /* sizeof(struct actor_mailbox_options) */
	/* Messages, 1 ... ACTOR_CAPACITY_MAX; 0: no bound. Not with `ops`. */
	int64_t capacity;
	enum actor_overflow overflow; /* only with a capacity */
	actor_rank_cb rank;           /* NULL: in the order of arrival. Not with `ops`. */
	void *rank_data;
	const struct actor_mailbox_ops *ops; /* must outlive the actor */
	void *ops_data;
	/* A warning is logged when this many messages are queued, and at each doubling of it; default
	 * ACTOR_HIGH_WATER, -1: never. Mailboxes without capacity, rank and ops are looked at each
	 * time they have grown by 15 messages. */
	int64_t high_water;
};

/* ---- supervision ----
 *
 * When an actor *fails* (a hook or handler returns a negative value or calls actor_fail(), or it is
 * killed), it and all actors below it are suspended: their mail waits. Its supervisor, the parent,
 * decides by a strategy what comes of it; each failure is logged once. The strategy is the first
 * there is of: the one the failed actor was spawned with, the parent's class's, the default, which
 * restarts it up to 10 times within 60 000 ms and then stops it. The same default holds for actors
 * at top level. */

enum actor_directive {
	/* It stops with all below it. */
	ACTOR_DIRECTIVE_STOP = 1,
	/* A new instance takes over its ref, path and mail. The message that failed is destroyed, not
	 * handled again. */
	ACTOR_DIRECTIVE_RESTART = 2,
	/* It goes on with its next message. One whose start failed is restarted instead. */
	ACTOR_DIRECTIVE_RESUME = 3,
	/* The parent fails with the same code and text. At top level nobody is left to decide: this is
	 * logged, all actors of the system are stopped, and new ones are refused with ACTOR_ECLOSED;
	 * actor_system_close() is still the program's to call. */
	ACTOR_DIRECTIVE_ESCALATE = 4,
};

enum actor_scope {
	ACTOR_ONE_FOR_ONE = 1,
	/* A stop or restart is done to all children of the failed actor's parent. */
	ACTOR_ALL_FOR_ONE = 2,
};

/* What a decider is told; valid until it returns. */
struct actor_failure {
	size_t size;      /* sizeof(struct actor_failure) */
	int code;         /* negative */
	const char *text; /* of actor_fail(), else ""; cut at 255 bytes */
	actor_ref actor;  /* that failed */
	const struct actor_class *cls; /* its class */
	uint64_t restarts; /* of it within the window so far */
};

/* Returns an enum actor_directive; anything else, above all a negative value, counts as escalate.
 * Runs on the supervisor's loop, between two messages of anybody; it only decides. */
typedef int (*actor_decide_cb)(void *data, const struct actor_failure *failure);

#define ACTOR_MAX_RETRIES     10    /* default */
#define ACTOR_RETRY_WINDOW_MS 60000 /* default */

/* How a supervisor decides. A strategy of a class must have static storage; one in spawn options is
 * copied. */
struct actor_strategy {
	size_t size;            /* sizeof(struct actor_strategy) */
	enum actor_scope scope; /* default ACTOR_ONE_FOR_ONE; top level has no other */
	enum actor_directive directive; /* for each failure, without `decide`; default: restart */
	actor_decide_cb decide;
	void *data; /* passed to decide */
	/* So many restarts of one actor within the window are granted, then it is stopped. Default
	 * 10; -1: any number. */
	int64_t max_retries;
	int64_t window_ms; /* default 60 000; -1: nothing is ever forgotten */
	/* A restart waits min, then twice as long each time, at most max ms; the actor is suspended
	 * meanwhile and keeps its mail. 0: no wait, and max 0: 60 times min. The wait begins anew when
	 * an actor was not restarted for the window, or for 10 times max if nothing is forgotten. */
	int64_t backoff_min_ms;
	int64_t backoff_max_ms;
	int64_t jitter_percent; /* each wait is longer by up to so many percent; default 20; -1: none */
};

/* ---- classes ---- */

/* The kind of an actor. Define one per kind, with static storage. All functions run on the
 * actor's loop, one at a time. A negative return value is a failure, see above. */
struct actor_class {
	size_t size;        /* sizeof(struct actor_class) */
	const char *name;   /* copied at registration; a bounded label for observers */
	size_t state_bytes; /* per actor, 16-byte aligned, see actor_state() */
	/* Runs first, before any message. May be NULL. */
	int (*on_start)(struct actor_ctx *ctx);
	actor_receive_cb on_message;
	/* Runs last, after all children have stopped; also when on_start failed. May be NULL. */
	void (*on_stop)(struct actor_ctx *ctx);
	uint32_t id; /* the runtime's; 0 at first */
	/* For actors that are spawned without options of their own for it. NULL: unbounded FIFO. */
	const struct actor_mailbox_options *mailbox;
	/* Of its children; NULL: the default one. */
	const struct actor_strategy *strategy;
	/* A restart, in this order: pending asks and timers are cancelled and behaviours forgotten;
	 * on_pre_restart of the old instance, NULL: on_stop; all children stop, unless keeps_children
	 * is set; the state is what it was at the spawn, `init` or zeros; on_post_restart, NULL:
	 * on_start; then mail is handled, and kept children go on. The receive time-out and the throttle
	 * stay. A stop that comes meanwhile wins. Every instance ends by one call, of on_pre_restart or
	 * of on_stop. `code` is that of the failure. */
	void (*on_pre_restart)(struct actor_ctx *ctx, int code);
	int (*on_post_restart)(struct actor_ctx *ctx, int code);
	int keeps_children;
};

/* ---- dispatchers ---- */

/* What a dispatcher schedules. The runtime embeds one in each actor; a program may embed one in a
 * structure of its own and hand it to actor_dispatcher_execute(). A unit is queued at most once at
 * a time. A wrapping dispatcher keeps its per-unit data in `wraps`, see actor_unit_wrap(). */
struct actor_unit {
	struct actor_unit *next;
	/* Does the work; a negative value is reported as the dispatcher's error. */
	int (*run)(struct actor_unit *unit);
	uint64_t asked_ticks;
	struct actor_dispatcher *dispatcher;
	uint16_t state;
	uint16_t depth;
	uint32_t flags;
	struct {
		int (*run)(struct actor_unit *unit);
		void *data;
	} wraps[2];
};

/* Called for a unit that failed, once each, on the loop's thread. `actor`: whose turn it was, 0: a
 * unit of the program. A negative result: this failed too, and stderr gets both errors. */
typedef int (*actor_dispatcher_error_cb)(
	void *data, const char *dispatcher_id, int code, actor_ref actor);

/* A dispatcher of the program's own. */
struct actor_dispatcher_ops {
	size_t size; /* sizeof(struct actor_dispatcher_ops) */
	/* Makes the instance for one loop; `*self` is passed to the others. May be NULL. */
	int (*open)(void **self, struct actor_dispatcher *dispatcher, void *data);
	/* Takes the unit over and sees to it that actor_unit_run() is called for it once, later, on
	 * this loop's thread: either by a dispatcher it delegates to, or by itself. */
	void (*execute)(void *self, struct actor_unit *unit);
	/* Frees the instance; no unit is queued any more. May be NULL. */
	void (*close)(void *self);
};

enum actor_dispatcher_kind {
	ACTOR_HYBRID = 1,     /* `budget` units per pass, the next one waits for the next pass */
	ACTOR_MICROTASK = 2,  /* never yields: a measuring tool */
	ACTOR_IMMEDIATE = 3,  /* one unit per pass, for all immediate dispatchers of the loop together */
	ACTOR_THROUGHPUT_DISPATCHER = 4, /* up to `budget` of the units queued when the pass began */
	ACTOR_CUSTOM = 5,
};

/* Describes a dispatcher; each loop makes its own instance. Fill it by one of the constructors.
 * The same id may be used again in a system only with the same description. */
struct actor_dispatcher_spec {
	size_t size;
	enum actor_dispatcher_kind kind;
	uint32_t budget;
	char id[ACTOR_NAME_BYTES + 1];
	const struct actor_dispatcher_ops *ops; /* custom */
	void *data;                             /* custom: given to open */
	/* Gets the errors of this dispatcher instead of the system, which logs and publishes them
	 * (see actor_event_dispatcher_error); those of actors' turns it publishes anyway. NULL: the
	 * system. */
	actor_dispatcher_error_cb on_error;
	void *on_error_data;
};

/* Constructors. `id` NULL chooses "hybrid", "microtask", "immediate", "throughput", with "-BUDGET"
 * behind it where the budget is not the default one. Any thread.
 * Errors: ACTOR_EBUDGET for a budget outside 1 ... 1 000 000; ACTOR_ENAME; ACTOR_EOPTIONS. */
ACTOR_EXPORT int actor_dispatcher_hybrid(
	struct actor_dispatcher_spec *spec, int64_t budget, const char *id);
ACTOR_EXPORT int actor_dispatcher_microtask(struct actor_dispatcher_spec *spec, const char *id);
ACTOR_EXPORT int actor_dispatcher_immediate(struct actor_dispatcher_spec *spec, const char *id);
ACTOR_EXPORT int actor_dispatcher_throughput(
	struct actor_dispatcher_spec *spec, int64_t budget, const char *id);
ACTOR_EXPORT int actor_dispatcher_custom(struct actor_dispatcher_spec *spec,
	const struct actor_dispatcher_ops *ops, void *data, const char *id);

/* The instance of a dispatcher on this system's n-th loop (1 is the first; the caller's loop comes
 * first); made if it is not there yet. `spec` NULL is the system's default. ACTOR_ECLOSED at the
 * very end of closing. */
ACTOR_EXPORT int actor_system_dispatcher(struct actor_system *system, int loop,
	const struct actor_dispatcher_spec *spec, struct actor_dispatcher **dispatcher);

/* The instance of another dispatcher on the same loop, made if it is not there yet: what a dispatcher
 * of the program's own delegates to. Call it in `open`, where it is right on each loop, or on the
 * loop's thread; `spec` must lead to none that is being opened. Errors as
 * actor_system_dispatcher(), and -EINVAL: an argument is NULL; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_dispatcher_delegate(struct actor_dispatcher *dispatcher,
	const struct actor_dispatcher_spec *spec, struct actor_dispatcher **to);

/* The system an instance belongs to. */
ACTOR_EXPORT struct actor_system *actor_dispatcher_system(
	const struct actor_dispatcher *dispatcher);

ACTOR_EXPORT const char *actor_dispatcher_id(const struct actor_dispatcher *dispatcher);

/* The libuv loop an instance belongs to, for a custom dispatcher's own handles. */
ACTOR_EXPORT uv_loop_t *actor_dispatcher_loop(const struct actor_dispatcher *dispatcher);

/* Readies a unit of the program's own. */
ACTOR_EXPORT void actor_unit_init(struct actor_unit *unit, int (*run)(struct actor_unit *unit));

/* Queues a unit. -EALREADY if it is queued already, ACTOR_ETHREAD on another thread. */
ACTOR_EXPORT int actor_dispatcher_execute(
	struct actor_dispatcher *dispatcher, struct actor_unit *unit);

/* Runs a unit that was handed to a custom dispatcher's execute. Running it inside execute, or a
 * second time, is an error of that dispatcher: it is reported, and the unit runs later instead. On
 * another thread it is logged, and the unit stays queued. */
ACTOR_EXPORT void actor_unit_run(struct actor_unit *unit);

/* For wrap-and-delegate: makes `run` run in place of the unit's own function, which `run` calls by
 * actor_unit_inner(). Two wrappers may be stacked. -ENOBUFS: both places are taken. */
ACTOR_EXPORT int actor_unit_wrap(
	struct actor_unit *unit, int (*run)(struct actor_unit *unit), void *data);
/* Takes the newest wrapper off; returns its data. Call it first in a wrapper's run. */
ACTOR_EXPORT void *actor_unit_unwrap(struct actor_unit *unit);
/* Runs what is left of the unit: the inner wrapper, or the unit's own function. */
ACTOR_EXPORT int actor_unit_inner(struct actor_unit *unit);

/* ---- systems ---- */

enum actor_log_level {
	ACTOR_LOG_DEBUG = 1,
	ACTOR_LOG_INFO,
	ACTOR_LOG_WARN,
	ACTOR_LOG_ERROR,
	ACTOR_LOG_OFF, /* as a lowest level: nothing */
};

/* One line of log, without newline and not escaped. Any loop's thread, one at a time. */
typedef void (*actor_log_cb)(void *data, enum actor_log_level level, const char *text);

struct actor_log_field {
	const char *key;
	const char *value;
};

/* A line of log as a sink gets it; valid until the sink returns. Strings are as actors and programs
 * made them: whoever shows them escapes them. */
struct actor_log_record {
	enum actor_log_level level;
	uint64_t time_ns;    /* since 1970, UTC */
	const char *system;  /* its name */
	actor_ref actor;     /* whose line it is; 0: the runtime's or the program's */
	const char *path;    /* its path, "" without an actor */
	const char *text;    /* up to 1023 bytes; a longer one was cut and ends in "..." */
	const struct actor_log_field *fields; /* context of the message being handled */
	size_t field_count;
};

/* Where lines of log go. A system calls its sinks one at a time, on whatever thread the line comes
 * from, often a loop's: a sink that blocks holds up whoever logs. It may use the system; what it
 * logs itself goes to stderr. */
struct actor_log_sink {
	size_t size;                /* sizeof(struct actor_log_sink) */
	enum actor_log_level level; /* the lowest it wants; 0: all that the system lets pass */
	/* Writes a line; a negative error code sends the line, and the error, to stderr instead. */
	int (*write)(void *data, const struct actor_log_record *record);
	void (*close)(void *data); /* after its last line; may be NULL */
	void *data;
};

/* A system has come to its end; see actor_system_close(). */
typedef void (*actor_close_cb)(struct actor_system *system, void *data);

struct actor_system_options {
	size_t size;      /* sizeof(struct actor_system_options) */
	const char *name; /* default "actor" */
	uv_loop_t *loop;  /* the caller's loop; must outlive the close callback */
	int loops;        /* loops with threads of their own; default 0, or 1 without `loop` */
	const struct actor_dispatcher_spec *dispatcher; /* default hybrid with 64 */
	int64_t throughput; /* messages per turn; default 16 */
	int64_t drain_ms;   /* how long closing waits for queued work; default 2000, -1: not at all */
	actor_log_cb log;   /* a sink of plain lines; default: stderr, unless there is another sink */
	void *log_data;
	/* Of each ring between two loops, a power of two; default 1024, growing to 16384 as needed. */
	int ring_slots;
	/* For tests: a clock that begins here and is moved by actor_system_advance() alone; default 0:
	 * the real one. Timers, time-outs of asks and of receiving, throttles and delays go by it;
	 * closing, and threads outside that wait for an answer, do not. */
	int64_t manual_ms;
	const struct actor_log_sink *log_sink; /* a sink from the beginning; default: none */
	enum actor_log_level log_level;        /* the lowest that is logged; default ACTOR_LOG_INFO */
	/* A configuration file, see below; default: the one that the environment names. "": none. */
	const char *config;
	/* 1: SIGTERM and SIGINT begin a shutdown as actor_system_shutdown(), with the callback below,
	 * which may be NULL. The first signal counts; then both have their usual effect again, so
	 * that a second one ends the process. If the signals cannot be waited for, that is logged. */
	int shutdown_signals;
	actor_close_cb on_shutdown;
	void *on_shutdown_data;
};

/* Configuration files are in the syntax of libconfig:
 *
 *   override   = false;                   true: what stands here wins over the program
 *   actor      = { throughput = 16; };    messages per turn, as actor_system_options
 *   dispatcher = { default = "hybrid";    or microtask, immediate, throughput
 *                  hybrid_budget = 64;    of each hybrid dispatcher that the file chooses
 *                  throughput = 16; };    of each throughput dispatcher that it chooses
 *   system     = { drain_ms = 2000; };    0: closing does not wait
 *   log        = { level = "info"; };     debug, info, warning, error, off
 *   shutdown   = { phase_timeout_ms = 5000; };
 *   class      = { NAME = { throughput = 4; dispatcher = "immediate"; };
 *                  OTHER = { dispatcher = { kind = "hybrid"; budget = 8; }; }; };
 *
 * Classes may also be a list, ( { name = "any name"; throughput = 4; } ), since a key cannot have
 * any name. The environment variable ACTOR_CONFIG names a file for all systems of a process that
 * have no option `config`; programs with raised privileges do not look at it. What the program
 * sets wins over the file, unless that says override, and then a warning tells what it replaced;
 * the file wins over the defaults. An actor's own setting, a spawn option or class.NAME, wins over
 * the system's in any case. A file with an unknown key or a value that is not allowed is refused as
 * a whole: actor_system_open() fails with ACTOR_ECONFIG and logs file, line and what is allowed. So
 * it is with a libactor that was built without libconfig. @include is not allowed; the file has at
 * most 65536 bytes. */

/* Makes a system. With `loop` set it must be called on the thread that runs that loop, or before
 * it runs. The runtime's handles keep that loop alive only while units are ready or the system
 * closes: mail from other threads, a pending ask or a close from another thread do not, so a
 * program that waits for them keeps a handle of its own.
 * Errors: ACTOR_EOPTIONS, ACTOR_EBUDGET, ACTOR_ENAME, ACTOR_ELIMIT, ACTOR_ECONFIG, -ENOMEM,
 * -EAGAIN (threads). */
ACTOR_EXPORT int actor_system_open(
	struct actor_system **system, const struct actor_system_options *options);

/* Moves the clock of a system with `manual_ms` on by so many milliseconds. Whatever is due meanwhile
 * becomes due in order, each at its own time, and equal times in the order in which they were set.
 * What comes of it are messages: they are handled when the loops run next. The calling loop's own
 * are queued when it returns, other loops are woken for theirs.
 * Any thread. -EINVAL: the clock is the real one; -ECHILD. */
ACTOR_EXPORT int actor_system_advance(struct actor_system *system, uint64_t ms);

/* Closes a system: waits up to drain_ms for queued work, stops all actors (children first), hands
 * what is left to the dead letters, ends the loops. Returns at once. `cb` runs on the caller's
 * loop, or without one on a loop of the system; the system's memory is gone when it returns.
 * Threads of the program that use the system must have ended, or know, before `cb` returns; until
 * then their calls are safe.
 * Any thread. -EALREADY: is closing already. -ECHILD: after fork. Needs no memory, unless the
 * program itself closed the runtime's handles: then -ENOMEM, and nothing has begun. */
ACTOR_EXPORT int actor_system_close(struct actor_system *system, actor_close_cb cb, void *data);

/* Closes a system that has no caller's loop and waits until its threads have ended.
 * ACTOR_ETHREAD on one of them; -EINVAL with a caller's loop. */
ACTOR_EXPORT int actor_system_close_wait(struct actor_system *system);

/* ---- coordinated shutdown ---- */

/* What a program does before its actors stop, in this order. A phase's tasks run side by side. */
#define ACTOR_SHUTDOWN_PHASES(X)                                                                   \
	X(ACTOR_BEFORE_UNBIND, "before-unbind")           /* all is as usual, but not ready */     \
	X(ACTOR_UNBIND, "unbind")                         /* take no new connections */            \
	X(ACTOR_REQUESTS_DONE, "requests-done")           /* wait for those being handled */       \
	X(ACTOR_SERVICE_STOP, "service-stop")             /* end connections and services */       \
	X(ACTOR_BEFORE_LEAVE, "before-leave")             /* other processes do not know yet */    \
	X(ACTOR_HAND_OVER, "hand-over")                   /* give work to other processes */       \
	X(ACTOR_LEAVE, "leave")                           /* tell them that this one goes */       \
	X(ACTOR_LEAVING, "leaving")                       /* wait until they know */               \
	X(ACTOR_LEFT, "left")                             /* nothing comes from them any more */   \
	X(ACTOR_DISCONNECT, "disconnect")                 /* end the connections to them */        \
	X(ACTOR_BEFORE_SYSTEM_STOP, "before-system-stop") /* the actors' last time as usual */     \
	X(ACTOR_SYSTEM_STOP, "system-stop")               /* the last one: then they stop */

enum actor_shutdown_phase {
	ACTOR_EACH_PHASE, /* for actor_shutdown_timeout() */
#define ACTOR_SHUTDOWN_PHASE(phase, text) phase,
	ACTOR_SHUTDOWN_PHASES(ACTOR_SHUTDOWN_PHASE)
#undef ACTOR_SHUTDOWN_PHASE
};

/* "before-unbind", ...; NULL: no phase. Any thread. */
ACTOR_EXPORT const char *actor_shutdown_phase_name(enum actor_shutdown_phase phase);

#define ACTOR_SHUTDOWN_LATER 1

/* A task. Runs on the first loop's thread, outside of any turn, and may use the system like any
 * code outside a handler. Returns 0: done; ACTOR_SHUTDOWN_LATER: actor_shutdown_done() will be
 * called for `task`; a negative value: failed. */
typedef int (*actor_shutdown_cb)(struct actor_system *system, int task, void *data);

/* Adds a task to a phase, under a name for the log that is unique in the phase. Returns its number,
 * above 0. `data` must live until the task is over or removed, or the system is gone. Any thread.
 * Errors: -EINVAL (phase, cb), ACTOR_ENAME, -EEXIST, ACTOR_ECLOSED (the phase has begun), -ENOMEM,
 * ACTOR_ELIMIT, -ECHILD. */
ACTOR_EXPORT int actor_shutdown_add(struct actor_system *system, enum actor_shutdown_phase phase,
	const char *name, actor_shutdown_cb cb, void *data);

/* Takes a task back. Any thread. -ENOENT: there is none; -EBUSY: it runs; -ESTALE: it is over. */
ACTOR_EXPORT int actor_shutdown_remove(struct actor_system *system, int task);

/* A task is done, or has failed if `status` is negative. Any thread, also inside the task. -ESTALE:
 * it is over already, or had its time; -ENOENT: there is none; -EINVAL: its phase has not begun. */
ACTOR_EXPORT int actor_shutdown_done(struct actor_system *system, int task, int status);

/* How long a phase, or each of them, waits for its tasks, from 1 to 3 600 000 ms; default
 * ACTOR_PHASE_TIMEOUT_MS or the configuration's. It counts from the beginning of the phase. Any
 * thread. -EINVAL. */
ACTOR_EXPORT int actor_shutdown_timeout(
	struct actor_system *system, enum actor_shutdown_phase phase, int64_t timeout_ms);

/* Shuts a system down: runs the phases one after the other, then closes it as actor_system_close()
 * does, drain time included. Until then actors work as usual. A task that fails or is late is
 * logged, and the next phase comes all the same. Returns at once; keeps a caller's loop alive. `cb`
 * may be NULL. Real time counts, also with a clock by hand. Any thread.
 * -EALREADY: it shuts down or closes already; from now on that is what actor_system_close() says as
 * well. -ENOMEM; -ECHILD. */
ACTOR_EXPORT int actor_system_shutdown(
	struct actor_system *system, actor_close_cb cb, void *data);

/* Shuts a system down that has no caller's loop, and waits until its threads have ended.
 * ACTOR_ETHREAD on one of them; -EINVAL with a caller's loop; -EALREADY; -ECHILD. */
ACTOR_EXPORT int actor_system_shutdown_wait(struct actor_system *system);

/* ---- health ---- */

enum actor_health_kind {
	ACTOR_LIVENESS = 1, /* if it is down, the process is of no use any more */
	ACTOR_READINESS,    /* if it is down, it should be given no work for now */
};

#define ACTOR_HEALTH_DETAIL_BYTES 256 /* longest detail of a check, with its NUL */

/* A check: 1 is up, 0 is down, a negative value failed to tell, which counts as down. It may write
 * a detail into `detail`, which is empty. It runs on the thread that asks, one check of the system
 * at a time, so it should look at what is known rather than wait for anything; actor_health() and
 * its like are -EDEADLK in it. */
typedef int (*actor_health_cb)(void *data, char *detail, size_t bytes);

/* Adds a check under a name that is unique in its kind. Whoever goes out of service keeps its check
 * and says 0; it does not remove it, since no check at all is healthy. Any thread.
 * Errors: -EINVAL, ACTOR_ENAME, -EEXIST, -ENOMEM, -ECHILD. */
ACTOR_EXPORT int actor_health_add(struct actor_system *system, enum actor_health_kind kind,
	const char *name, actor_health_cb cb, void *data);

/* Takes a check away; when it returns the check does not run any more. Any thread. -ENOENT. */
ACTOR_EXPORT int actor_health_remove(
	struct actor_system *system, enum actor_health_kind kind, const char *name);

/* Asks all checks of a kind. 1: up, as all of them are; 0: down. The check actor-system is always
 * there: liveness is down once the system closes, readiness as soon as it shuts down. `json` (may
 * be NULL) gets their answers with a NUL behind them:
 *   {"status":"DOWN","checks":[{"name":"actor-system","status":"UP"},
 *    {"name":"database","status":"DOWN","detail":"no connection","failed":2}]}
 * where `failed` counts how often a check could not tell. `*bytes` is the size of `json`, and
 * becomes the bytes without NUL; if they do not fit, the size that would do. Any thread, until the
 * close callback returns.
 * Errors: -ENOBUFS, -EINVAL, -EDEADLK, -ECHILD. */
ACTOR_EXPORT int actor_health(
	struct actor_system *system, enum actor_health_kind kind, char *json, size_t *bytes);

/* ---- looking inside ---- */

enum actor_stage {
	ACTOR_STAGE_STARTING = 1, /* on_start has not run yet */
	ACTOR_STAGE_RUNNING,
	ACTOR_STAGE_SUSPENDED, /* until it is resumed */
	ACTOR_STAGE_THROTTLED, /* until its throttle lets it go on */
	ACTOR_STAGE_PENDING,   /* until its handler is completed */
	ACTOR_STAGE_STOPPING,  /* waits for its children, or for its last turn */
};

/* "starting", ...; NULL: no stage. Any thread. */
ACTOR_EXPORT const char *actor_stage_name(enum actor_stage stage);

/* An actor as a walk meets it; all of it is valid until the callback returns. */
struct actor_info {
	size_t size; /* sizeof(struct actor_info) of the library */
	actor_ref ref;
	actor_ref parent; /* 0 = top level */
	const char *path;
	const char *class_name;
	const char *dispatcher; /* its id */
	enum actor_stage stage;
	int loop;           /* 1 = the first */
	uint64_t mailbox;   /* messages queued, the one of a pending handler included */
	uint32_t children;  /* on all loops */
	uint32_t throughput; /* messages per turn */
};

/* A value that is not 0 ends the walk. Runs on the actor's loop between two turns (or in the turn
 * that called actor_system_walk_here()); it may use the system like code outside a handler. */
typedef int (*actor_walk_cb)(const struct actor_info *info, void *data);

/* `status` is 0, or the value that ended the walk. On the thread of the loop that was last. */
typedef void (*actor_walk_done_cb)(struct actor_system *system, int status, void *data);

/* Calls `cb` for each actor, loop by loop, each loop on its own thread, so never two at a time, then
 * `done`. A loop does it in units of 64 actors with its usual work in between: an actor that lives
 * from the beginning to the end of the walk is met once, others once or not at all. There is no
 * order. Closing waits for walks. Like mail from outside, a walk that another thread begins does
 * not keep a caller's loop alive. Any thread.
 * Errors: -EINVAL, ACTOR_ECLOSED, -ENOMEM, -ECHILD; then `done` is not called. */
ACTOR_EXPORT int actor_system_walk(
	struct actor_system *system, actor_walk_cb cb, actor_walk_done_cb done, void *data);

/* The same, and waits for the end; returns its status. A caller's loop must be running in another
 * thread. Errors as above, and -EDEADLK on a loop's thread. */
ACTOR_EXPORT int actor_system_walk_wait(
	struct actor_system *system, actor_walk_cb cb, void *data);

/* Calls `cb` for each actor of the calling thread's own loop, now and without a pause. Returns 0 or
 * the value that ended it. ACTOR_ETHREAD: this is no loop of the system; -EINVAL; -ECHILD. */
ACTOR_EXPORT int actor_system_walk_here(
	struct actor_system *system, actor_walk_cb cb, void *data);

/* ---- running by hand ---- */

/* Runs the units that are ready on the caller's loop now, within what is left of this pass's
 * budgets. Returns their number. -EBUSY inside a turn; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_system_drain(struct actor_system *system);

/* Number of loops of the system. Any thread. */
ACTOR_EXPORT int actor_system_loops(const struct actor_system *system);

struct actor_stats {
	size_t size;        /* sizeof(struct actor_stats) */
	uint64_t delivered; /* messages whose handler was started; a pending one's when it has ended */
	uint64_t dead_letters;
	uint64_t created;
	uint64_t terminated;
	uint64_t failed;
	uint64_t turns;
	uint64_t dispatcher_errors;
	uint64_t dropped; /* by mailboxes and throttles */
	uint64_t restarted;
};

/* Sums over all loops; exact once the system rests. Any thread. */
ACTOR_EXPORT int actor_system_stats(const struct actor_system *system, struct actor_stats *stats);

/* Called on the recipient's loop for each message that found no actor; not for those that it makes
 * itself by telling somebody who is gone, and not for events of dead letters, which are only
 * counted. The payload is destroyed afterwards by the runtime. Set it before the first message. */
typedef void (*actor_dead_letter_cb)(
	void *data, actor_ref recipient, const struct actor_message *message);
ACTOR_EXPORT int actor_system_on_dead_letter(
	struct actor_system *system, actor_dead_letter_cb cb, void *data);

/* ---- log ---- */

/* Sets the lowest level that is logged, from now on, and returns what it was before; 0 only returns
 * it. Any thread. Error: ACTOR_EOPTIONS. */
ACTOR_EXPORT int actor_system_log_level(struct actor_system *system, enum actor_log_level level);

/* Adds a sink, which gets each line beside the others; stderr gets them only as long as a system
 * has no sink at all. The structure is copied. Returns a number for actor_system_log_remove(). Any
 * thread. Errors: ACTOR_EOPTIONS, -ENOMEM, -EDEADLK (inside a sink of this system), -ECHILD. */
ACTOR_EXPORT int actor_system_log_add(
	struct actor_system *system, const struct actor_log_sink *sink);

/* Removes a sink, which is closed when this returns. The sinks that are left are closed with the
 * system, after its close callback. Any thread. Errors: -ENOENT, -EDEADLK, -ECHILD. */
ACTOR_EXPORT int actor_system_log_remove(struct actor_system *system, int id);

/* Sinks that come with the runtime: they write each line to a file descriptor, which stays the
 * caller's, by one write(): "2026-01-02T03:04:05.678901Z warning system /user/path: text | key=value"
 * with everything escaped that a terminal would not print, or a line of JSON with the keys time,
 * level, system, actor, text, context. Any thread. */
ACTOR_EXPORT void actor_log_to_text(struct actor_log_sink *sink, int fd);
ACTOR_EXPORT void actor_log_to_json(struct actor_log_sink *sink, int fd);

/* Logs a line: of the running actor, or of the program (any thread). Returns 0, also if the level is
 * not logged, or the first error of a sink; the line went to stderr then. -EINVAL: no such level. */
ACTOR_EXPORT int actor_log(struct actor_ctx *ctx, enum actor_log_level level, const char *format,
	...) __attribute__((format(printf, 3, 4)));
ACTOR_EXPORT int actor_system_log(struct actor_system *system, enum actor_log_level level,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

#define ACTOR_LOG_CONTEXT_FIELDS 16   /* most keys of a context */
#define ACTOR_LOG_CONTEXT_BYTES  1024 /* most bytes of all its keys and values, each with a NUL */

/* A handler's context: keys with values that its lines of log carry, and what it tells, asks,
 * answers or publishes takes along to the handlers that it reaches; from there it goes on. Each
 * handler begins with its message's context, which is empty for messages of timers and from outside
 * handlers, and what it sets ends with it. A line about its failure has it as well. While a context
 * is not empty each tell of that handler allocates memory.
 *
 * Sets a key, which follows the rules of names; `value` NULL removes it. Strings are copied. Errors:
 * ACTOR_ENAME, -ENOBUFS (beyond the above), -ENOMEM; then the context is as before. */
ACTOR_EXPORT int actor_log_context_set(
	struct actor_ctx *ctx, const char *key, const char *value);
ACTOR_EXPORT int actor_log_context_clear(struct actor_ctx *ctx); /* from now on it is empty */

/* A key's value, or NULL; valid until the context is changed or the handler returns. */
ACTOR_EXPORT const char *actor_log_context_get(const struct actor_ctx *ctx, const char *key);

/* ---- throttle ---- */

/* What happens to a message for which there is no token. */
enum actor_throttle_mode {
	ACTOR_THROTTLE_PAUSE = 1, /* it waits, and what is behind it; the default */
	ACTOR_THROTTLE_DROP,      /* it is dropped: counted, probe `drop`, destroyed */
};

/* How many messages an actor handles per time: a token bucket, full at first, of which each message
 * takes one when its turn comes. Answers to the actor's own questions, requests to stop and
 * notifications take none, but come in their order. The clock has whole milliseconds: `burst` is
 * also the most per millisecond. */
struct actor_throttle_options {
	size_t size;      /* sizeof(struct actor_throttle_options) */
	int64_t messages; /* so many, 1 ... 1 000 000 000 ... */
	int64_t per_ms;   /* ... in this time; default 1000, at most a day */
	int64_t burst;    /* at once after a rest, 1 ... 1 000 000 000; default `messages` */
	enum actor_throttle_mode mode;
};

/* ---- events ---- */

/* What happens in a system, as messages to whoever has subscribed. The kind of an event is a
 * message type: one of the program's own, which actor_publish() makes an event of, or one of
 * these, published by the runtime with sender 0. Nobody subscribed: nothing is made. */
ACTOR_EXPORT extern struct actor_type actor_event_started; /* on_start has succeeded */
ACTOR_EXPORT extern struct actor_type actor_event_stopped; /* on_stop has run, the ref is dead */
ACTOR_EXPORT extern struct actor_type actor_event_restarted;
ACTOR_EXPORT extern struct actor_type actor_event_failed;
ACTOR_EXPORT extern struct actor_type actor_event_dead_letter;
ACTOR_EXPORT extern struct actor_type actor_event_dispatcher_error;

/* Payload of the first four. */
struct actor_life_event {
	actor_ref actor;
	actor_ref parent;       /* 0: it is at top level */
	const char *class_name; /* stays valid */
	int32_t code;           /* of the failure that led to this; 0: none */
	int32_t reserved;
};

/* Payload of actor_event_dead_letter. */
struct actor_dead_letter {
	actor_ref recipient;
	actor_ref sender;              /* 0: told from outside any actor */
	const struct actor_type *type; /* of the message */
	size_t bytes;
	/* A copy of its payload, destroyed with this event; NULL if its type has a destroy, but no
	 * copy, or that failed. */
	const void *payload;
};

/* Payload of actor_event_dispatcher_error. */
struct actor_dispatcher_error {
	const char *dispatcher; /* its id; stays valid */
	actor_ref actor;        /* whose turn it was; 0: a unit of the program */
	int32_t code;
	int32_t reserved;
};

struct actor_subscription {
	size_t size; /* sizeof(struct actor_subscription) */
	/* Whether the actor wants this event: positive yes, 0 no. A negative value is no as well,
	 * and a mistake that is logged once per subscription. It runs wherever the event is
	 * published, on several threads at once, and may still run while the subscription is being
	 * removed. NULL: all. */
	int (*predicate)(void *data, const struct actor_message *event);
	/* Called once, on any thread, when `predicate` will not be called any more. May be NULL. */
	void (*release)(void *data);
	void *data;
};

/* Subscribes the running actor to a kind of events, until it stops; restarts do not change that.
 * `subscription` NULL: to all of the kind. With a predicate it is added to what there is already.
 * Errors: -EALREADY (without a predicate, and subscribed so already), ACTOR_ETYPE, ACTOR_EOPTIONS,
 * ACTOR_ELIMIT, -ENOMEM; after an error `data` is the caller's. */
ACTOR_EXPORT int actor_subscribe(struct actor_ctx *ctx, struct actor_type *kind,
	const struct actor_subscription *subscription);

/* The same for any actor of the system. Any thread. Also -ENOENT (the actor is gone), -ECHILD. */
ACTOR_EXPORT int actor_system_subscribe(struct actor_system *system, actor_ref ref,
	struct actor_type *kind, const struct actor_subscription *subscription);

/* Removes all subscriptions of the actor to this kind, or with NULL to any. Returns their number.
 * What was published before is still delivered. */
ACTOR_EXPORT int actor_unsubscribe(struct actor_ctx *ctx, const struct actor_type *kind);
ACTOR_EXPORT int actor_system_unsubscribe(/* any thread; also -ECHILD */
	struct actor_system *system, actor_ref ref, const struct actor_type *kind);

/* Tells an event to everybody who has subscribed to it when this begins. The payload stays the
 * caller's: each subscriber gets a copy, by the type's `copy` if it has a destroy. Returns how many
 * were told, or the first error, after all others were served: ACTOR_ETYPE (also: a destroy
 * without a copy), ACTOR_ELIMIT, ACTOR_EFULL (a subscriber's mailbox on this loop rejects it),
 * -ENOMEM, or what `copy` returned. */
ACTOR_EXPORT int actor_publish(
	struct actor_ctx *ctx, struct actor_type *kind, const void *payload, size_t bytes);
ACTOR_EXPORT int actor_system_publish(struct actor_system *system, /* any thread; also -ECHILD */
	struct actor_type *kind, const void *payload, size_t bytes);

/* ---- spawning and stopping ---- */

struct actor_spawn_options {
	size_t size;      /* sizeof(struct actor_spawn_options) */
	const char *name; /* unique among its siblings; default: anonymous */
	const void *init; /* class->state_bytes bytes, copied; default: zeros */
	int64_t throughput; /* messages per turn; default: the system's */
	const struct actor_dispatcher_spec *dispatcher; /* default: the system's */
	int loop; /* 1 = first loop ...; default: the parent's, else by turns */
	int64_t stash_capacity; /* messages that actor_stash() may set aside; default 1024 */
	const struct actor_throttle_options *throttle; /* from the first message on; default: none */
	const struct actor_mailbox_options *mailbox; /* default: the class's */
	const struct actor_strategy *strategy; /* for its own failures; default: its parent's class's */
};

/* Makes a child of the running actor. Mail to it may be told at once; on_start runs first.
 * `options` may be NULL. Errors: ACTOR_ECLASS, ACTOR_ENAME, ACTOR_EBUDGET, ACTOR_EOPTIONS,
 * ACTOR_EDISPATCHER, -EEXIST (name), ACTOR_ECLOSED, ACTOR_ELIMIT, -ENOMEM, or the error of a custom
 * mailbox's open. */
ACTOR_EXPORT int actor_spawn(struct actor_ctx *ctx, struct actor_class *cls,
	const struct actor_spawn_options *options, actor_ref *ref);

/* Makes an actor at top level, under /user. Any thread. Errors as actor_spawn(), and -ECHILD. */
ACTOR_EXPORT int actor_system_spawn(struct actor_system *system, struct actor_class *cls,
	const struct actor_spawn_options *options, actor_ref *ref);

/* The ways to end an actor. Each request travels like a message and may be refused like one:
 * -EINVAL for ACTOR_NONE, -ENOMEM, from outside also -ECHILD and ACTOR_ECLOSED. A dead ref is 0. When
 * a request was accepted, the actor and all below it stop without any more memory: children first,
 * then on_stop; mail that is left goes to the dead letters. Those named actor_system_...: any
 * thread. Probe: stop. */

/* When it has handled what it was told so far. */
ACTOR_EXPORT int actor_stop(struct actor_ctx *ctx, actor_ref ref);
ACTOR_EXPORT int actor_system_stop(struct actor_system *system, actor_ref ref);

/* Then, too, by a failure with ACTOR_EKILLED: its supervisor decides, and by default restarts it. */
ACTOR_EXPORT int actor_kill(struct actor_ctx *ctx, actor_ref ref);
ACTOR_EXPORT int actor_system_kill(struct actor_system *system, actor_ref ref);

/* After the message that it is handling, before all that is queued; also while it is suspended. */
ACTOR_EXPORT int actor_terminate(struct actor_ctx *ctx, actor_ref ref);
ACTOR_EXPORT int actor_system_terminate(struct actor_system *system, actor_ref ref);

/* The running actor after this message. */
ACTOR_EXPORT void actor_stop_self(struct actor_ctx *ctx);

/* Suspends an actor by hand, and takes that back; not counted: one resume is enough. A suspended
 * actor keeps its state, and its mail waits, bounds included. It takes effect when the request
 * arrives, after the message that is being handled and before all that are queued. Actors below it
 * are not suspended.
 * This and the suspension for a failure are independent: an actor goes on when neither is left. A
 * restart leaves it suspended. Meanwhile actor_stop() ends it at once, its mail goes to the dead
 * letters, and actor_kill() fails it at once, unless a failure of it is being settled or its handler
 * is pending; those that were queued before wait for their place.
 * May be used on oneself. Errors as for stopping. Those named actor_system_...: any thread. The
 * ledger has a record of each change. */
ACTOR_EXPORT int actor_suspend(struct actor_ctx *ctx, actor_ref ref);
ACTOR_EXPORT int actor_system_suspend(struct actor_system *system, actor_ref ref);
ACTOR_EXPORT int actor_resume(struct actor_ctx *ctx, actor_ref ref);
ACTOR_EXPORT int actor_system_resume(struct actor_system *system, actor_ref ref);

/* ---- death watch ---- */

/* What tells a watcher of an actor's end: a message of the type actor_terminated, whose sender is
 * the actor that has ended. */
ACTOR_EXPORT extern struct actor_type actor_terminated;

/* Its payload. */
struct actor_termination {
	actor_ref actor;  /* dead by now */
	int32_t code;     /* of the failure that ended it; 0: none; -ENOENT: it was gone before */
	int32_t reserved;
};

/* The running actor is told once when `ref` has ended: after its on_stop has run, its name is free
 * again, and all it has told the watcher is queued; in a mailbox with ranks the message has the rank
 * that the program gives it. If `ref` is gone already, or of no loop of this system, it is told at
 * once. No bound, throttle or want of memory loses the message; it is handled like any other, and
 * the watch ends with that. A restart of either actor changes nothing. When the watcher ends, so do
 * its watches: what is queued is a dead letter, nothing else is told.
 *
 * Another instance of the same name is another actor. Watching an actor that is watched so already
 * is 0 and no more. Costs 300 bytes per watch.
 * Errors: -EINVAL (ACTOR_NONE, the actor itself, no handler runs), ACTOR_ECLOSED in on_stop,
 * -ENOMEM, ACTOR_ELIMIT, ACTOR_ETHREAD. Probe: enqueue, when it is told. */
ACTOR_EXPORT int actor_watch(struct actor_ctx *ctx, actor_ref ref);

/* The same with a message of the watcher's choice. The payload as in actor_tell(), owned by the
 * watch if the result is 0, and destroyed once: handled, a dead letter, or not wanted any more. Of
 * several calls for one actor, with or without a message, the last one counts. Also ACTOR_ETYPE. */
ACTOR_EXPORT int actor_watch_with(struct actor_ctx *ctx, actor_ref ref, struct actor_type *type,
	const void *payload, size_t bytes);

/* Ends a watch: no message of it is handled from now on, even if it is queued already. -ENOENT:
 * there is none, or its message has been handed to a handler; -EINVAL (no handler runs),
 * ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_unwatch(struct actor_ctx *ctx, actor_ref ref);

/* Writes "/user/parent/name" and a NUL. Returns the bytes without NUL, cut to what fits.
 * -ENOENT: the actor is gone. Any thread. */
ACTOR_EXPORT int actor_path(
	struct actor_system *system, actor_ref ref, char *buffer, size_t bytes);

/* Finds a named actor by its path; 0 if there is none. Any thread. */
ACTOR_EXPORT actor_ref actor_lookup(struct actor_system *system, const char *path);

/* ---- inside a handler ---- */

ACTOR_EXPORT actor_ref actor_self(const struct actor_ctx *ctx);
ACTOR_EXPORT void *actor_state(const struct actor_ctx *ctx);
ACTOR_EXPORT actor_ref actor_sender(const struct actor_ctx *ctx); /* of this message */
ACTOR_EXPORT actor_ref actor_parent(const struct actor_ctx *ctx);
ACTOR_EXPORT struct actor_system *actor_ctx_system(const struct actor_ctx *ctx);
ACTOR_EXPORT uv_loop_t *actor_ctx_loop(const struct actor_ctx *ctx);

/* Tells `to` something. Never blocks; order holds between the same two actors.
 *
 * Up to 32 bytes are copied. Above that, a type with `destroy` hands its block over (the caller
 * owns it again if this fails); a type without keeps a heap copy of plain bytes. A dead `to` is 0,
 * and the message goes to the dead letters.
 * Errors: ACTOR_ETYPE, ACTOR_ELIMIT, -ENOMEM, -EINVAL (`to` is ACTOR_NONE), ACTOR_EFULL (a mailbox
 * on the same loop rejects it; the message stays the caller's). Probes: enqueue, drop. */
ACTOR_EXPORT int actor_tell(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes);

/* The same from outside a handler. Any thread; order holds per thread. Also -ECHILD, and
 * ACTOR_ECLOSED when the system has stopped taking mail; not after its close callback, see there. */
ACTOR_EXPORT int actor_system_tell(struct actor_system *system, actor_ref to,
	struct actor_type *type, const void *payload, size_t bytes);

/* Answers the message being handled: completes the ask it came from, or tells its sender. Without
 * a sender the answer is a dead letter. Errors as actor_tell(), and -EINVAL in on_start and on_stop,
 * where there is no message. */
ACTOR_EXPORT int actor_reply(
	struct actor_ctx *ctx, struct actor_type *type, const void *payload, size_t bytes);

/* The message's payload is the handler's now: `destroy` will not run. Returns the payload; one
 * that travelled inside the envelope must be copied before the handler returns. NULL:
 * there is no message (on_start, on_stop), or the handler has stashed it. */
ACTOR_EXPORT void *actor_take(struct actor_ctx *ctx);

/* Sets the message being handled aside until actor_unstash_all(): it counts as not handled yet, its
 * payload is not destroyed, and what the handler changed in it so far is kept. The handler may go
 * on and may still answer it. What a failing handler has stashed stays stashed; when the actor
 * stops, what is stashed goes to the dead letters, in order and before its queue.
 *
 * For observers a message is handled once, when a handler ends without stashing it: its wait is
 * counted from when it was told, over all of its handlers but the last; the time that the earlier
 * ones took is in no record. Against the turn's throughput each of its deliveries counts.
 * Errors: ACTOR_ESTASH: the actor's capacity is reached; -ENOMEM; then the message is handled as
 * usual. -EINVAL: no message is being handled (on_start, on_stop), it was taken or stashed already,
 * or it is the answer to an ask. ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_stash(struct actor_ctx *ctx);

/* All stashed messages come back, in the order in which they were told and ahead of everything that
 * is queued; from the next message on. A message that this handler has stashed comes back as well.
 * A bound of the mailbox does not apply to them, nor does its priority: they were let in before.
 * Returns their number. Needs no memory. -EINVAL: no turn is open; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_unstash_all(struct actor_ctx *ctx);

/* ---- pending handlers ---- */

/* Names a pending handler: a value, safe to keep for ever and to hand to any thread. */
struct actor_token {
	actor_ref actor;
	uint64_t number;
};

/* The end of a pending handler, in a turn of its actor. actor_reply(), actor_sender(), actor_take()
 * and all others work as in the handler itself; `message` is its message. A negative return value
 * is a failure. It may call actor_pending() again: then the handler goes on, under a new token. */
typedef int (*actor_complete_cb)(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data);

/* Lets the handler go on after it has returned, until actor_complete() is called with the token. Its
 * message stays open, and nothing else of this actor runs: no message, no stop, no restart; its
 * mailbox goes on taking mail. A handler that then returns a negative value has failed and is not
 * pending. Nothing keeps the loop of the program alive meanwhile.
 *
 * An ordinary stop waits for the completion. Closing the system waits for it at most as long as for
 * queued work (drain_ms); then pending handlers are abandoned: their tokens are stale, their
 * messages are released, their actors stop. After that, no handler becomes pending any more.
 *
 * For observers the handler runs from its start to its end, callback included; the turn in which
 * it returns ends with the outcome `pending`, and the message counts and has its record in the turn
 * that ends it.
 * Errors: -EINVAL: no message is being handled (on_start, on_stop), token is NULL, the handler is
 * pending already or has stashed its message; ACTOR_ECLOSED: see above; -ENOMEM; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_pending(struct actor_ctx *ctx, struct actor_token *token);

/* Completes a pending handler, once: the actor's next turn calls `cb`, whose return value is then
 * the handler's; without a `cb` that is `status`. Negative is a failure of the actor. May be called
 * before the handler has returned. `cb` is called exactly once if this returns 0, otherwise never.
 * Any thread, any callback of libuv. Needs no memory.
 * Errors: -ESTALE: it was completed or abandoned, or the actor is gone; -EINVAL: system is NULL;
 * -ECHILD. */
ACTOR_EXPORT int actor_complete(struct actor_system *system, struct actor_token token, int status,
	actor_complete_cb cb, void *data);

/* ---- work on other threads ---- */

/* Runs on a thread of libuv's pool, and may change the payload in place. */
typedef void (*actor_work_cb)(void *payload, size_t bytes);

/* Lets `work` run on a thread of libuv's pool, on the payload of a message that is told to `to` when
 * it is done; actor_self() is as good as any other. Payloads and errors as actor_tell(), whose
 * sender is this actor; it is told, and its wait begins, when the work is back on the loop.
 *
 * The work belongs to this instance of the actor. When that stops, or is restarted, work that has
 * not begun is cancelled, and its payload destroyed; what is running goes on, and what it would have
 * told the actor itself is a dead letter. Closing waits for queued work no longer than drain_ms,
 * but for running work always: the pool's threads cannot be made to let go. The pool has
 * UV_THREADPOOL_SIZE threads, by default 4, for the whole process.
 * Also -EINVAL: no handler runs, `work` is NULL; ACTOR_ECLOSED in on_stop and while the system stops
 * its actors; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_work(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, actor_work_cb work);

/* Runs on a thread of libuv's pool; what it returns is the `status` of the completion. */
typedef int (*actor_pending_work_cb)(void *data);

/* Makes the handler pending, see actor_pending(), until `work` has run on a thread of libuv's pool;
 * then `cb` is called as by actor_complete(), exactly once if the result is 0, with -ECANCELED when
 * the system closes before the work has begun. Closing waits for work that is running; a failure is
 * none then. A handler that returns a negative value afterwards fails when the work is done.
 * Errors as actor_pending(), and -EINVAL: `work` is NULL. */
ACTOR_EXPORT int actor_pending_work(struct actor_ctx *ctx, actor_pending_work_cb work,
	actor_complete_cb cb, void *data);

/* ---- behaviours ---- */

/* From the next message on, `receive` handles this actor's messages in place of the present
 * behaviour. The first one is the class's on_message. -EINVAL: NULL. */
ACTOR_EXPORT int actor_become(struct actor_ctx *ctx, actor_receive_cb receive);

/* The same, and actor_unbecome() goes back to the present behaviour. -EINVAL, -ENOMEM. */
ACTOR_EXPORT int actor_become_over(struct actor_ctx *ctx, actor_receive_cb receive);

/* Goes back to the behaviour before the newest actor_become_over(). -ENOENT: there is none. */
ACTOR_EXPORT int actor_unbecome(struct actor_ctx *ctx);

/* Fails the running handler with a code (negative) and a text for the log; the handler's own
 * return value then does not matter. Returns `code`. */
ACTOR_EXPORT int actor_fail(struct actor_ctx *ctx, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- ask ---- */

/* The answer: runs as a turn of the asker. `status` is 0, -ETIMEDOUT or -ECANCELED; `reply` is
 * NULL unless it is 0. A negative return value is a failure of the asker. */
typedef int (*actor_reply_cb)(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data);

/* Tells `to` a message and calls `cb` once, with the first answer or at the time-out. Later
 * answers are ignored. Stopping the asker cancels without a call. timeout_ms 0 is 5 000, below 0
 * never. If `to` is gone the message is a dead letter, and the ask ends by its time-out like one
 * that is not answered. `cb` NULL: the answer is ignored. Errors as actor_tell(), and -ENOMEM. */
ACTOR_EXPORT int actor_ask(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, int64_t timeout_ms, actor_reply_cb cb, void *data);

/* The ask that this handler has begun last, for actor_ask_cancel(); 0: none. */
ACTOR_EXPORT uint64_t actor_ask_id(const struct actor_ctx *ctx);

/* Cancels an ask of this actor: its callback is not called, its answer is ignored, and `data` is the
 * caller's again. The message stays told. -ESTALE: the callback has been called, the ask was
 * cancelled or is not this actor's; -EINVAL: no turn is open; ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_ask_cancel(struct actor_ctx *ctx, uint64_t id);

/* The answer to actor_system_ask_async(). `status` is 0, -ETIMEDOUT or -ECANCELED (the system
 * closes); `reply` is NULL unless it is 0, and destroyed afterwards. */
typedef void (*actor_answer_cb)(void *data, int status, const struct actor_message *reply);

/* Asks from outside without waiting: `cb` is called exactly once if the result is 0, otherwise never.
 * It runs on the thread of the asked actor's loop, inside the answering handler or between turns, so
 * it must not block; to go on in another loop it calls uv_async_send(). It may call what any thread
 * may. Order, time-outs and actors that are gone as for actor_ask() and actor_system_tell(). Any
 * thread. Errors as actor_system_tell(), and -EINVAL: system or cb is NULL. */
ACTOR_EXPORT int actor_system_ask_async(struct actor_system *system, actor_ref to,
	struct actor_type *type, const void *payload, size_t bytes, int64_t timeout_ms,
	actor_answer_cb cb, void *data);

/* Asks from outside and waits. The answer's payload is copied into `reply` (at most `*reply_bytes`,
 * which becomes its true size) and destroyed. timeout_ms as above. Any thread that is not a loop of
 * the system.
 * Errors as actor_tell(); -ETIMEDOUT, -ECANCELED (system closes), -EDEADLK on a loop's thread. */
ACTOR_EXPORT int actor_system_ask(struct actor_system *system, actor_ref to,
	struct actor_type *type, const void *payload, size_t bytes, int64_t timeout_ms, void *reply,
	size_t *reply_bytes);

/* ---- stops that are waited for ---- */

/* actor_stop(), and `cb` is called once, as a turn of the running actor: with status 0 when `ref`
 * has ended, like actor_watch(), or was gone already; with -ETIMEDOUT when it has not within
 * timeout_ms, 0 is 5 000, below 0 for ever. At that time actor_terminate() follows by itself; who
 * wants to know when it has ended after all, watches it. `reply` is NULL. It is an ask:
 * actor_ask_id() and actor_ask_cancel() work, and so end it a restart and the end of the running
 * actor, without a call; the actor stays stopped, and nothing follows. `cb` may be NULL.
 * Errors: as actor_stop(), and -EINVAL (the actor itself, no handler runs), ACTOR_ECLOSED in
 * on_stop, -ENOMEM, ACTOR_ETHREAD; then nothing was asked for. Probe: stop. */
ACTOR_EXPORT int actor_stop_within(struct actor_ctx *ctx, actor_ref ref, int64_t timeout_ms,
	actor_reply_cb cb, void *data);

/* The same from outside, with a call on the thread of the actor's loop; see
 * actor_system_ask_async() for what it may do. -ECANCELED: the system has closed before. Any thread.
 * Errors: as actor_system_stop(), and -EINVAL: system or cb is NULL. */
ACTOR_EXPORT int actor_system_stop_async(struct actor_system *system, actor_ref ref,
	int64_t timeout_ms, actor_answer_cb cb, void *data);

/* The same, and waits: 0, -ETIMEDOUT, or -ECANCELED. Any thread that is not a loop of the system.
 * Errors: as actor_system_stop(), and -EDEADLK on a loop's thread. */
ACTOR_EXPORT int actor_system_stop_wait(
	struct actor_system *system, actor_ref ref, int64_t timeout_ms);

/* ---- time ---- */

/* Timers of an actor, by a key of its choice. When one is due its message is told to the actor
 * itself, without a sender: it takes its place in the mailbox, within the mailbox's bounds, and is
 * handled like any other. Starting a key that is in use cancels the old timer; a message of it that
 * is still queued is destroyed and neither handled nor a dead letter, and so it is after
 * actor_timer_cancel(), when the actor stops and when it is restarted: all of these end its timers.
 *
 * No timer is due early; how much later than asked depends on how busy the loop is. A delay of 0 is
 * due in the loop's next pass. A timer does not keep the caller's loop alive: a program that waits
 * for one keeps a handle of its own. Timers are cheap (160 bytes and two table places each, no
 * system call and no memory per tick).
 *
 * Payloads as in actor_tell(), owned by the timer if the result is 0. One that comes more than once
 * is copied for each message by the type's `copy`; without it plain bytes are copied, and a type
 * that has `destroy` but no `copy` is refused.
 * Errors: -EINVAL (a negative delay, an interval below 1), ACTOR_ETYPE, ACTOR_ELIMIT, -ENOMEM (after
 * all of these an old timer of this key goes on), ACTOR_ECLOSED in on_stop; and of all functions
 * below -EINVAL when no handler runs, ACTOR_ETHREAD. */

/* Tells the message once, after delay_ms. */
ACTOR_EXPORT int actor_timer_single(struct actor_ctx *ctx, uint64_t key, int64_t delay_ms,
	struct actor_type *type, const void *payload, size_t bytes);

/* Tells it after first_ms and then every interval_ms, at equal distances from the first time: a
 * late message does not move the next ones. While one of them is not handled yet no other is told:
 * such times are only counted, as are those that pass while the loop is busy for longer than an
 * interval; see actor_timer_missed(). */
ACTOR_EXPORT int actor_timer_fixed_rate(struct actor_ctx *ctx, uint64_t key, int64_t first_ms,
	int64_t interval_ms, struct actor_type *type, const void *payload, size_t bytes);

/* Tells it after first_ms, and again delay_ms after each time it was handled. */
ACTOR_EXPORT int actor_timer_fixed_delay(struct actor_ctx *ctx, uint64_t key, int64_t first_ms,
	int64_t delay_ms, struct actor_type *type, const void *payload, size_t bytes);

/* Ends a timer. 1: it was active, no message of it will be handled from now on; 0: there is none, a
 * single one that was handled included. */
ACTOR_EXPORT int actor_timer_cancel(struct actor_ctx *ctx, uint64_t key);

/* 1 while messages of this key are to come or not handled yet. */
ACTOR_EXPORT int actor_timer_active(const struct actor_ctx *ctx, uint64_t key);

/* In the handler of a timer's message: the times since the one before for which no message was
 * told, because that one was not handled yet, the loop was busy, the mailbox was full or there was
 * no memory. 0 in any other handler. */
ACTOR_EXPORT uint64_t actor_timer_missed(const struct actor_ctx *ctx);

/* Tells the running actor when it has handled nothing for so long: a message of the type
 * actor_timeout, without payload and sender, ahead of what is queued. The time begins with this
 * call and anew with each message that is handled without a failure, the time-out's own message
 * included, so it repeats; a handler that takes longer than `ms` is not followed by it. A failing
 * handler does not begin it anew. It is not told while the actor is suspended or starting. It stays
 * set over a restart, until the actor stops. ms 0: none any more. No bound or throttle holds the
 * message back, and while it is set each message costs the actor a look at the clock.
 * Errors: -EINVAL (below 0; no handler runs), ACTOR_ECLOSED in on_stop, ACTOR_ETHREAD, ACTOR_ELIMIT,
 * -ENOMEM. Probe: enqueue, when it is due. */
ACTOR_EXPORT int actor_receive_timeout(struct actor_ctx *ctx, int64_t ms);
ACTOR_EXPORT extern struct actor_type actor_timeout;

/* Throttles the running actor from the next message on, anew with a full bucket; NULL: no longer.
 * It stays over a restart. Replaces the option of actor_spawn(). A paused actor handles stops,
 * failures of its children and its receive time-out; probe turn_end has the outcome `throttle`.
 * Errors: ACTOR_EOPTIONS, -ENOMEM, ACTOR_ECLOSED in on_stop, -EINVAL when no handler runs,
 * ACTOR_ETHREAD. */
ACTOR_EXPORT int actor_throttle(
	struct actor_ctx *ctx, const struct actor_throttle_options *options);

/* Tells `to` a message without a sender, once, delay_ms after this call; it cannot be taken back.
 * If `to` is gone by then, or the system closes before, it is a dead letter. Payloads and errors as
 * actor_system_tell(), and -EINVAL for a negative delay. Any thread. */
ACTOR_EXPORT int actor_system_schedule(struct actor_system *system, actor_ref to, int64_t delay_ms,
	struct actor_type *type, const void *payload, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
