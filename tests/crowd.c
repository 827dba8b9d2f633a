/* SPDX-License-Identifier: MIT */
/* The crowd, and its accounts. */
#include "tests/crowd.h"

#include <stdio.h>

struct account accounts[KINDS];
_Atomic int64_t instances, spawned, called, wrong;
_Atomic bool over;
_Atomic actor_ref places[CROWD_PLACES];
bool drops, scarce;
uint64_t seed;
static _Atomic uint64_t randoms;
static uint32_t crowd_loops;
_Atomic uint64_t done[DEED_COUNT];

const char *const deed_names[] = {
#define DEED_NAME(name, weight) #name,
	CROWD_DEEDS(DEED_NAME)
#undef DEED_NAME
};

/* ---- accounts ---- */

void complain(int line, int rc)
{
	if (atomic_fetch_add(&wrong, 1) < 10)
		print_error("line %d: %d, %s\n", line, rc, actor_strerror(rc));
}

static bool tolerable(int rc)
{
	return rc == ACTOR_ECLOSED || (scarce && (rc == -ENOMEM || rc == ACTOR_ELIMIT));
}

void count_made(enum kind kind)
{
	atomic_fetch_add_explicit(&accounts[kind].made, 1, memory_order_relaxed);
}

void count_ended(enum kind kind)
{
	atomic_fetch_add_explicit(&accounts[kind].ended, 1, memory_order_relaxed);
}

#define INLINE_TYPE(name_, KIND)                                                                   \
	static void name_##_destroy(void *payload, size_t bytes)                                   \
	{                                                                                          \
		count_ended(KIND);                                                                 \
	}                                                                                          \
	static int name_##_copy(void *to, const void *payload, size_t bytes)                       \
	{                                                                                          \
		memcpy(to, payload, bytes);                                                        \
		count_made(KIND);                                                                  \
		return 0;                                                                          \
	}                                                                                          \
	struct actor_type name_##_type = {                                                         \
		sizeof(struct actor_type), #name_, name_##_destroy, name_##_copy, 0}

INLINE_TYPE(deed, DEED);
INLINE_TYPE(tick, TICK);
INLINE_TYPE(news, NEWS);
INLINE_TYPE(work, WORK);
INLINE_TYPE(answer, ANSWER);

static void crate_destroy(void *payload, size_t bytes)
{
	count_ended(CRATE);
	free(payload);
}

struct actor_type crate_type = {sizeof(struct actor_type), "crate", crate_destroy, NULL, 0};

enum kind kind_of(const struct actor_type *type)
{
	static const struct actor_type *const types[KINDS] = {
		&deed_type, &crate_type, &tick_type, &news_type, &work_type, &answer_type};

	for (unsigned int i = 0; i < KINDS; i++)
		if (types[i] == type)
			return i;
	return KINDS;
}

/* After a payload was handed over, or refused. */
bool accepted(enum kind kind, int rc, enum deed deed)
{
	if (rc < 0) {
		atomic_fetch_sub(&accounts[kind].made, 1);
		if (rc != ACTOR_EFULL && !tolerable(rc))
			complain(__LINE__, rc);
		return false;
	}
	atomic_fetch_add(&done[deed], 1);
	return true;
}

void count_call(enum deed deed, int rc)
{
	if (rc >= 0)
		atomic_fetch_add(&done[deed], 1);
	else if (!tolerable(rc))
		complain(__LINE__, rc);
}

struct crate_payload *crate_new(struct deed_payload deed)
{
	struct crate_payload *crate = calloc(1, sizeof(*crate));

	crate->deed = deed;
	count_made(CRATE);
	return crate;
}

/* ---- actors ---- */

static int on_start(struct actor_ctx *ctx)
{
	struct actor *self = actor_state(ctx);

	self->random = new_random(); /* of this instance: the same again would fail again */
	atomic_fetch_add(&instances, 1);
	return random_below(&self->random, 50) ? 0 : -EAGAIN;
}

static void on_stop(struct actor_ctx *ctx)
{
	atomic_fetch_sub(&instances, 1);
}

static struct actor_class classes[6];

static int64_t rank_of(const struct actor_message *message, void *data)
{
	return kind_of(message->type);
}

static const struct actor_mailbox_options mailboxes[] = {
	{.size = sizeof(mailboxes[0]), .capacity = 4},
	{.size = sizeof(mailboxes[0]), .capacity = 4, .overflow = ACTOR_DROP_NEW},
	{.size = sizeof(mailboxes[0]), .capacity = 4, .overflow = ACTOR_REJECT},
	{.size = sizeof(mailboxes[0]), .capacity = 4, .rank = rank_of},
	{.size = sizeof(mailboxes[0]), .rank = rank_of},
};

/* Of the classes, the first two have mailboxes that drop nothing. */
void crowd_begin(void)
{
	static const struct actor_mailbox_options *const of[COUNT(classes)] = {
		NULL, &mailboxes[4], &mailboxes[0], &mailboxes[1], &mailboxes[2], &mailboxes[3]};
	static char names[COUNT(classes)][16];

	for (unsigned int i = 0; i < COUNT(classes); i++) {
		snprintf(names[i], sizeof(names[i]), "class%u", i);
		classes[i] = (struct actor_class){.size = sizeof(classes[i]),
			.name = names[i],
			.state_bytes = sizeof(struct actor),
			.on_start = on_start,
			.on_message = crowd_message,
			.on_stop = on_stop,
			.keeps_children = i % 2,
			.mailbox = of[i]};
	}
}

uint64_t new_random(void)
{
	return (seed + atomic_fetch_add(&randoms, 1) * 0x9e3779b97f4a7c15ull) | 1;
}

actor_ref somebody(uint64_t *random)
{
	return atomic_load(&places[random_below(random, CROWD_PLACES)]);
}

int crowd_spawn(struct actor_system *system, struct actor_ctx *ctx, struct actor init,
	uint64_t *random, actor_ref *ref)
{
#define STRATEGY(...)                                                                              \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}
	static const struct actor_strategy strategies[] = {
		STRATEGY(.max_retries = -1),
		STRATEGY(.directive = ACTOR_DIRECTIVE_RESUME),
		STRATEGY(.directive = ACTOR_DIRECTIVE_STOP),
		STRATEGY(.max_retries = 1, .backoff_min_ms = 1),
		STRATEGY(.scope = ACTOR_ALL_FOR_ONE, .max_retries = -1),
		STRATEGY(.directive = ACTOR_DIRECTIVE_ESCALATE),
	};
	/* The last two are for children only. */
	const uint32_t choice = random_below(random, ctx ? 6 : 4);
	struct actor_spawn_options options = {.size = sizeof(options),
		.init = &init,
		.throughput = 1 + random_below(random, 20),
		.loop = 1 + (int)random_below(random, crowd_loops),
		.stash_capacity = 8,
		.strategy = &strategies[choice]};
	struct actor_class *cls = &classes[random_below(random, drops ? COUNT(classes) : 2)];
	int rc;

	rc = ctx ? actor_spawn(ctx, cls, &options, ref)
		 : actor_system_spawn(system, cls, &options, ref);
	if (rc == 0)
		atomic_fetch_add(&spawned, 1);
	else if (!tolerable(rc))
		complain(__LINE__, rc);
	return rc;
}

int settle(struct actor_system *system, struct actor_ctx *ctx, uint32_t place, uint64_t *random)
{
	actor_ref ref;
	int rc = crowd_spawn(
		system, ctx, (struct actor){.place = place, .depth = ctx ? 1 : 0}, random, &ref);

	if (rc == 0)
		atomic_store(&places[place], ref);
	return rc;
}

/* ---- pending handlers, completed by anybody ---- */

static struct actor_token dangling[CROWD_DANGLING];
static pthread_mutex_t dangling_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts a token at a random place and gives back the one that was there. */
struct actor_token dangle(struct actor_token token, uint64_t *random)
{
	const uint32_t i = random_below(random, CROWD_DANGLING);
	struct actor_token old;

	pthread_mutex_lock(&dangling_lock);
	old = dangling[i];
	dangling[i] = token;
	pthread_mutex_unlock(&dangling_lock);
	return old;
}

int on_complete(struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	atomic_fetch_sub(&called, 1);
	return status == -ECANCELED ? 0 : status;
}

void complete(struct actor_system *system, struct actor_token token, uint64_t *random)
{
	int rc;

	if (!token.actor)
		return;
	atomic_fetch_add(&called, 1);
	rc = actor_complete(system, token, random_below(random, 20) ? 0 : -EIO, on_complete, NULL);
	if (rc) /* abandoned at a close, or its actor is gone */
		atomic_fetch_sub(&called, 1);
	if (rc && rc != -ESTALE)
		complain(__LINE__, rc);
}

void dangling_end(struct actor_system *system, uint64_t *random)
{
	for (uint32_t i = 0; i < CROWD_DANGLING; i++) {
		struct actor_token token;

		pthread_mutex_lock(&dangling_lock); /* some may still come */
		token = dangling[i];
		dangling[i] = (struct actor_token){0, 0};
		pthread_mutex_unlock(&dangling_lock);
		if (system)
			complete(system, token, random);
	}
}

/* ---- a run ---- */

void crowd_reset(uint32_t loops, bool may_drop)
{
	memset(accounts, 0, sizeof(accounts));
	dangling_end(NULL, NULL);
	for (uint32_t i = 0; i < CROWD_PLACES; i++)
		atomic_store(&places[i], ACTOR_NONE);
	atomic_store(&spawned, 0);
	atomic_store(&over, false);
	crowd_loops = loops;
	drops = may_drop;
}

void crowd_again(void)
{
	atomic_store(&randoms, 0);
}

void crowd_dead(void *data, actor_ref recipient, const struct actor_message *message)
{
	enum kind kind = kind_of(message->type);

	if (kind < KINDS)
		atomic_fetch_add_explicit(&accounts[kind].dead, 1, memory_order_relaxed);
}

void crowd_closed(struct actor_system *system, void *data)
{
	assert_int_equal(actor_system_stats(system, data), 0);
}

void crowd_log(void *data, enum actor_log_level level, const char *text)
{
}

/* What a run has told of a kind is handled, dead or dropped, and destroyed once. */
void crowd_balance(const struct actor_stats *stats)
{
	int64_t dropped = 0;

	for (int i = 0; i < KINDS; i++) {
		int64_t made = atomic_load(&accounts[i].made);

		if (made != atomic_load(&accounts[i].ended))
			fail_msg("kind %d: %lld payloads, %lld destroyed", i, (long long)made,
				(long long)atomic_load(&accounts[i].ended));
		if (i == DEED || i == CRATE)
			dropped += made - atomic_load(&accounts[i].handled) -
				   atomic_load(&accounts[i].dead);
	}
	if (dropped < 0 || dropped > (int64_t)stats->dropped || (!drops && !scarce && dropped))
		fail_msg("%lld of the messages told were neither handled nor dead, %llu dropped",
			(long long)dropped, (unsigned long long)stats->dropped);
	assert_int_equal(atomic_load(&instances), 0);
	assert_int_equal(atomic_load(&called), 0);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(stats->created, atomic_load(&spawned));
	assert_int_equal(stats->terminated, stats->created);
}
