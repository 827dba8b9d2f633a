/* SPDX-License-Identifier: MIT */
/* Reads maps and stream, names what is in them, and adds up what has the same name. */
#define _GNU_SOURCE
#include "probe/collection.h"

#include "bpf/actorprobe.skel.h"
#include "bpf/maps.h"
#include "probe/account.h"
#include "probe/merge.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERFLOW_NAME "__overflow__"
#define UNKNOWN_NAME  "(unknown)"
#define OUTSIDE_NAME  "(outside)"
#define READS_MAX     5 /* of maps that change all the time */

struct collector {
	const struct collection_names *names;
	struct aggregate *a;
	uint32_t target;
	size_t series_room;
	size_t counter_room;
	size_t flow_room;
	int error;
};

static char *label(const struct directory_table *table, uint32_t id)
{
	return id == MAPS_OVERFLOW ? strdup(OVERFLOW_NAME) : directory_label(table, id);
}

/* An array with room for one more element, in steps of powers of two; NULL without memory. */
static void *with_room(void *array, size_t count, size_t *room, size_t bytes)
{
	size_t wanted = *room ? 2 * *room : 16;

	if (count < *room)
		return array;
	array = realloc(array, wanted * bytes);
	if (array)
		*room = wanted;
	return array;
}

static struct aggregate_series *series_add(
	struct collector *c, enum aggregate_metric metric, const struct series_key *key)
{
	struct aggregate *a = c->a;
	const struct directory *d = c->names->directory;
	struct aggregate_series *s =
		with_room(a->series, a->series_count, &c->series_room, sizeof(*s));

	if (!s) {
		c->error = -ENOMEM;
		return NULL;
	}
	a->series = s;
	s += a->series_count++;
	*s = (struct aggregate_series){.metric = metric};
	if (metric == AGGREGATE_LOOP_GAP) {
		char *loop;

		s->loop = asprintf(&loop, "%u", key->dispatcher) < 0 ? NULL : loop;
		return s;
	}
	s->dispatcher = label(&d->dispatchers, key->dispatcher);
	if (metric != AGGREGATE_DELAY)
		s->class_name = label(&d->classes, key->class_id);
	if (a->by_actor && metric != AGGREGATE_DELAY)
		s->actor = key->actor ? pathbook_label(c->names->paths, key->actor)
				      : strdup(OVERFLOW_NAME);
	if (key->dispatcher < d->dispatchers.count)
		s->dispatcher_kind = d->dispatchers.names[key->dispatcher].kind;
	return s;
}

/* The sum is read last: at worst it belongs to a few values more than the buckets. */
static void histogram_add(struct collector *c, enum aggregate_metric metric,
	const struct series_key *key, const uint64_t *buckets, size_t count, uint64_t sum,
	uint64_t max)
{
	struct aggregate_series *s;
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += buckets[i];
	if (total == 0)
		return;
	s = series_add(c, metric, key);
	if (!s)
		return;
	s->histogram.count = total;
	s->histogram.sum = sum;
	s->histogram.max = max;
	memcpy(s->histogram.buckets, buckets, count * sizeof(*buckets));
}

static void times_add(struct collector *c, enum aggregate_metric metric,
	const struct series_key *key, const struct time_buckets *h)
{
	histogram_add(c, metric, key, h->buckets, BOUNDS_COUNT + 1, h->sum, h->max);
}

static void counts_add(struct collector *c, enum aggregate_metric metric,
	const struct series_key *key, const struct count_buckets *h)
{
	histogram_add(c, metric, key, h->buckets, DEPTH_BOUNDS_COUNT + 1, h->sum, h->max);
}

static void counter_add(struct collector *c, enum aggregate_family family, char *dispatcher,
	char *class_name, char *reason, uint64_t value)
{
	struct aggregate *a = c->a;
	struct aggregate_counter *n =
		with_room(a->counters, a->counter_count, &c->counter_room, sizeof(*n));

	if (!n) {
		c->error = -ENOMEM;
		free(dispatcher);
		free(class_name);
		free(reason);
		return;
	}
	a->counters = n;
	n[a->counter_count++] = (struct aggregate_counter){.family = family,
		.dispatcher = dispatcher,
		.class_name = class_name,
		.reason = reason,
		.value = value};
}

typedef void map_visitor(struct collector *c, const void *key, const void *value);

/* Series and tallies have keys of one size, but not at one place the target. */
static bool key_is_ours(const struct collector *c, const struct bpf_map *map, const void *key)
{
	if (!c->target)
		return true;
	if (bpf_map__value_size(map) == sizeof(uint64_t))
		return ((const struct tally_key *)key)->target == c->target;
	return ((const struct series_key *)key)->actor == c->target;
}

/* Keys of a target that is read are never deleted, so that walking from key to key sees each of them once. */
static void map_walk(struct collector *c, const struct bpf_map *map, map_visitor *visit)
{
	int fd = bpf_map__fd(map);
	size_t key_bytes = bpf_map__key_size(map);
	char *key = calloc(2, key_bytes);
	void *value = calloc(1, bpf_map__value_size(map));
	void *last = NULL;

	if (!key || !value)
		c->error = -ENOMEM;
	while (!c->error && bpf_map_get_next_key(fd, last, key + key_bytes) == 0) {
		memcpy(key, key + key_bytes, key_bytes);
		last = key;
		if (key_is_ours(c, map, key) && bpf_map_lookup_elem(fd, key, value) == 0)
			visit(c, key, value);
	}
	free(key);
	free(value);
}

static void visit_mail(struct collector *c, const void *key, const void *value)
{
	const struct mail_series *mail = value;
	const struct series_key *k = key;

	times_add(c, AGGREGATE_WAIT, key, &mail->wait);
	times_add(c, AGGREGATE_HANDLER, key, &mail->handler);
	counts_add(c, AGGREGATE_DEPTH, key, &mail->depth);
	if (mail->delivered)
		counter_add(c, AGGREGATE_DELIVERED, NULL,
			label(&c->names->directory->classes, k->class_id), NULL, mail->delivered);
}

static void visit_turn(struct collector *c, const void *key, const void *value)
{
	const struct turn_series *turn = value;

	times_add(c, AGGREGATE_TURN, key, &turn->turn);
	counts_add(c, AGGREGATE_TURN_MESSAGES, key, &turn->messages);
}

static void visit_delay(struct collector *c, const void *key, const void *value)
{
	const struct delay_series *delay = value;

	times_add(c, AGGREGATE_DELAY, key, &delay->delay);
}

#define YIELD_REASONS (sizeof(yield_reasons) / sizeof(yield_reasons[0]))

static const char *const yield_reasons[] = {
	[ACTOR_ABI_YIELD_IDLE] = "idle",
	[ACTOR_ABI_YIELD_BUDGET] = "budget",
};

#define DROP_REASONS (sizeof(drop_reasons) / sizeof(drop_reasons[0]))

static const char *const drop_reasons[] = {
	[ACTOR_ABI_DROP_HEAD] = "drop-head",
	[ACTOR_ABI_DROP_NEW] = "drop-new",
	[ACTOR_ABI_DROP_REJECT] = "reject",
	[ACTOR_ABI_DROP_CUSTOM] = "custom",
	[ACTOR_ABI_DROP_LOST] = "lost",
	[ACTOR_ABI_DROP_THROTTLE] = "throttle",
};

/* One that this collector does not know is told by its number. */
static char *reason_label(uint32_t reason, const char *const *names, size_t count)
{
	char *text;

	if (reason < count && names[reason])
		return strdup(names[reason]);
	return asprintf(&text, "#%u", reason) < 0 ? NULL : text;
}

static void visit_gap(struct collector *c, const void *key, const void *value)
{
	const struct gap_series *gap = value;

	times_add(c, AGGREGATE_LOOP_GAP, key, &gap->gap);
}

/* Labels of a life event's counter. */
static const struct life {
	enum aggregate_family family;
	bool by_dispatcher;
	bool by_reason;
} lives[] = {
	[ACTOR_ABI_LIFE_SPAWN] = {AGGREGATE_CREATED, false, false},
	[ACTOR_ABI_LIFE_STOP] = {AGGREGATE_TERMINATED, false, false},
	[ACTOR_ABI_LIFE_RESTART] = {AGGREGATE_RESTARTED, false, false},
	[ACTOR_ABI_LIFE_DROP] = {AGGREGATE_DROPPED, false, true},
	[ACTOR_ABI_LIFE_DEAD_LETTER] = {AGGREGATE_DEAD_LETTERS, false, false},
	[ACTOR_ABI_LIFE_DISPATCHER_ERROR] = {AGGREGATE_DISPATCHER_ERRORS, true, false},
};

static char *class_label(const struct directory *d, uint32_t id)
{
	return id == 0 || id == STREAM_UNKNOWN ? strdup(UNKNOWN_NAME)
	       : id == STREAM_NOBODY	       ? strdup(OUTSIDE_NAME)
					       : label(&d->classes, id);
}

static void add_life(
	struct collector *c, uint32_t event, uint32_t id, uint32_t reason, uint64_t count)
{
	const struct directory *d = c->names->directory;
	const struct life *life = &lives[event < sizeof(lives) / sizeof(lives[0]) ? event : 0];

	if (life->family == AGGREGATE_DELIVERED)
		return; /* no metric of its own */
	counter_add(c, life->family, life->by_dispatcher ? label(&d->dispatchers, id) : NULL,
		life->by_dispatcher ? NULL : class_label(d, id),
		life->by_reason ? reason_label(reason, drop_reasons, DROP_REASONS) : NULL, count);
}

static void add_tally(struct collector *c, const struct tally_key *k, uint64_t count)
{
	const struct directory *d = c->names->directory;

	if (!count)
		return; /* what takes the rest, and had none to take */
	if (k->family >= TALLY_LIFE)
		add_life(c, k->family - TALLY_LIFE, k->id, k->reason, count);
	else if (k->family == TALLY_ENQUEUED)
		counter_add(c, AGGREGATE_ENQUEUED, NULL, label(&d->classes, k->id), NULL, count);
	else if (k->family == TALLY_YIELDS)
		counter_add(c, AGGREGATE_YIELDS, label(&d->dispatchers, k->id), NULL,
			reason_label(k->reason, yield_reasons, YIELD_REASONS), count);
}

static void visit_tally(struct collector *c, const void *key, const void *value)
{
	add_tally(c, key, *(const uint64_t *)value);
}

/* ---- the same from the stream ---- */

struct tally_visit {
	struct collector *collector;
	uint32_t family;
};

/* What was beyond the cap has the id of __overflow__, and its reasons are told no more. */
static void visit_stream_tally(void *context, const struct series_key *key, const void *value)
{
	const struct tally_visit *visit = context;
	const struct tally_key tally = {
		.family = visit->family, .id = key->class_id, .reason = (uint32_t)key->actor};

	add_tally(visit->collector, &tally, *(const uint64_t *)value);
}

static void tallies_walk(struct collector *c, const struct stream *s)
{
	for (uint32_t i = 0; i < STREAM_TALLIES && !c->error; i++) {
		struct tally_visit visit = {
			c, i == STREAM_YIELDS ? (uint32_t)TALLY_YIELDS : TALLY_LIFE + i};

		table_walk(&s->tallies[i], visit_stream_tally, &visit);
	}
}

static void visit_flow(struct collector *c, const void *key, const void *value)
{
	const struct series_key *k = key;
	struct aggregate *a = c->a;
	struct aggregate_flow *f = with_room(a->flows, a->flow_count, &c->flow_room, sizeof(*f));

	if (!f) {
		c->error = -ENOMEM;
		return;
	}
	a->flows = f;
	f[a->flow_count++] = (struct aggregate_flow){
		.from = class_label(c->names->directory, k->dispatcher),
		.to = class_label(c->names->directory, k->class_id),
		.messages = *(const uint64_t *)value,
	};
}

struct visit {
	struct collector *collector;
	map_visitor *visitor;
};

static void visit_one(void *context, const struct series_key *key, const void *value)
{
	const struct visit *visit = context;

	visit->visitor(visit->collector, key, value);
}

static void stream_walk(struct collector *c, const struct stream *s)
{
	const struct {
		const struct table *table;
		map_visitor *visitor;
	} rows[] = {
		{&s->mails, visit_mail},
		{&s->turns, visit_turn},
		{&s->delays, visit_delay},
		{&s->gaps, visit_gap},
		{&s->flows, visit_flow},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !c->error; i++)
		table_walk(rows[i].table, visit_one, &(struct visit){c, rows[i].visitor});
	tallies_walk(c, s);
}

/* ---- actors ---- */

struct actor_list {
	uint64_t *actors;
	size_t count;
	size_t room;
	bool failed;
};

static void actor_add(void *context, const struct series_key *key, const void *value)
{
	struct actor_list *list = context;
	uint64_t *more = with_room(list->actors, list->count, &list->room, sizeof(*more));

	(void)value;
	list->failed |= !more;
	if (!more)
		return;
	list->actors = more;
	more[list->count++] = key->actor;
}

int collection_actors(const struct collection_source *source, uint64_t **actors, size_t *count)
{
	const struct actorprobe *s = source->programs->skeleton;
	const struct bpf_map *maps[] = {s->maps.mails, s->maps.turns};
	struct actor_list list = {0};
	struct series_key key;

	for (size_t m = 0; m < 2; m++) {
		void *last = NULL;

		while (!list.failed &&
			bpf_map_get_next_key(bpf_map__fd(maps[m]), last, &key) == 0) {
			actor_add(&list, &key, NULL);
			last = &key;
		}
	}
	if (source->stream) {
		table_walk(&source->stream->mails, actor_add, &list);
		table_walk(&source->stream->turns, actor_add, &list);
	}
	*actors = list.actors;
	*count = list.count;
	return list.failed ? -ENOMEM : 0;
}

/* Batches that could not be read have no class, but were delivered. */
static void unknown_add(struct collector *c)
{
	const uint64_t *lost = c->a->lost;
	uint64_t count =
		lost[AGGREGATE_LOST_COPY] + lost[AGGREGATE_LOST_FORMAT] + lost[AGGREGATE_LOST_MAP];

	if (count)
		counter_add(c, AGGREGATE_DELIVERED, NULL, strdup(UNKNOWN_NAME), NULL, count);
}

static void maps_walk(struct collector *c, const struct programs *p)
{
	const struct actorprobe *s = p->skeleton;

	if (c->target && !programs_elsewhere(p))
		return;
	map_walk(c, s->maps.mails, visit_mail);
	map_walk(c, s->maps.turns, visit_turn);
	map_walk(c, s->maps.delays, visit_delay);
	map_walk(c, s->maps.gaps, visit_gap);
	map_walk(c, s->maps.tallies, visit_tally);
}

/* The account and what it accounts for, read anew while the kernel side adds to them meanwhile; one
 * that never rests is read as it is. */
static void maps_fill(struct collector *c, const struct collection_source *source)
{
	struct aggregate *a = c->a;
	const struct aggregate head = *a;

	if (!source->programs) {
		account_fill(NULL, 0, source->stream, source->final, a);
		return;
	}
	for (int i = 0; i < READS_MAX && !c->error; i++) {
		uint64_t mark = account_mark(source->programs, source->target);

		account_fill(source->programs, source->target, source->stream, source->final, a);
		maps_walk(c, source->programs);
		if (i == READS_MAX - 1 || account_mark(source->programs, source->target) == mark)
			return;
		a->command = a->mode = NULL; /* stay */
		aggregate_fini(a);
		*a = head;
		*c = (struct collector){.names = c->names, .a = a, .target = source->target};
	}
}

int collection_fill(const struct collection_source *source, const struct collection_names *names,
	struct aggregate *a)
{
	struct collector c = {.names = names, .a = a, .target = source->target};

	maps_fill(&c, source);
	if (source->stream) {
		stream_walk(&c, source->stream);
		unknown_add(&c);
	}
	merge_equals(a);
	return c.error;
}
