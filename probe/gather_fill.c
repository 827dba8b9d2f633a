/* SPDX-License-Identifier: MIT */
/* From what was gathered to evidence with names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/gather.h"
#include "probe/gathered.h"
#include "probe/histogram.h"

static void times_fill(struct evidence_times *to, const struct gathered_times *from)
{
	struct aggregate_histogram h = {.count = from->count, .sum = from->sum, .max = from->max};

	for (size_t i = 0; i <= BOUNDS_COUNT; i++)
		h.buckets[i] = from->buckets[i];
	*to = (struct evidence_times){
		.count = from->count,
		.sum_ns = from->sum,
		.p50_ns = (uint64_t)histogram_quantile(&h, AGGREGATE_WAIT, 0.5),
		.p99_ns = (uint64_t)histogram_quantile(&h, AGGREGATE_WAIT, 0.99),
		.max_ns = from->max,
	};
}

static const struct gathered_sender *first_sender(const struct gathered_actor *a)
{
	const struct gathered_sender *first = &a->senders[0];

	for (size_t i = 1; i < GATHERED_SENDERS; i++)
		if (a->senders[i].count > first->count)
			first = &a->senders[i];
	return first;
}

/* The actor of each class whose messages waited longest in sum. */
static void tops_find(const struct gather *g, const struct gathered_actor **tops)
{
	for (size_t i = 0; i < GATHERED_ACTORS; i++) {
		const struct gathered_actor *a = &g->actors[i];
		size_t at;

		if (!a->key)
			continue;
		at = (size_t)(a->of - g->classes);
		if (!tops[at] || tops[at]->wait_ns < a->wait_ns)
			tops[at] = a;
	}
}

int gather_wishes(const struct gather *g, struct directory_wish **wishes, size_t *count)
{
	const struct gathered_actor *tops[GATHERED_CLASSES] = {0};
	struct directory_wish *out = calloc(2 * GATHERED_CLASSES, sizeof(*out));

	*wishes = out;
	*count = 0;
	if (!out)
		return -ENOMEM;
	tops_find(g, tops);
	for (size_t i = 0; i < GATHERED_CLASSES; i++) {
		uint32_t sender;

		if (!tops[i])
			continue;
		out[(*count)++] = (struct directory_wish){.actor = tops[i]->key, .mask = 0xffff};
		sender = first_sender(tops[i])->slot;
		if (sender)
			out[(*count)++] = (struct directory_wish){.actor = (uint64_t)sender << 32};
	}
	return 0;
}

static const struct directory_wish *wish_of(
	const struct directory_wish *wishes, size_t count, uint64_t key, uint64_t mask)
{
	for (size_t i = 0; i < count; i++)
		if (wishes[i].actor == key && wishes[i].mask == mask)
			return &wishes[i];
	return NULL;
}

static char *path_of(const struct directory_wish *wish)
{
	return wish && wish->path ? strdup(wish->path) : NULL;
}

/* Mean of a sender's turns; its generation is not in the records, so that any actor of the slot
 * counts. */
static uint64_t turn_mean(const struct gather *g, uint32_t slot)
{
	for (size_t i = 0; i < GATHERED_ACTORS; i++)
		if (slot && g->actors[i].key >> 32 == slot && g->actors[i].turns)
			return g->actors[i].turn_ns / g->actors[i].turns;
	return 0;
}

static void sender_fill(const struct gather *g, const struct directory *d,
	const struct directory_wish *wishes, size_t count, const struct gathered_actor *a,
	struct evidence_class *c)
{
	const struct gathered_sender *first = first_sender(a);
	const struct directory_wish *wish =
		first->slot ? wish_of(wishes, count, (uint64_t)first->slot << 32, 0) : NULL;

	for (size_t i = 0; i < GATHERED_SENDERS; i++)
		c->senders += a->senders[i].count > 0;
	c->senders += a->many_senders;
	c->sender.share = a->messages ? (double)first->count / (double)a->messages : 0;
	c->sender.actor = path_of(wish);
	if (wish && wish->path)
		c->sender.class_name = directory_label(&d->classes, wish->class_id);
	c->sender_turn_ns = turn_mean(g, first->slot);
}

static void top_fill(const struct gather *g, const struct directory *d,
	const struct directory_wish *wishes, size_t count, const struct gathered_actor *a,
	struct evidence_class *c)
{
	const struct gathered_dispatcher *of = g->dispatchers[a->of->dispatcher];
	uint64_t time = a->last_at_ns > a->first_at_ns ? a->last_at_ns - a->first_at_ns : 0;

	c->loop = (uint32_t)(a->key >> 56);
	c->actor = path_of(wish_of(wishes, count, a->key, 0xffff));
	c->actor_messages = a->messages;
	c->depth = a->depth;
	if (of && of->turns)
		c->actor_turns_share = (double)a->turns / (double)of->turns;
	if (time)
		c->wait_growth =
			((double)a->last_wait_ns - (double)a->first_wait_ns) / (double)time;
	sender_fill(g, d, wishes, count, a, c);
}

static void class_fill(const struct gathered_class *from, const struct directory *d,
	const struct evidence *e, const size_t *places, struct evidence_class *c)
{
	size_t most = 0;

	(void)e;
	*c = (struct evidence_class){
		.dispatcher = directory_label(&d->dispatchers, from->dispatcher),
		.name = directory_label(&d->classes, from->class_id),
		.dispatcher_at = places[from->dispatcher],
		.actors = from->actors,
		.messages = from->messages,
		.foreign = from->foreign,
		.unsent = from->unsent,
		.turns = from->turns,
		.budget_turns = from->budget_turns,
		.failed_turns = from->failed_turns,
		.restarts = from->restarts,
		.cap = from->cap,
		.blocked_ns = from->blocked_ns,
		.blocked_max_ns = from->blocked_max_ns,
		.runnable_ns = from->runnable_ns,
	};
	for (size_t i = 1; i < sizeof(from->calls) / sizeof(from->calls[0]); i++)
		if (from->calls[i].ns > from->calls[most].ns)
			most = i;
	c->call = from->calls[most].call;
	times_fill(&c->wait, &from->wait);
	times_fill(&c->handler, &from->handler);
	times_fill(&c->turn, &from->turn);
	times_fill(&c->delay, &from->delay);
}

static void dispatchers_fill(
	const struct gather *g, const struct directory *d, struct evidence *e, size_t *places)
{
	for (uint32_t id = 0; id < GATHERED_DISPATCHERS; id++) {
		const struct gathered_dispatcher *from = g->dispatchers[id];
		struct evidence_dispatcher *to = &e->dispatchers[e->dispatcher_count];

		if (!from)
			continue;
		places[id] = e->dispatcher_count++;
		*to = (struct evidence_dispatcher){
			.name = directory_label(&d->dispatchers, id),
			.turns = from->turns,
			.turn_ns = from->turn_ns,
			.idle_yields = from->yields[ACTOR_ABI_YIELD_IDLE],
			.budget_yields = from->yields[ACTOR_ABI_YIELD_BUDGET],
			.units = from->units,
			.left = from->left,
		};
		if (id < d->dispatchers.count) {
			to->kind = d->dispatchers.names[id].kind;
			to->budget = d->dispatchers.names[id].budget;
		}
		times_fill(&to->delay, &from->delay);
	}
}

static void classes_fill(const struct gather *g, const struct directory *d,
	const struct directory_wish *wishes, size_t count, struct evidence *e, const size_t *places)
{
	const struct gathered_actor *tops[GATHERED_CLASSES] = {0};

	tops_find(g, tops);
	for (size_t i = 0; i < GATHERED_CLASSES; i++) {
		struct evidence_class *c = &e->classes[e->class_count];

		if (!g->classes[i].class_id || g->classes[i].dispatcher >= GATHERED_DISPATCHERS ||
			!g->dispatchers[g->classes[i].dispatcher])
			continue;
		e->class_count++;
		class_fill(&g->classes[i], d, e, places, c);
		if (tops[i])
			top_fill(g, d, wishes, count, tops[i], c);
		e->dispatchers[c->dispatcher_at].actors += c->actors;
	}
}

static void loops_fill(const struct gather *g, struct evidence *e)
{
	for (size_t i = 0; i < e->loop_count; i++) {
		struct evidence_loop *to = &e->loops[i];
		const struct gathered_loop *from = g->loops[to->loop];

		if (!from)
			continue;
		to->turn_ns = from->turn_ns;
		to->passes = from->gap.count;
		times_fill(&to->gap, &from->gap);
		to->longest_gap_ns =
			from->gap.max > from->unpolled_ns ? from->gap.max : from->unpolled_ns;
	}
}

int gather_fill(const struct gather *g, const struct directory *d,
	const struct directory_wish *wishes, size_t count, struct evidence *e)
{
	size_t places[GATHERED_DISPATCHERS] = {0};

	e->dispatchers = calloc(GATHERED_DISPATCHERS, sizeof(*e->dispatchers));
	e->classes = calloc(GATHERED_CLASSES, sizeof(*e->classes));
	if (!e->dispatchers || !e->classes)
		return -ENOMEM;
	dispatchers_fill(g, d, e, places);
	classes_fill(g, d, wishes, count, e, places);
	loops_fill(g, e);
	e->unseen += g->unplaced;
	return 0;
}
