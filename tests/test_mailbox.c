/* SPDX-License-Identifier: MIT */
/* The chunked FIFO against a plain array, and that its messages stay where they are. */
#include "tests/lab.h"

#include "runtime/mailbox.h"

#define MODEL_MAX 100000

static struct actor__envelope *places[MODEL_MAX];

static void push(struct actor__mailbox *box, struct actor__pool *pool, uint64_t number)
{
	struct actor__envelope *e = actor__mailbox_push(box, pool);

	assert_non_null(e);
	assert_int_equal((uintptr_t)e % 64, 0);
	e->stamp = number;
	places[number % MODEL_MAX] = e;
}

static void pop(struct actor__mailbox *box, struct actor__pool *pool, uint64_t number)
{
	struct actor__envelope *e = actor__mailbox_pop(box);

	assert_ptr_equal(e, places[number % MODEL_MAX]);
	assert_int_equal(e->stamp, number);
	actor__mailbox_done(box, pool);
}

static void random_pushes_and_pops_keep_the_order(void **state)
{
	uint64_t random = now_ns() | 1;
	struct actor__mailbox box = {0};
	struct actor__pool pool = {0};
	uint64_t head = 0, tail = 0;

	print_message("seed %#llx\n", (unsigned long long)random);
	for (int round = 0; round < 3000; round++) {
		uint32_t pushes = random_below(&random, round % 10 ? 40 : 2000);
		uint32_t pops = random_below(&random, round % 7 ? 40 : 4000);

		while (pushes-- && tail - head < MODEL_MAX - 1)
			push(&box, &pool, tail++);
		assert_int_equal(box.count, tail - head);
		while (pops-- && head < tail)
			pop(&box, &pool, head++);
		assert_int_equal(box.count, tail - head);
		if (random_below(&random, 3) == 0)
			actor__mailbox_rest(&box, &pool);
	}
	while (head < tail)
		pop(&box, &pool, head++);
	actor__mailbox_rest(&box, &pool);
	actor__pool_fini(&pool);
}

static void a_message_being_handled_stays_while_the_mailbox_grows(void **state)
{
	struct actor__mailbox box = {0};
	struct actor__pool pool = {0};
	struct actor__envelope *handled;

	push(&box, &pool, 0);
	handled = actor__mailbox_pop(&box);
	memset(handled->inlined, 7, sizeof(handled->inlined));
	for (uint64_t i = 1; i < 1000; i++)
		push(&box, &pool, i);
	for (size_t i = 0; i < sizeof(handled->inlined); i++)
		assert_int_equal(handled->inlined[i], 7);
	actor__mailbox_done(&box, &pool);
	for (uint64_t i = 1; i < 1000; i++)
		pop(&box, &pool, i);
	actor__mailbox_rest(&box, &pool);
	actor__pool_fini(&pool);
}

static int slabs(const struct actor__pool *pool)
{
	int count = 0;

	for (struct actor__block *slab = pool->slabs; slab; slab = slab->next)
		count++;
	return count;
}

static void an_empty_mailbox_at_rest_has_no_storage_and_steady_use_takes_none(void **state)
{
	struct actor__mailbox box = {0};
	struct actor__pool pool = {0};
	uint64_t number = 0;
	int before;

	assert_null(box.first);
	push(&box, &pool, number);
	pop(&box, &pool, number++);
	actor__mailbox_rest(&box, &pool);
	assert_null(box.first);
	actor__mailbox_rest(&box, &pool);
	before = slabs(&pool);
	for (int i = 0; i < 100000; i++) {
		push(&box, &pool, number);
		pop(&box, &pool, number++);
		if (i % 3 == 0)
			actor__mailbox_rest(&box, &pool);
	}
	assert_int_equal(slabs(&pool), before);
	actor__mailbox_rest(&box, &pool);
	actor__pool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pushes_and_pops_keep_the_order),
		cmocka_unit_test(a_message_being_handled_stays_while_the_mailbox_grows),
		cmocka_unit_test(an_empty_mailbox_at_rest_has_no_storage_and_steady_use_takes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
