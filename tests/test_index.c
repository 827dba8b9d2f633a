/* SPDX-License-Identifier: MIT */
/* The table by number against a plain array, and how full its places stand. */
#include "tests/lab.h"

#include "runtime/index.h"

#define KEYS 700

static void a_random_table_agrees_with_a_plain_array(void **state)
{
	struct actor__index index = {0};
	bool there[KEYS] = {0};
	uint64_t random = now_ns() | 1;
	uint32_t count = 0;

	print_message("seed %#llx\n", (unsigned long long)random);
	for (int round = 0; round < 50000; round++) {
		uint64_t key = random_below(&random, KEYS);

		if (!there[key])
			assert_true(actor__index_add(&index, key << 40 | key, &there[key]));
		else
			actor__index_remove(&index, key << 40 | key);
		count += there[key] ? UINT32_MAX : 1;
		there[key] = !there[key];
		if (round % 100)
			continue;
		assert_int_equal(index.count, count);
		for (uint64_t i = 0; i < KEYS; i++)
			assert_ptr_equal(actor__index_find(&index, i << 40 | i),
				there[i] ? &there[i] : NULL);
	}
	actor__index_fini(&index);
	assert_null(actor__index_find(&index, 1));
}

static uint32_t longest_run(const struct actor__index *index)
{
	uint32_t run = 0, longest = 0;

	for (uint32_t i = 0; i < index->room; i++) {
		run = index->places[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Keys come in a row, or as addresses; a removal and a miss walk to the end of the row of used
 * places. */
static void many_keys_leave_free_places_between_them(void **state)
{
	static const uint64_t steps[] = {1, 16, 64, 160, 4096, 1ull << 32};

	for (size_t s = 0; s < COUNT(steps); s++) {
		struct actor__index index = {0};

		for (uint64_t i = 1; i <= 100003; i++)
			assert_true(actor__index_add(&index, i * steps[s], &index));
		assert_in_range(longest_run(&index), 1, 64);
		for (uint64_t i = 1; i <= 100003; i++)
			actor__index_remove(&index, i * steps[s]);
		assert_int_equal(index.count, 0);
		actor__index_rest(&index);
		assert_null(index.places);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_random_table_agrees_with_a_plain_array),
		cmocka_unit_test(many_keys_leave_free_places_between_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
