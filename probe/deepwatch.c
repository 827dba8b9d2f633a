/* SPDX-License-Identifier: MIT */
/* Turns the root's table of deep mailboxes into named rows. An entry changes while it is read: what
 * is not of a live actor, or too small to be an entry, is left out. */
#include "probe/deepwatch.h"

#include <errno.h>
#include <stdlib.h>

/* The age of a stamp; a clock that is wrong by more than 48 bits of ticks is not believed. */
static bool age_ns(const struct directory *d, const struct calibration *calibration, uint64_t stamp,
	uint64_t *ns)
{
	uint64_t now = calibration_now(d->clock).ticks;

	if (!stamp || stamp > now || (now - stamp) >> 48)
		return false;
	*ns = calibration_ns(calibration, now - stamp);
	return true;
}

static void row_add(const struct directory *d, const struct calibration *calibration,
	struct directory_wish *wish, const struct actor_abi_deep *deep, struct aggregate *a)
{
	struct aggregate_deep *row = &a->deep[a->deep_count];

	if (!wish->path)
		return;
	a->deep_count++;
	row->actor = wish->path; /* moved */
	wish->path = NULL;
	row->class_name = directory_label(&d->classes, wish->class_id);
	row->dispatcher = directory_label(&d->dispatchers, wish->dispatcher);
	row->messages = deep->depth;
	row->timed = age_ns(d, calibration, deep->oldest_ticks, &row->oldest_ns);
}

int deepwatch_fill(const struct directory *d, struct remote *remote,
	const struct calibration *calibration, struct aggregate *a)
{
	struct directory_wish wishes[ACTOR_ABI_DEEP] = {0};
	const struct actor_abi_deep *entries[ACTOR_ABI_DEEP];
	size_t count = 0;

	for (size_t i = 0; i < ACTOR_ABI_DEEP; i++) {
		if (!d->deep[i].actor || d->deep[i].depth < DEEPWATCH_LEAST)
			continue;
		wishes[count].actor = d->deep[i].actor;
		wishes[count].mask = UINT32_MAX;
		entries[count++] = &d->deep[i];
	}
	if (!count)
		return 0;
	a->deep = calloc(count, sizeof(*a->deep));
	if (!a->deep)
		return -ENOMEM;
	directory_resolve(d, remote, wishes, count); /* without it, there are no rows */
	for (size_t i = 0; i < count; i++)
		row_add(d, calibration, &wishes[i], entries[i], a);
	return 0;
}
