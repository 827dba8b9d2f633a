/* SPDX-License-Identifier: MIT */
/* Turns the root's view of the loops into named rows with the age of their open turns. */
#define _GNU_SOURCE
#include "probe/loopwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A turn's start in ticks is exact but only known while records are listened to. */
static uint64_t open_ns(struct loopwatch *watch, const struct directory *d,
	const struct actor_abi_loop *loop, const struct calibration *calibration)
{
	uint64_t now = calibration_now(ACTOR_ABI_CLOCK_MONOTONIC).ns, seen, age = 0, ticks;

	if (!loop->actor) {
		watch->last[loop->loop].seen_ns = 0;
		return 0;
	}
	if (watch->last[loop->loop].seen_ns == 0 || watch->last[loop->loop].turn != loop->turn) {
		watch->last[loop->loop].turn = loop->turn;
		watch->last[loop->loop].seen_ns = now;
	}
	seen = now - watch->last[loop->loop].seen_ns;
	ticks = calibration_now(d->clock).ticks;
	if (loop->turn_since && loop->turn_since < ticks && (ticks - loop->turn_since) >> 48 == 0)
		age = calibration_ns(calibration, ticks - loop->turn_since);
	return age > seen ? age : seen;
}

static void name_actor(
	struct aggregate_loop *row, const struct directory *d, struct directory_wish *wish)
{
	row->actor = wish->path; /* moved */
	wish->path = NULL;
	if (!row->actor)
		return;
	row->class_name = directory_label(&d->classes, wish->class_id);
	row->dispatcher = directory_label(&d->dispatchers, wish->dispatcher);
}

int loopwatch_fill(struct loopwatch *watch, const struct directory *d, struct remote *remote,
	const struct calibration *calibration, struct aggregate *a)
{
	struct directory_wish *wishes = calloc(d->loop_count + 1, sizeof(*wishes));

	a->loops = calloc(d->loop_count + 1, sizeof(*a->loops));
	if (!wishes || !a->loops) {
		free(wishes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->loop_count; i++) {
		wishes[i].actor = d->loops[i].actor;
		wishes[i].mask = UINT32_MAX;
	}
	directory_resolve(d, remote, wishes, d->loop_count); /* without it, rows have no names */
	for (size_t i = 0; i < d->loop_count; i++) {
		const struct actor_abi_loop *loop = &d->loops[i];
		struct aggregate_loop *row = &a->loops[a->loop_count];

		if (loop->state != ACTOR_ABI_LOOP_OPEN) {
			free(wishes[i].path);
			continue;
		}
		a->loop_count++;
		row->system = strdup(loop->system);
		row->loop = loop->loop;
		row->thread = loop->thread;
		row->turn = loop->turn;
		row->delivered = loop->delivered;
		row->open_ns = open_ns(watch, d, loop, calibration);
		name_actor(row, d, &wishes[i]);
		if (loop->actor && loop->message_type)
			row->type = directory_label(&d->types, loop->message_type);
	}
	free(wishes);
	return 0;
}
