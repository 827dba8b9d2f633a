/* SPDX-License-Identifier: MIT */
/* Adds up the accounts of all loops.
 *
 * In ledger mode a batch is accounted for in one place, by the stream or by BPF, and counts there
 * as delivered and as what it came to; so that the account adds up also while batches arrive. What
 * a loop's own counter has and nobody handed over is found where batches follow each other: inside
 * the stream, and here between what BPF folded first or last and the stream.
 */
#include "probe/account.h"

#include "bpf/actorprobe.skel.h"
#include "bpf/maps.h"

#include <bpf/bpf.h>

#define READS_MAX 1000 /* of an account that changes all the time */
#define TRACE_NS  300  /* of one program of mode trace, which does not measure itself */

_Static_assert((int)LOST_REASONS == (int)AGGREGATE_LOST_REASONS, "reasons are the same");
_Static_assert((int)LOST_CLOCK == (int)AGGREGATE_LOST_CLOCK, "reasons have one order");

/* Reads an account as a whole: even, and the same version before and after. */
static void account_read(int fd, uint32_t target, uint32_t loop, struct loop_account *account)
{
	uint32_t key = maps_loop_key(target, loop);
	struct loop_account again;

	for (int i = 0; i < READS_MAX; i++) {
		if (bpf_map_lookup_elem(fd, &key, account) < 0 || account->version == 0)
			return;
		if (account->version % 2 == 0 && bpf_map_lookup_elem(fd, &key, &again) == 0 &&
			again.version == account->version)
			return;
	}
}

static void batch_add(struct aggregate *a, const struct batch *b)
{
	a->recorded += b->recorded;
	a->unstamped += b->unstamped;
	for (int i = 0; i < LOST_REASONS; i++)
		a->lost[i] += b->lost[i];
	a->clamped += b->clamped;
	a->series_overflow += b->overflow;
}

static void traced_add(struct aggregate *a, const struct loop_account *account)
{
	a->delivered_before +=
		account->end > account->delivered ? account->end - account->delivered : 0;
	a->delivered += account->delivered;
	a->gaps += account->gaps;
}

/* Messages between two states of a loop's own counter of which `known` are known. */
static void between(struct aggregate *a, uint64_t from, uint64_t to, uint64_t known)
{
	a->gaps += to != from + known;
	if (to > from + known)
		a->delivered += to - from - known;
}

static void handed_add(struct aggregate *a, const struct loop_account *folded,
	const struct stream_loop *ring, bool final)
{
	bool first =
		folded->known && (!ring->known || folded->first_sequence < ring->first_sequence);
	bool last = folded->known && (!ring->known || folded->sequence > ring->sequence);

	a->delivered += folded->total.messages + ring->missed;
	a->gaps += ring->gaps;
	a->folded += folded->folded;
	if (folded->known || ring->known)
		a->delivered_before += first ? folded->first : ring->first;
	if (first && ring->known)
		between(a, folded->first, ring->first,
			ring->first_elsewhere - folded->first_elsewhere);
	if (!last || !final)
		return;
	if (ring->known)
		between(a, ring->end, folded->end, folded->end_elsewhere - ring->elsewhere);
	else
		between(a, folded->first, folded->end,
			folded->end_elsewhere - folded->first_elsewhere);
}

void account_cost(const struct programs *p, uint32_t target, const struct stream *s,
	struct fuse_reading *reading)
{
	int fd = bpf_map__fd(p->skeleton->maps.loops);

	for (uint32_t loop = 0; loop < ACTOR_ABI_LOOPS; loop++) {
		struct loop_account account = {0};

		if (!target || !s || __atomic_load_n(&s->loops[loop].known, __ATOMIC_RELAXED))
			account_read(fd, target, loop, &account);
		reading->messages += account.total.messages;
		reading->hits += account.hits;
		reading->spent_ns += account.spent_ns;
		if (s)
			continue;
		/* An event per message, and three per turn. */
		reading->hits += account.total.messages + 3 * account.batches;
		reading->spent_ns += TRACE_NS * (account.total.messages + 3 * account.batches);
	}
	if (s)
		reading->messages += __atomic_load_n(&s->total.messages, __ATOMIC_RELAXED);
}

uint64_t account_mark(const struct programs *p, uint32_t target)
{
	int fd = bpf_map__fd(p->skeleton->maps.loops);
	uint64_t mark = 0;

	for (uint32_t loop = 0; loop < ACTOR_ABI_LOOPS; loop++) {
		struct loop_account account = {0};

		if (!target || programs_elsewhere(p))
			account_read(fd, target, loop, &account);
		mark += account.total.messages + account.batches;
	}
	return mark;
}

void account_fill(const struct programs *p, uint32_t target, const struct stream *s, bool final,
	struct aggregate *a)
{
	int fd = p ? bpf_map__fd(p->skeleton->maps.loops) : -1;

	for (uint32_t loop = 0; loop < ACTOR_ABI_LOOPS; loop++) {
		struct loop_account account = {0};

		if (p && (!target || programs_elsewhere(p)))
			account_read(fd, target, loop, &account);
		batch_add(a, &account.total);
		if (s)
			handed_add(a, &account, &s->loops[loop], final);
		else
			traced_add(a, &account);
	}
	if (!s)
		return;
	batch_add(a, &s->total);
	a->delivered += s->total.messages;
}
