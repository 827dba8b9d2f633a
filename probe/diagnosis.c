/* SPDX-License-Identifier: MIT */
/* Collects the evidence of one observation. What the end of the observation changes (a thread's
 * state, an open turn) is read before the probes are taken away. */
#define _GNU_SOURCE
#include "probe/diagnosis.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "probe/directory.h"
#include "probe/gather.h"
#include "probe/schedule.h"
#include "probe/threads.h"

struct thread {
	uint32_t thread; /* as the target calls it */
	pid_t task;	 /* as we do; 0 unknown */
	bool accounted;
	uint64_t cpu_ns, starved_ns;	       /* at the beginning ... */
	uint64_t last_cpu_ns, last_starved_ns; /* ... and when it was looked at last */
};

struct diagnosis {
	struct gather *gather;
	pid_t pid;
	struct thread threads[ACTOR_ABI_LOOPS]; /* by number of the loop */
	uint64_t all, steal;
	struct schedule *schedule; /* NULL: the kernel does not tell */
	char *why_not;
	struct aggregate first; /* for its deep mailboxes */
};

struct diagnosis *diagnosis_new(void)
{
	struct diagnosis *d = calloc(1, sizeof(*d));

	if (d)
		d->gather = gather_new();
	if (d && !d->gather) {
		free(d);
		return NULL;
	}
	return d;
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	schedule_close(d->schedule);
	gather_free(d->gather);
	aggregate_fini(&d->first);
	free(d->why_not);
	free(d);
}

struct session_tap diagnosis_tap(struct diagnosis *d)
{
	return (struct session_tap){gather_start, gather_batch, d->gather};
}

static void thread_begin(struct diagnosis *d, const struct actor_abi_loop *loop)
{
	struct thread *t = &d->threads[loop->loop];

	if (loop->state != ACTOR_ABI_LOOP_OPEN || !loop->thread)
		return;
	t->thread = loop->thread;
	t->task = threads_find(d->pid, loop->thread);
	t->accounted = t->task && threads_time(d->pid, t->task, &t->cpu_ns, &t->starved_ns) == 0;
	t->last_cpu_ns = t->cpu_ns;
	t->last_starved_ns = t->starved_ns;
}

static void schedule_begin(struct diagnosis *d, const struct directory *names)
{
	struct schedule_wish wishes[ACTOR_ABI_LOOPS];
	size_t count = 0;

	for (size_t i = 0; i < names->loop_count; i++) {
		const struct thread *t = &d->threads[names->loops[i].loop];

		if (t->task && names->addresses[i])
			wishes[count++] = (struct schedule_wish){t->task,
				names->addresses[i] + offsetof(struct actor_abi_loop, actor)};
	}
	if (count)
		schedule_open(&d->schedule, wishes, count, &d->why_not);
	else
		d->why_not = strdup("the threads of its loops were not found");
}

int diagnosis_begin(struct diagnosis *d, struct session *s, pid_t pid, struct error *error)
{
	int code = session_read(s, &d->first, error);
	const struct directory *names;

	if (code)
		return code;
	names = session_directory(s);
	d->pid = pid;
	threads_steal(&d->all, &d->steal);
	for (size_t i = 0; i < names->loop_count; i++)
		thread_begin(d, &names->loops[i]);
	schedule_begin(d, names);
	return 0;
}

/* What a thread has used is gone with it, so it is looked at on the way. */
void diagnosis_look(struct diagnosis *d)
{
	for (size_t i = 0; i < ACTOR_ABI_LOOPS; i++) {
		struct thread *t = &d->threads[i];
		uint64_t cpu, starved;

		if (!t->accounted || threads_time(d->pid, t->task, &cpu, &starved) < 0)
			continue;
		t->last_cpu_ns = cpu;
		t->last_starved_ns = starved;
	}
}

static char *copied(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void thread_end(const struct diagnosis *d, const struct thread *t, struct evidence_loop *to)
{
	if (!t->task || (to->thread && t->thread != to->thread))
		return;
	to->accounted = t->accounted;
	to->cpu_ns = t->last_cpu_ns - t->cpu_ns;
	to->starved_ns = t->last_starved_ns - t->starved_ns;
	to->state = threads_state(d->pid, t->task);
	to->in_call = threads_call(d->pid, t->task, &to->call);
}

/* Of a target that has ended the loops are known that it had at first, and no open turn. */
static int loops_fill(const struct diagnosis *d, const struct aggregate *now, struct evidence *e)
{
	const struct aggregate *a = now->loop_count ? now : &d->first;

	e->loops = calloc(a->loop_count + 1, sizeof(*e->loops));
	if (!e->loops)
		return -1;
	for (size_t i = 0; i < a->loop_count; i++) {
		const struct aggregate_loop *from = &a->loops[i];
		struct evidence_loop *to = &e->loops[e->loop_count++];

		*to = (struct evidence_loop){.loop = from->loop, .thread = from->thread};
		if (a == now) {
			to->actor = copied(from->actor);
			to->class_name = copied(from->class_name);
			to->dispatcher = copied(from->dispatcher);
			to->type = copied(from->type);
			to->open_ns = from->open_ns;
		}
		thread_end(d, &d->threads[from->loop], to);
	}
	return 0;
}

static uint64_t deep_before(const struct diagnosis *d, const char *actor)
{
	for (size_t i = 0; i < d->first.deep_count; i++)
		if (strcmp(d->first.deep[i].actor, actor) == 0)
			return d->first.deep[i].messages;
	return 0;
}

static int deep_fill(const struct diagnosis *d, const struct aggregate *a, struct evidence *e)
{
	e->deep = calloc(a->deep_count + 1, sizeof(*e->deep));
	if (!e->deep)
		return -1;
	for (size_t i = 0; i < a->deep_count; i++)
		e->deep[e->deep_count++] = (struct evidence_deep){
			.actor = copied(a->deep[i].actor),
			.class_name = copied(a->deep[i].class_name),
			.dispatcher = copied(a->deep[i].dispatcher),
			.messages = a->deep[i].messages,
			.before = deep_before(d, a->deep[i].actor),
			.oldest_ns = a->deep[i].timed ? a->deep[i].oldest_ns : 0,
		};
	return 0;
}

static void head_fill(const struct diagnosis *d, const struct aggregate *a, struct evidence *e)
{
	uint64_t all, steal;

	*e = (struct evidence){
		.pid = a->pid,
		.command = copied(a->command),
		.alive = a->alive,
		.elapsed_ns = a->elapsed_ns,
		.attach_ns = a->attach_ns,
		.overhead = a->overhead,
		.scheduled = d->schedule != NULL,
		.unscheduled = copied(d->why_not),
	};
	if (threads_steal(&all, &steal) == 0 && all > d->all)
		e->steal = (double)(steal - d->steal) / (double)(all - d->all);
}

/* While the target is as it was observed. */
static int now_fill(const struct diagnosis *d, const struct aggregate *a, struct evidence *e)
{
	head_fill(d, a, e);
	return loops_fill(d, a, e) < 0 || deep_fill(d, a, e) < 0 ? -1 : 0;
}

static void time_take(void *data, const struct schedule_key *key, const struct schedule_time *time)
{
	const struct gather_blocked row = {
		.actor = key->actor,
		.call = key->call,
		.blocked = key->call != SCHEDULE_RUNNABLE,
		.ns = time->ns,
		.max_ns = time->max_ns,
	};

	gather_blocked(data, &row);
}

/* When nothing is added any more. */
static int stream_fill(
	struct diagnosis *d, struct session *s, const struct aggregate *a, struct evidence *e)
{
	struct directory_wish *wishes = NULL;
	size_t count = 0;
	int r = gather_wishes(d->gather, &wishes, &count);

	e->delivered = a->delivered;
	e->unseen = a->folded + aggregate_lost_total(a);
	if (d->schedule) {
		e->unseen += schedule_lost(d->schedule);
		schedule_visit(d->schedule, time_take, d->gather);
	}
	if (r == 0) {
		session_resolve(s, wishes, count); /* without it, there are no paths */
		r = gather_fill(d->gather, session_directory(s), wishes, count, e);
	}
	for (size_t i = 0; i < count; i++)
		free(wishes[i].path);
	free(wishes);
	return r;
}

int diagnosis_end(struct diagnosis *d, struct session *s, struct evidence *e, struct error *error)
{
	struct aggregate now = {0}, last = {0};
	int code = session_read(s, &now, error);

	diagnosis_look(d);
	if (!code && now_fill(d, &now, e) < 0)
		code = error_set(error, EXIT_KERNEL, "out of memory");
	schedule_stop(d->schedule);
	session_stop(s);
	if (!code)
		code = session_read(s, &last, error);
	if (!code && stream_fill(d, s, &last, e) < 0)
		code = error_set(error, EXIT_KERNEL, "out of memory");
	aggregate_fini(&now);
	aggregate_fini(&last);
	return code;
}
