/* SPDX-License-Identifier: MIT */
/* Keeps the sums of crews. */
#include "probe/crew.h"

#include <stdlib.h>
#include <string.h>

#include "probe/grouping.h"
#include "probe/merge.h"

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void crew_free(struct crew *crew)
{
	aggregate_fini(&crew->past);
	free(crew->name);
	free(crew);
}

static struct crew *crew_add(struct crews *c, const char *name)
{
	struct crew **more = realloc(c->list, (c->count + 1) * sizeof(*more));
	struct crew *crew = calloc(1, sizeof(*crew));

	if (more)
		c->list = more;
	if (crew && name)
		crew->name = strdup(name);
	if (!more || !crew || (name && !crew->name)) {
		if (crew)
			crew_free(crew);
		return NULL;
	}
	crew->expired = true; /* counts from now on */
	c->list[c->count++] = crew;
	return crew;
}

struct crew *crews_join(struct crews *c, const char *name, uint64_t unix_ns)
{
	struct crew *crew = NULL;

	for (size_t i = 0; i < c->count && !crew; i++)
		if (same(c->list[i]->name, name))
			crew = c->list[i];
	if (!crew)
		crew = crew_add(c, name);
	if (!crew)
		return NULL;
	if (crew->expired)
		crew->start_unix_ns = unix_ns;
	crew->expired = false;
	crew->ended_ns = 0;
	crew->living++;
	return crew;
}

/* What only a running process has. */
static void drop_moments(struct aggregate *a)
{
	struct aggregate moments = {.loops = a->loops,
		.loop_count = a->loop_count,
		.deep = a->deep,
		.deep_count = a->deep_count};

	a->loops = NULL;
	a->loop_count = 0;
	a->deep = NULL;
	a->deep_count = 0;
	a->alive = false;
	a->overhead = 0;
	a->sample_every = 0;
	aggregate_fini(&moments);
}

void crew_leave(struct crew *crew, struct aggregate *last, uint64_t now_ns)
{
	drop_moments(last);
	merge_add(&crew->past, last);
	crew->past.folding = false;
	crew->living--;
	if (!crew->living)
		crew->ended_ns = now_ns;
}

int crew_total(const struct crew *crew, struct aggregate *total)
{
	return grouping_apply(total, &crew->past, GROUPING_FULL);
}

static void names_forget(struct crews *c)
{
	for (;;) {
		size_t names = 0, oldest = 0;

		for (size_t i = 0; i < c->count; i++) {
			if (!c->list[i]->expired)
				continue;
			if (!names++ || c->list[i]->ended_ns < c->list[oldest]->ended_ns)
				oldest = i;
		}
		if (names <= CREW_NAMES_MAX)
			return;
		crew_free(c->list[oldest]);
		c->list[oldest] = c->list[--c->count];
	}
}

void crews_expire(struct crews *c, uint64_t now_ns)
{
	for (size_t i = 0; i < c->count; i++) {
		struct crew *crew = c->list[i];

		if (crew->living || crew->expired || now_ns - crew->ended_ns < c->ttl_ns)
			continue;
		aggregate_fini(&crew->past);
		crew->expired = true;
	}
	names_forget(c);
}

void crews_fini(struct crews *c)
{
	for (size_t i = 0; i < c->count; i++)
		crew_free(c->list[i]);
	free(c->list);
	*c = (struct crews){0};
}
