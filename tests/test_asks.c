/* SPDX-License-Identifier: MIT */
/* Pending asks against a plain list: numbers and lists of cells. */
#include "tests/lab.h"

#include "runtime/asks.h"

#define LISTS 5
#define MOST  300

static struct actor__asks asks;
static struct actor__pool pool;
static struct actor__ask *lists[LISTS];

struct entry {
	struct actor__ask *ask;
	uint32_t number;
	uint32_t list;
};
static struct entry model[MOST];
static uint32_t model_count;

static void model_add(uint64_t *random)
{
	struct entry *entry = &model[model_count++];

	entry->list = random_below(random, LISTS);
	entry->ask = actor__asks_add(&asks, &pool, &lists[entry->list]);
	assert_non_null(entry->ask);
	entry->number = entry->ask->number;
	assert_true(entry->number != 0);
}

static void model_remove(uint32_t i)
{
	actor__asks_remove(&asks, &pool, &lists[model[i].list], model[i].ask);
	model[i] = model[--model_count];
}

static void model_check(void)
{
	uint32_t linked = 0;

	assert_int_equal(asks.by_number.count, model_count);
	for (uint32_t i = 0; i < model_count; i++)
		assert_ptr_equal(actor__asks_find(&asks, model[i].number), model[i].ask);
	for (int i = 0; i < LISTS; i++)
		for (struct actor__ask *ask = lists[i]; ask; ask = ask->next, linked++)
			assert_true(!ask->next || ask->next->previous == ask);
	assert_int_equal(linked, model_count);
}

static void random_asks_agree_with_a_plain_list(void **state)
{
	uint64_t random = now_ns() | 1;

	print_message("seed %#llx\n", (unsigned long long)random);
	asks.last_number = UINT32_MAX - 3000; /* numbers wrap round on the way */
	for (int round = 0; round < 20000; round++) {
		uint32_t roll = random_below(&random, 10);

		if (roll < 6 && model_count < MOST)
			model_add(&random);
		else if (model_count)
			model_remove(random_below(&random, model_count));
		if (round % 50 == 0)
			model_check();
	}
	while (model_count)
		model_remove(model_count - 1);
	model_check();
	assert_null(actor__asks_find(&asks, 1));
	actor__index_fini(&asks.by_number);
	actor__pool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_asks_agree_with_a_plain_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
