/* SPDX-License-Identifier: MIT */
/* Adds the records of hand-overs to series. */
#include "probe/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/bucket.h"

#define BACK_LIMIT_NS 1000	 /* the same as in BPF */
#define BACK_TOO_FAR  UINT64_MAX /* not an interval */
#define SENDERS_BITS  16
#define FLOWS_MAX     4096
#define GAPS_MAX      ACTOR_ABI_LOOPS

/* The actor that was seen last in the slots that share this place. */
struct stream_sender {
	uint32_t slot;
	uint32_t class_id;
};

int stream_init(struct stream *s, const struct stream_options *options)
{
	bucket_init();
	*s = (struct stream){
		.by_actor = options->by_actor,
		.calibration = options->calibration,
		.origin = options->origin,
		.tap = options->tap,
		.senders = calloc((size_t)1 << SENDERS_BITS, sizeof(struct stream_sender)),
	};
	table_init(&s->mails, options->max_series, sizeof(struct mail_series));
	table_init(&s->turns, options->max_series, sizeof(struct turn_series));
	table_init(&s->delays, options->max_series, sizeof(struct delay_series));
	table_init(&s->gaps, GAPS_MAX, sizeof(struct gap_series));
	for (size_t i = 0; i < STREAM_TALLIES; i++)
		table_init(&s->tallies[i], options->max_series, sizeof(uint64_t));
	table_init(&s->flows, FLOWS_MAX, sizeof(uint64_t));
	return s->senders ? 0 : -ENOMEM;
}

void stream_fini(struct stream *s)
{
	struct table *const tables[] = {
		&s->mails, &s->turns, &s->delays, &s->gaps, &s->flows};

	for (size_t i = 0; i < STREAM_TALLIES; i++)
		table_fini(&s->tallies[i]);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		table_fini(tables[i]);
	free(s->senders);
	s->senders = NULL;
}

/* ---- values ---- */

static inline uint64_t to_ns(const struct stream *s, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * s->calibration.mult >> s->calibration.shift);
}

static inline uint64_t interval_ns(struct stream *s, uint64_t word, bool back, uint64_t weight)
{
	uint64_t ns = to_ns(s, actor_abi_low48(word));

	if (!back)
		return ns;
	if (ns > BACK_LIMIT_NS)
		return BACK_TOO_FAR;
	s->total.clamped += weight;
	return 0;
}

static inline void time_add(struct time_buckets *h, uint64_t ns, uint64_t weight)
{
	h->buckets[bucket_of_time(ns)] += weight;
	h->sum += ns * weight;
	if (h->max < ns)
		h->max = ns;
}

static inline void count_add(struct count_buckets *h, uint64_t value, uint64_t weight)
{
	h->buckets[bucket_of_depth(value)] += weight;
	h->sum += value * weight;
	if (h->max < value)
		h->max = value;
}

/* The series with this key; NULL when memory is gone. */
static inline void *series_of(
	struct stream *s, struct table *table, uint64_t actor, uint64_t ids, uint64_t weight)
{
	bool overflowed;
	void *value = table_find(table, actor, ids, &overflowed);

	if (overflowed)
		s->total.overflow += weight;
	return value;
}

static inline void counter_add(
	struct table *table, uint64_t a, uint32_t b, uint32_t c, uint64_t weight)
{
	bool overflowed;
	uint64_t *value = table_find(table, a, table_ids(b, c), &overflowed);

	if (value)
		*value += weight;
}

static inline uint64_t actor_of(const struct stream *s, uint64_t slot, uint64_t generation)
{
	return s->by_actor ? slot << 32 | (generation & 0xffff) : 0;
}

static inline uint64_t ids_of(uint64_t meta)
{
	return table_ids(actor_abi_meta_dispatcher(meta), actor_abi_meta_class(meta));
}

/* ---- who sends to whom ---- */

static inline struct stream_sender *sender_place(struct stream *s, uint32_t slot)
{
	return &s->senders[slot * 2654435769u >> (32 - SENDERS_BITS)];
}

static inline void sender_learn(struct stream *s, uint64_t actor, uint32_t class_id)
{
	*sender_place(s, (uint32_t)(actor >> 32)) =
		(struct stream_sender){(uint32_t)(actor >> 32), class_id};
}

static inline void flow_add(struct stream *s, uint64_t who, uint32_t class_id, uint64_t weight)
{
	uint32_t slot = (uint32_t)who, from = STREAM_NOBODY;
	const struct stream_sender *sender = sender_place(s, slot);

	if (slot)
		from = sender->slot == slot ? sender->class_id : STREAM_UNKNOWN;
	counter_add(&s->flows, 0, from, class_id, weight);
}

/* ---- records ---- */

/* Partner: account_cost(), which looks at this one number without the lock. */
static inline void messages_add(struct stream *s, uint64_t weight)
{
	__atomic_store_n(&s->total.messages, s->total.messages + weight, __ATOMIC_RELAXED);
}

static inline void message_add(struct stream *s, const struct actor_abi_record *r, uint64_t weight)
{
	uint32_t flags = actor_abi_meta_flags(r->meta);
	struct mail_series *series = series_of(s, &s->mails,
		actor_of(s, r->who >> 32, actor_abi_high16(r->second)), ids_of(r->meta), weight);
	uint64_t wait, run;

	messages_add(s, weight);
	flow_add(s, r->who, actor_abi_meta_class(r->meta), weight);
	if (series)
		series->delivered += weight;
	if (flags & ACTOR_ABI_UNSTAMPED) {
		s->total.unstamped += weight;
		return;
	}
	if (!series) {
		s->total.lost[LOST_MAP] += weight;
		return;
	}
	wait = interval_ns(s, r->first, flags & ACTOR_ABI_FIRST_BACK, weight);
	run = interval_ns(s, r->second, flags & ACTOR_ABI_SECOND_BACK, weight);
	if (wait == BACK_TOO_FAR || run == BACK_TOO_FAR) {
		s->total.lost[LOST_CLOCK] += weight;
		return;
	}
	time_add(&series->wait, wait, weight);
	time_add(&series->handler, run, weight);
	count_add(&series->depth, actor_abi_high16(r->first), weight);
	s->total.recorded += weight;
}

static void delay_add(
	struct stream *s, const struct actor_abi_record *r, uint32_t flags, uint64_t weight)
{
	struct delay_series *series =
		series_of(s, &s->delays, 0, actor_abi_meta_dispatcher(r->meta), weight);
	uint64_t delay = interval_ns(s, r->first, flags & ACTOR_ABI_FIRST_BACK, weight);

	if (!series || delay == BACK_TOO_FAR)
		s->total.turns_lost += weight;
	else
		time_add(&series->delay, delay, weight);
}

static void turn_add(struct stream *s, const struct actor_abi_record *r, uint64_t weight)
{
	uint32_t flags = actor_abi_meta_flags(r->meta);
	struct turn_series *series =
		series_of(s, &s->turns, actor_of(s, r->who >> 32, r->who), ids_of(r->meta), weight);
	uint64_t run = interval_ns(s, r->second, flags & ACTOR_ABI_SECOND_BACK, weight);

	sender_learn(s, r->who, actor_abi_meta_class(r->meta));
	if (!series || run == BACK_TOO_FAR) {
		s->total.turns_lost += weight;
		return;
	}
	time_add(&series->turn, run, weight);
	count_add(&series->messages, actor_abi_high16(r->first), weight);
	if (!(flags & ACTOR_ABI_NO_DELAY))
		delay_add(s, r, flags, weight);
}

static void loop_add(struct stream *s, const struct actor_abi_record *r, uint64_t weight)
{
	struct gap_series *series = series_of(s, &s->gaps, 0, r->who & 0xffff, weight);

	if (series)
		time_add(&series->gap, to_ns(s, actor_abi_low48(r->first)), weight);
}

static void tally_add(
	struct stream *s, size_t family, uint64_t id, uint64_t reason, uint64_t weight)
{
	counter_add(&s->tallies[family < STREAM_TALLIES ? family : STREAM_TALLIES - 1],
		reason > UINT16_MAX ? MAPS_OVERFLOW : reason, 0,
		id > UINT16_MAX ? MAPS_OVERFLOW : (uint32_t)id, weight);
}

static void life_add(struct stream *s, const struct actor_abi_record *r, uint64_t weight)
{
	uint32_t event = actor_abi_meta_type(r->meta);
	uint64_t id = actor_abi_meta_class(r->meta);

	if (event == ACTOR_ABI_LIFE_SPAWN)
		sender_learn(s, r->who, (uint32_t)id);
	if (event == ACTOR_ABI_LIFE_DISPATCHER_ERROR)
		id = r->first;
	tally_add(s, event ? event : STREAM_TALLIES, id, event == ACTOR_ABI_LIFE_DROP ? r->second : 0, weight);
}

static void other_add(struct stream *s, const struct actor_abi_record *r, uint64_t weight)
{
	switch (actor_abi_meta_kind(r->meta)) {
	case ACTOR_ABI_YIELD:
		tally_add(s, STREAM_YIELDS, actor_abi_meta_dispatcher(r->meta), r->first, weight);
		break;
	case ACTOR_ABI_LOOP:
		loop_add(s, r, weight);
		break;
	case ACTOR_ABI_LIFE:
		life_add(s, r, weight);
		break;
	case ACTOR_ABI_MARK:
		break; /* trace mode's */
	default:
		messages_add(s, weight);
		s->total.lost[LOST_FORMAT] += weight;
	}
}

/* ---- batches ---- */

static void account_add(struct stream *s, const struct ring_batch *b)
{
	struct stream_loop *loop = &s->loops[b->loop];
	const struct actor_abi_handover *head = &b->head;

	if (!loop->known) {
		/* Partner: account_cost(), which looks without the lock. */
		__atomic_store_n(&loop->known, true, __ATOMIC_RELAXED);
		loop->first = head->delivered;
		loop->first_elsewhere = b->elsewhere;
		loop->first_sequence = head->sequence;
	} else {
		uint64_t expected = loop->end + (b->elsewhere - loop->elsewhere);

		loop->gaps +=
			head->delivered != expected ||
			head->sequence != loop->sequence + 1 +
						  (b->elsewhere_batches - loop->elsewhere_batches);
		if (head->delivered > expected)
			loop->missed += head->delivered - expected;
	}
	loop->end = head->delivered + b->messages;
	loop->elsewhere = b->elsewhere;
	loop->elsewhere_batches = b->elsewhere_batches;
	loop->sequence = head->sequence;
}

void stream_take(struct stream *s, const struct ring_batch *b, size_t bytes)
{
	uint64_t weight = 1, heavier = 0;

	if (bytes < sizeof(*b) || b->loop >= ACTOR_ABI_LOOPS ||
		b->records > (bytes - sizeof(*b)) / sizeof(b->record[0]))
		return;
	if (s->tap.batch)
		s->tap.batch(s->tap.data, b, bytes);
	account_add(s, b);
	calibration_refine(&s->calibration, &s->origin,
		&(struct calibration_pair){b->head.ticks, b->head.monotonic_ns});
	if (b->skipped && b->messages) {
		weight = (b->messages + b->skipped) / b->messages;
		heavier = (b->messages + b->skipped) % b->messages;
	}
	for (uint32_t i = 0; i < b->records; i++) {
		const struct actor_abi_record *r = &b->record[i];
		uint32_t kind = actor_abi_meta_kind(r->meta);

		if (kind == ACTOR_ABI_MESSAGE) {
			message_add(s, r, weight + (heavier > 0));
			heavier -= heavier > 0;
		} else if (kind == ACTOR_ABI_TURN) {
			turn_add(s, r, weight);
		} else {
			other_add(s, r, weight);
		}
	}
	s->batches++;
	s->records += b->records;
}
