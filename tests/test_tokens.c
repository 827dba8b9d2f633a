/* SPDX-License-Identifier: MIT */
/* The token bucket by itself: rates, bursts, waits, and clocks that step back. */
#include "tests/lab.h"

#include "runtime/tokens.h"

static const struct {
	uint32_t messages, per_ms, burst;
	uint64_t ms;      /* for so long, with a look each millisecond ... */
	uint64_t granted; /* ... after the burst was used up */
} rows[] = {
	{10, 1000, 10, 1000, 10},
	{10, 1000, 1, 1000, 10},
	{3, 1000, 3, 10000, 30},
	{1000, 1000, 5, 777, 777},
	{1, 60000, 1, 600000, 10},
	{7, 13, 7, 13000, 7000},
	{5000, 1000, 5, 100, 500},
	{5000, 1000, 2, 100, 200}, /* the burst is also the most per millisecond */
	{1000000000, 86400000, 1000000000, 100, 1157}, /* 11.57... per millisecond */
};

static uint64_t take_all(struct actor__tokens *tokens, uint64_t now, uint64_t most)
{
	uint64_t count = 0;

	while (count < most && actor__tokens_take(tokens, now))
		count++;
	return count;
}

static void a_bucket_grants_its_rate_and_no_more(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor__tokens tokens;
		uint64_t now = 123456789, granted = 0;

		actor__tokens_init(&tokens, rows[i].messages, rows[i].per_ms, rows[i].burst);
		if (rows[i].burst < 1000)
			assert_int_equal(take_all(&tokens, now, UINT64_MAX), rows[i].burst);
		else
			assert_true(actor__tokens_take(&tokens, now));
		tokens.level = 0; /* one by one would take too long */
		for (uint64_t ms = 0; ms < rows[i].ms; ms++)
			granted += take_all(&tokens, ++now, UINT64_MAX);
		assert_int_equal(granted, rows[i].granted);
	}
}

static void the_wait_is_as_long_as_needed(void **state)
{
	uint64_t random = now_ns() | 1;

	print_message("seed %#llx\n", (unsigned long long)random);
	for (int i = 0; i < 10000; i++) {
		struct actor__tokens tokens, early;
		uint64_t now = 1 + random_below(&random, 1000000), wait;

		actor__tokens_init(&tokens, 1 + random_below(&random, 5000),
			1 + random_below(&random, 100000), 1 + random_below(&random, 5));
		take_all(&tokens, now, UINT64_MAX);
		for (int step = 0; step < 10; step++) {
			wait = actor__tokens_wait_ms(&tokens);
			assert_in_range(wait, 1, 100000);
			early = tokens;
			if (wait > 1)
				assert_false(actor__tokens_take(&early, now + wait - 1));
			now += wait;
			assert_true(actor__tokens_take(&tokens, now));
			take_all(&tokens, now, UINT64_MAX);
		}
	}
}

static void a_clock_that_was_ahead_grants_nothing_twice(void **state)
{
	struct actor__tokens tokens;

	actor__tokens_init(&tokens, 1000, 1000, 4);
	assert_int_equal(take_all(&tokens, 100, 10), 4);
	assert_int_equal(take_all(&tokens, 102, 10), 2);
	assert_int_equal(take_all(&tokens, 100, 10), 0);
	assert_int_equal(take_all(&tokens, 102, 10), 0);
	assert_int_equal(take_all(&tokens, 103, 10), 1);
	assert_int_equal(take_all(&tokens, UINT64_MAX, 10), 4); /* never more than it holds */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_grants_its_rate_and_no_more),
		cmocka_unit_test(the_wait_is_as_long_as_needed),
		cmocka_unit_test(a_clock_that_was_ahead_grants_nothing_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
