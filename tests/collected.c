/* SPDX-License-Identifier: MIT */
/* Reads what `actorprobe hist -j` printed, line by line. */
#define _GNU_SOURCE
#include "tests/collected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next line at or behind `at` that holds both texts, parsed; NULL if there is none. */
static json_t *next_line(const char **at, const char *what, const char *other)
{
	while (**at) {
		const char *line = *at;
		size_t bytes = strcspn(line, "\n");

		*at = line + bytes + (line[bytes] == '\n');
		if (memmem(line, bytes, what, strlen(what)) &&
			memmem(line, bytes, other, strlen(other)))
			return json_loadb(line, bytes, 0, NULL);
	}
	return NULL;
}

static json_int_t integer(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value)) {
		fprintf(stderr, "no number '%s' in the output\n", key);
		abort();
	}
	return json_integer_value(value);
}

json_int_t collected_sum(const char *out, const char *what, const char *key)
{
	json_int_t total = 0;
	json_t *object;

	while ((object = next_line(&out, what, what))) {
		total += integer(object, key);
		json_decref(object);
	}
	return total;
}

struct collected collected_account(const char *out)
{
	struct collected c = {0};
	json_t *object, *last = NULL;

	while ((object = next_line(&out, "\"delivered\"", "\"unstamped\""))) {
		json_decref(last);
		last = object;
	}
	if (!last) {
		fprintf(stderr, "no accounting in the output\n");
		abort();
	}
	c.before = (uint64_t)integer(last, "delivered_before");
	c.delivered = (uint64_t)integer(last, "delivered");
	c.recorded = (uint64_t)integer(last, "recorded");
	c.unstamped = (uint64_t)integer(last, "unstamped");
	c.lost = (uint64_t)integer(last, "lost");
	c.alive = json_is_true(json_object_get(last, "alive"));
	json_decref(last);
	return c;
}

static void buckets_read(struct collected_histogram *h, const json_t *pairs)
{
	json_int_t below = 0;
	size_t place = 0;
	size_t i;
	json_t *pair;

	json_array_foreach(pairs, i, pair)
	{
		json_int_t upto = json_integer_value(json_array_get(pair, 1));
		double bound = json_number_value(json_array_get(pair, 0));

		/* Each bound is in the table, in the table's order; the first one may be any. */
		if (json_is_null(json_array_get(pair, 0)))
			place = BOUNDS_COUNT;
		while (!i && place < BOUNDS_COUNT &&
			llround(bound * 1e9) != (long long)bounds_ns[place])
			place++;
		if (place < BOUNDS_COUNT && llround(bound * 1e9) != (long long)bounds_ns[place])
			abort();
		h->buckets[place++] = (uint64_t)(upto - below);
		below = upto;
	}
}

struct collected_histogram collected_times(const char *out, const char *metric, const char *label)
{
	struct collected_histogram h = {0};
	json_t *object = next_line(&out, metric, label);

	if (!object)
		return h;
	h.count = (uint64_t)integer(object, "count");
	h.p50 = json_number_value(json_object_get(object, "p50"));
	h.p99 = json_number_value(json_object_get(object, "p99"));
	h.max = json_number_value(json_object_get(object, "max"));
	h.sum = json_number_value(json_object_get(object, "sum_seconds"));
	buckets_read(&h, json_object_get(object, "buckets"));
	json_decref(object);
	return h;
}
