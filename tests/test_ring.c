/* SPDX-License-Identifier: MIT */
/* The ring between two threads, and the inbox for many: nothing lost, nothing out of order. */
#include "tests/lab.h"

#include "runtime/inbox.h"
#include "runtime/ring.h"

#include <sched.h>

static void a_ring_holds_its_slots_and_wraps(void **state)
{
	static const uint32_t sizes[] = {1, 2, 4, 1024};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct actor__ring *ring = actor__ring_new(sizes[i]);
		struct actor__envelope e = {0};

		assert_true(actor__ring_empty(ring));
		assert_null(actor__ring_peek(ring));
		for (uint32_t round = 0; round < 5; round++) {
			for (uint32_t n = 0; n < sizes[i]; n++) {
				e.stamp = round * 10000 + n;
				assert_true(actor__ring_push(ring, &e));
			}
			assert_false(actor__ring_push(ring, &e));
			assert_false(actor__ring_empty(ring));
			for (uint32_t n = 0; n < sizes[i]; n++) {
				assert_int_equal(
					actor__ring_peek(ring)->stamp, round * 10000 + n);
				actor__ring_pop(ring);
			}
			assert_true(actor__ring_empty(ring));
		}
		actor__ring_free(ring);
	}
	actor__ring_free(NULL);
}

static void a_ring_s_counts_may_wrap_round(void **state)
{
	struct actor__ring *ring = actor__ring_new(4);
	struct actor__envelope e = {0};

	atomic_store(&ring->head, UINT32_MAX - 5);
	atomic_store(&ring->tail, UINT32_MAX - 5);
	ring->head_seen = ring->tail_seen = UINT32_MAX - 5;
	for (uint64_t n = 0; n < 100; n++) {
		e.stamp = n;
		assert_true(actor__ring_push(ring, &e));
		assert_int_equal(actor__ring_peek(ring)->stamp, n);
		actor__ring_pop(ring);
	}
	actor__ring_free(ring);
}

#define MANY 200000

static void *ring_produce(void *argument)
{
	struct actor__envelope e = {0};

	for (uint64_t n = 0; n < MANY; n++) {
		e.stamp = n;
		e.to = ~n;
		while (!actor__ring_push(argument, &e))
			sched_yield();
	}
	return NULL;
}

static void two_threads_pass_envelopes_in_order(void **state)
{
	struct actor__ring *ring = actor__ring_new(8);
	pthread_t thread;

	pthread_create(&thread, NULL, ring_produce, ring);
	for (uint64_t n = 0; n < MANY;) {
		struct actor__envelope *e = actor__ring_peek(ring);

		if (!e) {
			sched_yield();
			continue;
		}
		assert_int_equal(e->stamp, n);
		assert_int_equal(e->to, ~n);
		actor__ring_pop(ring);
		n++;
	}
	pthread_join(thread, NULL);
	actor__ring_free(ring);
}

#define PRODUCERS 3

static struct actor__inbox inbox;
static _Atomic uint32_t refused;

static void *inbox_produce(void *argument)
{
	for (uint64_t n = 0; n < MANY / 10; n++) {
		struct actor__letter *letter = actor__letter_new();

		letter->envelope.sender = (uintptr_t)argument;
		letter->envelope.stamp = n;
		if (actor__inbox_push(&inbox, &letter->link)) {
			actor__letter_free(letter);
			atomic_fetch_add(&refused, 1);
		}
	}
	return NULL;
}

static uint64_t take(struct actor__link *link, uint64_t *next)
{
	uint64_t count = 0;

	while (link) {
		struct actor__letter *letter = (struct actor__letter *)link;
		uint64_t *expected = &next[letter->envelope.sender];

		assert_int_equal(letter->envelope.stamp, *expected);
		*expected = letter->envelope.stamp + 1;
		link = link->next;
		actor__letter_free(letter);
		count++;
	}
	return count;
}

static void an_inbox_keeps_each_producer_s_order(void **state)
{
	uint64_t next[PRODUCERS] = {0};
	pthread_t threads[PRODUCERS];
	uint64_t count = 0;

	memset(&inbox, 0, sizeof(inbox));
	assert_true(actor__inbox_empty(&inbox));
	assert_null(actor__inbox_take(&inbox));
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, inbox_produce, (void *)i);
	while (count < PRODUCERS * (MANY / 10)) {
		uint64_t taken = take(actor__inbox_take(&inbox), next);

		count += taken;
		if (!taken)
			sched_yield();
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	assert_true(actor__inbox_empty(&inbox));
}

static void a_closed_inbox_refuses_and_loses_nothing(void **state)
{
	uint64_t next[PRODUCERS] = {0};
	pthread_t threads[PRODUCERS];
	uint64_t count = 0;

	memset(&inbox, 0, sizeof(inbox));
	atomic_store(&refused, 0);
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, inbox_produce, (void *)i);
	while (count < 1000)
		count += take(actor__inbox_take(&inbox), next);
	count += take(actor__inbox_close(&inbox), next);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count + refused, PRODUCERS * (MANY / 10));
	assert_null(actor__inbox_take(&inbox));
	assert_null(actor__inbox_close(&inbox));
	assert_true(actor__inbox_empty(&inbox));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_holds_its_slots_and_wraps),
		cmocka_unit_test(a_ring_s_counts_may_wrap_round),
		cmocka_unit_test(two_threads_pass_envelopes_in_order),
		cmocka_unit_test(an_inbox_keeps_each_producer_s_order),
		cmocka_unit_test(a_closed_inbox_refuses_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
