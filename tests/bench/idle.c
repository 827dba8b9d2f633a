/* SPDX-License-Identifier: MIT */
/* Idle memory: resident bytes per actor that has started, or has handled one message as well.
 *
 * Actors are made 100 at a time, each hundred is confirmed before the next. One reading per
 * process: memory that an earlier repetition has given back would be used again.
 */
#include "bench.h"

#include <stdio.h>
#include <unistd.h>

#define HUNDRED 100u

static uint64_t handled;

static int confirm(struct actor_ctx *ctx)
{
	if (++handled % HUNDRED)
		return 0;
	return actor_tell(ctx, actor_parent(ctx), &bench_count, &handled, sizeof(handled));
}

static int idler_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)m;
	return confirm(ctx);
}

static struct actor_class fresh_class = {.size = sizeof(struct actor_class),
	.name = "idler",
	.on_start = confirm,
	.on_message = idler_message};

static struct actor_class used_class = {
	.size = sizeof(struct actor_class), .name = "idler", .on_message = idler_message};

uint64_t bench_resident_bytes(void)
{
	unsigned long long resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu", &resident) != 1)
		resident = 0;
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int idle_batch(struct actor_ctx *ctx, struct driver *d)
{
	bool used = d->wish.workload == &workload_idle_used;
	actor_ref refs[HUNDRED];
	int rc = 0;

	d->sent += HUNDRED;
	for (uint32_t i = 0; i < HUNDRED && !rc; i++)
		rc = actor_spawn(ctx, used ? &used_class : &fresh_class, &d->spawn, &refs[i]);
	for (uint32_t i = 0; i < HUNDRED && !rc && used; i++)
		rc = actor_tell(ctx, refs[i], &bench_work, NULL, 0);
	return rc;
}

static int idle_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = bench_resident_bytes();
	return idle_batch(ctx, d);
}

static int idle_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	double bytes;

	if (message_number(m) != d->sent)
		return driver_fail(d, "actors", message_number(m), d->sent);
	if (d->sent < d->total)
		return idle_batch(ctx, d);
	bytes = (double)(bench_resident_bytes() - d->left) / (double)d->sent;
	printf("%s bytes %.1f\n", d->wish.workload->name, bytes);
	fflush(stdout);
	_exit(0);
}

const struct workload workload_idle = {
	"idle_mem", "bytes", 200000, HUNDRED, 1, NULL, idle_begin, idle_message};
const struct workload workload_idle_used = {
	"idle_mem_used", "bytes", 200000, HUNDRED, 1, NULL, idle_begin, idle_message};
