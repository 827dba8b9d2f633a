/* SPDX-License-Identifier: MIT */
/* Deadlines against a plain list: earliest first, equal times in the order of arming. */
#include "tests/lab.h"

#include "runtime/deadlines.h"

#define MOST 500

static struct actor__deadlines heap;
static struct actor__deadline plain[MOST]; /* the model reads only at_ms, order and armed */
static bool armed[MOST];

static uint32_t model_earliest(void)
{
	uint32_t earliest = MOST;

	for (uint32_t i = 0; i < MOST; i++)
		if (armed[i] && (earliest == MOST || plain[i].at_ms < plain[earliest].at_ms ||
					(plain[i].at_ms == plain[earliest].at_ms &&
						plain[i].order < plain[earliest].order)))
			earliest = i;
	return earliest;
}

static void arm(uint32_t i, uint64_t at_ms)
{
	assert_false(actor__deadline_armed(&plain[i]));
	plain[i].at_ms = at_ms;
	actor__deadlines_put(&heap, &plain[i]);
	armed[i] = true;
}

static void cancel(uint32_t i)
{
	actor__deadline_cancel(&plain[i]);
	assert_false(actor__deadline_armed(&plain[i]));
	armed[i] = false;
}

static void check(void)
{
	uint32_t earliest = model_earliest();

	assert_ptr_equal(heap.first, earliest == MOST ? NULL : &plain[earliest]);
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(actor__deadline_armed(&plain[i]), armed[i]);
}

static void random_deadlines_agree_with_a_plain_list(void **state)
{
	uint64_t random = now_ns() | 1;
	uint64_t now = 1;

	print_message("seed %#llx\n", (unsigned long long)random);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t roll = random_below(&random, 10);
		uint32_t i = random_below(&random, MOST);

		if (roll < 6 && !armed[i])
			arm(i, now + random_below(&random, 40));
		else if (roll < 8)
			cancel(i); /* also one that is not armed */
		else if (heap.first)
			cancel(model_earliest());
		now += roll == 9;
		if (round % 16 == 0)
			check();
	}
	for (uint32_t i = 0; i < MOST; i++)
		cancel(i);
	check();
}

/* All at once, then all out again: in order, and in far less than quadratic time. */
static void a_hundred_thousand_deadlines_come_in_order(void **state)
{
	enum { MANY = 100003 };
	struct actor__deadline *many = calloc(MANY, sizeof(*many));
	uint64_t random = 0x1234567, before = 0, order = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		many[i].at_ms = random_below(&random, 1000);
		actor__deadlines_put(&heap, &many[i]);
	}
	for (uint32_t i = 0; i < MANY; i += 3)
		actor__deadline_cancel(&many[i]);
	for (struct actor__deadline *d; (d = heap.first); count++) {
		assert_true(d->at_ms > before || (d->at_ms == before && d->order >= order));
		before = d->at_ms;
		order = d->order;
		actor__deadline_cancel(d);
	}
	assert_int_equal(count, MANY - (MANY + 2) / 3);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_deadlines_agree_with_a_plain_list),
		cmocka_unit_test(a_hundred_thousand_deadlines_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
