/* SPDX-License-Identifier: MIT */
/* The actors behind probes, and what a test does through them. */
#include "kitprobe.h"

#include "channel.h"
#include "envelope.h"
#include "kitsteps.h"
#include "slots.h"
#include "tell.h"

#include <errno.h>
#include <stdlib.h>

/* What actor_test_within() tells the probe. */
struct errand {
	int (*cb)(struct actor_ctx *ctx, void *data);
	void *data;
	struct errand_end {
		int rc;
		bool done;
		const struct actor_test_probe *probe;
	} *end;
};

_Static_assert(sizeof(struct errand) <= ACTOR_INLINE_BYTES, "an errand needs no memory");

static struct actor_type errand_type = ACTOR_TYPE("test-errand");

static struct actor_test_probe *probe_of(const struct actor_ctx *ctx)
{
	return *(struct actor_test_probe **)actor_state(ctx);
}

static void item_append(struct actor__kit_items *items, struct actor__kit_item *item)
{
	if (!items->first)
		items->last = &items->first;
	item->next = NULL;
	*items->last = item;
	items->last = &item->next;
	items->count++;
}

static struct actor__kit_item *item_take(struct actor__kit_items *items)
{
	struct actor__kit_item *item = items->first;

	items->first = item->next;
	items->count--;
	return item;
}

static void items_free(struct actor__kit_items *items)
{
	while (items->first) {
		struct actor__kit_item *item = item_take(items);

		actor__envelope_release(&item->envelope);
		actor__heap_free(item);
	}
}

static void errand_run(struct actor_ctx *ctx, const struct errand *errand)
{
	errand->end->rc = errand->cb(ctx, errand->data);
	errand->end->done = true;
	/* What it returned is the test's. */
	ctx->aftermath &= ~ACTOR__FAILED;
}

static int on_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct actor_test_probe *probe = probe_of(ctx);
	struct actor__kit_item *item;

	if (message->type == &errand_type) {
		errand_run(ctx, message->payload);
		return 0;
	}
	item = actor__heap_alloc(sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->envelope = *ctx->envelope;
	actor_take(ctx);
	item_append(&probe->queue, item);
	return 0;
}

static void on_stop(struct actor_ctx *ctx)
{
	probe_of(ctx)->stopped = true;
}

static void on_pre_restart(struct actor_ctx *ctx, int code)
{
	(void)ctx;
	(void)code; /* the messages stay */
}

static struct actor_class probe_class = {
	.size = sizeof(probe_class),
	.name = "test-probe",
	.state_bytes = sizeof(struct actor_test_probe *),
	.on_message = on_message,
	.on_stop = on_stop,
	.on_pre_restart = on_pre_restart,
	.keeps_children = 1,
};

int actor_test_probe_open(
	struct actor_test *kit, const char *name, int loop, struct actor_test_probe **out)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = name};
	int rc = actor__kit_check(kit, "actor_test_probe_open");
	struct actor_test_probe *probe;

	if (rc || !out)
		return rc ? rc : -EINVAL;
	probe = actor__heap_zero(sizeof(*probe));
	if (!probe)
		return -ENOMEM;
	probe->kit = kit;
	options.init = &probe;
	options.loop = loop ? loop : 1;
	rc = kit->gone ? ACTOR_ECLOSED
		       : actor_system_spawn(kit->system, &probe_class, &options, &probe->ref);
	if (rc) {
		actor__heap_free(probe);
		return rc;
	}
	probe->loop = kit->system->loops[options.loop - 1];
	probe->next = kit->probes;
	kit->probes = probe;
	*out = probe;
	return 0;
}

void actor__kit_probes_free(struct actor_test *kit)
{
	while (kit->probes) {
		struct actor_test_probe *probe = kit->probes;

		kit->probes = probe->next;
		items_free(&probe->queue);
		items_free(&probe->given);
		actor__heap_free(probe);
	}
}

void actor__kit_probe_look(struct actor_test_probe *probe, struct actor_message *message)
{
	actor__envelope_open(&probe->queue.first->envelope, message);
}

void actor__kit_probe_give(struct actor_test_probe *probe, struct actor_message *message)
{
	struct actor__kit_item *item = item_take(&probe->queue);

	item_append(&probe->given, item);
	probe->answered = false;
	if (message)
		actor__envelope_open(&item->envelope, message);
}

void actor__kit_probe_forget(struct actor_test_probe *probe)
{
	items_free(&probe->given);
}

actor_ref actor_test_ref(const struct actor_test_probe *probe)
{
	return probe ? probe->ref : ACTOR_NONE;
}

size_t actor_test_count(const struct actor_test_probe *probe)
{
	return probe ? probe->queue.count : 0;
}

void actor_test_clear(struct actor_test_probe *probe)
{
	if (probe && !actor__kit_check(probe->kit, "actor_test_clear"))
		items_free(&probe->queue);
}

/* The message that may be answered, or NULL. */
static struct actor__envelope *last_given(const struct actor_test_probe *probe)
{
	struct actor__kit_item *item = probe->given.first;

	while (item && item->next)
		item = item->next;
	return item ? &item->envelope : NULL;
}

actor_ref actor_test_sender(const struct actor_test_probe *probe)
{
	const struct actor__envelope *e = probe ? last_given(probe) : NULL;

	return e ? e->sender : ACTOR_NONE;
}

/* From the probe's loop, as in a turn of the probe. */
static int probe_send(struct actor_test_probe *probe, struct actor__envelope *e)
{
	struct actor_test *kit = probe->kit;
	int rc;

	actor__kit_enter(kit, probe->loop);
	rc = actor__send_here(probe->loop, e);
	if (probe->loop->dirty)
		actor__channels_flush(probe->loop);
	actor__kit_leave(kit, probe->loop);
	if (!rc)
		actor__kit_told(&kit->driver);
	return rc;
}

/* 0: the probe may act. */
static int check(const struct actor_test_probe *probe, const char *function)
{
	int rc = probe ? actor__kit_check(probe->kit, function) : -EINVAL;

	return rc || !probe->kit->gone ? rc : ACTOR_ECLOSED;
}

int actor_test_tell(struct actor_test_probe *probe, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes)
{
	struct actor__envelope e;
	int rc = check(probe, "actor_test_tell");

	if (!rc)
		rc = actor__envelope_fill(&e, to, probe->ref, type, payload, bytes);
	return rc ? rc : probe_send(probe, &e);
}

static int reply_outside(struct actor_test_probe *probe, uint32_t ask, struct actor__envelope *e)
{
	struct actor__waiter *waiter;
	struct actor_message m;

	actor__envelope_open(e, &m);
	actor__kit_enter(probe->kit, probe->loop);
	waiter = actor__waiter_complete(&probe->kit->system->waiters, ask, m.payload, m.bytes);
	if (waiter)
		waiter->answered(waiter, &m);
	actor__kit_leave(probe->kit, probe->loop);
	actor__envelope_release(e);
	return 0;
}

int actor_test_reply(struct actor_test_probe *probe, struct actor_type *type, const void *payload,
	size_t bytes)
{
	int rc = check(probe, "actor_test_reply");
	const struct actor__envelope *request = rc ? NULL : last_given(probe);
	struct actor__envelope e;
	bool outside;

	if (!rc && (!request || probe->answered))
		rc = -EINVAL;
	if (rc)
		return rc;
	outside = !request->sender && request->flags & ACTOR__WAITER;
	if (!request->sender && !outside)
		return -EINVAL;
	rc = actor__envelope_fill(
		&e, outside ? probe->ref : request->sender, probe->ref, type, payload, bytes);
	if (rc)
		return rc;
	if (request->ask && !outside && !(request->flags & ACTOR__REPLY)) {
		e.ask = request->ask;
		e.flags |= ACTOR__REPLY;
	}
	rc = outside ? reply_outside(probe, request->ask, &e) : probe_send(probe, &e);
	probe->answered = !rc;
	return rc;
}

static bool errand_done(const void *of)
{
	const struct errand_end *end = of;

	return end->done || end->probe->stopped;
}

int actor_test_within(
	struct actor_test_probe *probe, int (*cb)(struct actor_ctx *ctx, void *data), void *data)
{
	struct errand_end end = {.probe = probe};
	struct errand errand = {cb, data, &end};
	struct actor__envelope e;
	int64_t units;
	int rc = check(probe, "actor_test_within");

	if (!rc && !cb)
		rc = -EINVAL;
	if (!rc)
		rc = probe->stopped ? -ESRCH : 0;
	if (!rc)
		rc = actor__envelope_fill(
			&e, probe->ref, 0, &errand_type, &errand, sizeof(errand));
	if (!rc)
		rc = probe_send(probe, &e);
	if (rc)
		return rc;
	units = actor__kit_run(probe->kit, errand_done, &end);
	if (end.done)
		return end.rc;
	return units < 0 ? (int)units : -ESRCH;
}
