/* SPDX-License-Identifier: MIT */
/* Jobs on their way to the thread pool and back. */
#include "job.h"

#include "alarm.h"
#include "channel.h"
#include "deliver.h"
#include "extra.h"
#include "tell.h"

#include <errno.h>

#define AGAIN_MS 1

struct actor__job *actor__job_new(struct actor__cell *cell)
{
	struct actor__extra *extra = actor__extra_of(cell);
	struct actor__job *job = extra ? actor__heap_zero(sizeof(*job)) : NULL;

	if (!job)
		return NULL;
	job->loop = cell->loop;
	job->cell = cell;
	job->next = extra->jobs;
	if (job->next)
		job->next->previous = job;
	extra->jobs = job;
	atomic_fetch_add_explicit(&job->loop->jobs, 1, memory_order_relaxed);
	return job;
}

static void unlink_from_cell(struct actor__job *job)
{
	if (!job->cell)
		return;
	if (job->previous)
		job->previous->next = job->next;
	else
		job->cell->extra->jobs = job->next;
	if (job->next)
		job->next->previous = job->previous;
	job->cell = NULL;
}

void actor__job_unmake(struct actor__job *job)
{
	_Atomic uint32_t *jobs = &job->loop->jobs;

	unlink_from_cell(job);
	actor__heap_free(job);
	/* Release: whoever finds that none is left finds what they have done (close.c). */
	atomic_fetch_sub_explicit(jobs, 1, memory_order_release);
}

static void deliver(struct actor__job *job);

static void on_again(struct actor__loop *loop, struct actor__deadline *again)
{
	(void)loop;
	deliver((struct actor__job *)((char *)again - offsetof(struct actor__job, again)));
}

/* The result is told. What the actor wanted for itself, an instance after it does not get. */
static void deliver(struct actor__job *job)
{
	struct actor__loop *loop = job->loop;
	struct actor__envelope e = job->envelope;
	int rc = -ECANCELED;

	e.flags |= ACTOR__FOREIGN; /* nobody is there to be told of a refusal */
	actor__handles_ensure(loop);
	if (job->cell || e.to != e.sender)
		rc = actor__send_kept(loop, &e);
	if (rc == -ENOMEM && !atomic_load_explicit(&loop->stopping, memory_order_relaxed)) {
		actor__deadline_arm(
			loop, &job->again, actor__time_in(loop, AGAIN_MS), on_again);
		return;
	}
	if (rc)
		actor__dead_letter(loop, &e);
	if (loop->dirty && !actor__in_turn(loop))
		actor__channels_flush(loop);
	actor__job_unmake(job);
}

static void on_work(uv_work_t *request)
{
	struct actor__job *job = request->data;
	struct actor_message m;

	if (job->pending) {
		job->status = job->pending(job->data);
		return;
	}
	actor__envelope_open(&job->envelope, &m);
	job->work(m.payload, m.bytes);
}

static void on_done(uv_work_t *request, int status)
{
	struct actor__job *job = request->data;

	if (job->pending) {
		/* Its handler waits for this; nobody else has the token. */
		actor_complete(job->loop->system, job->token, status ? status : job->status,
			job->cb, job->data);
		actor__job_unmake(job);
	} else if (status) {
		actor__envelope_release(&job->envelope);
		actor__job_unmake(job);
	} else {
		deliver(job);
	}
}

void actor__job_begin(struct actor__job *job)
{
	job->request.data = job;
	uv_queue_work(job->loop->uv, &job->request, on_work, on_done);
}

void actor__job_cancel(struct actor__job *job)
{
	uv_cancel((uv_req_t *)&job->request);
}

void actor__jobs_clear(struct actor__cell *cell)
{
	struct actor__job *job = cell->extra->jobs;

	cell->extra->jobs = NULL;
	while (job) {
		struct actor__job *next = job->next;

		job->cell = NULL;
		job->next = job->previous = NULL;
		actor__job_cancel(job);
		job = next;
	}
}
