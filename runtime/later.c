/* SPDX-License-Identifier: MIT */
/* actor_system_schedule(), and what becomes of its letters. */
#include "later.h"

#include "alarm.h"
#include "channel.h"
#include "deliver.h"
#include "fork.h"
#include "tell.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

static struct actor__letter *letter_of(struct actor__deadline *deadline)
{
	return (struct actor__letter *)((char *)deadline -
					offsetof(struct actor__letter, deadline));
}

static void on_due(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__letter *letter = letter_of(deadline);

	/* Its wait in a mailbox begins now. */
	if (actor__probes_records())
		letter->envelope.stamp = actor__ticks();
	if (actor__deliver(loop, &letter->envelope)) /* no memory */
		actor__deadline_arm(loop, deadline, actor__now_ms(loop) + 1, on_due);
	else
		actor__letter_free(letter);
}

static void to_dead_letters(struct actor__loop *loop, struct actor__letter *letter)
{
	actor__dead_letter(loop, &letter->envelope);
	actor__letter_free(letter);
}

void actor__later_arrive(struct actor__loop *loop, struct actor__letter *letter)
{
	letter->deadline.place = NULL;
	if (loop->closed)
		to_dead_letters(loop, letter);
	else
		actor__deadline_arm(loop, &letter->deadline, letter->deadline.at_ms, on_due);
}

void actor__later_end(struct actor__loop *loop)
{
	struct actor__deadline *deadline;

	/* No actor is left, and nobody else arms a deadline: these are all letters. */
	while ((deadline = loop->deadlines.first)) {
		actor__deadline_cancel(deadline);
		if (deadline->cb == on_due)
			to_dead_letters(loop, letter_of(deadline));
	}
}

/* The time on another loop's clock; by hand it is the system's. */
static uint64_t time_in(struct actor_system *system, uint64_t after_ms)
{
	uint64_t manual_ms = atomic_load(&system->manual_ms);

	return (manual_ms ? manual_ms : uv_hrtime() / 1000000u) +
	       (after_ms < ACTOR__TIME_MOST_MS ? after_ms : ACTOR__TIME_MOST_MS);
}

static int letter_send(struct actor_system *system, struct actor__letter *letter)
{
	struct actor__loop *to = actor__loop_of(system, letter->envelope.to);
	int rc;

	if (!to)
		to = system->loops[0]; /* a ref of no loop of ours: a dead letter there, in time */
	if (actor__loop_here(to) && !to->closed) {
		actor__handles_ensure(to);
		actor__later_arrive(to, letter);
		return 0;
	}
	rc = actor__inbox_push(&to->inbox, &letter->link);
	if (!rc)
		actor__loop_rouse(to); /* the push was a full fence */
	return rc;
}

int actor_system_schedule(struct actor_system *system, actor_ref to, int64_t delay_ms,
	struct actor_type *type, const void *payload, size_t bytes)
{
	struct actor__letter *letter;
	struct actor__envelope e;
	int rc = delay_ms < 0 ? -EINVAL : 0;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!rc)
		rc = actor__envelope_fill(&e, to, 0, type, payload, bytes);
	if (rc)
		return rc;
	letter = actor__letter_new();
	rc = -ENOMEM;
	if (letter) {
		letter->envelope = e;
		letter->envelope.flags |= ACTOR__FOREIGN; /* nobody can be told of a refusal */
		letter->deadline.at_ms = time_in(system, (uint64_t)delay_ms);
		rc = letter_send(system, letter);
	}
	if (rc) {
		actor__letter_free(letter);
		if (e.flags & ACTOR__COPY)
			free(e.heap.block);
	}
	return rc;
}
