/* SPDX-License-Identifier: MIT */
/* Bounded mailboxes and mailboxes by rank: each against an array that does the same by hand. */
#include "tests/lab.h"

#include "runtime/abi.h"
#include "runtime/box.h"

#define MODEL_MOST 400
#define STEPS	   20000

/* ---- the model: a row of mail in order of arrival, all decisions by looking at each ---- */

struct entry {
	uint64_t number;
	int64_t rank;
	uint32_t epoch;
	bool kept;
};

struct model {
	struct entry at[MODEL_MOST];
	uint32_t count;
	uint32_t epoch;
	uint32_t capacity;
	enum actor_overflow overflow;
	bool ranks;
};

static int order(const struct entry *a, const struct entry *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static struct entry model_remove(struct model *m, uint32_t i)
{
	struct entry e = m->at[i];

	memmove(&m->at[i], &m->at[i + 1], (--m->count - i) * sizeof(e));
	return e;
}

/* The place of what is next, or of the last that may be dropped; -1: there is none. */
static int model_next(const struct model *m)
{
	int next = m->count ? 0 : -1;

	for (uint32_t i = 1; i < m->count && m->ranks; i++)
		if (order(&m->at[i], &m->at[next]) < 0)
			next = (int)i;
	return next;
}

static int model_victim(const struct model *m)
{
	int victim = -1;

	for (uint32_t i = 0; i < m->count; i++)
		if (!m->at[i].kept &&
			(victim < 0 || (m->ranks && order(&m->at[i], &m->at[victim]) >= 0)))
			victim = (int)i;
	return victim;
}

/* 0, or what the box is to say; the number of what is evicted in *gone. */
static int model_put(struct model *m, struct entry e, uint64_t *gone)
{
	int victim;

	*gone = 0;
	if (m->capacity && m->count >= m->capacity && !e.kept) {
		if (m->overflow == ACTOR_REJECT)
			return ACTOR_EFULL;
		if (m->overflow == ACTOR_DROP_NEW)
			return ACTOR__BOX_DROP_NEW;
		victim = model_victim(m);
		if (victim >= 0 && m->ranks && order(&e, &m->at[victim]) >= 0)
			return ACTOR__BOX_DROP_NEW;
		if (victim >= 0)
			*gone = model_remove(m, (uint32_t)victim).number;
	}
	m->at[m->count++] = e;
	return 0;
}

/* ---- the same by the box ---- */

static int64_t rank_by_payload(const struct actor_message *message, void *data)
{
	assert_ptr_equal(data, &plain_type);
	return ((const int64_t *)message->payload)[1];
}

/* `flags`: what the message is. Its number and rank are its payload. */
static struct actor__envelope envelope(uint64_t number, int64_t rank, uint8_t flags)
{
	struct actor__envelope e = {.to = 1, .flags = flags, .bytes = 16};

	memcpy(e.inlined, &number, sizeof(number));
	memcpy(e.inlined + 8, &rank, sizeof(rank));
	return e;
}

static uint64_t number_of(const struct actor_mail *mail)
{
	uint64_t number;

	memcpy(&number, mail->envelope.inlined, sizeof(number));
	return number;
}

struct bench {
	struct actor__box *box;
	struct actor__mails mails;
	struct actor__pool pool;
	struct model model;
	uint64_t numbers;
};

static void bench_open(struct bench *b, const struct actor_mailbox_options *options)
{
	memset(b, 0, sizeof(*b));
	assert_int_equal(actor__box_new(&b->box, options), 0);
	assert_non_null(b->box);
	b->model.capacity = (uint32_t)options->capacity;
	b->model.overflow = b->box->overflow;
	b->model.ranks = options->rank != NULL;
}

static void bench_free(struct bench *b, struct actor_mail *mail)
{
	actor__mail_free(&b->mails, &b->pool, mail);
}

static uint64_t dropped_take(struct bench *b)
{
	struct actor_mail *mail = b->box->list.dropped;
	uint64_t number = 0;

	if (mail) {
		number = number_of(mail);
		assert_int_equal(mail->rank, ACTOR_ABI_DROP_HEAD);
		assert_null(mail->behind);
		b->box->list.dropped = NULL;
		bench_free(b, mail);
	}
	return number;
}

static void bench_put(struct bench *b, int64_t rank, uint8_t flags)
{
	struct entry e = {++b->numbers, rank < 0 ? ACTOR_RANK_LAST : rank, b->model.epoch, flags != 0};
	const struct actor__envelope letter = envelope(e.number, rank, flags);
	struct actor_mail *mail = actor__mail_new(&b->mails, &b->pool, &letter);
	uint64_t gone;
	int rc;

	if (flags & ACTOR__POISON) {
		e.rank = ACTOR_RANK_LAST;
		b->model.epoch++;
	}
	if (flags & ACTOR__REPLY)
		e.rank = -1;
	rc = model_put(&b->model, e, &gone);
	assert_int_equal(actor__box_put(b->box, mail), rc);
	if (rc)
		bench_free(b, mail);
	assert_int_equal(dropped_take(b), gone);
	assert_int_equal(actor__box_count(b->box), b->model.count);
}

static void bench_pop(struct bench *b, bool oldest)
{
	int next = oldest ? (b->model.count ? 0 : -1) : model_next(&b->model);
	struct actor_mail *mail = oldest ? actor__box_oldest(b->box) : actor__box_pop(b->box);

	if (next < 0) {
		assert_null(mail);
		return;
	}
	assert_non_null(mail);
	assert_int_equal(number_of(mail), model_remove(&b->model, (uint32_t)next).number);
	assert_int_equal(actor__box_count(b->box), b->model.count);
	bench_free(b, mail);
}

static void bench_close(struct bench *b)
{
	while (b->model.count)
		bench_pop(b, true);
	bench_pop(b, true);
	assert_null(b->mails.open); /* each chunk was given back */
	actor__box_free(b->box);
	actor__pool_fini(&b->pool);
}

static const struct {
	int64_t capacity;
	enum actor_overflow overflow;
	bool ranks;
	uint32_t different; /* ranks */
} kinds[] = {
	{1, ACTOR_DROP_HEAD, false, 1},
	{7, 0, false, 1},
	{64, ACTOR_DROP_HEAD, false, 1},
	{7, ACTOR_DROP_NEW, false, 1},
	{7, ACTOR_REJECT, false, 1},
	{0, 0, true, 5},
	{0, 0, true, 1000000},
	{1, ACTOR_DROP_LOWEST, true, 3},
	{30, 0, true, 3},
	{30, ACTOR_DROP_LOWEST, true, 1000000},
	{30, ACTOR_DROP_NEW, true, 4},
	{30, ACTOR_REJECT, true, 4},
};

static uint8_t random_flags(uint64_t *random)
{
	uint32_t kind = random_below(random, 40);

	return kind == 0 ? ACTOR__POISON : kind < 3 ? ACTOR__REPLY : 0;
}

static void random_operations_match_the_model(void **state)
{
	uint64_t random = now_ns() | 1;

	(void)state;
	print_message("seed %#llx\n", (unsigned long long)random);
	for (size_t k = 0; k < COUNT(kinds); k++) {
		const struct actor_mailbox_options options = {.size = sizeof(options),
			.capacity = kinds[k].capacity,
			.overflow = kinds[k].overflow,
			.rank = kinds[k].ranks ? rank_by_payload : NULL,
			.rank_data = &plain_type};
		struct bench b;
		uint32_t puts = 50;

		bench_open(&b, &options);
		for (int i = 0; i < STEPS; i++) {
			if (i % 500 == 0)
				puts = 20 + random_below(&random, 65);
			if (random_below(&random, 100) < puts && b.model.count < MODEL_MOST - 1)
				bench_put(&b, (int64_t)random_below(&random, kinds[k].different + 1) - 1,
					random_flags(&random));
			else
				bench_pop(&b, random_below(&random, 50) == 0);
		}
		bench_close(&b);
	}
}

static void a_bound_steps_over_what_must_be_kept(void **state)
{
	const struct actor_mailbox_options options = {.size = sizeof(options), .capacity = 2};
	struct bench b;

	(void)state;
	bench_open(&b, &options);
	for (int i = 0; i < 5; i++)
		bench_put(&b, 0, ACTOR__REPLY);
	assert_int_equal(b.model.count, 5); /* more than the capacity */
	bench_put(&b, 0, 0);
	assert_int_equal(b.model.count, 6); /* nothing can make room for it */
	bench_put(&b, 0, 0);
	assert_int_equal(b.model.count, 6); /* now the one before could */
	bench_close(&b);
}

static void a_million_ranks_are_popped_in_order(void **state)
{
	const struct actor_mailbox_options options = {
		.size = sizeof(options), .rank = rank_by_payload, .rank_data = &plain_type};
	uint64_t random = 88172645463325252ull;
	struct bench b;
	int64_t last = -1;

	(void)state;
	bench_open(&b, &options);
	for (int i = 0; i < 1000000; i++) {
		/* Half of them falling: the worst for a tree that is not balanced. */
		const struct actor__envelope e = envelope((uint64_t)i,
			i % 2 ? 2000000 - i : (int64_t)random_below(&random, 1u << 30), 0);
		struct actor_mail *mail = actor__mail_new(&b.mails, &b.pool, &e);

		assert_int_equal(actor__box_put(b.box, mail), 0);
	}
	for (int i = 0; i < 1000000; i++) {
		struct actor_mail *mail = actor__box_pop(b.box);

		assert_true(mail->rank >= last);
		last = mail->rank;
		bench_free(&b, mail);
	}
	bench_close(&b);
}

static int64_t rank_nothing(const struct actor_message *message, void *data)
{
	return 0;
}

static int nothing_push(void *self, struct actor_mail *mail)
{
	return 0;
}

static struct actor_mail *nothing_pop(void *self)
{
	return NULL;
}

static int nothing_handle(struct actor_ctx *ctx, const struct actor_message *m)
{
	return 0;
}

static size_t nothing_count(const void *self)
{
	return 0;
}

static void options_that_contradict_are_refused(void **state)
{
	static const struct actor_mailbox_ops ops = {.size = sizeof(ops),
		.push = nothing_push,
		.pop = nothing_pop,
		.count = nothing_count};
	static const struct actor_mailbox_ops no_pop = {
		.size = sizeof(ops), .push = nothing_push, .count = nothing_count};
	static const struct actor_mailbox_ops short_ops = {.size = sizeof(ops) - 1,
		.push = nothing_push,
		.pop = nothing_pop,
		.count = nothing_count};
#define O(...) {.size = sizeof(struct actor_mailbox_options), __VA_ARGS__}
	static const struct {
		struct actor_mailbox_options options;
		int rc;
	} rows[] = {
		{O(), 0},
		{O(.capacity = 1), 0},
		{O(.capacity = ACTOR_CAPACITY_MAX), 0},
		{O(.capacity = -1), ACTOR_EOPTIONS},
		{O(.capacity = ACTOR_CAPACITY_MAX + 1ll), ACTOR_EOPTIONS},
		{O(.overflow = ACTOR_DROP_HEAD), ACTOR_EOPTIONS},
		{O(.overflow = ACTOR_REJECT, .rank = rank_nothing), ACTOR_EOPTIONS},
		{O(.capacity = 1, .overflow = (enum actor_overflow)9), ACTOR_EOPTIONS},
		{O(.capacity = 1, .overflow = ACTOR_DROP_LOWEST), ACTOR_EOPTIONS},
		{O(.capacity = 1, .overflow = ACTOR_DROP_HEAD, .rank = rank_nothing), ACTOR_EOPTIONS},
		{O(.capacity = 1, .overflow = ACTOR_REJECT, .rank = rank_nothing), 0},
		{O(.ops = &ops), 0},
		{O(.ops = &ops, .capacity = 1), ACTOR_EOPTIONS},
		{O(.ops = &ops, .rank = rank_nothing), ACTOR_EOPTIONS},
		{O(.ops = &ops, .overflow = ACTOR_REJECT), ACTOR_EOPTIONS},
		{O(.ops = &no_pop), ACTOR_EOPTIONS},
		{O(.ops = &short_ops), ACTOR_EOPTIONS},
		{O(.high_water = -1), 0},
		{O(.high_water = -2), ACTOR_EOPTIONS},
		{O(.high_water = 1ll << 32), ACTOR_EOPTIONS},
		{{.size = 8}, ACTOR_EOPTIONS},
	};
#undef O
	static struct actor_class cls = {
		.size = sizeof(cls), .name = "refused", .on_message = nothing_handle};
	struct lab lab;

	(void)state;
	lab_open(&lab, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &rows[i].options};

		if (actor_system_spawn(lab.system, &cls, &options, NULL) != rows[i].rc)
			fail_msg("row %zu", i);
	}
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations_match_the_model),
		cmocka_unit_test(a_bound_steps_over_what_must_be_kept),
		cmocka_unit_test(a_million_ranks_are_popped_in_order),
		cmocka_unit_test(options_that_contradict_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
