/* SPDX-License-Identifier: MIT */
/* A million messages in steady state allocate nothing: in a flood, a volley and asks. */
#include "tests/lab.h"

#include "runtime/memory.h"

#include <malloc.h>

#define WARM  20000u
#define TOTAL 1000000u
#define BATCH 1000u

static struct actor_type work = ACTOR_TYPE("work");
static uint64_t allocations;
static struct actor__heap heap_before;

static void *counted_alloc(size_t align, size_t bytes)
{
	allocations++;
	return heap_before.alloc(align, bytes);
}

enum way { FLOOD, VOLLEY, ASK, WAYS };

/* One actor drives, one answers; after WARM messages the heap is watched. */
struct driver {
	enum way way;
	actor_ref peer;
	uint64_t told;
	uint64_t handled;
	uint64_t allocated; /* by the runtime, when the warming up was over */
	size_t in_use;	    /* bytes of the C library's heap, then */
	bool failed;
};

static struct driver result;

static int answered(struct actor_ctx *ctx, int status, const struct actor_message *m, void *data);

static int go_on(struct actor_ctx *ctx, struct driver *d)
{
	uint64_t n = d->told;

	d->told += d->way == FLOOD ? BATCH : 1;
	switch (d->way) {
	case FLOOD:
		for (uint32_t i = 0; i < BATCH - 1; i++)
			actor_tell(ctx, d->peer, &work, NULL, 0);
		return actor_tell(ctx, d->peer, &work, &n, sizeof(n));
	case VOLLEY:
		return actor_tell(ctx, d->peer, &work, &n, sizeof(n));
	default:
		return actor_ask(ctx, d->peer, &work, &n, sizeof(n), 0, answered, d);
	}
}

static int progress(struct actor_ctx *ctx, struct driver *d)
{
	if (d->told <= WARM) {
		d->allocated = allocations;
		d->in_use = mallinfo2().uordblks;
	}
	if (d->told < TOTAL)
		return go_on(ctx, d);
	d->failed = allocations != d->allocated || mallinfo2().uordblks > d->in_use;
	result = *d;
	actor_stop_self(ctx);
	return 0;
}

static int answered(struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	assert_int_equal(status, 0);
	return progress(ctx, data);
}

static int on_driver(struct actor_ctx *ctx, const struct actor_message *m)
{
	return progress(ctx, actor_state(ctx));
}

static int on_peer(struct actor_ctx *ctx, const struct actor_message *m)
{
	return m->bytes ? actor_reply(ctx, &work, m->payload, m->bytes) : 0;
}

static struct actor_class driver_class = {.size = sizeof(struct actor_class),
	.name = "driver",
	.state_bytes = sizeof(struct driver),
	.on_message = on_driver};
static struct actor_class peer_class = {
	.size = sizeof(struct actor_class), .name = "peer", .on_message = on_peer};

static void run(enum way way)
{
	struct actor_system_options options = {.size = sizeof(options)};
	struct actor_spawn_options spawn = {.size = sizeof(spawn)};
	struct driver init = {.way = way};
	struct actor_system *system;
	actor_ref driver;
	uv_loop_t loop;

	memset(&result, 0, sizeof(result));
	uv_loop_init(&loop);
	options.loop = &loop;
	spawn.init = &init;
	assert_int_equal(actor_system_open(&system, &options), 0);
	assert_int_equal(actor_system_spawn(system, &peer_class, NULL, &init.peer), 0);
	assert_int_equal(actor_system_spawn(system, &driver_class, &spawn, &driver), 0);
	assert_int_equal(actor_system_tell(system, driver, &work, NULL, 0), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(actor_system_close(system, NULL, NULL), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(result.told, TOTAL);
	assert_false(result.failed);
}

static void a_million_messages_allocate_nothing(void **state)
{
	heap_before = actor__heap;
	actor__heap.alloc = counted_alloc;
	for (enum way way = FLOOD; way < WAYS; way++)
		run(way);
	actor__heap = heap_before;
	assert_true(allocations > 0); /* it was watched: opening a system needs memory */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_messages_allocate_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
