/* SPDX-License-Identifier: MIT */
/* Builds aggregates by hand, for the tests of whatever renders them. */
#ifndef TESTS_AGGREGATE_SAMPLE_H
#define TESTS_AGGREGATE_SAMPLE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "probe/aggregate.h"
#include "probe/histogram.h"

static inline const char *sample_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Counts `count` values the way the collection side does: bounds are inclusive. */
static inline void sample_count(
	struct aggregate_histogram *h, enum aggregate_metric metric, uint64_t value, uint64_t count)
{
	size_t i = 0;

	while (i < histogram_bounds(metric) && value > histogram_bound(metric, i))
		i++;
	h->buckets[i] += count;
	h->count += count;
	h->sum += value * count;
	if (count && value > h->max)
		h->max = value;
}

static inline struct aggregate_series *sample_series(struct aggregate *a,
	enum aggregate_metric metric, const char *dispatcher, const char *class_name,
	const char *actor)
{
	struct aggregate_series *s;

	a->series = realloc(a->series, (a->series_count + 1) * sizeof(*a->series));
	assert(a->series);
	s = &a->series[a->series_count++];
	memset(s, 0, sizeof(*s));
	s->metric = metric;
	s->dispatcher = sample_text(dispatcher);
	s->class_name = sample_text(class_name);
	s->actor = sample_text(actor);
	return s;
}

/* One series with `count` times the same value. */
static inline struct aggregate_series *sample_values(struct aggregate *a,
	enum aggregate_metric metric, const char *dispatcher, const char *class_name,
	uint64_t value, uint64_t count)
{
	struct aggregate_series *s = sample_series(a, metric, dispatcher, class_name, NULL);

	sample_count(&s->histogram, metric, value, count);
	return s;
}

static inline void sample_counter(struct aggregate *a, enum aggregate_family family,
	const char *dispatcher, const char *class_name, const char *reason, uint64_t value)
{
	a->counters = realloc(a->counters, (a->counter_count + 1) * sizeof(*a->counters));
	assert(a->counters);
	a->counters[a->counter_count++] = (struct aggregate_counter){
		.family = family,
		.dispatcher = sample_text(dispatcher),
		.class_name = sample_text(class_name),
		.reason = sample_text(reason),
		.value = value,
	};
}

static inline void sample_loop(struct aggregate *a, uint32_t loop, const char *actor,
	const char *dispatcher, const char *class_name, uint64_t open_ns)
{
	a->loops = realloc(a->loops, (a->loop_count + 1) * sizeof(*a->loops));
	assert(a->loops);
	a->loops[a->loop_count++] = (struct aggregate_loop){
		.system = sample_text("shop"),
		.loop = loop,
		.thread = 4000 + loop,
		.actor = sample_text(actor),
		.class_name = sample_text(class_name),
		.dispatcher = sample_text(dispatcher),
		.type = sample_text(actor ? "quote" : NULL),
		.open_ns = open_ns,
		.delivered = 1000,
	};
}

static inline void sample_deep(struct aggregate *a, const char *actor, const char *class_name,
	uint64_t messages, uint64_t oldest_ns)
{
	a->deep = realloc(a->deep, (a->deep_count + 1) * sizeof(*a->deep));
	assert(a->deep);
	a->deep[a->deep_count++] = (struct aggregate_deep){
		.actor = sample_text(actor),
		.class_name = sample_text(class_name),
		.dispatcher = sample_text("default"),
		.messages = messages,
		.timed = oldest_ns != 0,
		.oldest_ns = oldest_ns,
	};
}

static inline void sample_flow(
	struct aggregate *a, const char *from, const char *to, uint64_t messages)
{
	a->flows = realloc(a->flows, (a->flow_count + 1) * sizeof(*a->flows));
	assert(a->flows);
	a->flows[a->flow_count++] = (struct aggregate_flow){
		.from = sample_text(from), .to = sample_text(to), .messages = messages};
}

/* Two dispatchers, three classes with awkward names, all metrics, all counters. */
static inline void sample_fill(struct aggregate *a, uint64_t scale)
{
	static const char *const dispatchers[] = {"default", "fast \"lane\""};
	static const char *const classes[] = {"price", "import\\eu", "caf\xc3\xa9"};

	*a = (struct aggregate){.pid = 4711,
		.command = sample_text("shop"),
		.alive = true,
		.elapsed_ns = scale * 1000000000,
		.attach_ns = 12345678,
		.delivered_before = 1009,
		.delivered = 608 * scale,
		.recorded = 600 * scale,
		.unstamped = 5 * scale,
		.gaps = scale,
		.folded = 9 * scale,
		.mode = sample_text("ledger")};
	a->lost[AGGREGATE_LOST_COPY] = 3 * scale;
	for (enum aggregate_metric m = 0; m < AGGREGATE_LOOP_GAP; m++)
		for (size_t d = 0; d < 2; d++)
			for (size_t c = 0; c < (m == AGGREGATE_DELAY ? 1 : 3); c++)
				sample_values(a, m, dispatchers[d],
					m == AGGREGATE_DELAY ? NULL : classes[c],
					histogram_is_time(m) ? 3300 * (c + 1) : 7 * (c + 1),
					100 * scale);
	for (size_t c = 0; c < 3; c++)
		sample_counter(a, AGGREGATE_DELIVERED, NULL, classes[c], NULL, 200 * scale);
	for (size_t d = 0; d < 2; d++) {
		sample_counter(a, AGGREGATE_YIELDS, dispatchers[d], NULL, "budget", 11 * scale);
		sample_counter(a, AGGREGATE_YIELDS, dispatchers[d], NULL, "idle", 13 * scale);
	}
	for (int loop = 1; loop <= 2; loop++) {
		sample_values(a, AGGREGATE_LOOP_GAP, NULL, NULL, 700, 50 * scale)->loop =
			sample_text(loop == 1 ? "1" : "2");
	}
	for (enum aggregate_family f = AGGREGATE_CREATED; f < AGGREGATE_DISPATCHER_ERRORS; f++)
		sample_counter(a, f, NULL, classes[0], f == AGGREGATE_DROPPED ? "oldest" : NULL,
			10 * f * scale);
	sample_counter(a, AGGREGATE_DISPATCHER_ERRORS, dispatchers[0], NULL, NULL, scale);
	sample_flow(a, classes[0], classes[1], 17 * scale);
	sample_loop(a, 0, NULL, NULL, NULL, 0);
	sample_loop(a, 1, "/pricing/eu", "default", "price", 12000000);
	sample_loop(a, 2, "/pricing/us", "default", "price", 24000000);
	sample_deep(a, "/user/eu", "price", 10007, 1500000000);
	sample_deep(a, "/user/us", "price", 20011, 2500000000);
	sample_deep(a, "/user/us", "price", 30011, 500000000); /* of another system */
	sample_deep(a, "/user/\\x0a", classes[1], 10009, 0);
}

#endif
