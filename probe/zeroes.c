/* SPDX-License-Identifier: MIT */
/* Adds empty series, then lets equal ones become one. */
#define _GNU_SOURCE
#include "probe/zeroes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/merge.h"

struct filler {
	const struct directory *d;
	struct aggregate *a;
	uint32_t max_series;
	int error;
};

/* ---- histograms ---- */

static size_t series_count(const struct aggregate *a, enum aggregate_metric metric)
{
	size_t count = 0;

	for (size_t i = 0; i < a->series_count; i++)
		count += a->series[i].metric == metric;
	return count;
}

/* Room for so many more series; NULL without memory. */
static struct aggregate_series *series_room(struct filler *f, size_t more)
{
	struct aggregate *a = f->a;
	struct aggregate_series *s =
		realloc(a->series, (a->series_count + more + 1) * sizeof(*a->series));

	if (!s) {
		f->error = -ENOMEM;
		return NULL;
	}
	a->series = s;
	memset(s + a->series_count, 0, more * sizeof(*s));
	s += a->series_count;
	a->series_count += more;
	return s;
}

static size_t room_left(const struct filler *f, enum aggregate_metric metric, size_t wished)
{
	size_t there = series_count(f->a, metric);
	size_t left = f->max_series > there ? f->max_series - there : 0;

	return wished < left ? wished : left;
}

static void kind_set(struct filler *f, struct aggregate_series *s, uint32_t dispatcher)
{
	s->dispatcher = directory_label(&f->d->dispatchers, dispatcher);
	if (dispatcher < f->d->dispatchers.count)
		s->dispatcher_kind = f->d->dispatchers.names[dispatcher].kind;
}

static void fill_pairs(
	struct filler *f, const struct directory_pairs *pairs, enum aggregate_metric metric)
{
	size_t count = room_left(f, metric, pairs->count);
	struct aggregate_series *s = count ? series_room(f, count) : NULL;

	for (size_t i = 0; s && i < count; i++) {
		s[i].metric = metric;
		kind_set(f, &s[i], pairs->pairs[i] >> 16);
		s[i].class_name = directory_label(&f->d->classes, pairs->pairs[i] & 0xffff);
	}
}

static void fill_delays(struct filler *f)
{
	size_t named = f->d->dispatchers.count > 1 ? f->d->dispatchers.count - 1 : 0;
	size_t count = room_left(f, AGGREGATE_DELAY, named);
	struct aggregate_series *s = count ? series_room(f, count) : NULL;

	for (size_t i = 0; s && i < count; i++) {
		s[i].metric = AGGREGATE_DELAY;
		kind_set(f, &s[i], (uint32_t)i + 1);
	}
}

static void fill_gaps(struct filler *f)
{
	struct aggregate_series *s = series_room(f, f->d->loop_count);

	for (size_t i = 0; s && i < f->d->loop_count; i++) {
		char *loop;

		s[i].metric = AGGREGATE_LOOP_GAP;
		s[i].loop = asprintf(&loop, "%u", f->d->loops[i].loop) < 0 ? NULL : loop;
	}
}

/* ---- counters ---- */

static size_t counter_count(const struct aggregate *a, enum aggregate_family family)
{
	size_t count = 0;

	for (size_t i = 0; i < a->counter_count; i++)
		count += a->counters[i].family == family;
	return count;
}

/* One counter per name of a table; entry 0 of a table is unused. */
static void fill_counters(struct filler *f, const struct directory_table *names,
	enum aggregate_family family, const char *reason)
{
	struct aggregate *a = f->a;
	size_t there = counter_count(a, family), named = names->count ? names->count - 1 : 0;
	size_t left = f->max_series > there ? f->max_series - there : 0;
	size_t count = named < left ? named : left;
	struct aggregate_counter *c =
		realloc(a->counters, (a->counter_count + count + 1) * sizeof(*a->counters));

	if (!c) {
		f->error = -ENOMEM;
		return;
	}
	a->counters = c;
	for (size_t i = 1; i <= count; i++) {
		char *name = directory_label(names, (uint32_t)i);

		c[a->counter_count++] = (struct aggregate_counter){.family = family,
			.dispatcher = names == &f->d->dispatchers ? name : NULL,
			.class_name = names == &f->d->classes ? name : NULL,
			.reason = reason ? strdup(reason) : NULL};
	}
}

static void fill_life(struct filler *f)
{
	static const enum aggregate_family families[] = {AGGREGATE_CREATED, AGGREGATE_TERMINATED,
		AGGREGATE_RESTARTED, AGGREGATE_DEAD_LETTERS};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		fill_counters(f, &f->d->classes, families[i], NULL);
	fill_counters(f, &f->d->dispatchers, AGGREGATE_DISPATCHER_ERRORS, NULL);
}

int zeroes_fill(const struct directory *d, const struct directory_pairs *pairs, uint32_t max_series,
	struct aggregate *a)
{
	static const enum aggregate_metric metrics[] = {AGGREGATE_WAIT, AGGREGATE_HANDLER,
		AGGREGATE_DEPTH, AGGREGATE_TURN, AGGREGATE_TURN_MESSAGES};
	struct filler f = {.d = d, .a = a, .max_series = max_series};
	bool ledger = a->mode && strcmp(a->mode, "ledger") == 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		fill_pairs(&f, pairs, metrics[i]);
	fill_delays(&f);
	fill_counters(&f, &d->classes, AGGREGATE_DELIVERED, NULL);
	fill_counters(&f, &d->dispatchers, AGGREGATE_YIELDS, "budget");
	fill_counters(&f, &d->dispatchers, AGGREGATE_YIELDS, "idle");
	if (ledger) {
		fill_gaps(&f);
		fill_life(&f);
	}
	merge_equals(a);
	return f.error;
}
