/* SPDX-License-Identifier: MIT */
/* Subscribers that come, go, stop and fail on three loops while threads publish; the oracle is that
 * no event is lost or seen twice. STRESS_SEED repeats a run. */
#include "tests/lab.h"

#include <stdio.h>

#define PUBLISHERS 3
#define EVENTS     3000 /* of each */
#define PLACES     24   /* subscribers alive at the same time */

static _Atomic uint64_t told, handled, buried, released, taken;
static _Atomic uint32_t publishing;

static int event_copy(void *to, const void *payload, size_t bytes)
{
	memcpy(to, payload, bytes);
	atomic_fetch_add(&tokens_alive, 1);
	return 0;
}

static void event_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&tokens_alive, 1);
}

static struct actor_type event = {sizeof(event), "event", event_destroy, event_copy, 0};

static void bury(void *data, actor_ref recipient, const struct actor_message *message)
{
	if (message->type == &event)
		atomic_fetch_add(&buried, 1);
}

static void data_release(void *data)
{
	atomic_fetch_add(&released, 1);
	free(data);
}

/* Reads what must not be freed yet. */
static int data_predicate(void *data, const struct actor_message *message)
{
	uint64_t value;

	memcpy(&value, message->payload, sizeof(value));
	return (value & *(uint64_t *)data) != 0;
}

static int subscribe_more(struct actor_ctx *ctx, uint64_t value)
{
	struct actor_subscription picky = {
		.size = sizeof(picky), .predicate = data_predicate, .release = data_release};

	picky.data = malloc(sizeof(uint64_t));
	*(uint64_t *)picky.data = value | 1;
	if (actor_subscribe(ctx, &event, &picky)) {
		free(picky.data);
		return -EIO;
	}
	atomic_fetch_add(&taken, 1);
	return 0;
}

static int publish_more(struct actor_ctx *ctx, uint64_t value)
{
	int rc = actor_publish(ctx, &event, &value, sizeof(value));

	if (rc > 0)
		atomic_fetch_add(&told, (uint64_t)rc);
	return rc < 0 ? rc : 0;
}

static int place_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *state = actor_state(ctx);
	uint64_t value;

	if (m->type != &event)
		return 0;
	atomic_fetch_add(&handled, 1);
	memcpy(&value, m->payload, sizeof(value));
	*state ^= value | 1;
	switch (random_below(state, 16)) {
	case 0:
		return actor_unsubscribe(ctx, &event) < 0 ? -EIO : 0;
	case 1:
		return subscribe_more(ctx, value);
	case 2:
		actor_stop_self(ctx);
		return 0;
	case 3:
		return random_below(state, 4) ? 0 : -EIO;
	case 4:
		return random_below(state, 32) ? 0 : publish_more(ctx, value);
	case 5:
		return actor_subscribe(ctx, &event, NULL) == -ENOMEM ? -EIO : 0;
	default:
		return 0;
	}
}

static int place_start(struct actor_ctx *ctx)
{
	return actor_subscribe(ctx, &event, NULL);
}

static struct actor_class place_class = {.size = sizeof(place_class),
	.name = "place",
	.state_bytes = sizeof(uint64_t),
	.on_start = place_start,
	.on_message = place_message};

struct publisher {
	struct lab *lab;
	uint64_t seed;
};

static void *publisher_main(void *argument)
{
	struct publisher *p = argument;

	for (int i = 0; i < EVENTS; i++) {
		uint64_t value = random_next(&p->seed);
		int rc = actor_system_publish(p->lab->system, &event, &value, sizeof(value));

		assert_true(rc >= 0);
		atomic_fetch_add(&told, (uint64_t)rc);
		if (i % 64 == 0)
			sleep_ms(1);
	}
	atomic_fetch_sub(&publishing, 1);
	return NULL;
}

/* Actors that come, and subscriptions from outside to some that may be gone already. */
static void places_fill(struct lab *lab, uint64_t *seed)
{
	actor_ref refs[16] = {0};

	while (atomic_load(&publishing)) {
		struct actor_stats stats = lab_stats(lab);
		uint64_t init = random_next(seed) | 1;
		struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
		actor_ref other = refs[random_below(seed, COUNT(refs))];
		int rc = 0;

		if (stats.created - stats.terminated < PLACES)
			assert_int_equal(actor_system_spawn(lab->system, &place_class, &options,
						 &refs[random_below(seed, COUNT(refs))]),
				0);
		else
			sleep_ms(1);
		if (other && random_below(seed, 2))
			rc = actor_system_subscribe(lab->system, other, &event, NULL);
		else if (other)
			rc = actor_system_unsubscribe(lab->system, other, NULL) < 0;
		assert_true(rc == 0 || rc == -EALREADY || rc == -ENOENT);
	}
}

static void subscribers_come_and_go_on_three_loops_and_no_event_is_lost(void **state)
{
	const char *text = getenv("STRESS_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : now_ns();
	struct publisher publishers[PUBLISHERS];
	pthread_t threads[PUBLISHERS];
	struct lab lab;

	printf("# seed %llu\n", (unsigned long long)seed);
	publishing = PUBLISHERS;
	lab_open_owned(&lab, 3);
	actor_system_log_level(lab.system, ACTOR_LOG_OFF);
	actor_system_on_dead_letter(lab.system, bury, NULL);
	for (int i = 0; i < PUBLISHERS; i++) {
		publishers[i] = (struct publisher){&lab, seed + (uint64_t)i + 1};
		assert_int_equal(
			pthread_create(&threads[i], NULL, publisher_main, &publishers[i]), 0);
	}
	places_fill(&lab, &seed);
	for (int i = 0; i < PUBLISHERS; i++)
		pthread_join(threads[i], NULL);
	lab_close(&lab);
	assert_true(told > 1000);
	assert_true(taken > 10);
	assert_int_equal(told, handled + buried);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(released, taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subscribers_come_and_go_on_three_loops_and_no_event_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
