/* SPDX-License-Identifier: MIT */
/* Mailboxes as their actors see them: what is handled, dropped, refused, destroyed. */
#include "tests/lab.h"
#include "tests/notes.h"

static actor_ref note_spawn(struct lab *lab, const struct actor_mailbox_options *mailbox)
{
	const struct actor_spawn_options options = {
		.size = sizeof(options), .name = "note", .mailbox = mailbox};
	actor_ref ref;

	memset(&notes, 0, sizeof(notes));
	assert_int_equal(actor_system_spawn(lab->system, &note_class, &options, &ref), 0);
	return ref;
}

static const struct {
	struct actor_mailbox_options mailbox;
	const char *told;
	const char *handled;
	int rc; /* of the last tell */
	uint32_t dropped;
} rows[] = {
	{MAILBOX(0), "abc", "abc", 0, 0},
	{MAILBOX(.capacity = 2), "ab", "ab", 0, 0},
	{MAILBOX(.capacity = 2), "abcde", "de", 0, 3},
	{MAILBOX(.capacity = 1, .overflow = ACTOR_DROP_HEAD), "abc", "c", 0, 2},
	{MAILBOX(.capacity = 2, .overflow = ACTOR_DROP_NEW), "abcd", "ab", 0, 2},
	{MAILBOX(.capacity = 2, .overflow = ACTOR_REJECT), "abcd", "ab", ACTOR_EFULL, 0},
	{MAILBOX(.rank = rank), "cab", "abc", 0, 0},
	{MAILBOX(.rank = rank), "9b8a", "ab98", 0, 0},
	{MAILBOX(.rank = rank, .capacity = 2), "cab", "ab", 0, 1},
	{MAILBOX(.rank = rank, .capacity = 2), "abc", "ab", 0, 1},
	{MAILBOX(.rank = rank, .capacity = 2, .overflow = ACTOR_DROP_NEW), "cba", "bc", 0, 1},
	{MAILBOX(.rank = rank, .capacity = 2, .overflow = ACTOR_REJECT), "cba", "bc", ACTOR_EFULL, 0},
	/* While the first is handled it has left the mailbox, and is not what makes room. */
	{MAILBOX(.capacity = 2), "*", "*45", 0, 3},
	{MAILBOX(.capacity = 2, .overflow = ACTOR_DROP_NEW), "*", "*12", 0, 3},
	{MAILBOX(.rank = rank, .capacity = 3), "*a", "*123", 0, 3},
};

static void each_policy_handles_what_it_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab lab;
		actor_ref ref;
		int rc = 0;

		lab_open(&lab, NULL);
		ref = note_spawn(&lab, &rows[i].mailbox);
		for (const char *c = rows[i].told; *c; c++)
			rc = token_tell(&lab, ref, *c);
		lab_run(&lab);
		notes_expect(i, rows[i].handled);
		assert_int_equal(rc, rows[i].rc);
		assert_int_equal(lab_stats(&lab).failed, 0);
		assert_int_equal(lab_stats(&lab).dropped, rows[i].dropped);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

static void case_24_a_rank_that_fails_is_last_and_harms_no_teller(void **state)
{
	static const struct actor_mailbox_options mailbox = MAILBOX(.rank = rank);
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	ref = note_spawn(&lab, &mailbox);
	for (const char *c = "998a9b"; *c; c++)
		assert_int_equal(token_tell(&lab, ref, *c), 0);
	lab_run(&lab);
	assert_string_equal(notes.text, "ab9989"); /* those in the order in which they were told */
	assert_int_equal(lab_stats(&lab).failed, 0);
	lab_close(&lab);
	assert_int_equal(lab.logged, 0);
}

static void a_teller_keeps_a_rejected_message_and_fails_not(void **state)
{
	static const struct actor_mailbox_options mailbox =
		MAILBOX(.capacity = 3, .overflow = ACTOR_REJECT);
	struct counted *big[2];
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	ref = note_spawn(&lab, &mailbox);
	assert_int_equal(token_tell(&lab, ref, '*'), 0); /* has room for three of its five */
	lab_run(&lab);
	assert_string_equal(notes.text, "*123");
	assert_int_equal(notes.rc, ACTOR_EFULL);
	assert_int_equal(lab_stats(&lab).failed, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(token_tell(&lab, ref, 'x'), 0);
	big[0] = counted_new(1);
	assert_int_equal(actor_system_tell(
				 lab.system, ref, &counted_type, big[0], sizeof(*big[0])),
		ACTOR_EFULL);
	assert_int_equal(big[0]->value, 1);
	counted_type.destroy(big[0], sizeof(*big[0]));
	/* A copy of plain bytes that was made for it is no leak. */
	big[1] = calloc(1, sizeof(*big[1]));
	assert_int_equal(
		actor_system_tell(lab.system, ref, &plain_type, big[1], sizeof(*big[1])), ACTOR_EFULL);
	free(big[1]);
	lab_close(&lab);
	assert_int_equal(atomic_load(&counted_alive), 0);
	assert_int_equal(atomic_load(&tokens_alive), 0);
}

/* ---- a bound does not stand between an actor and what it waits for ---- */

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	note(status ? 'T' : 'A');
	return 0;
}

static int on_asker(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word = first_word(m);

	note((char)word);
	if (word == '?')
		for (int i = 0; i < 3; i++)
			notes.rc = actor_ask(ctx, *(actor_ref *)actor_state(ctx), &plain_type, "", 0,
				50, on_answer, NULL);
	return 0;
}

static struct actor_class asker_class = {.size = sizeof(asker_class),
	.name = "asker",
	.state_bytes = sizeof(actor_ref),
	.on_message = on_asker};

static void on_late(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

/* Answers, and tells the asker something behind each answer. */
static int on_echo(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word = 'm';

	actor_reply(ctx, &plain_type, NULL, 0);
	return actor_tell(ctx, m->sender, &plain_type, &word, sizeof(word));
}

/* Never answers. */
static int on_mute(struct actor_ctx *ctx, const struct actor_message *m)
{
	return 0;
}

static struct actor_class echo_class = {
	.size = sizeof(echo_class), .name = "echo", .on_message = on_echo};
static struct actor_class mute_class = {
	.size = sizeof(mute_class), .name = "mute", .on_message = on_mute};

static void answers_and_time_outs_pass_a_full_mailbox(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		struct actor_class *other;
		const char *handled;
	} cases[] = {
		{MAILBOX(.capacity = 1), &echo_class, "?AAAm"},
		{MAILBOX(.capacity = 1, .rank = rank), &echo_class, "?AAAm"},
		{MAILBOX(.capacity = 1), &mute_class, "?TTT"},
		{MAILBOX(.capacity = 1, .overflow = ACTOR_REJECT), &mute_class, "?TTT"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &cases[i].mailbox};
		uint64_t word = '?';
		actor_ref other, asker;
		uv_timer_t timer;
		struct lab lab;

		memset(&notes, 0, sizeof(notes));
		lab_open(&lab, NULL);
		uv_timer_init(&lab.loop, &timer); /* asks keep no loop alive */
		uv_timer_start(&timer, on_late, 400, 0);
		assert_int_equal(actor_system_spawn(lab.system, cases[i].other, NULL, &other), 0);
		options.init = &other;
		assert_int_equal(
			actor_system_spawn(lab.system, &asker_class, &options, &asker), 0);
		assert_int_equal(
			actor_system_tell(lab.system, asker, &plain_type, &word, sizeof(word)), 0);
		lab_run(&lab);
		assert_int_equal(notes.rc, 0);
		notes_expect(i, cases[i].handled);
		lab_close(&lab);
	}
}

static void a_stop_keeps_its_place_whatever_the_mailbox_is(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		const char *told; /* '!' stops */
		const char *handled;
		uint32_t dead_letters;
	} cases[] = {
		{MAILBOX(.capacity = 2), "a!", "a", 0},
		{MAILBOX(.capacity = 1), "a!b", "", 1}, /* the newest is what stays */
		{MAILBOX(.capacity = 1), "!abc", "", 1},
		{MAILBOX(.capacity = 3), "ab!c", "b", 1}, /* the stop counts, and stays */
		{MAILBOX(.capacity = 1, .overflow = ACTOR_REJECT), "a!", "a", 0},
		{MAILBOX(.rank = rank), "cb!a", "bc", 1},
		{MAILBOX(.rank = rank), "9!a", "9", 1},
		{MAILBOX(.rank = rank), "b!!a", "b", 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lab lab;
		actor_ref ref;

		lab_open(&lab, NULL);
		ref = note_spawn(&lab, &cases[i].mailbox);
		for (const char *c = cases[i].told; *c; c++) {
			if (*c == '!')
				assert_int_equal(actor_system_stop(lab.system, ref), 0);
			else
				token_tell(&lab, ref, *c);
		}
		lab_run(&lab);
		notes_expect(i, cases[i].handled);
		assert_int_equal(atomic_load(&lab.dead_letters), cases[i].dead_letters);
		assert_int_equal(lab_stats(&lab).terminated, 1);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

/* ---- whose payload is dropped may tell ---- */

static struct lab *telling_lab;
static actor_ref telling_to;
static int tellings;

static void telling_destroy(void *payload, size_t bytes)
{
	uint64_t token = token_new('t');

	if (tellings-- > 0)
		assert_int_equal(actor_system_tell(telling_lab->system, telling_to, &token_type,
					 &token, sizeof(token)),
			0);
	else
		atomic_fetch_sub(&tokens_alive, 1);
}

static struct actor_type telling_type = {sizeof(telling_type), "telling", telling_destroy, NULL, 0};

static void a_payload_that_is_destroyed_may_tell_the_same_mailbox(void **state)
{
	static const struct actor_mailbox_options mailbox = MAILBOX(.capacity = 2);
	uint64_t word = 'a';
	struct lab lab;

	(void)state;
	lab_open(&lab, NULL);
	telling_lab = &lab;
	telling_to = note_spawn(&lab, &mailbox);
	tellings = 7;
	for (int i = 0; i < 20; i++)
		assert_int_equal(actor_system_tell(lab.system, telling_to, &telling_type, &word,
					 sizeof(word)),
			0);
	lab_run(&lab);
	assert_int_equal(notes.count, 2);
	assert_int_equal(lab_stats(&lab).dropped, 20 + 7 - 2);
	lab_close(&lab);
	assert_int_equal(atomic_load(&tokens_alive), 0);
}

/* ---- where the options come from ---- */

static void a_class_has_a_mailbox_for_all_its_actors(void **state)
{
	static const struct actor_mailbox_options two = MAILBOX(.capacity = 2);
	static const struct actor_mailbox_options plain = MAILBOX(0);
	static struct actor_class two_class = {.size = sizeof(two_class),
		.name = "two",
		.on_message = on_note,
		.mailbox = &two};
	/* Built before mailboxes: what stands behind its size is none of its own. */
	static struct actor_class older_class = {.size = offsetof(struct actor_class, mailbox),
		.name = "older",
		.on_message = on_note,
		.mailbox = (const struct actor_mailbox_options *)1};
	static const struct {
		struct actor_class *cls;
		struct actor_spawn_options options;
		const char *handled;
	} cases[] = {
		{&two_class, {.size = sizeof(struct actor_spawn_options)}, "bc"},
		{&two_class, {.size = sizeof(struct actor_spawn_options), .mailbox = &plain}, "abc"},
		{&two_class,
			{.size = offsetof(struct actor_spawn_options, mailbox),
				.mailbox = (const struct actor_mailbox_options *)1},
			"bc"},
		{&older_class, {.size = sizeof(struct actor_spawn_options)}, "abc"},
		{&older_class, {.size = sizeof(struct actor_spawn_options), .mailbox = &two}, "bc"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lab lab;
		actor_ref ref;

		lab_open(&lab, NULL);
		memset(&notes, 0, sizeof(notes));
		assert_int_equal(
			actor_system_spawn(lab.system, cases[i].cls, &cases[i].options, &ref), 0);
		for (const char *c = "abc"; *c; c++)
			assert_int_equal(token_tell(&lab, ref, *c), 0);
		lab_run(&lab);
		notes_expect(i, cases[i].handled);
		lab_close(&lab);
	}
}

/* ---- from elsewhere nobody can be told: a counted drop ---- */

static void a_message_from_outside_that_is_rejected_is_a_counted_drop(void **state)
{
	static const struct actor_mailbox_options mailbox =
		MAILBOX(.capacity = 1, .overflow = ACTOR_REJECT);
	static struct actor_class quiet_class = {
		.size = sizeof(quiet_class), .name = "quiet", .on_message = on_mute};
	const struct actor_spawn_options options = {.size = sizeof(options), .mailbox = &mailbox};
	const int told = 1009;
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open_owned(&lab, 1);
	assert_int_equal(actor_system_spawn(lab.system, &quiet_class, &options, &ref), 0);
	for (int i = 0; i < told; i++) {
		struct counted *big = counted_new(1);

		assert_int_equal(actor_system_tell(lab.system, ref, &counted_type, big, sizeof(*big)),
			0);
	}
	for (int i = 0; i < 10000; i++) {
		struct actor_stats stats = lab_stats(&lab);

		if (stats.delivered + stats.dropped == (uint64_t)told)
			break;
		sleep_ms(1);
	}
	assert_int_equal(lab_stats(&lab).delivered + lab_stats(&lab).dropped, told);
	assert_int_equal(atomic_load(&counted_alive), 0);
	lab_close(&lab);
}

/* ---- conservation ---- */

#define STRESS_ACTORS 12
#define STRESS_LOOPS  3

struct stress {
	actor_ref actors[STRESS_ACTORS];
	_Atomic uint64_t handled;
	_Atomic uint64_t told;
	_Atomic uint64_t refused;
	_Atomic uint64_t random;
};

static struct stress stress;

static int on_stress(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t random = atomic_fetch_add(&stress.random, 0x9e3779b97f4a7c15ull) | 1;
	uint64_t left = first_word(m);

	atomic_fetch_add(&stress.handled, 1);
	random_next(&random);
	for (uint32_t i = 0; left && i < 1 + random_below(&random, 3); i++) {
		uint64_t token = token_new(left - 1);
		actor_ref to = stress.actors[random_below(&random, STRESS_ACTORS)];
		int rc = actor_tell(ctx, to, &token_type, &token, sizeof(token));

		atomic_fetch_add(&stress.told, 1);
		if (rc == ACTOR_EFULL) {
			atomic_fetch_add(&stress.refused, 1);
			atomic_fetch_sub(&tokens_alive, 1);
		} else if (rc) {
			return rc;
		}
	}
	return random_below(&random, 20000) == 0 ? -1 : 0; /* some fail, and are stopped */
}

static int64_t stress_rank(const struct actor_message *m, void *data)
{
	return (int64_t)(first_word(m) % 5) - 1;
}

static struct actor_class stress_class = {
	.size = sizeof(stress_class), .name = "stress", .on_message = on_stress};

static void stress_spawn(struct lab *lab)
{
	static const struct actor_mailbox_options kinds[] = {
		MAILBOX(0),
		MAILBOX(.capacity = 3),
		MAILBOX(.capacity = 40, .overflow = ACTOR_DROP_NEW),
		MAILBOX(.capacity = 5, .overflow = ACTOR_REJECT),
		MAILBOX(.rank = stress_rank),
		MAILBOX(.rank = stress_rank, .capacity = 20),
	};

	for (int i = 0; i < STRESS_ACTORS; i++) {
		const struct actor_spawn_options options = {.size = sizeof(options),
			.loop = 1 + i % STRESS_LOOPS,
			.mailbox = &kinds[(i / 2) % COUNT(kinds)]};

		assert_int_equal(actor_system_spawn(lab->system, &stress_class, &options,
					 &stress.actors[i]),
			0);
	}
}

static bool stress_rests(struct lab *lab)
{
	struct actor_stats s = lab_stats(lab);

	return s.delivered + s.dropped + s.dead_letters + atomic_load(&stress.refused) ==
	       atomic_load(&stress.told);
}

static void no_message_is_lost_or_doubled_on_three_loops(void **state)
{
	struct lab lab;

	(void)state;
	for (int round = 0; round < 5; round++) {
		memset(&stress, 0, sizeof(stress));
		stress.random = now_ns();
		print_message("seed %#llx\n", (unsigned long long)stress.random);
		lab_open_owned(&lab, STRESS_LOOPS);
		stress_spawn(&lab);
		for (uint64_t i = 0; i < 3000; i++) {
			atomic_fetch_add(&stress.told, 1);
			assert_int_equal(token_tell(&lab, stress.actors[i % STRESS_ACTORS], 6), 0);
		}
		for (int i = 0; i < 20000 && !stress_rests(&lab); i++)
			sleep_ms(1);
		assert_true(stress_rests(&lab));
		assert_int_equal(atomic_load(&stress.handled), lab_stats(&lab).delivered);
		assert_true(lab_stats(&lab).dropped > 0);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_policy_handles_what_it_should),
		cmocka_unit_test(case_24_a_rank_that_fails_is_last_and_harms_no_teller),
		cmocka_unit_test(a_teller_keeps_a_rejected_message_and_fails_not),
		cmocka_unit_test(answers_and_time_outs_pass_a_full_mailbox),
		cmocka_unit_test(a_stop_keeps_its_place_whatever_the_mailbox_is),
		cmocka_unit_test(a_payload_that_is_destroyed_may_tell_the_same_mailbox),
		cmocka_unit_test(a_class_has_a_mailbox_for_all_its_actors),
		cmocka_unit_test(a_message_from_outside_that_is_rejected_is_a_counted_drop),
		cmocka_unit_test(no_message_is_lost_or_doubled_on_three_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
