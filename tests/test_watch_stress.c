/* SPDX-License-Identifier: MIT */
/* Watching, stopping and unwatching on three loops by chance. Each watch that an actor has not taken
 * back is told to it once, if it lives to hear of it, and each message is destroyed once. */
#include "tests/lab.h"
#include "tests/sanitized.h"

#define LOOPS  3
#define PLACES 60
#define DEEDS  (SANITIZED ? 30000 : 150000)
#define MOST   64 /* watches of one actor */

static _Atomic actor_ref places[PLACES];
static _Atomic uint64_t watched, told, unwatched, ended_with, wrong, deeds;
static _Atomic bool over;
static uint64_t seed;

/* What an actor knows of its watches: the value that each should be told with. */
struct watcher {
	uint64_t random;
	uint32_t place;
	uint32_t count;
	uint64_t next;
	struct {
		actor_ref ref;
		uint64_t value;
	} watches[MOST];
};

static struct actor_class watcher_class;

static int settle(struct actor_system *system, uint32_t place, uint64_t random)
{
	struct watcher init = {.random = random | 1, .place = place};
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &init, .loop = 1 + (int)((random >> 32) % LOOPS)};
	struct actor_mailbox_options box = {.size = sizeof(box), .capacity = 3};
	actor_ref ref;
	int rc;

	if (random >> 40 & 1)
		options.mailbox = &box; /* drops what is told, but no word */
	rc = actor_system_spawn(system, &watcher_class, &options, &ref);
	if (!rc)
		atomic_store(&places[place], ref);
	return rc;
}

static int find(const struct watcher *w, actor_ref ref)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (w->watches[i].ref == ref)
			return (int)i;
	return -1;
}

static void forget(struct watcher *w, int i)
{
	w->watches[i] = w->watches[--w->count];
}

/* The word with the value of the watch that counts, and no other. */
static void word(struct watcher *w, actor_ref ref, uint64_t value)
{
	int i = find(w, ref);

	if (i < 0 || w->watches[i].value != value) {
		atomic_fetch_add(&wrong, 1);
		return;
	}
	forget(w, i);
	atomic_fetch_add(&told, 1);
}

static void watch(struct actor_ctx *ctx, struct watcher *w, actor_ref ref)
{
	bool with = random_below(&w->random, 2);
	uint64_t value = with ? (uint64_t)w->place << 40 | ++w->next : 0;
	int i = find(w, ref);
	int rc;

	if (i < 0 && w->count == MOST)
		return;
	if (with)
		token_new(value);
	rc = with ? actor_watch_with(ctx, ref, &token_type, &value, sizeof(value))
		  : actor_watch(ctx, ref);
	if (rc) {
		if (with)
			token_type.destroy(&value, sizeof(value));
		if (rc != -EINVAL || ref != actor_self(ctx))
			atomic_fetch_add(&wrong, 1);
		return;
	}
	if (i < 0) {
		i = (int)w->count++;
		atomic_fetch_add(&watched, 1);
	}
	w->watches[i].ref = ref;
	w->watches[i].value = value;
}

static void unwatch(struct actor_ctx *ctx, struct watcher *w)
{
	int i = (int)random_below(&w->random, w->count);

	if (actor_unwatch(ctx, w->watches[i].ref))
		atomic_fetch_add(&wrong, 1);
	if (actor_unwatch(ctx, w->watches[i].ref) != -ENOENT)
		atomic_fetch_add(&wrong, 1);
	forget(w, i);
	atomic_fetch_add(&unwatched, 1);
}

static int deed(struct actor_ctx *ctx, struct watcher *w)
{
	uint32_t what = random_below(&w->random, 100);
	actor_ref other = atomic_load(&places[random_below(&w->random, PLACES)]);

	if (what < 55)
		watch(ctx, w, other);
	else if (what < 75 && w->count)
		unwatch(ctx, w);
	else if (what < 80)
		return actor_stop(ctx, other);
	else if (what < 82)
		return actor_terminate(ctx, other);
	else if (what < 84)
		actor_stop_self(ctx);
	return 0;
}

static int watcher_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct watcher *w = actor_state(ctx);
	actor_ref next;

	if (m->type == &actor_terminated) {
		word(w, ((const struct actor_termination *)m->payload)->actor, 0);
		return 0;
	}
	if (m->type == &token_type) {
		word(w, m->sender, *(const uint64_t *)m->payload);
		return 0;
	}
	if (atomic_load(&over))
		return 0;
	for (int i = 0; i < 3; i++)
		if (deed(ctx, w))
			atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&deeds, 3);
	next = atomic_load(&places[random_below(&w->random, PLACES)]);
	actor_tell(ctx, next, &plain_type, NULL, 0);
	return 0;
}

/* Its place is taken by another one at once. */
static void watcher_stop(struct actor_ctx *ctx)
{
	struct watcher *w = actor_state(ctx);

	atomic_fetch_add(&ended_with, w->count);
	if (!atomic_load(&over)) /* else, or while the system closes, it is refused */
		settle(actor_ctx_system(ctx), w->place, random_next(&w->random));
}

static struct actor_class watcher_class = {.size = sizeof(watcher_class),
	.name = "watcher",
	.state_bytes = sizeof(struct watcher),
	.on_message = watcher_message,
	.on_stop = watcher_stop};

static void each_watch_is_told_taken_back_or_ends_with_its_watcher(void **state)
{
	uint64_t random;
	struct lab lab;

	seed = getenv("STRESS_SEED") ? strtoull(getenv("STRESS_SEED"), NULL, 0) : now_ns();
	random = seed | 1;
	print_message("STRESS_SEED=%llu\n", (unsigned long long)seed);
	lab_open_owned(&lab, LOOPS);
	for (uint32_t i = 0; i < PLACES; i++)
		assert_int_equal(settle(lab.system, i, random_next(&random)), 0);
	while (atomic_load(&deeds) < DEEDS) {
		/* A few hundred messages at a time, however many of them are lost. */
		for (int i = 0; i < 50; i++)
			actor_system_tell(lab.system,
				atomic_load(&places[random_below(&random, PLACES)]), &plain_type,
				NULL, 0);
		sleep_ms(1);
	}
	atomic_store(&over, true);
	lab_close(&lab);
	print_message("%llu watched, %llu told, %llu taken back, %llu ended with the watcher\n",
		(unsigned long long)watched, (unsigned long long)told,
		(unsigned long long)unwatched, (unsigned long long)ended_with);
	assert_int_equal(wrong, 0);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(watched, told + unwatched + ended_with);
	assert_true(told > DEEDS / 100 && unwatched > DEEDS / 100 && ended_with > 0);
}

/* Nobody ends but the subjects, while nobody takes a watch back: then each is told. */
static _Atomic uint32_t ends;

static int keen_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &actor_terminated)
		atomic_fetch_add(&ends, 1);
	else if (actor_watch(ctx, *(const actor_ref *)m->payload))
		atomic_fetch_add(&wrong, 1);
	return 0;
}

static struct actor_class keen_class = {
	.size = sizeof(keen_class), .name = "keen", .on_message = keen_message};

#define KEEN	 9
#define SUBJECTS (SANITIZED ? 500 : 2000)

static void each_watch_is_told_while_nobody_else_ends(void **state)
{
	struct lab lab;
	actor_ref keen[KEEN], ref;

	ends = 0;
	lab_open_owned(&lab, LOOPS);
	for (int i = 0; i < KEEN; i++) {
		struct actor_spawn_options options = {.size = sizeof(options), .loop = 1 + i % LOOPS};

		assert_int_equal(
			actor_system_spawn(lab.system, &keen_class, &options, &keen[i]), 0);
	}
	for (int i = 0; i < SUBJECTS; i++) {
		assert_int_equal(actor_system_spawn(lab.system, &keen_class, NULL, &ref), 0);
		for (int k = 0; k < KEEN; k++)
			assert_int_equal(actor_system_tell(lab.system, keen[k], &plain_type, &ref,
						 sizeof(ref)),
				0);
		assert_int_equal(actor_system_stop(lab.system, ref), 0); /* before, or after */
	}
	for (int i = 0; i < 60000 && ends < SUBJECTS * KEEN; i++)
		sleep_ms(1);
	assert_int_equal(ends, SUBJECTS * KEEN);
	lab_close(&lab);
	assert_int_equal(ends, SUBJECTS * KEEN);
	assert_int_equal(wrong, 0);
	assert_int_equal(lab.dead_letters, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_watch_is_told_taken_back_or_ends_with_its_watcher),
		cmocka_unit_test(each_watch_is_told_while_nobody_else_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
