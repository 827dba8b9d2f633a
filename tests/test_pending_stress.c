/* SPDX-License-Identifier: MIT */
/* Stress of pending handlers: foreign threads complete what they find; a seed repeats a run. */
#include "tests/lab.h"

#include <stdio.h>
#include <unistd.h>

#define LOOPS   3
#define ACTORS  12
#define THREADS 3
#define ROOM    4096

static struct {
	pthread_mutex_t lock;
	struct actor_token at[ROOM];
	uint32_t count;
} tokens = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint32_t rc_wrong;
static _Atomic uint64_t accepted, completed, called, stale, ended_at_once;
static _Atomic bool over;
static uint64_t seed;

static uint64_t new_random(void)
{
	static _Atomic uint64_t count;

	return (seed + atomic_fetch_add(&count, 1) * 0x9e3779b97f4a7c15ull) | 1;
}

static bool token_put(struct actor_token token)
{
	bool ok;

	pthread_mutex_lock(&tokens.lock);
	ok = tokens.count < ROOM;
	if (ok)
		tokens.at[tokens.count++] = token;
	pthread_mutex_unlock(&tokens.lock);
	return ok;
}

static bool token_get(struct actor_token *token, uint64_t random)
{
	bool ok;

	pthread_mutex_lock(&tokens.lock);
	ok = tokens.count != 0;
	if (ok) {
		uint32_t i = (uint32_t)(random % tokens.count);

		*token = tokens.at[i];
		tokens.at[i] = tokens.at[--tokens.count];
	}
	pthread_mutex_unlock(&tokens.lock);
	return ok;
}

struct worker {
	uint64_t random;
	bool busy; /* from the handler's start to its end */
};

static int on_worked(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	struct worker *self = actor_state(ctx);
	struct actor_token token;

	atomic_fetch_add(&called, 1);
	rc_wrong += !self->busy;
	if (random_below(&self->random, 4) == 0 && actor_pending(ctx, &token) == 0) {
		if (!token_put(token))
			actor_complete(actor_ctx_system(ctx), token, 0, NULL, NULL);
		return 0;
	}
	self->busy = false;
	return 0;
}

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct worker *self = actor_state(ctx);
	uint32_t roll = random_below(&self->random, 8);
	struct actor_token token;

	if (!self->random)
		self->random = new_random();
	rc_wrong += self->busy;
	if (roll == 0 && actor_stash(ctx) == 0)
		return actor_unstash_all(ctx) == 1 ? 0 : -1;
	if (roll < 3 || actor_pending(ctx, &token)) {
		atomic_fetch_add(&ended_at_once, 1);
		return 0;
	}
	self->busy = true;
	if (!token_put(token)) {
		atomic_fetch_add(&completed, 1);
		rc_wrong += actor_complete(
				    actor_ctx_system(ctx), token, 0, on_worked, NULL) != 0;
	}
	return 0;
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(struct worker),
	.on_message = worker_message};

struct thread {
	pthread_t id;
	struct actor_system *system;
	const actor_ref *refs;
};

static int never(struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	rc_wrong++;
	return 0;
}

/* Tells, and completes what it finds; now and then twice, of which one is too late. */
static void *thread_main(void *argument)
{
	struct thread *t = argument;
	uint64_t random = new_random();

	while (!atomic_load(&over)) {
		struct actor_token token;

		for (uint32_t i = random_below(&random, 20); i; i--) {
			uint64_t n = token_new(1);

			if (actor_system_tell(t->system, t->refs[random_below(&random, ACTORS)],
				    &token_type, &n, sizeof(n)) == 0)
				atomic_fetch_add(&accepted, 1);
		}
		for (uint32_t i = random_below(&random, 40);
			i && token_get(&token, random_next(&random)); i--) {
			int rc = actor_complete(t->system, token, 0, on_worked, NULL);

			atomic_fetch_add(rc ? &stale : &completed, 1);
			if (rc && rc != -ESTALE)
				rc_wrong++;
			if (actor_complete(t->system, token, 0, never, NULL) != -ESTALE)
				rc_wrong++;
		}
		if (random_below(&random, 8) == 0)
			sleep_ms(1);
	}
	return NULL;
}

static void stress_once(uint64_t ms)
{
	struct thread threads[THREADS];
	actor_ref refs[ACTORS];
	struct lab lab;
	uint64_t delivered;

	accepted = completed = called = stale = ended_at_once = 0;
	tokens.count = 0;
	over = false;
	lab_open_owned(&lab, LOOPS);
	for (int i = 0; i < ACTORS; i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .loop = i % LOOPS + 1};

		assert_int_equal(
			actor_system_spawn(lab.system, &worker_class, &options, &refs[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){.system = lab.system, .refs = refs};
		pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
	}
	sleep_ms((unsigned int)ms);
	/* Half of the time the rest is completed, else it is abandoned. */
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	delivered = lab_stats(&lab).delivered;
	assert_true(delivered > 0);
	lab_close(&lab);
	assert_int_equal(rc_wrong, 0);
	assert_int_equal(called, completed);
	assert_int_equal(tokens_alive, 0);
	assert_true(stale == 0 && called > 0 && ended_at_once > 0);
}

static void foreign_threads_complete_what_they_find_exactly_once(void **state)
{
	const char *wish = getenv("STRESS_SECONDS");
	const char *again = getenv("STRESS_SEED");
	uint64_t end = now_ns() + (wish ? (uint64_t)atoll(wish) : 3) * 1000000000u;

	(void)state;
	seed = again ? strtoull(again, NULL, 0) : now_ns() ^ (uint64_t)getpid() << 40;
	print_message("seed %#llx\n", (unsigned long long)seed);
	do
		stress_once(200);
	while (now_ns() < end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_threads_complete_what_they_find_exactly_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
