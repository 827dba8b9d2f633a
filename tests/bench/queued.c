/* SPDX-License-Identifier: MIT */
/* Queued memory: resident bytes per message that waits in a mailbox, inside its envelope or with a
 * block of 100 bytes. One reading per process, as idle.c. */
#include "bench.h"

#include <stdio.h>
#include <unistd.h>

#define BLOCK_BYTES 100

static int queued_setup(struct actor_ctx *ctx, struct driver *d)
{
	static struct actor_mailbox_options silent = {.size = sizeof(silent), .high_water = -1};

	d->spawn.mailbox = &silent;
	return actor_spawn(
		ctx, &driver_class, &d->spawn, &d->peer); /* of any class: it never runs */
}

static int queued_begin(struct actor_ctx *ctx, struct driver *d)
{
	size_t bytes = d->wish.workload == &workload_queued ? sizeof(uint64_t) : BLOCK_BYTES;
	static const char payload[BLOCK_BYTES];
	uint64_t before = bench_resident_bytes();

	for (uint64_t i = 0; i < d->total; i++)
		if (actor_tell(ctx, d->peer, &bench_work, payload, bytes))
			return driver_fail(d, "told", i, d->total);
	printf("%s bytes %.1f\n", d->wish.workload->name,
		(double)(bench_resident_bytes() - before) / (double)d->total);
	fflush(stdout);
	_exit(0);
}

const struct workload workload_queued = {
	"queued_mem", "bytes", 1000000, 1, 1, queued_setup, queued_begin, NULL};
const struct workload workload_queued_block = {
	"queued_mem_block", "bytes", 1000000, 1, 1, queued_setup, queued_begin, NULL};
