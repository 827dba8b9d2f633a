/* SPDX-License-Identifier: MIT */
/* Stash: what is set aside comes back in order, ahead of the queue, and is owned once. */
#include "tests/lab.h"

#include <stdio.h>
#include <unistd.h>

/* ---- an actor that does with each message what the message says ---- */

/* A letter for the trail, then what to do: s stash, u unstash, t take, f fail, x stop itself,
 * S stash at the first two deliveries only, p stop by message. */
struct note {
	char letter;
	char orders[7];
};

struct clerk {
	char *trail;
	uint32_t seen[128]; /* deliveries by letter */
};

static int last_rc;
static struct actor_type note_type = ACTOR_TYPE("note");

static void trail_add(char *trail, char letter)
{
	size_t n = strlen(trail);

	assert_true(n < 250);
	trail[n] = letter;
	trail[n + 1] = '\0';
}

/* Upper case: delivered and stashed. */
static int clerk_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct clerk *clerk = actor_state(ctx);
	struct note note;
	bool stashed = false;
	int rc = 0;

	memcpy(&note, m->payload, sizeof(note));
	clerk->seen[(int)note.letter]++;
	for (const char *order = note.orders; *order; order++) {
		switch (*order) {
		case 'S':
			if (clerk->seen[(int)note.letter] > 2)
				break; /* fall through to nothing */
			/* fallthrough */
		case 's':
			last_rc = actor_stash(ctx);
			stashed |= last_rc == 0;
			break;
		case 'u':
			last_rc = actor_unstash_all(ctx);
			break;
		case 't':
			assert_ptr_equal(actor_take(ctx), stashed ? NULL : m->payload);
			break;
		case 'f':
			rc = -EIO;
			break;
		case 'x':
			actor_stop_self(ctx);
			break;
		default:
			break;
		}
	}
	trail_add(clerk->trail, (char)(stashed ? note.letter - 32 : note.letter));
	return rc;
}

static struct actor_class clerk_class = {.size = sizeof(struct actor_class),
	.name = "clerk",
	.state_bytes = sizeof(struct clerk),
	.on_message = clerk_message};

static void dead_note(void *data, actor_ref to, const struct actor_message *m)
{
	if (m->type == &note_type)
		trail_add(data, ((const struct note *)m->payload)->letter);
}

/* Orders are separated by blanks: letter, then what to do. '|' runs the loop. */
static const struct {
	const char *told;
	const char *trail;
	const char *dead;
	int64_t capacity;
	int rc; /* of the last call */
	uint64_t delivered;
} rows[] = {
	{"as b cs d eu f", "AbCdeACf", "ac", 0, 0, 4},
	{"as bs cu", "ABcAB", "ab", 0, 0, 1},
	{"aS bS cu du", "ABcABdab", "", 0, 2, 4},
	{"aS bS cuf d", "ABc", "abd", 0, 2, 1}, /* it came back before the failure stopped the actor */
	{"as bs cs dx e", "ABCd", "abce", 0, 0, 1}, /* case 14 */
	{"asf b c", "A", "abc", 0, 0, 0},
	{"as bsx c", "AB", "abc", 0, 0, 0},
	{"as bs cs dx", "ABcd", "ab", 2, ACTOR_ESTASH, 2},
	{"as bs cu dx", "AbcAd", "a", 1, 0, 3},
	{"ast b", "Ab", "a", 0, 0, 1},
	{"ats b", "ab", "", 0, -EINVAL, 2},
	{"ass b", "Ab", "a", 0, -EINVAL, 1},
	{"aSu b", "AAab", "", 0, 0, 2}, /* it stashes itself and brings itself back */
	{"a bu", "ab", "", 0, 0, 2},
};

/* The same, where a failure restarts: what is set aside is lost with the instance, what came back is
 * mail again. */
static const struct {
	const char *told;
	const char *trail;
	const char *dead;
} restart_rows[] = {
	{"as bf c", "Abc", "a"},
	{"as bs cf d", "ABcd", "ab"},
	{"asf b c", "Abc", "a"},
	{"aS bS cuf d", "ABcABd", "ab"}, /* the new instance sets them aside again */
	{"aS bS cu dS ef f", "ABcABDef", "abd"},
};

static actor_ref clerk_spawn(struct lab *lab, char *trail, int64_t capacity, bool restarts)
{
	struct clerk init = {.trail = trail};
	struct actor_spawn_options options = {.size = sizeof(options),
		.init = &init,
		.stash_capacity = capacity,
		.strategy = restarts ? NULL : &lab_stops};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &clerk_class, &options, &ref), 0);
	return ref;
}

static void tell_notes(struct lab *lab, actor_ref ref, const char *told)
{
	while (*told) {
		struct note note = {0};
		size_t n = strcspn(told, " ");

		note.letter = *told;
		memcpy(note.orders, told + 1, n - 1);
		assert_int_equal(actor_system_tell(
					 lab->system, ref, &note_type, &note, sizeof(note)),
			0);
		told += n + (told[n] == ' ');
	}
}

static void what_is_stashed_comes_back_or_is_a_dead_letter_in_order_case_14(void **state)
{
	for (int64_t throughput = 1; throughput < 20; throughput += 6)
		for (size_t i = 0; i < COUNT(rows); i++) {
			char trail[256] = "", dead[256] = "";
			struct lab lab;
			actor_ref ref;

			last_rc = 0;
			lab_open(&lab, NULL);
			actor_system_on_dead_letter(lab.system, dead_note, dead);
			ref = clerk_spawn(&lab, trail, rows[i].capacity, false);
			tell_notes(&lab, ref, rows[i].told);
			lab_run(&lab);
			if (rows[i].delivered)
				assert_int_equal(lab_stats(&lab).delivered, rows[i].delivered);
			lab_close(&lab);
			assert_string_equal(trail, rows[i].trail);
			assert_string_equal(dead, rows[i].dead);
			assert_int_equal(last_rc, rows[i].rc);
		}
}

static void a_restart_sends_what_is_stashed_to_the_dead_letters_case_14(void **state)
{
	for (size_t i = 0; i < COUNT(restart_rows); i++) {
		char trail[256] = "", dead[256] = "";
		struct lab lab;

		lab_open(&lab, NULL);
		actor_system_on_dead_letter(lab.system, dead_note, dead);
		tell_notes(&lab, clerk_spawn(&lab, trail, 0, true), restart_rows[i].told);
		lab_run(&lab);
		lab_close(&lab);
		assert_string_equal(trail, restart_rows[i].trail);
		assert_string_equal(dead, restart_rows[i].dead);
	}
}

/* ---- random operations against an array ---- */

#define MODEL_MOST 4096

/* What the runtime should do: the queue, and what is set aside, as arrays. */
struct model {
	uint32_t queue[MODEL_MOST], aside[MODEL_MOST];
	uint32_t queued, set_aside, capacity;
	uint64_t random;
	uint32_t next;   /* number of the next message */
	uint32_t left;   /* messages that may still be told */
	uint32_t wrong;
	uint64_t delivered; /* without those that were stashed */
};

static void model_push(struct model *m, uint32_t number)
{
	assert_true(m->queued < MODEL_MOST);
	m->queue[m->queued++] = number;
}

static uint32_t model_pop(struct model *m)
{
	uint32_t number = m->queue[0];

	memmove(m->queue, m->queue + 1, --m->queued * sizeof(m->queue[0]));
	return number;
}

static void model_unstash(struct model *m)
{
	memmove(m->queue + m->set_aside, m->queue, m->queued * sizeof(m->queue[0]));
	memcpy(m->queue, m->aside, m->set_aside * sizeof(m->queue[0]));
	m->queued += m->set_aside;
	m->set_aside = 0;
}

static struct model *model_of(struct actor_ctx *ctx)
{
	return *(struct model **)actor_state(ctx);
}

/* A message with this number, of any of three kinds of payload. */
static int model_tell(struct actor_ctx *ctx, struct model *m)
{
	uint32_t number = m->next++;
	struct counted copied = {.value = number};
	uint64_t token;

	model_push(m, number);
	switch (number % 3) {
	case 0:
		return actor_tell(ctx, actor_self(ctx), &counted_type, counted_new(number),
			sizeof(struct counted));
	case 1:
		token = token_new(number);
		return actor_tell(ctx, actor_self(ctx), &token_type, &token, sizeof(token));
	default:
		return actor_tell(ctx, actor_self(ctx), &note_type, &copied, sizeof(copied));
	}
}

static int model_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct model *m = model_of(ctx);
	uint32_t number = (uint32_t) * (const uint64_t *)message->payload;
	uint32_t stash = random_below(&m->random, 3) == 0;
	bool full = m->set_aside >= m->capacity;

	m->wrong += number != model_pop(m);
	for (uint32_t i = random_below(&m->random, 3); i && m->left; i--, m->left--)
		m->wrong += model_tell(ctx, m) != 0;
	if (stash) {
		m->wrong += actor_stash(ctx) != (full ? ACTOR_ESTASH : 0);
		if (!full)
			m->aside[m->set_aside++] = number;
	}
	if (random_below(&m->random, 8) == 0 || !m->queued) {
		m->wrong += actor_unstash_all(ctx) != (int)m->set_aside;
		model_unstash(m);
	}
	if (!stash || full) {
		m->delivered++;
		if (message->type == &counted_type && random_below(&m->random, 4) == 0) {
			struct counted *taken = actor_take(ctx);

			atomic_fetch_sub(&counted_alive, 1);
			free(taken);
		}
	}
	return 0;
}

static struct actor_class model_class = {.size = sizeof(struct actor_class),
	.name = "model",
	.state_bytes = sizeof(struct model *),
	.on_message = model_message};

static void a_stash_does_what_an_array_would(void **state)
{
	uint64_t seed = now_ns() ^ (uint64_t)getpid() << 40;

	if (getenv("STRESS_SEED"))
		seed = strtoull(getenv("STRESS_SEED"), NULL, 0);
	print_message("seed %#llx\n", (unsigned long long)seed);
	for (uint64_t round = 0; round < 200; round++) {
		struct model *m = calloc(1, sizeof(*m));
		struct actor_spawn_options options = {.size = sizeof(options), .init = &m};
		struct lab lab;
		actor_ref ref;

		m->random = (seed + round * 0x9e3779b97f4a7c15ull) | 1;
		m->left = 500;
		m->capacity = 1 + random_below(&m->random, 40);
		options.stash_capacity = m->capacity;
		options.throughput = 1 + random_below(&m->random, 40);
		lab_open(&lab, NULL);
		assert_int_equal(
			actor_system_spawn(lab.system, &model_class, &options, &ref), 0);
		for (int i = 0; i < 50; i++) {
			struct counted copied = {.value = m->next};

			model_push(m, m->next++);
			actor_system_tell(lab.system, ref, &note_type, &copied, sizeof(copied));
		}
		lab_run(&lab);
		assert_int_equal(m->wrong, 0);
		assert_int_equal(m->queued, 0);
		assert_int_equal(lab_stats(&lab).delivered, m->delivered);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, m->set_aside);
		assert_int_equal(counted_alive, 0);
		assert_int_equal(tokens_alive, 0);
		free(m);
	}
}

/* ---- budgets ---- */

static uint32_t rounds;

/* Brings itself back at once, for ever. */
static int eternal_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	rounds++;
	return actor_stash(ctx) || actor_unstash_all(ctx) != 1 ? -1 : 0;
}

static struct actor_class eternal_class = {
	.size = sizeof(struct actor_class), .name = "eternal", .on_message = eternal_message};

static void a_message_that_always_comes_back_holds_nobody_up(void **state)
{
	struct lab lab;
	actor_ref ref;
	struct actor_spawn_options options = {.size = sizeof(options), .throughput = 5};
	uint64_t n = 1;

	(void)state;
	rounds = 0;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &eternal_class, &options, &ref), 0);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, &n, sizeof(n)), 0);
	for (uint32_t pass = 1; pass <= 10; pass++) {
		uint64_t turns = lab_stats(&lab).turns;

		rounds = 0;
		uv_run(&lab.loop, UV_RUN_NOWAIT);
		/* 64 units of 5 messages each */
		assert_int_equal(lab_stats(&lab).turns - turns, 64);
		assert_int_equal(rounds, 320);
	}
	assert_int_equal(lab_stats(&lab).delivered, 0);
	/* A stop is a message: what comes back is before it for ever. Closing ends it. */
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 1);
}

/* ---- capacity and options ---- */

static int hoarder_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	int rc = actor_stash(ctx);

	if (rc)
		last_rc = rc;
	return 0;
}

static struct actor_class hoarder_class = {
	.size = sizeof(struct actor_class), .name = "hoarder", .on_message = hoarder_message};

static void capacity_is_1024_unless_an_option_says_otherwise(void **state)
{
	static const struct {
		int64_t capacity;
		size_t size; /* of the options; 0: all */
		uint32_t stashed;
		int rc;
	} capacities[] = {
		{0, 0, 1024, 0},
		{1, 0, 1, 0},
		{1500, 0, 1500, 0},
		{77, offsetof(struct actor_spawn_options, stash_capacity), 1024, 0}, /* older */
		{-1, 0, 0, ACTOR_EOPTIONS},
		{(int64_t)1 << 33, 0, 0, ACTOR_EOPTIONS},
		{0, 8, 0, ACTOR_EOPTIONS},
		{0, sizeof(struct actor_spawn_options) + 8, 1024, 0}, /* newer, but nothing in it */
	};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		struct {
			struct actor_spawn_options options;
			uint64_t newer;
		} o = {.options = {.size = sizeof(o.options),
			       .stash_capacity = capacities[i].capacity}};
		struct lab lab;
		actor_ref ref;
		uint64_t n = 0;
		int rc;

		last_rc = 0;
		if (capacities[i].size)
			o.options.size = capacities[i].size;
		lab_open(&lab, NULL);
		rc = actor_system_spawn(lab.system, &hoarder_class, &o.options, &ref);
		assert_int_equal(rc, capacities[i].rc);
		if (!rc) {
			for (int j = 0; j < 2000; j++)
				actor_system_tell(lab.system, ref, &plain_type, &n, sizeof(n));
			lab_run(&lab);
			assert_int_equal(last_rc, ACTOR_ESTASH);
			assert_int_equal(lab_stats(&lab).delivered, 2000 - capacities[i].stashed);
		}
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, capacities[i].stashed);
	}
}

/* ---- wrong calls ---- */

static struct actor_ctx *kept;
static int rc_start, rc_stop, rc_thread;

static void *other_thread(void *ctx)
{
	rc_thread = actor_stash(ctx);
	return NULL;
}

static int wrong_start(struct actor_ctx *ctx)
{
	rc_start = actor_stash(ctx);
	return actor_unstash_all(ctx);
}

static int wrong_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	pthread_t thread;

	kept = ctx;
	pthread_create(&thread, NULL, other_thread, ctx);
	pthread_join(thread, NULL);
	return 0;
}

static void wrong_stop(struct actor_ctx *ctx)
{
	rc_stop = actor_stash(ctx);
}

static struct actor_class wrong_class = {.size = sizeof(struct actor_class),
	.name = "wrong",
	.on_start = wrong_start,
	.on_message = wrong_message,
	.on_stop = wrong_stop};

static void calls_outside_of_a_handler_are_refused_and_logged(void **state)
{
	struct lab lab;
	actor_ref ref;
	uint64_t n = 0;

	(void)state;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &wrong_class, NULL, &ref), 0);
	actor_system_tell(lab.system, ref, &plain_type, &n, sizeof(n));
	lab_run(&lab);
	assert_int_equal(rc_start, -EINVAL);
	assert_int_equal(rc_thread, ACTOR_ETHREAD);
	assert_int_equal(lab.logged, 2);
	assert_int_equal(actor_stash(kept), -EINVAL);
	assert_int_equal(actor_unstash_all(kept), -EINVAL);
	assert_non_null(strstr(lab.last_log, "actor_unstash_all"));
	assert_int_equal(lab.logged, 4);
	actor_system_stop(lab.system, ref);
	lab_run(&lab);
	assert_int_equal(rc_stop, -EINVAL);
	assert_int_equal(lab.logged, 5);
	assert_int_equal(actor_stash(NULL), -EINVAL);
	assert_int_equal(actor_unstash_all(NULL), -EINVAL);
	assert_int_equal(lab_stats(&lab).failed, 0);
	lab_close(&lab);
}

/* ---- answers ---- */

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	last_rc = actor_stash(ctx);
	return 0;
}

static int echo_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	static bool before;

	/* Answers a message that was stashed first. */
	if (!before) {
		before = true;
		return actor_stash(ctx) || actor_unstash_all(ctx) != 1;
	}
	return actor_reply(ctx, &plain_type, m->payload, m->bytes);
}

static struct actor_class echo_class = {
	.size = sizeof(struct actor_class), .name = "echo", .on_message = echo_message};

static int asks_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_ask(ctx, *(const actor_ref *)m->payload, &plain_type, m->payload, m->bytes,
		60000, on_answer, NULL);
}

static struct actor_class asks_class = {
	.size = sizeof(struct actor_class), .name = "asks", .on_message = asks_message};

static void a_stashed_question_is_answered_and_an_answer_is_not_stashed(void **state)
{
	struct lab lab;
	actor_ref echo, asks;

	(void)state;
	last_rc = 1;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &echo_class, NULL, &echo), 0);
	assert_int_equal(actor_system_spawn(lab.system, &asks_class, NULL, &asks), 0);
	actor_system_tell(lab.system, asks, &plain_type, &echo, sizeof(echo));
	lab_run(&lab);
	assert_int_equal(last_rc, -EINVAL);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_stashed_comes_back_or_is_a_dead_letter_in_order_case_14),
		TEST(a_restart_sends_what_is_stashed_to_the_dead_letters_case_14),
		TEST(a_stash_does_what_an_array_would),
		TEST(a_message_that_always_comes_back_holds_nobody_up),
		TEST(capacity_is_1024_unless_an_option_says_otherwise),
		TEST(calls_outside_of_a_handler_are_refused_and_logged),
		TEST(a_stashed_question_is_answered_and_an_answer_is_not_stashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
