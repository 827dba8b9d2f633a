/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* fold(): one record into the histogram maps, for every way in which records leave a target. */
#ifndef BPF_FOLD_H
#define BPF_FOLD_H

#include "bpf/histogram.h"
#include "bpf/tally.h"

#define BACK_LIMIT_NS 1000	 /* a clock that steps back no farther counts as 0 */
#define BACK_TOO_FAR  UINT64_MAX /* not an interval */

const volatile bool by_actor = false;

/* The collector sets max_entries to series + 1 and puts the overflow series in beforehand. */
#define SERIES_MAP(map, key_type, value_type)                                                      \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, 1024);                                                         \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} map SEC(".maps");                                                                        \
	static const volatile value_type map##_zero;                                               \
	static __always_inline value_type *map##_find(const key_type *key)                         \
	{                                                                                          \
		value_type *value = bpf_map_lookup_elem(&map, key);                                \
                                                                                                   \
		if (value)                                                                         \
			return value;                                                              \
		bpf_map_update_elem(&map, key, (const void *)&map##_zero, BPF_NOEXIST);            \
		return bpf_map_lookup_elem(&map, key);                                             \
	}

SERIES_MAP(mails, struct series_key, struct mail_series)
SERIES_MAP(turns, struct series_key, struct turn_series)
SERIES_MAP(delays, struct series_key, struct delay_series)
SERIES_MAP(gaps, struct series_key, struct gap_series)

static const struct series_key overflow_key = {0, MAPS_OVERFLOW, MAPS_OVERFLOW};

/* The series with this key, else the overflow series, else NULL; many targets have none in common. */
#define SERIES_FIND(map, key, batch)                                                               \
	({                                                                                         \
		void *found_ = map##_find(key);                                                    \
		if (!found_ && !many) {                                                            \
			found_ = bpf_map_lookup_elem(&map, &overflow_key);                         \
			(batch)->overflow += found_ ? (batch)->weight : 0;                         \
		}                                                                                  \
		found_;                                                                            \
	})

static __always_inline struct series_key key_of(
	uint64_t meta, uint64_t slot, uint64_t generation, const struct batch *batch)
{
	struct series_key key = {
		.actor = many ? batch->target : by_actor ? slot << 32 | (generation & 0xffff) : 0,
		.dispatcher = actor_abi_meta_dispatcher(meta),
		.class_id = actor_abi_meta_class(meta),
	};

	return key;
}

static __always_inline uint64_t interval_ns(uint64_t word, bool back, struct batch *batch)
{
	uint64_t ns = ticks_to_ns(actor_abi_low48(word), batch);

	if (!back)
		return ns;
	if (ns > BACK_LIMIT_NS)
		return BACK_TOO_FAR;
	batch->clamped += batch->weight;
	return 0;
}

static __always_inline void fold_message(
	uint64_t meta, uint64_t who, uint64_t first, uint64_t second, struct batch *batch)
{
	uint32_t flags = actor_abi_meta_flags(meta);
	struct series_key key = key_of(meta, who >> 32, actor_abi_high16(second), batch);
	struct mail_series *series = SERIES_FIND(mails, &key, batch);
	uint64_t wait, run;

	batch->messages += batch->weight;
	if (series)
		__sync_fetch_and_add(&series->delivered, batch->weight);
	if (flags & ACTOR_ABI_UNSTAMPED) {
		batch->unstamped += batch->weight;
		return;
	}
	if (!series) {
		batch->lost[LOST_MAP] += batch->weight;
		return;
	}
	wait = interval_ns(first, flags & ACTOR_ABI_FIRST_BACK, batch);
	run = interval_ns(second, flags & ACTOR_ABI_SECOND_BACK, batch);
	if (wait == BACK_TOO_FAR || run == BACK_TOO_FAR) {
		batch->lost[LOST_CLOCK] += batch->weight;
		return;
	}
	time_add(&series->wait, wait, batch->weight);
	time_add(&series->handler, run, batch->weight);
	count_add(&series->depth, actor_abi_high16(first), batch->weight);
	batch->recorded += batch->weight;
}

static __always_inline void fold_turn(
	uint64_t meta, uint64_t who, uint64_t first, uint64_t second, struct batch *batch)
{
	uint32_t flags = actor_abi_meta_flags(meta);
	struct series_key key = key_of(meta, who >> 32, who, batch);
	struct turn_series *series = SERIES_FIND(turns, &key, batch);
	uint64_t run = interval_ns(second, flags & ACTOR_ABI_SECOND_BACK, batch);
	struct delay_series *delays_of;
	uint64_t delay;

	if (!series || run == BACK_TOO_FAR) {
		batch->turns_lost += batch->weight;
		return;
	}
	time_add(&series->turn, run, batch->weight);
	count_add(&series->messages, actor_abi_high16(first), batch->weight);
	if (flags & ACTOR_ABI_NO_DELAY)
		return;
	delay = interval_ns(first, flags & ACTOR_ABI_FIRST_BACK, batch);
	key.actor = many ? batch->target : 0;
	key.class_id = 0;
	delays_of = SERIES_FIND(delays, &key, batch);
	if (!delays_of || delay == BACK_TOO_FAR)
		batch->turns_lost += batch->weight;
	else
		time_add(&delays_of->delay, delay, batch->weight);
}

static __always_inline void fold_loop(uint64_t who, uint64_t busy, struct batch *batch)
{
	struct series_key key = {
		.actor = many ? batch->target : 0, .dispatcher = who & 0xffff};
	struct gap_series *series = SERIES_FIND(gaps, &key, batch);

	if (series)
		time_add(&series->gap, ticks_to_ns(actor_abi_low48(busy), batch), batch->weight);
}

/* An event is counted by class, that of a dispatcher by dispatcher, a drop by its reason too. */
static __always_inline void fold_life(
	uint64_t meta, uint64_t other, uint64_t code, struct batch *batch)
{
	uint32_t event = actor_abi_meta_type(meta);
	uint64_t id = actor_abi_meta_class(meta);

	if (event == ACTOR_ABI_LIFE_DISPATCHER_ERROR)
		id = other;
	tally_add(batch->target, TALLY_LIFE + event, id,
		event == ACTOR_ABI_LIFE_DROP ? code : 0, batch->weight);
}

/* Folds one record. Returns 0. A record of a kind that no runtime writes here counts as a lost
 * message, because a reader cannot know what it was. Global: verified once, whoever calls. */
__attribute__((noinline)) int fold(
	uint64_t meta, uint64_t who, uint64_t first, uint64_t second, struct batch *batch)
{
	if (!batch)
		return 0;
	switch (actor_abi_meta_kind(meta)) {
	case ACTOR_ABI_MESSAGE:
		fold_message(meta, who, first, second, batch);
		break;
	case ACTOR_ABI_TURN:
		fold_turn(meta, who, first, second, batch);
		break;
	case ACTOR_ABI_YIELD:
		tally_add(batch->target, TALLY_YIELDS, actor_abi_meta_dispatcher(meta), first,
			batch->weight);
		break;
	case ACTOR_ABI_LOOP:
		fold_loop(who, first, batch);
		break;
	case ACTOR_ABI_LIFE:
		fold_life(meta, first, second, batch);
		break;
	default:
		batch->messages += batch->weight;
		batch->lost[LOST_FORMAT] += batch->weight;
	}
	return 0;
}

#endif
