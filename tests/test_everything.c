/* SPDX-License-Identifier: MIT */
/* Seeded stress over all features at once: actors on three loops do, at each message, a few things
 * by chance, and threads outside do their part.
 *
 * Oracle: conservation. Each payload that was accepted is destroyed once; a message that was told
 * is handled, a dead letter or dropped; each actor that was spawned ends, each instance that has
 * begun ends once; no work and no completion is called twice. EVERYTHING_SEED repeats the choices
 * of a run, EVERYTHING_SECONDS makes it longer. */
#include "tests/crowd.h"

#include <stdio.h>
#include <unistd.h>

#define THREADS 2

/* ---- threads outside ---- */

struct thread {
	pthread_t id;
	struct actor_system *system;
	uint64_t random;
};

static void thread_tell(struct thread *t)
{
	struct deed_payload p = {.hops = 1 + random_below(&t->random, 12)};
	actor_ref to = somebody(&t->random);
	struct crate_payload *crate;

	if (random_below(&t->random, 2)) {
		count_made(DEED);
		accepted(
			DEED, actor_system_tell(t->system, to, &deed_type, &p, sizeof(p)), DO_tell);
		return;
	}
	crate = crate_new(p);
	if (!accepted(CRATE, actor_system_tell(t->system, to, &crate_type, crate, sizeof(*crate)),
		    DO_crate))
		free(crate);
}

static void thread_ask(struct thread *t)
{
	struct deed_payload p = {.hops = 3};
	uint64_t reply;
	size_t bytes = sizeof(reply);
	int rc;

	count_made(DEED);
	rc = actor_system_ask(
		t->system, somebody(&t->random), &deed_type, &p, sizeof(p), 3, &reply, &bytes);
	accepted(DEED, rc == -ETIMEDOUT || rc == -ECANCELED ? 0 : rc, DO_ask);
}

static void on_async(void *data, int status, const struct actor_message *reply)
{
	atomic_fetch_sub(&called, 1);
	if (status == 0 && kind_of(reply->type) != ANSWER)
		complain(__LINE__, status);
}

static void thread_ask_async(struct thread *t)
{
	struct deed_payload p = {.hops = 3};
	int rc;

	count_made(DEED);
	atomic_fetch_add(&called, 1);
	rc = actor_system_ask_async(t->system, somebody(&t->random), &deed_type, &p, sizeof(p),
		1 + random_below(&t->random, 20), on_async, NULL);
	if (rc)
		atomic_fetch_sub(&called, 1);
	accepted(DEED, rc, DO_ask);
}

static void on_stopped(void *data, int status, const struct actor_message *reply)
{
	atomic_fetch_sub(&called, 1);
}

static void thread_stop_async(struct thread *t)
{
	const uint32_t place = random_below(&t->random, CROWD_PLACES);
	actor_ref old = atomic_load(&places[place]);
	int rc;

	if (!old || settle(t->system, NULL, place, &t->random))
		return;
	atomic_fetch_add(&called, 1);
	rc = actor_system_stop_async(
		t->system, old, 1 + random_below(&t->random, 10), on_stopped, NULL);
	if (rc)
		atomic_fetch_sub(&called, 1);
	count_call(DO_stop_within, rc);
}

static void thread_evict(struct thread *t)
{
	static int (*const ways[])(struct actor_system *, actor_ref) = {
		actor_system_stop, actor_system_kill, actor_system_terminate};
	const uint32_t place = random_below(&t->random, CROWD_PLACES);
	actor_ref old = atomic_load(&places[place]);

	if (settle(t->system, NULL, place, &t->random) == 0)
		count_call(DO_stop, ways[random_below(&t->random, COUNT(ways))](t->system, old));
}

static void *thread_main(void *argument)
{
	struct thread *t = argument;

	while (!atomic_load(&over)) {
		for (uint32_t i = random_below(&t->random, 30); i; i--)
			thread_tell(t);
		if (random_below(&t->random, 20) == 0)
			thread_ask(t);
		if (random_below(&t->random, 10) == 0)
			thread_ask_async(t);
		if (random_below(&t->random, 20) == 0)
			thread_stop_async(t);
		if (random_below(&t->random, 20) == 0)
			count_call(DO_resume, actor_system_resume(t->system, somebody(&t->random)));
		if (random_below(&t->random, 10) == 0)
			thread_evict(t);
		complete(t->system, dangle((struct actor_token){0, 0}, &t->random), &t->random);
		if (random_below(&t->random, 3) == 0)
			sleep_ms(1);
	}
	return NULL;
}

/* ---- a run ---- */

static void on_timer(uv_timer_t *timer)
{
	atomic_store(&over, true);
	uv_close((uv_handle_t *)timer, NULL);
}

static void run_begin(uint64_t *random, uv_loop_t *loop, struct actor_system **system)
{
	static const int slots[] = {2, 4, 1024};
	struct actor_dispatcher_spec spec;
	struct actor_system_options options = {.size = sizeof(options),
		.loop = loop,
		.loops = CROWD_LOOPS - 1,
		.ring_slots = slots[random_below(random, COUNT(slots))],
		.throughput = 1 + random_below(random, 40),
		.drain_ms = 1 + random_below(random, 300),
		.log = crowd_log,
		.dispatcher = &spec};

	crowd_reset(CROWD_LOOPS, random_below(random, 2));
	if (random_below(random, 2))
		actor_dispatcher_hybrid(&spec, 1 + random_below(random, 64), NULL);
	else
		actor_dispatcher_throughput(&spec, 1 + random_below(random, 32), NULL);
	assert_int_equal(actor_system_open(system, &options), 0);
	actor_system_on_dead_letter(*system, crowd_dead, NULL);
	for (uint32_t i = 0; i < CROWD_PLACES; i++)
		assert_int_equal(settle(*system, NULL, i, random), 0);
}

static void run_once(uint64_t ms, uint64_t *random)
{
	static struct thread threads[THREADS];
	struct actor_stats stats = {.size = sizeof(stats)};
	struct actor_system *system;
	uv_timer_t timer;
	uv_loop_t loop;

	uv_loop_init(&loop);
	run_begin(random, &loop, &system);
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){.system = system, .random = new_random()};
		pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
	}
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, on_timer, ms, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	if (random_below(random, 4)) /* else they are abandoned */
		dangling_end(system, random);
	assert_int_equal(actor_system_close(system, crowd_closed, &stats), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	crowd_balance(&stats);
}

static void nothing_is_lost_or_doubled_whatever_actors_do(void **state)
{
	const char *wish = getenv("EVERYTHING_SECONDS");
	const char *again = getenv("EVERYTHING_SEED");
	uint64_t end = now_ns() + (wish ? (uint64_t)atoll(wish) : 5) * 1000000000u;
	int64_t messages = 0;

	seed = again ? strtoull(again, NULL, 0) : now_ns() ^ (uint64_t)getpid() << 40;
	print_message("seed %#llx\n", (unsigned long long)seed);
	crowd_begin();
	do {
		uint64_t random = new_random();

		run_once(100 + random_below(&random, 400), &random);
		messages += accounts[DEED].made + accounts[CRATE].made;
	} while (now_ns() < end);
	print_message("%lld messages\n", (long long)messages);
	for (int i = 0; i < DEED_COUNT; i++)
		if (!atomic_load(&done[i]))
			fail_msg("nothing was ever done of: %s", deed_names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_or_doubled_whatever_actors_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
