/* SPDX-License-Identifier: MIT */
/* Adds the records of hand-overs to what a diagnosis needs. */
#include "probe/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/bucket.h"
#include "probe/gathered.h"

#define SHORT_KEY(slot, generation) ((uint64_t)(slot) << 32 | ((generation)&0xffff))

struct gather *gather_new(void)
{
	bucket_init();
	return calloc(1, sizeof(struct gather));
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < GATHERED_DISPATCHERS; i++)
		free(g->dispatchers[i]);
	for (size_t i = 0; i < ACTOR_ABI_LOOPS; i++)
		free(g->loops[i]);
	free(g);
}

void gather_start(void *gather, const struct calibration *calibration)
{
	struct gather *g = gather;

	g->calibration = *calibration;
	g->began_ns = calibration_now(ACTOR_ABI_CLOCK_MONOTONIC).ns;
}

static void times_add(struct gathered_times *t, uint64_t ns)
{
	t->count++;
	t->sum += ns;
	if (t->max < ns)
		t->max = ns;
	t->buckets[bucket_of_time(ns)]++;
}

/* ---- places; NULL where there is no room ---- */

static struct gathered_class *class_place(struct gather *g, uint32_t dispatcher, uint32_t class_id)
{
	uint32_t at = (dispatcher << 16 | class_id) * 2654435769u % GATHERED_CLASSES;

	for (uint32_t n = 0; n < GATHERED_CLASSES; n++, at = (at + 1) % GATHERED_CLASSES) {
		struct gathered_class *c = &g->classes[at];

		if (c->class_id == class_id && c->dispatcher == dispatcher)
			return c;
		if (!c->class_id && !c->dispatcher) {
			c->class_id = class_id;
			c->dispatcher = dispatcher;
			return c;
		}
	}
	return NULL;
}

static struct gathered_class *class_of(struct gather *g, uint64_t meta)
{
	uint32_t class_id = actor_abi_meta_class(meta),
		 dispatcher = actor_abi_meta_dispatcher(meta);

	return class_id || dispatcher ? class_place(g, dispatcher, class_id) : NULL;
}

static struct gathered_actor *actor_of(struct gather *g, uint64_t key, struct gathered_class *of)
{
	uint64_t at = key * 0x9e3779b97f4a7c15ull >> (64 - GATHERED_ACTORS_BITS);

	for (;; at = (at + 1) % GATHERED_ACTORS) {
		struct gathered_actor *a = &g->actors[at];

		if (a->key == key)
			return a;
		if (a->key)
			continue;
		if (!of || g->actor_count == GATHERED_ACTORS_MOST)
			return NULL;
		g->actor_count++;
		of->actors++;
		a->key = key;
		a->of = of;
		return a;
	}
}

static struct gathered_dispatcher *dispatcher_of(struct gather *g, uint32_t id)
{
	if (id >= GATHERED_DISPATCHERS)
		return NULL;
	if (!g->dispatchers[id])
		g->dispatchers[id] = calloc(1, sizeof(*g->dispatchers[id]));
	return g->dispatchers[id];
}

/* ---- records ---- */

static uint64_t ns_of(const struct gather *g, uint64_t word, uint32_t back)
{
	return back ? 0 : calibration_ns(&g->calibration, actor_abi_low48(word));
}

static void sender_add(struct gathered_actor *a, uint32_t slot)
{
	struct gathered_sender *free_place = NULL;

	for (size_t i = 0; i < GATHERED_SENDERS; i++) {
		if (a->senders[i].count && a->senders[i].slot == slot) {
			a->senders[i].count++;
			return;
		}
		if (!a->senders[i].count)
			free_place = &a->senders[i];
	}
	if (free_place) {
		*free_place = (struct gathered_sender){slot, 1};
		return;
	}
	a->many_senders = true;
	for (size_t i = 0; i < GATHERED_SENDERS; i++)
		a->senders[i].count--;
}

static void message_add(struct gather *g, const struct actor_abi_record *r, uint64_t at_ns)
{
	uint32_t flags = actor_abi_meta_flags(r->meta);
	struct gathered_class *c = class_of(g, r->meta);
	struct gathered_actor *a;
	uint64_t wait = ns_of(g, r->first, flags & ACTOR_ABI_FIRST_BACK);

	if (!c || !dispatcher_of(g, actor_abi_meta_dispatcher(r->meta))) {
		g->unplaced++;
		return;
	}
	a = actor_of(g, SHORT_KEY(r->who >> 32, actor_abi_high16(r->second)), c);
	c->messages++;
	c->foreign += (flags & ACTOR_ABI_FOREIGN) != 0;
	c->unsent += !(uint32_t)r->who && !(flags & ACTOR_ABI_FOREIGN);
	if (a) {
		a->messages++;
		a->depth = actor_abi_high16(r->first);
		sender_add(a, (uint32_t)r->who);
	}
	if (flags & ACTOR_ABI_UNSTAMPED)
		return;
	times_add(&c->wait, wait);
	if (!(flags & ACTOR_ABI_PENDED))
		times_add(&c->handler, ns_of(g, r->second, flags & ACTOR_ABI_SECOND_BACK));
	if (!a)
		return;
	a->wait_ns += wait;
	if (!a->first_at_ns) {
		a->first_at_ns = at_ns;
		a->first_wait_ns = wait;
	}
	a->last_at_ns = at_ns;
	a->last_wait_ns = wait;
}

static void outcome_add(struct gathered_class *c, uint32_t outcome, uint32_t messages)
{
	c->turns++;
	if (outcome == ACTOR_ABI_BUDGET) {
		c->budget_turns++;
		if (c->cap < messages)
			c->cap = messages;
	}
	c->failed_turns += outcome == ACTOR_ABI_FAILURE;
}

static void turn_add(struct gather *g, const struct actor_abi_record *r, struct gathered_loop *loop)
{
	uint32_t flags = actor_abi_meta_flags(r->meta);
	struct gathered_class *c = class_of(g, r->meta);
	struct gathered_dispatcher *d = dispatcher_of(g, actor_abi_meta_dispatcher(r->meta));
	uint64_t run = ns_of(g, r->second, flags & ACTOR_ABI_SECOND_BACK);
	uint64_t delay = ns_of(g, r->first, flags & ACTOR_ABI_FIRST_BACK);
	struct gathered_actor *a;

	loop->turn_ns += run;
	if (!c || !d) {
		g->unplaced++;
		return;
	}
	a = actor_of(g, SHORT_KEY(r->who >> 32, r->who), c);
	outcome_add(c, actor_abi_high16(r->second), actor_abi_high16(r->first));
	times_add(&c->turn, run);
	d->turns++;
	d->turn_ns += run;
	if (!(flags & ACTOR_ABI_NO_DELAY)) {
		times_add(&c->delay, delay);
		times_add(&d->delay, delay);
	}
	if (a) {
		a->turns++;
		a->turn_ns += run;
	}
}

static void yield_add(struct gather *g, const struct actor_abi_record *r)
{
	struct gathered_dispatcher *d = dispatcher_of(g, actor_abi_meta_dispatcher(r->meta));

	if (!d || r->first > ACTOR_ABI_YIELD_BUDGET)
		return;
	d->yields[r->first]++;
	d->units += r->who >> 32;
	if (r->first == ACTOR_ABI_YIELD_BUDGET)
		d->left += (uint32_t)r->who;
}

static void poll_add(struct gather *g, const struct actor_abi_record *r, struct gathered_loop *loop)
{
	times_add(&loop->gap, calibration_ns(&g->calibration, actor_abi_low48(r->first)));
	loop->polled_ns = 0;
}

static void life_add(struct gather *g, const struct actor_abi_record *r)
{
	struct gathered_actor *a = actor_of(g, SHORT_KEY(r->who >> 32, r->who), NULL);

	if (actor_abi_meta_type(r->meta) == ACTOR_ABI_LIFE_RESTART && a)
		a->of->restarts++;
}

static void record_add(struct gather *g, const struct actor_abi_record *r,
	struct gathered_loop *loop, uint64_t at_ns)
{
	switch (actor_abi_meta_kind(r->meta)) {
	case ACTOR_ABI_MESSAGE:
		message_add(g, r, at_ns);
		break;
	case ACTOR_ABI_TURN:
		turn_add(g, r, loop);
		break;
	case ACTOR_ABI_YIELD:
		yield_add(g, r);
		break;
	case ACTOR_ABI_LOOP:
		poll_add(g, r, loop);
		break;
	case ACTOR_ABI_LIFE:
		life_add(g, r);
		break;
	default:
		break;
	}
}

/* A gap that has no end yet is known by the batches that came without a poll in between. */
static void loop_gap(struct gathered_loop *loop, uint64_t at_ns)
{
	if (!loop->polled_ns || at_ns < loop->polled_ns)
		loop->polled_ns = at_ns;
	if (at_ns - loop->polled_ns > loop->unpolled_ns)
		loop->unpolled_ns = at_ns - loop->polled_ns;
}

void gather_batch(void *gather, const struct ring_batch *b, size_t bytes)
{
	struct gather *g = gather;
	struct gathered_loop *loop;

	(void)bytes; /* the stream has looked at it */
	if (!g->loops[b->loop])
		g->loops[b->loop] = calloc(1, sizeof(*g->loops[b->loop]));
	loop = g->loops[b->loop];
	if (!loop)
		return;
	if (!loop->first_ns)
		loop->first_ns = b->head.monotonic_ns;
	loop->last_ns = b->head.monotonic_ns;
	for (uint32_t i = 0; i < b->records; i++)
		record_add(g, &b->record[i], loop, b->head.monotonic_ns);
	loop_gap(loop, b->head.monotonic_ns);
}

/* ---- what the kernel says ---- */

static void call_add(struct gathered_class *c, int64_t call, uint64_t ns)
{
	for (size_t i = 0; i < sizeof(c->calls) / sizeof(c->calls[0]); i++) {
		if (c->calls[i].ns && c->calls[i].call != call)
			continue;
		c->calls[i].call = call;
		c->calls[i].ns += ns;
		return;
	}
}

void gather_blocked(struct gather *g, const struct gather_blocked *row)
{
	struct gathered_actor *a = actor_of(g, SHORT_KEY(row->actor >> 32, row->actor), NULL);

	if (!a)
		return;
	if (!row->blocked) {
		a->of->runnable_ns += row->ns;
		return;
	}
	a->of->blocked_ns += row->ns;
	if (a->of->blocked_max_ns < row->max_ns)
		a->of->blocked_max_ns = row->max_ns;
	call_add(a->of, row->call, row->ns);
}
