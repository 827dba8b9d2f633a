/* SPDX-License-Identifier: MIT */
/* Classes: `total` actors of as many classes, one message each: as many label sets for a scrape. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t handled;

static int one_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	handled++;
	return actor_reply(ctx, &bench_count, m->payload, m->bytes);
}

static int classes_one(struct actor_ctx *ctx, struct driver *d)
{
	struct actor_class *cls = calloc(1, sizeof(*cls)); /* belongs to the system from here on */
	char name[32];
	actor_ref ref;
	int rc;

	if (!cls)
		return -ENOMEM;
	snprintf(name, sizeof(name), "class-%llu", (unsigned long long)d->sent++);
	*cls = (struct actor_class){
		.size = sizeof(*cls), .name = strdup(name), .on_message = one_message};
	rc = actor_spawn(ctx, cls, &d->spawn, &ref);
	return rc ? rc : actor_tell(ctx, ref, &bench_work, NULL, 0);
}

static int classes_begin(struct actor_ctx *ctx, struct driver *d)
{
	int rc = 0;

	d->waiting = d->total;
	for (uint64_t i = 0; i < d->total && !rc; i++)
		rc = classes_one(ctx, d);
	return rc ? driver_fail(d, "classes", d->sent - 1, d->total) : 0;
}

static int classes_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	(void)m;
	if (--d->waiting)
		return 0;
	if (handled != d->sent)
		return driver_fail(d, "handled", handled, d->sent);
	return driver_lap(ctx, d);
}

const struct workload workload_classes = {
	"classes", "ns", 100, 1, 1, NULL, classes_begin, classes_message};
