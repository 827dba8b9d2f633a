/* SPDX-License-Identifier: MIT */
/* Copies the root and its tables of names out of a target. */
#define _GNU_SOURCE
#include "probe/directory.h"

#include "probe/escape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES_MAX	  4096u /* a later minor version may have larger entries than ours */
#define SEGMENTS_MAX	  65536u
#define SEGMENT_BYTES_MAX (1u << 20)
#define PAIR_ACTORS_MAX	  65536u /* of one loop, when pairs are gathered */
#define LIVE_SEGMENTS_MAX 4096u /* of one loop, when actors are counted */

struct request {
	struct directory *directory;
	uint64_t root_address;
	unsigned int more;
};

void directory_free(struct directory *d)
{
	struct directory_table *tables[3];

	if (!d)
		return;
	tables[0] = &d->classes;
	tables[1] = &d->types;
	tables[2] = &d->dispatchers;
	for (int t = 0; t < 3; t++) {
		for (size_t i = 0; i < tables[t]->count; i++)
			free(tables[t]->names[i].text);
		free(tables[t]->names);
	}
	free(d->loops);
	free(d->addresses);
	free(d->actors);
	free(d->pairs.pairs);
	free(d);
}

static void request_free(void *argument)
{
	struct request *request = argument;

	directory_free(request->directory);
	free(request);
}

static int table_sane(const struct actor_abi_table *t, uint32_t entry_bytes_min)
{
	return t->entry_bytes >= entry_bytes_min && t->entry_bytes <= ENTRY_BYTES_MAX &&
	       t->segment_entries > 0 && t->segment_max <= SEGMENTS_MAX &&
	       (uint64_t)t->segment_entries * t->entry_bytes <= SEGMENT_BYTES_MAX;
}

static int segment_address(const struct remote *remote, const struct actor_abi_table *t,
	uint32_t segment, uint64_t *address)
{
	if (segment >= t->segment_max)
		return -EFAULT;
	if (remote_copy(remote, t->segments + 8ull * segment, address, sizeof(*address)) < 0)
		return -EFAULT;
	return *address ? 0 : -EFAULT;
}

static char *name_text(const struct actor_abi_name *entry)
{
	size_t bytes =
		entry->bytes < ACTOR_ABI_NAME_BYTES ? entry->bytes : ACTOR_ABI_NAME_BYTES - 1;

	return bytes ? escape_copy(entry->text, bytes) : NULL;
}

/* Copies the names of one table, a segment at a time; what cannot be read stays without a name. */
static int names_read(
	struct directory_table *out, const struct remote *remote, const struct actor_abi_table *t)
{
	size_t count = t->count < DIRECTORY_NAMES_MAX ? t->count : DIRECTORY_NAMES_MAX;
	struct actor_abi_name entry;
	uint8_t *segment;

	if (count == 0 || !table_sane(t, sizeof(entry)))
		return 0;
	out->names = calloc(count, sizeof(*out->names));
	segment = malloc((size_t)t->segment_entries * t->entry_bytes);
	if (!out->names || !segment) {
		free(segment);
		return -ENOMEM;
	}
	out->count = count;
	for (size_t at = 0; at < count; at += t->segment_entries) {
		size_t n = count - at < t->segment_entries ? count - at : t->segment_entries;
		uint64_t address;

		if (segment_address(remote, t, (uint32_t)(at / t->segment_entries), &address) < 0 ||
			remote_copy(remote, address, segment, n * t->entry_bytes) < 0)
			continue;
		for (size_t i = 0; i < n; i++) {
			memcpy(&entry, segment + i * t->entry_bytes, sizeof(entry));
			out->names[at + i].text = name_text(&entry);
			out->names[at + i].kind = entry.kind;
			out->names[at + i].budget = entry.budget;
		}
	}
	free(segment);
	return 0;
}

static int loops_read(struct directory *d, const struct remote *remote, const uint64_t *addresses)
{
	d->loops = calloc(ACTOR_ABI_LOOPS, sizeof(*d->loops));
	d->addresses = calloc(ACTOR_ABI_LOOPS, sizeof(*d->addresses));
	if (!d->loops || !d->addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < ACTOR_ABI_LOOPS; i++) {
		struct actor_abi_loop *loop = &d->loops[d->loop_count];
		char raw[sizeof(loop->system)];

		if (!addresses[i] || remote_copy(remote, addresses[i], loop, sizeof(*loop)) < 0)
			continue;
		loop->loop = i; /* its place is what ids refer to */
		memcpy(raw, loop->system, sizeof(raw));
		escape_text(loop->system, sizeof(loop->system), raw, sizeof(raw));
		d->addresses[d->loop_count++] = addresses[i];
	}
	return 0;
}

/* Calls `visit` for each slot of at most `segments` segments that has an actor. */
static void actors_visit(const struct remote *remote, const struct actor_abi_table *t,
	uint32_t segments, void (*visit)(void *, const struct actor_abi_actor *), void *context)
{
	struct actor_abi_actor entry;
	uint64_t address;
	uint8_t *segment;

	if (!table_sane(t, sizeof(entry)))
		return;
	segment = malloc((size_t)t->segment_entries * t->entry_bytes);
	for (uint32_t s = 0; segment && s < segments; s++) {
		uint64_t first = (uint64_t)s * t->segment_entries;
		uint64_t n = first < t->count ? t->count - first : 0;

		n = n < t->segment_entries ? n : t->segment_entries;
		if (n == 0)
			break;
		if (segment_address(remote, t, s, &address) < 0 ||
			remote_copy(remote, address, segment, n * t->entry_bytes) < 0)
			continue;
		for (uint64_t i = 0; i < n; i++) {
			memcpy(&entry, segment + i * t->entry_bytes, sizeof(entry));
			if (entry.generation)
				visit(context, &entry);
		}
	}
	free(segment);
}

static void actor_count(void *context, const struct actor_abi_actor *actor)
{
	(void)actor;
	++*(uint64_t *)context;
}

static int actors_read(struct directory *d, const struct remote *remote)
{
	d->actors = calloc(d->loop_count + 1, sizeof(*d->actors));
	if (!d->actors)
		return -ENOMEM;
	for (size_t i = 0; i < d->loop_count; i++)
		if (d->loops[i].state == ACTOR_ABI_LOOP_OPEN)
			actors_visit(remote, &d->loops[i].actors, LIVE_SEGMENTS_MAX, actor_count,
				&d->actors[i]);
	return 0;
}

/* Pairs while they are gathered: a hash table, 0 = free. */
struct pair_set {
	uint32_t pairs[2 * DIRECTORY_PAIRS_MAX];
	size_t count;
};

static void pair_add(void *context, const struct actor_abi_actor *actor)
{
	struct pair_set *set = context;
	uint32_t pair = (uint32_t)actor->dispatcher << 16 | actor->class_id;
	size_t at = pair * 2654435769u % (2 * DIRECTORY_PAIRS_MAX);

	if (!actor->dispatcher || !actor->class_id || set->count == DIRECTORY_PAIRS_MAX)
		return;
	while (set->pairs[at] && set->pairs[at] != pair)
		at = (at + 1) % (2 * DIRECTORY_PAIRS_MAX);
	set->count += !set->pairs[at];
	set->pairs[at] = pair;
}

static int pairs_read(struct directory *d, const struct remote *remote)
{
	struct pair_set *set = calloc(1, sizeof(*set));

	d->pairs.pairs = calloc(DIRECTORY_PAIRS_MAX, sizeof(*d->pairs.pairs));
	for (size_t i = 0; set && d->pairs.pairs && i < d->loop_count; i++) {
		const struct actor_abi_table *t = &d->loops[i].actors;
		uint32_t most = t->segment_entries && t->segment_entries < PAIR_ACTORS_MAX
					? PAIR_ACTORS_MAX / t->segment_entries
					: 1;

		if (d->loops[i].state == ACTOR_ABI_LOOP_OPEN)
			actors_visit(remote, t, most, pair_add, set);
	}
	for (size_t i = 0; set && d->pairs.pairs && i < 2 * DIRECTORY_PAIRS_MAX; i++)
		if (set->pairs[i])
			d->pairs.pairs[d->pairs.count++] = set->pairs[i];
	free(set);
	return set && d->pairs.pairs ? 0 : -ENOMEM;
}

static int read_job(struct remote *remote, void *argument)
{
	struct request *request = argument;
	struct directory *d = request->directory;
	struct actor_abi_root root;
	int r;

	if (remote_copy(remote, request->root_address, &root,
		    offsetof(struct actor_abi_root, clock)) < 0)
		return -EFAULT;
	if (root.magic != ACTOR_ABI_MAGIC)
		return -EPROTO;
	d->major = root.major;
	d->minor = root.minor;
	if (root.major != ACTOR_ABI_MAJOR)
		return 0;
	if (root.bytes < sizeof(root))
		return -EPROTO;
	if (remote_copy(remote, request->root_address, &root, sizeof(root)) < 0)
		return -EFAULT;
	d->clock = root.clock;
	d->first_ticks = root.first_ticks;
	d->first_monotonic_ns = root.first_monotonic_ns;
	memcpy(d->deep, root.deep, sizeof(d->deep));
	if ((r = names_read(&d->classes, remote, &root.classes)) < 0 ||
		(r = names_read(&d->types, remote, &root.types)) < 0 ||
		(r = names_read(&d->dispatchers, remote, &root.dispatchers)) < 0 ||
		(r = loops_read(d, remote, root.loops)) < 0)
		return r;
	if (request->more & DIRECTORY_ACTORS)
		r = actors_read(d, remote);
	if (r == 0 && request->more & DIRECTORY_PAIRS)
		r = pairs_read(d, remote);
	return r;
}

int directory_read(
	struct directory **out, struct remote *remote, uint64_t root_address, unsigned int more)
{
	struct request *request = calloc(1, sizeof(*request));
	int r = -ENOMEM;

	if (!request)
		return r;
	request->directory = calloc(1, sizeof(*request->directory));
	request->root_address = root_address;
	request->more = more;
	if (request->directory)
		r = remote_run(remote, read_job, request, request_free);
	if (r == -ETIMEDOUT)
		return r; /* the request is the thread's now */
	if (r == 0) {
		*out = request->directory;
		request->directory = NULL;
	}
	request_free(request);
	return r;
}

char *directory_label(const struct directory_table *table, uint32_t id)
{
	char *text;

	if (id < table->count && table->names[id].text)
		return strdup(table->names[id].text);
	return asprintf(&text, "#%u", id) < 0 ? NULL : text;
}
