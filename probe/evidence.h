/* SPDX-License-Identifier: MIT */
/* What a diagnosis rests on, as plain data: rules read it, and nothing else.
 *
 * Made by the collection side from the ledger stream, from the root, and from what the kernel says
 * of the loops' threads. A part that could not be had says so by a flag and a sentence, and its
 * numbers are 0: a rule asks the flag before it uses them. Times are nanoseconds. Strings are
 * escaped UTF-8 that the evidence owns.
 */
#ifndef PROBE_EVIDENCE_H
#define PROBE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EVIDENCE_NO_CALL (-1) /* blocked outside of any system call: a page that was away */

struct evidence_times {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
};

/* Who tells an actor most. */
struct evidence_sender {
	char *actor; /* path; NULL: nobody, the mail comes from timers, callbacks or other threads
		      */
	char *class_name;
	double share; /* of the messages that the receiver handled */
};

/* All actors of one class on one dispatcher. */
struct evidence_class {
	char *dispatcher;
	char *name;
	size_t dispatcher_at; /* its place in `dispatchers` */
	uint32_t loop;	      /* of its busiest actor */
	uint64_t actors;      /* that handled anything */
	uint64_t messages;
	uint64_t foreign; /* of these, from other loops or threads */
	uint64_t unsent;  /* of these, from no actor, told on the loop itself: timers, callbacks */
	struct evidence_times wait, handler, turn, delay;
	uint64_t turns;
	uint64_t budget_turns; /* that ended because their budget was used up */
	uint64_t failed_turns;
	uint64_t restarts;
	uint32_t cap; /* most messages of a turn that ended so; 0: none did */
	/* By the kernel, in open turns: */
	uint64_t blocked_ns;
	uint64_t blocked_max_ns;
	int64_t call; /* the system call that most of it was spent in; EVIDENCE_NO_CALL */
	uint64_t runnable_ns;
	/* Its actor whose messages waited longest in sum: */
	char *actor;
	uint64_t actor_messages;
	double actor_turns_share; /* of all turns of the dispatcher */
	double wait_growth;	  /* how much longer its messages wait, per time that passed */
	uint64_t depth;		  /* of its mailbox, as last seen */
	struct evidence_sender sender;
	uint64_t sender_turn_ns; /* mean of a turn of that sender; 0 unknown */
	uint64_t senders;	 /* different ones, at least */
};

struct evidence_dispatcher {
	char *name;
	uint32_t kind; /* enum actor_abi_dispatcher_kind */
	uint32_t budget;
	uint64_t actors;
	uint64_t turns;
	uint64_t turn_ns;
	struct evidence_times delay;
	uint64_t idle_yields, budget_yields;
	uint64_t units; /* run before those yields */
	uint64_t left;	/* ready at the yields by budget */
};

struct evidence_loop {
	uint32_t loop;
	uint32_t thread;
	uint64_t turn_ns; /* in turns that have ended */
	uint64_t passes;
	struct evidence_times gap; /* between two polls */
	uint64_t longest_gap_ns;   /* also of one that has not ended */
	/* By the kernel's accounting of its thread: */
	bool accounted;
	uint64_t cpu_ns;
	uint64_t starved_ns; /* it could run, and did not */
	/* The turn that was open at the end: */
	char *actor; /* path, NULL: none */
	char *class_name, *dispatcher, *type;
	uint64_t open_ns; /* at least */
	char state;	  /* of the thread, as ps has it; 0 unknown */
	bool in_call;	  /* `call` is known */
	int64_t call;
};

/* A mailbox with 10 000 messages or more, at the end. */
struct evidence_deep {
	char *actor, *class_name, *dispatcher;
	uint64_t messages;
	uint64_t before;    /* at the beginning; 0: fewer than 10 000 */
	uint64_t oldest_ns; /* 0 unknown */
};

struct evidence {
	pid_t pid;
	char *command;
	bool alive;
	uint64_t elapsed_ns;
	uint64_t delivered;
	uint64_t unseen; /* messages and records that are not in here one by one */
	uint64_t attach_ns;
	double overhead;   /* of a core, estimated cost of observing in the target */
	double steal;	   /* share of the host's time that its own host took */
	bool scheduled;	   /* the kernel told when the threads ran, waited and blocked */
	char *unscheduled; /* else why not */
	struct evidence_class *classes;
	size_t class_count;
	struct evidence_dispatcher *dispatchers;
	size_t dispatcher_count;
	struct evidence_loop *loops;
	size_t loop_count;
	struct evidence_deep *deep;
	size_t deep_count;
};

/* Frees what it owns and zeroes it. NULL is fine. */
void evidence_fini(struct evidence *e);

/* The name of a system call, or "call N"; valid until the next call in this thread. */
const char *evidence_call_name(int64_t call);

#endif
