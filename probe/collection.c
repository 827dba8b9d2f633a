/* SPDX-License-Identifier: MIT */
/* Reads the maps, names what is in them, and adds up what has the same name. */
#define _GNU_SOURCE
#include "probe/collection.h"

#include "bpf/actorprobe.skel.h"
#include "bpf/maps.h"
#include "probe/merge.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERFLOW_NAME "__overflow__"
#define READS_MAX     1000 /* of an account that changes all the time */

struct collector {
	const struct collection_names *names;
	struct aggregate *a;
	size_t series_room;
	size_t counter_room;
	int error;
};

_Static_assert((int)LOST_REASONS == (int)AGGREGATE_LOST_REASONS, "reasons are the same");
_Static_assert((int)LOST_CLOCK == (int)AGGREGATE_LOST_CLOCK, "reasons have one order");

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

/* Keys are never deleted, so that walking from key to key sees each of them once. */
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
		if (bpf_map_lookup_elem(fd, key, value) == 0)
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

static char *reason_label(uint32_t reason)
{
	static const char *const names[] = {
		[ACTOR_ABI_YIELD_IDLE] = "idle",
		[ACTOR_ABI_YIELD_BUDGET] = "budget",
	};
	char *text;

	if (reason < sizeof(names) / sizeof(names[0]))
		return strdup(names[reason]);
	return asprintf(&text, "#%u", reason) < 0 ? NULL : text;
}

static void visit_tally(struct collector *c, const void *key, const void *value)
{
	const struct directory *d = c->names->directory;
	const struct tally_key *k = key;
	uint64_t count = *(const uint64_t *)value;

	if (k->family == TALLY_ENQUEUED)
		counter_add(c, AGGREGATE_ENQUEUED, NULL, label(&d->classes, k->id), NULL, count);
	else if (k->family == TALLY_YIELDS)
		counter_add(c, AGGREGATE_YIELDS, label(&d->dispatchers, k->id), NULL,
			reason_label(k->reason), count);
}

/* Reads an account as a whole: even, and the same version before and after. */
static void account_read(int fd, uint32_t loop, struct loop_account *account)
{
	struct loop_account again;

	for (int i = 0; i < READS_MAX; i++) {
		if (bpf_map_lookup_elem(fd, &loop, account) < 0 || account->version == 0)
			return;
		if (account->version % 2 == 0 && bpf_map_lookup_elem(fd, &loop, &again) == 0 &&
			again.version == account->version)
			return;
	}
}

static void accounts_add(const struct trace *t, struct aggregate *a)
{
	int fd = bpf_map__fd(t->skeleton->maps.loops);

	for (uint32_t loop = 0; loop < ACTOR_ABI_LOOPS; loop++) {
		struct loop_account account = {0};

		account_read(fd, loop, &account);
		a->delivered_before +=
			account.end > account.delivered ? account.end - account.delivered : 0;
		a->delivered += account.delivered;
		a->recorded += account.total.recorded;
		a->unstamped += account.total.unstamped;
		for (int i = 0; i < LOST_REASONS; i++)
			a->lost[i] += account.total.lost[i];
		a->clamped += account.total.clamped;
		a->series_overflow += account.total.overflow;
	}
}

int collection_actors(const struct trace *t, uint64_t **actors, size_t *count)
{
	const struct bpf_map *maps[] = {t->skeleton->maps.mails, t->skeleton->maps.turns};
	struct series_key key;
	size_t room = 0;

	*actors = NULL;
	*count = 0;
	for (size_t m = 0; m < 2; m++) {
		void *last = NULL;

		while (bpf_map_get_next_key(bpf_map__fd(maps[m]), last, &key) == 0) {
			uint64_t *more = with_room(*actors, *count, &room, sizeof(**actors));

			if (!more)
				return -ENOMEM;
			*actors = more;
			more[(*count)++] = key.actor;
			last = &key;
		}
	}
	return 0;
}

int collection_fill(
	const struct trace *t, const struct collection_names *names, struct aggregate *a)
{
	struct collector c = {.names = names, .a = a};
	struct actorprobe *s = t->skeleton;

	accounts_add(t, a);
	map_walk(&c, s->maps.mails, visit_mail);
	map_walk(&c, s->maps.turns, visit_turn);
	map_walk(&c, s->maps.delays, visit_delay);
	map_walk(&c, s->maps.tallies, visit_tally);
	merge_equals(a);
	return c.error;
}
