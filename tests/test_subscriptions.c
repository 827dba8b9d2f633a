/* SPDX-License-Identifier: MIT */
/* The table of subscriptions: against a model, while audiences are held, and without memory. */
#include "tests/lab.h"

#include "runtime/subscriptions.h"

#include <stdio.h>

static struct actor__subscriptions all;
static _Atomic uint32_t released;
static int64_t blocks; /* before a test */

static void on_release(void *data)
{
	atomic_fetch_add(&released, 1);
	if (data)
		*(bool *)data = false;
}

static int yes(void *data, const struct actor_message *event)
{
	return 1;
}

static const struct actor_subscription plain = {.size = sizeof(plain)};

static int setup(void **state)
{
	lab_heap_begin();
	blocks = lab_heap_blocks;
	actor__subscriptions_init(&all);
	released = 0;
	return 0;
}

static int teardown(void **state)
{
	actor__subscriptions_fini(&all);
	lab_heap_end();
	return lab_heap_blocks != blocks; /* something leaked */
}

/* Those that a publisher would serve now. */
static uint32_t audience_count(uint32_t kind)
{
	uint32_t count = 0, served = 0;
	struct actor__audience *a = actor__audience_take(&all, kind, &count);

	if (!a)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		served += !a->at[i]->removed;
	actor__audience_give(&all, a);
	return served;
}

static void without_a_predicate_an_actor_is_subscribed_once_per_kind(void **state)
{
	struct actor_subscription picky = {.size = sizeof(picky), .predicate = yes};

	assert_int_equal(actor__subscriptions_add(&all, 1, 7, &plain), 0);
	assert_int_equal(actor__subscriptions_add(&all, 1, 7, &plain), -EALREADY);
	assert_int_equal(actor__subscriptions_add(&all, 2, 7, &plain), 0);
	assert_int_equal(actor__subscriptions_add(&all, 1, 8, &plain), 0);
	assert_int_equal(actor__subscriptions_add(&all, 1, 7, &picky), 0);
	assert_int_equal(actor__subscriptions_add(&all, 1, 7, &picky), 0);
	assert_int_equal(audience_count(7), 4);
	assert_int_equal(audience_count(8), 1);
	assert_int_equal(audience_count(9), 0);
	assert_int_equal(actor__subscriptions_remove(&all, 1, 7), 3);
	assert_int_equal(actor__subscriptions_remove(&all, 1, 7), 0);
	assert_int_equal(audience_count(7), 1);
	assert_int_equal(actor__subscriptions_remove(&all, 1, 0), 1);
	assert_int_equal(actor__subscriptions_add(&all, 1, 7, &plain), 0);
	assert_int_equal(actor__subscriptions_remove(&all, 3, 0), 0);
}

static void the_mask_is_set_while_a_kind_has_subscriptions(void **state)
{
	assert_int_equal(atomic_load(&all.mask), 0);
	actor__subscriptions_add(&all, 1, 3, &plain);
	actor__subscriptions_add(&all, 1, 67, &plain); /* the same bit */
	actor__subscriptions_add(&all, 2, 5, &plain);
	assert_true(actor__subscribed(&all, 3));
	assert_true(actor__subscribed(&all, 5));
	assert_false(actor__subscribed(&all, 4));
	actor__subscriptions_remove(&all, 1, 3);
	assert_true(actor__subscribed(&all, 67));
	actor__subscriptions_remove(&all, 1, 0);
	assert_false(actor__subscribed(&all, 67));
	actor__subscriptions_remove(&all, 2, 5);
	assert_int_equal(atomic_load(&all.mask), 0);
}

static void what_is_held_stays_until_it_is_given_back(void **state)
{
	struct actor_subscription noted = {.size = sizeof(noted), .release = on_release};
	struct actor__audience *first, *second;
	uint32_t count, later;

	actor__subscriptions_add(&all, 1, 7, &noted);
	actor__subscriptions_add(&all, 2, 7, &noted);
	first = actor__audience_take(&all, 7, &count);
	assert_int_equal(count, 2);
	/* Comes and goes while it is held, beyond the first list's room. */
	for (actor_ref ref = 3; ref < 20; ref++)
		assert_int_equal(actor__subscriptions_add(&all, ref, 7, &noted), 0);
	assert_int_equal(actor__subscriptions_remove(&all, 1, 0), 1);
	second = actor__audience_take(&all, 7, &later);
	assert_int_equal(later, 18); /* nobody held the newest list when 1 left */
	assert_int_equal(actor__subscriptions_remove(&all, 5, 0), 1);
	assert_int_equal(released, 0);
	assert_true(first != second);
	assert_int_equal(first->at[0]->ref, 1);
	assert_int_equal(first->at[0]->removed, 1);
	actor__audience_give(&all, second);
	assert_int_equal(released, 1); /* 5; the first list still has 1 */
	actor__audience_give(&all, first);
	assert_int_equal(released, 2);
	assert_int_equal(audience_count(7), 17);
	for (actor_ref ref = 2; ref < 20; ref++)
		assert_int_equal(actor__subscriptions_remove(&all, ref, 7), ref != 5);
	assert_int_equal(released, 19);
	assert_int_equal(audience_count(7), 0);
}

#define REFS  40
#define KINDS 70
#define SEEDS 20

static void any_order_of_steps_does_as_a_model(void **state)
{
	static uint32_t picky[REFS][KINDS];
	static bool simple[REFS][KINDS];
	struct actor_subscription with = {
		.size = sizeof(with), .predicate = yes, .release = on_release};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct actor__audience *held[4] = {NULL};
		uint64_t random = seed * 0x9e3779b97f4a7c15u;
		uint32_t added = 0, removed = 0;

		released = 0;
		memset(picky, 0, sizeof(picky));
		memset(simple, 0, sizeof(simple));
		for (int step = 0; step < 20000; step++) {
			uint32_t r = random_below(&random, REFS), k = random_below(&random, KINDS);
			uint32_t hold = random_below(&random, COUNT(held)), count = 0;
			int rc;

			switch (random_below(&random, 8)) {
			case 0:
			case 1:
				rc = actor__subscriptions_add(&all, r + 1, k + 1, &plain);
				assert_int_equal(rc, simple[r][k] ? -EALREADY : 0);
				simple[r][k] = true;
				break;
			case 2:
			case 3:
				assert_int_equal(
					actor__subscriptions_add(&all, r + 1, k + 1, &with), 0);
				picky[r][k]++;
				added++;
				break;
			case 4:
				rc = actor__subscriptions_remove(&all, r + 1, k + 1);
				assert_int_equal(rc, picky[r][k] + simple[r][k]);
				removed += picky[r][k];
				picky[r][k] = simple[r][k] = 0;
				break;
			case 5:
				if (random_below(&random, 4))
					break;
				rc = actor__subscriptions_remove(&all, r + 1, 0);
				for (k = 0; k < KINDS; k++) {
					rc -= (int)picky[r][k] + simple[r][k];
					removed += picky[r][k];
					picky[r][k] = simple[r][k] = 0;
				}
				assert_int_equal(rc, 0);
				break;
			case 6:
				if (held[hold])
					actor__audience_give(&all, held[hold]);
				held[hold] = actor__audience_take(&all, k + 1, &count);
				break;
			default:
				for (r = 0; r < REFS; r++)
					count += picky[r][k] + simple[r][k];
				assert_int_equal(audience_count(k + 1), count);
				assert_true(!count || actor__subscribed(&all, k + 1));
			}
		}
		for (size_t i = 0; i < COUNT(held); i++)
			if (held[i])
				actor__audience_give(&all, held[i]);
		assert_int_equal(released, removed);
		for (actor_ref r = 1; r <= REFS; r++)
			actor__subscriptions_remove(&all, r, 0);
		assert_int_equal(released, added);
		assert_int_equal(atomic_load(&all.mask), 0);
	}
}

static void without_memory_nothing_changes(void **state)
{
	struct actor_subscription noted = {.size = sizeof(noted), .release = on_release};
	uint32_t failed = 0;

	for (actor_ref ref = 1; ref <= 200; ref++) {
		int64_t n = 0;
		int rc;

		do {
			uint64_t before = atomic_load(&all.mask);

			lab_heap_fail(++n, LAB_FAIL_ONCE, 0);
			rc = actor__subscriptions_add(&all, ref, ref % 3 + 1, &noted);
			failed += rc == -ENOMEM;
			assert_true(!rc || (rc == -ENOMEM && atomic_load(&all.mask) == before));
		} while (rc);
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	}
	assert_true(failed > 200);
	assert_int_equal(audience_count(1) + audience_count(2) + audience_count(3), 200);
	assert_int_equal(released, 0);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	for (actor_ref ref = 1; ref <= 200; ref++)
		assert_int_equal(actor__subscriptions_remove(&all, ref, 0), 1);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_int_equal(released, 200);
}

static void a_hundred_thousand_come_and_go_in_linear_time(void **state)
{
	for (actor_ref ref = 1; ref <= 100000; ref++)
		assert_int_equal(actor__subscriptions_add(&all, ref, 7, &plain), 0);
	for (actor_ref ref = 1; ref <= 100000; ref++)
		assert_int_equal(actor__subscriptions_remove(&all, ref, 0), 1);
	assert_true(lab_heap_blocks - blocks < 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_predicate_an_actor_is_subscribed_once_per_kind),
		TEST(the_mask_is_set_while_a_kind_has_subscriptions),
		TEST(what_is_held_stays_until_it_is_given_back),
		TEST(any_order_of_steps_does_as_a_model),
		TEST(without_memory_nothing_changes),
		TEST(a_hundred_thousand_come_and_go_in_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
