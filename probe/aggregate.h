/* SPDX-License-Identifier: MIT */
/* What was observed, as plain data: made by the collection side, read by every face.
 *
 * Rendering (text, JSON, Prometheus, live view) sees only this structure: no libbpf, no target.
 * Every string is valid, escaped UTF-8 that the aggregate owns. Times are nanoseconds.
 * Values are cumulative since the attach. One aggregate is used by one thread at a time.
 */
#ifndef PROBE_AGGREGATE_H
#define PROBE_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/bounds.h" /* generated: BOUNDS_COUNT, bounds_ns[], DEPTH_BOUNDS_COUNT, ... */

enum aggregate_metric {
	AGGREGATE_WAIT,		 /* mailbox wait, ns */
	AGGREGATE_HANDLER,	 /* handler time, ns */
	AGGREGATE_DELAY,	 /* dispatcher queue delay, ns; by dispatcher only */
	AGGREGATE_DEPTH,	 /* mailbox depth at each delivery, messages */
	AGGREGATE_TURN,		 /* turn time, ns */
	AGGREGATE_TURN_MESSAGES, /* messages of one turn */
	AGGREGATE_LOOP_GAP,	 /* time a loop did not poll, ns; by loop only, ledger mode only */
	AGGREGATE_METRICS
};

/* buckets[i] counts values <= bound i and > bound i-1; the last one has no bound. The metrics in
 * messages use depth_bounds (the first DEPTH_BOUNDS_COUNT + 1 buckets), the others bounds_ns. */
struct aggregate_histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t buckets[BOUNDS_COUNT + 1];
};

struct aggregate_series {
	enum aggregate_metric metric;
	const char *dispatcher;
	const char *class_name;	  /* NULL where the metric or the grouping has no class */
	const char *actor;	  /* path; NULL unless grouped by actor */
	const char *loop;	  /* number of a loop; only of AGGREGATE_LOOP_GAP */
	uint32_t dispatcher_kind; /* enum actor_abi_dispatcher_kind of the root, 0 = unknown */
	struct aggregate_histogram histogram;
};

enum aggregate_lost {
	AGGREGATE_LOST_COPY,   /* records could not be read from the target */
	AGGREGATE_LOST_CLOCK,  /* an interval ran backwards by more than 1 us */
	AGGREGATE_LOST_FORMAT, /* records that no runtime of ours writes */
	AGGREGATE_LOST_MAP,    /* no room for another series, not even the overflow series */
	AGGREGATE_LOST_REASONS
};

/* Other counters, one per (family, dispatcher, class, reason); NULL = label not used. */
enum aggregate_family {
	AGGREGATE_DELIVERED, /* actor_messages_delivered_total {class} */
	AGGREGATE_YIELDS,    /* actor_dispatcher_yields_total {dispatcher, reason} */
	AGGREGATE_ENQUEUED,  /* trace mode only: mail that entered a mailbox {class} */
	/* Ledger mode only: */
	AGGREGATE_CREATED,	     /* actor_created_total {class} */
	AGGREGATE_TERMINATED,	     /* actor_terminated_total {class} */
	AGGREGATE_RESTARTED,	     /* actor_restarted_total {class} */
	AGGREGATE_DROPPED,	     /* actor_mailbox_dropped_total {class, reason} */
	AGGREGATE_DEAD_LETTERS,	     /* actor_dead_letters_total {class} */
	AGGREGATE_DISPATCHER_ERRORS, /* actor_dispatcher_errors_total {dispatcher} */
	AGGREGATE_FAMILIES
};

struct aggregate_counter {
	enum aggregate_family family;
	const char *dispatcher;
	const char *class_name;
	const char *reason;
	uint64_t value;
};

/* Messages from actors of one class to actors of another; ledger mode only. */
struct aggregate_flow {
	const char *from; /* "(outside)": no actor sent them; "(unknown)" */
	const char *to;
	uint64_t messages;
};

/* A loop as the root shows it now. */
struct aggregate_loop {
	const char *system;
	uint32_t loop;
	uint32_t thread;
	const char *actor;	/* path of the actor whose turn is open, NULL = none */
	const char *class_name; /* its class */
	const char *dispatcher; /* its dispatcher, NULL = unknown or none */
	const char *type;	/* message type it handles, NULL = none */
	uint64_t turn;
	uint64_t open_ns; /* how long that turn has been open, at least */
	uint64_t delivered;
};

/* A mailbox with 10 000 messages or more, as the root shows it now. */
struct aggregate_deep {
	const char *actor; /* its path */
	const char *class_name;
	const char *dispatcher;
	uint64_t messages;
	bool timed;	    /* `oldest_ns` is known */
	uint64_t oldest_ns; /* how long its oldest message has waited */
};

enum aggregate_mode {
	AGGREGATE_LEDGER, /* one trap per batch of records */
	AGGREGATE_TRACE,  /* one trap per event */
};

struct aggregate {
	pid_t pid;
	const char *command; /* of the target */
	bool by_actor;	     /* series are grouped by actor too */
	bool alive;	     /* the target still runs */
	uint64_t elapsed_ns; /* since the attach */
	uint64_t attach_ns;  /* time the attach took */
	/* By the own counters of the loops that handed anything over: what they had delivered
	 * before their first hand-over, and from there to their last one. */
	uint64_t delivered_before;
	uint64_t delivered;
	uint64_t recorded;
	uint64_t unstamped;
	uint64_t lost[AGGREGATE_LOST_REASONS];
	uint64_t clamped;	  /* negative intervals up to 1 us that count as 0 */
	uint64_t series_overflow; /* records folded into the series __overflow__ */
	uint64_t gaps;		  /* batches that did not continue the one before them */
	uint64_t folded;	  /* records that the kernel side added up, as the ring was full */
	bool folding;		  /* some of them since the state before this one */
	uint64_t sample_every;	  /* each how manyeth hand-over was taken; 0 and 1: all, exact */
	bool detached;		  /* the probes were taken away as they cost too much */
	double overhead;	  /* estimate: share of a core that observing costs the target */
	const char *mode;	  /* "ledger" or "trace" */
	struct aggregate_series *series;
	size_t series_count;
	struct aggregate_counter *counters;
	size_t counter_count;
	struct aggregate_flow *flows;
	size_t flow_count;
	struct aggregate_loop *loops;
	size_t loop_count;
	struct aggregate_deep *deep;
	size_t deep_count;
};

/* Sum of lost[]. */
uint64_t aggregate_lost_total(const struct aggregate *a);

/* Frees everything the aggregate owns and zeroes it. NULL is fine. Each string (labels, command,
 * mode) must be a heap block of its own, the five arrays one heap block each. */
void aggregate_fini(struct aggregate *a);

/* One observation session of one process; opaque to the faces. */
struct session;

struct recording;
struct exchange;
struct ring_batch;
struct calibration;
struct directory;
struct directory_wish;

/* Who sees each batch of the ledger as it comes, on the thread that drains the ring. */
struct session_tap {
	void (*start)(void *data, const struct calibration *calibration); /* before the first one */
	void (*batch)(void *data, const struct ring_batch *batch, size_t bytes);
	void *data;
};

struct session_options {
	pid_t pid;
	enum aggregate_mode mode; /* ledger unless set */
	uint64_t sample_every;	  /* ledger mode: take each so manyeth hand-over; 0 and 1: all */
	double max_overhead;	  /* share of a core, 0 = no limit; see session_watch_cost() */
	bool by_actor;
	bool force_perf; /* perf-event uprobes even where uprobe_multi works */
	struct exchange *exchange; /* programs and ring for many; NULL: of its own */
	bool zeroes;	 /* session_read() shows also what has not counted yet, as 0 */
	uint32_t max_series;
	int verbose;
	struct recording *recording; /* ledger mode: gets the stream and the names; NULL = none */
	struct session_tap tap;	     /* ledger mode; may be empty */
};

/* Finds the target and attaches. Returns 0, or an error of probe/error.h with `*error` filled. */
struct error;
int session_open(struct session **out, const struct session_options *options, struct error *error);

/* Fills `a` (which must be zeroed or finished) with all that was observed so far. 0 or an error
 * code. After the target's end it still returns the final state, with alive = false. */
int session_read(struct session *s, struct aggregate *a, struct error *error);

/* Gives up, for good, the privileges of the calling thread and of those it starts from now on:
 * observation goes on without. Kernels that read no map without them keep them. */
void session_confine(struct session *s);

/* Estimates what observing costs the target since the last call, about a second ago, and samples or
 * detaches beyond the limit, with a sentence on stderr. Beside session_read() in another thread. */
void session_watch_cost(struct session *s);

/* Takes the probes away and keeps what was observed: what session_read gives from then on is final
 * and adds up exactly. Tens of milliseconds; more calls do nothing. */
void session_stop(struct session *s);

/* Does the target run another program than the one whose names are known? Then this session is at
 * its end, and another one may begin; only with an exchange, else it follows by itself. */
bool session_moved(const struct session *s);

/* It does, and somebody else saw it: names stay as they are known. */
void session_retire(struct session *s);
/* The names as session_read() found them last. */
const struct directory *session_directory(const struct session *s);

/* Looks actors up in the target, see directory_resolve(). */
int session_resolve(struct session *s, struct directory_wish *wishes, size_t count);

/* A descriptor that becomes readable when the target ends (a pidfd). Owned by the session. */
int session_exit_fd(const struct session *s);

/* Detaches and frees; nothing is left in the kernel or the target. NULL is fine. */
void session_close(struct session *s);

#endif
