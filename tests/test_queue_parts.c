/* SPDX-License-Identifier: MIT */
/* Mailboxes that are no plain FIFO beside what else an actor has: stash, timers, throttle, pending
 * handlers; and without memory. */
#include "tests/lab.h"
#include "tests/notes.h"

/* ---- with the stash ---- */

/* '(' and small letters while it is open are stashed, ')' brings them back. */
static int on_stasher(struct actor_ctx *ctx, const struct actor_message *m)
{
	bool *open = actor_state(ctx);
	uint64_t word = first_word(m);

	if (word == '(')
		*open = true;
	if (*open && word >= 'a')
		return actor_stash(ctx);
	note((char)word);
	if (word == ')') {
		*open = false;
		actor_unstash_all(ctx);
	}
	return 0;
}

static struct actor_class stasher_class = {.size = sizeof(stasher_class),
	.name = "stasher",
	.state_bytes = sizeof(bool),
	.on_message = on_stasher};

static void what_was_stashed_comes_before_the_mailbox_and_is_no_part_of_its_bound(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		const char *told; /* see notes_play() */
		const char *handled;
		uint32_t dropped;
		uint32_t dead_letters;
	} cases[] = {
		{MAILBOX(.capacity = 4), "(ab) cd", "()abcd", 0, 0},
		{MAILBOX(.capacity = 2), "( ab cd ) xyz", "()abcdyz", 1, 0},
		{MAILBOX(.capacity = 2), "( ab cd ef !", "(", 0, 6},
		{MAILBOX(.rank = rank), "( ba )zd", "()abdz", 0, 0},
		{MAILBOX(.rank = rank, .capacity = 1), "( b a c )", "()bac", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &cases[i].mailbox};
		struct lab lab;
		actor_ref ref;

		memset(&notes, 0, sizeof(notes));
		lab_open(&lab, NULL);
		assert_int_equal(
			actor_system_spawn(lab.system, &stasher_class, &options, &ref), 0);
		notes_play(&lab, ref, cases[i].told);
		notes_expect(i, cases[i].handled);
		assert_int_equal(lab_stats(&lab).dropped, cases[i].dropped);
		assert_int_equal(atomic_load(&lab.dead_letters), cases[i].dead_letters);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

/* ---- with timers ---- */

/* '1' tells 't' once in 10 ms, 'r' each 10 ms; a 't' is noted with what was missed before it. */
static int on_timed(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word = first_word(m);
	uint64_t tick = 't';

	note((char)word);
	if (word == 't' && actor_timer_missed(ctx))
		note((char)('0' + actor_timer_missed(ctx)));
	if (word == '1')
		return actor_timer_single(ctx, 1, 10, &plain_type, &tick, sizeof(tick));
	if (word == 'r')
		return actor_timer_fixed_rate(ctx, 1, 10, 10, &plain_type, &tick, sizeof(tick));
	return 0;
}

static struct actor_class timed_class = {
	.size = sizeof(timed_class), .name = "timed", .on_message = on_timed};

static void a_timer_is_subject_to_the_bound_and_goes_on(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		const char *told; /* see notes_play() */
		const char *handled;
		uint32_t dropped;
	} cases[] = {
		{MAILBOX(.capacity = 1), "r +", "rt", 0},
		{MAILBOX(.capacity = 1), "r a+", "rt", 1},		 /* 'a' made room */
		{MAILBOX(.capacity = 1, .overflow = ACTOR_DROP_NEW), "r a+ +", "rat1", 1},
		{MAILBOX(.capacity = 1, .overflow = ACTOR_REJECT), "r a+ b+ +", "rabt2", 2},
		{MAILBOX(.capacity = 1, .overflow = ACTOR_REJECT), "1 a+ +", "1a", 1},
		{MAILBOX(.capacity = 1, .rank = rank), "r a+ +", "rat1", 1},
		{MAILBOX(.capacity = 1, .rank = rank), "r z+ +", "rtt", 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &cases[i].mailbox};
		struct lab lab;
		actor_ref ref;

		memset(&notes, 0, sizeof(notes));
		lab_open_with(&lab, lab_by_hand);
		assert_int_equal(actor_system_spawn(lab.system, &timed_class, &options, &ref), 0);
		notes_play(&lab, ref, cases[i].told);
		notes_expect(i, cases[i].handled);
		assert_int_equal(lab_stats(&lab).dropped, cases[i].dropped);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

/* ---- with a throttle ---- */

static void a_throttle_holds_what_is_next_at_that_time(void **state)
{
#define THROTTLE(mode_)                                                                            \
	{                                                                                          \
		.size = sizeof(struct actor_throttle_options), .messages = 1, .per_ms = 10,        \
		.mode = mode_                                                                      \
	}
	static const struct {
		struct actor_mailbox_options mailbox;
		struct actor_throttle_options throttle;
		const char *told; /* '+' is time for one token */
		const char *handled;
		uint32_t dropped;
		uint32_t dead_letters;
	} cases[] = {
		{MAILBOX(.capacity = 3), THROTTLE(ACTOR_THROTTLE_PAUSE), "abc +", "ab", 0, 1},
		{MAILBOX(.capacity = 2), THROTTLE(ACTOR_THROTTLE_PAUSE), "ab cd+ + +", "acd", 1, 0},
		{MAILBOX(.capacity = 3), THROTTLE(ACTOR_THROTTLE_DROP), "abc d+ e", "ad", 3, 0},
		{MAILBOX(.rank = rank), THROTTLE(ACTOR_THROTTLE_PAUSE), "cd a+ +", "cad", 0, 0},
		{MAILBOX(.rank = rank), THROTTLE(ACTOR_THROTTLE_DROP), "cba +d", "ad", 2, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct actor_spawn_options options = {.size = sizeof(options),
			.mailbox = &cases[i].mailbox,
			.throttle = &cases[i].throttle};
		struct lab lab;
		actor_ref ref;

		memset(&notes, 0, sizeof(notes));
		lab_open_with(&lab, lab_by_hand);
		assert_int_equal(actor_system_spawn(lab.system, &note_class, &options, &ref), 0);
		notes_play(&lab, ref, cases[i].told);
		notes_expect(i, cases[i].handled);
		assert_int_equal(lab_stats(&lab).dropped, cases[i].dropped);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, cases[i].dead_letters);
		assert_int_equal(atomic_load(&tokens_alive), 0);
	}
}

/* ---- with pending handlers ---- */

static struct actor_token pending_token;

static int on_pender(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word = first_word(m);

	note((char)word);
	return word == 'p' ? actor_pending(ctx, &pending_token) : 0;
}

static int on_complete(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	note('P');
	return first_word(message) == 'p' ? 0 : -1;
}

static struct actor_class pender_class = {
	.size = sizeof(pender_class), .name = "pender", .on_message = on_pender};

static void a_pending_message_is_no_part_of_the_bound_and_stays_whole(void **state)
{
	static const struct {
		struct actor_mailbox_options mailbox;
		const char *handled;
	} cases[] = {
		{MAILBOX(.capacity = 2), "pPde"},
		{MAILBOX(.capacity = 2, .overflow = ACTOR_REJECT), "pPab"},
		{MAILBOX(.rank = rank, .capacity = 3), "pPabc"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct actor_spawn_options options = {
			.size = sizeof(options), .mailbox = &cases[i].mailbox};
		struct lab lab;
		actor_ref ref;

		memset(&notes, 0, sizeof(notes));
		lab_open(&lab, NULL);
		assert_int_equal(actor_system_spawn(lab.system, &pender_class, &options, &ref), 0);
		assert_int_equal(token_tell(&lab, ref, 'p'), 0);
		lab_run(&lab);
		for (const char *c = "abcde"; *c; c++)
			token_tell(&lab, ref, *c);
		lab_run(&lab);
		assert_string_equal(notes.text, "p");
		assert_int_equal(
			actor_complete(lab.system, pending_token, 0, on_complete, NULL), 0);
		lab_run(&lab);
		notes_expect(i, cases[i].handled);
		assert_int_equal(lab_stats(&lab).failed, 0);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

/* ---- with supervision ---- */

/* 'x' fails. */
static int on_failer(struct actor_ctx *ctx, const struct actor_message *m)
{
	note((char)first_word(m));
	return first_word(m) == 'x' ? -1 : 0;
}

static struct actor_class failer_class = {
	.size = sizeof(failer_class), .name = "failer", .on_message = on_failer};

static void a_bound_holds_while_its_actor_is_suspended_and_over_restarts(void **state)
{
	static const struct actor_strategy slowly = {.size = sizeof(slowly),
		.backoff_min_ms = 10,
		.jitter_percent = -1};
	static const struct {
		struct actor_mailbox_options mailbox;
		const char *told; /* ' ' runs the loop, '+' ends a restart's wait, '!' kills */
		const char *handled;
		uint32_t dropped;
	} cases[] = {
		{MAILBOX(.capacity = 2), "x abcd +", "xcd", 2},
		{MAILBOX(.capacity = 2, .overflow = ACTOR_DROP_NEW), "x abcd +", "xab", 2},
		{MAILBOX(.capacity = 2), "xa bcd +", "xcd", 2},
		{MAILBOX(.rank = rank, .capacity = 2), "x dcba +", "xab", 2},
		{MAILBOX(.capacity = 9), "ab!cd +", "abcd", 0},
		{MAILBOX(.capacity = 9), "ab! cd +", "abcd", 0},
		{MAILBOX(.rank = rank), "ba!dc +", "abcd", 0},
		{MAILBOX(.rank = rank), "dc!ba! e +f +", "cdabef", 0},
		{MAILBOX(.rank = rank), "dc! b +", "cdb", 0},
		{MAILBOX(.capacity = 1), "!abc +", "c", 2}, /* the kill stays */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct actor_spawn_options options = {.size = sizeof(options),
			.mailbox = &cases[i].mailbox,
			.strategy = &slowly};
		struct lab lab;
		actor_ref ref;

		memset(&notes, 0, sizeof(notes));
		lab_open_with(&lab, lab_by_hand);
		assert_int_equal(actor_system_spawn(lab.system, &failer_class, &options, &ref), 0);
		for (const char *c = cases[i].told; *c; c++) {
			if (*c == ' ')
				lab_run(&lab);
			else if (*c == '+')
				assert_int_equal(actor_system_advance(lab.system, 1000), 0);
			else if (*c == '!')
				assert_int_equal(actor_system_kill(lab.system, ref), 0);
			else
				assert_int_equal(token_tell(&lab, ref, *c), 0);
		}
		lab_run(&lab);
		if (strcmp(notes.text, cases[i].handled) != 0)
			fail_msg("case %zu: %s", i, notes.text);
		assert_int_equal(lab_stats(&lab).dropped, cases[i].dropped);
		assert_int_equal(lab_stats(&lab).terminated, 0);
		assert_int_equal(atomic_load(&tokens_alive), 0);
		lab_close(&lab);
	}
}

/* ---- without memory ---- */

/* False: no allocation failed any more. */
static bool without_memory(const struct actor_mailbox_options *mailbox, int64_t n,
	enum lab_heap_failure how)
{
	const struct actor_spawn_options options = {
		.size = sizeof(options), .name = "short", .mailbox = mailbox};
	uint32_t accepted = 0;
	struct lab lab;
	actor_ref ref;
	bool failed;
	int rc;

	memset(&notes, 0, sizeof(notes));
	lab_open(&lab, NULL);
	lab_heap_fail(n, how, 0);
	rc = actor_system_spawn(lab.system, &note_class, &options, &ref);
	assert_true(rc == 0 || rc == -ENOMEM);
	for (int i = 0; !rc && i < 700; i++) { /* more than a slab has places for */
		int told = token_tell(&lab, ref, 'a');

		assert_true(told == 0 || told == -ENOMEM || told == ACTOR_EFULL);
		accepted += told == 0;
	}
	failed = atomic_load(&lab_heap_asked) >= n;
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).delivered + lab_stats(&lab).dropped, accepted);
	assert_int_equal(atomic_load(&tokens_alive), 0);
	lab_close(&lab);
	return failed;
}

static void any_allocation_may_fail_and_no_accepted_message_is_lost(void **state)
{
	static const struct actor_mailbox_options kinds[] = {
		MAILBOX(.high_water = 20),
		MAILBOX(.capacity = 600),
		MAILBOX(.capacity = 10, .overflow = ACTOR_REJECT),
		MAILBOX(.rank = rank),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (enum lab_heap_failure how = LAB_FAIL_ONCE; how <= LAB_FAIL_FROM_THEN_ON; how++) {
			int64_t n = 1;

			lab_heap_begin();
			while (without_memory(&kinds[i], n, how))
				n++;
			assert_true(n > 2);
			lab_heap_end();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_stashed_comes_before_the_mailbox_and_is_no_part_of_its_bound),
		cmocka_unit_test(a_timer_is_subject_to_the_bound_and_goes_on),
		cmocka_unit_test(a_throttle_holds_what_is_next_at_that_time),
		cmocka_unit_test(a_pending_message_is_no_part_of_the_bound_and_stays_whole),
		cmocka_unit_test(a_bound_holds_while_its_actor_is_suspended_and_over_restarts),
		cmocka_unit_test(any_allocation_may_fail_and_no_accepted_message_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
