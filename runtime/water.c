/* SPDX-License-Identifier: MIT */
/* Warnings of long mailboxes, and their entries in the root's table. */
#include "water.h"

#include "log.h"
#include "path.h"

static void warn(const struct actor__cell *cell)
{
	char path[ACTOR__PATH_BYTES];

	actor__path_text(cell->loop->system, cell->self, path, sizeof(path));
	actor__log(cell->loop->system, ACTOR_LOG_WARN,
		"the mailbox of %s (%s) holds %u messages: its actor is told more than it handles",
		path, cell->cls->name, cell->mailbox.count);
}

void actor__water_risen(struct actor__cell *cell, uint64_t oldest)
{
	struct actor__mailbox *box = &cell->mailbox;
	uint64_t mark = box->watched ? cell->extra->high_water : ACTOR_HIGH_WATER;

	if (mark && box->count >= mark << box->warned) {
		while (box->count >= mark << box->warned)
			box->warned++;
		warn(cell);
	}
	if (box->count < ACTOR__DEEP)
		return;
	if (!box->deep)
		box->deep = actor__deep_enter(cell->self);
	if (box->deep)
		box->deep = actor__deep_write(box->deep, box->count, oldest);
}
