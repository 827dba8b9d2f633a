/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as names and counts; whatever they are, each format stays well formed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/escape.h"
#include "probe/format.h"
#include "probe/prometheus.pb-c.h"
#include "tests/aggregate_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct snapshot_self self = {.version = "1"};

/* Cuts the input into two names and counts values with the rest. */
static void fill(struct aggregate *a, const uint8_t *data, size_t bytes)
{
	size_t first = bytes / 3, second = bytes / 3;
	char *dispatcher = escape_copy((const char *)data, first);
	char *class_name = escape_copy((const char *)data + first, second);
	struct aggregate_series *wait, *depth;

	if (!dispatcher || !class_name)
		abort();
	wait = sample_values(a, AGGREGATE_WAIT, dispatcher, class_name, 0, 0);
	for (size_t i = first + second; i + 8 <= bytes; i += 8) {
		uint64_t value;

		memcpy(&value, data + i, sizeof(value));
		sample_count(&wait->histogram, AGGREGATE_WAIT, value >> (value & 63), 1);
	}
	depth = sample_values(a, AGGREGATE_DEPTH, dispatcher, class_name, bytes, 3);
	(void)depth;
	sample_counter(a, AGGREGATE_DELIVERED, dispatcher, class_name, dispatcher, bytes);
	free(dispatcher);
	free(class_name);
}

/* Lines of printable characters, in a number that no name changes. */
static size_t check_lines(const struct text *t)
{
	size_t lines = 0;
	const char *end;

	for (const char *at = t->bytes; at < t->bytes + t->used; at = end + 1, lines++) {
		char again[65536];

		end = memchr(at, '\n', (size_t)(t->bytes + t->used - at));
		if (!end)
			abort();
		if ((size_t)(end - at) * ESCAPE_FACTOR >= sizeof(again))
			continue;
		escape_text(again, sizeof(again), at, (size_t)(end - at));
		if (strlen(again) != (size_t)(end - at) || memcmp(again, at, (size_t)(end - at)))
			abort();
	}
	return lines;
}

static void check_messages(const struct text *t)
{
	for (size_t at = 0; at < t->used;) {
		Prom__Family *family;
		size_t length = 0;
		unsigned int shift = 0;

		do
			length |= (size_t)(t->bytes[at] & 0x7f) << shift, shift += 7;
		while (t->bytes[at++] & 0x80);
		if (length > t->used - at)
			abort();
		family = prom__family__unpack(NULL, length, (const uint8_t *)t->bytes + at);
		if (!family || !family->n_metric)
			abort();
		prom__family__free_unpacked(family, NULL);
		at += length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static size_t lines[FORMAT_COUNT];
	struct aggregate a = {.alive = true};
	const struct snapshot_part part = {.aggregate = &a};
	struct snapshot s;

	if (bytes > 8192)
		return 0;
	fill(&a, data, bytes);
	if (snapshot_build(&s, &part, 1, &self) < 0)
		abort();
	for (enum format f = 0; f < FORMAT_COUNT; f++) {
		struct text t = {0};
		size_t count = 0;

		format_render(f, &t, &s);
		if (t.failed)
			abort();
		if (f == FORMAT_PROTOBUF)
			check_messages(&t);
		else
			count = check_lines(&t);
		if (lines[f] && count != lines[f])
			abort();
		lines[f] = count;
		text_fini(&t);
	}
	snapshot_fini(&s);
	aggregate_fini(&a);
	return 0;
}
