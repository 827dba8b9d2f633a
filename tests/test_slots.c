/* SPDX-License-Identifier: MIT */
/* Refs: generations, reuse, retirement, and loop numbers that pass from system to system. */
#include "tests/lab.h"

#include "runtime/slots.h"

static struct actor_class cls = {.size = sizeof(cls), .name = "slot", .id = 1};

struct fixture {
	struct actor__slots *slots;
	struct actor__loop loop; /* only what finding a cell needs */
	struct actor__cell cell;
};

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	assert_int_equal(actor__slots_open(&f->slots), 0);
	f->loop.slots = f->slots;
	f->loop.segments = f->slots->segments;
	f->cell.cls = &cls;
}

static actor_ref add(struct fixture *f, bool outside)
{
	assert_int_equal(actor__slot_reserve(f->slots, outside, &f->cell.self), 0);
	actor__slot_publish(f->slots, &f->cell, 1);
	return f->cell.self;
}

static void a_ref_finds_its_cell_until_it_is_freed(void **state)
{
	struct fixture f;
	actor_ref ref;

	begin(&f);
	assert_int_equal(actor__slot_reserve(f.slots, false, &ref), 0);
	assert_null(actor__slot_find(&f.loop, ref)); /* reserved only */
	assert_null(actor__slot_entry(f.slots, ref));
	f.cell.self = ref;
	actor__slot_publish(f.slots, &f.cell, 1);
	assert_ptr_equal(actor__slot_find(&f.loop, ref), &f.cell);
	assert_non_null(actor__slot_entry(f.slots, ref));
	actor__slot_free(f.slots, ref, false);
	assert_null(actor__slot_find(&f.loop, ref));
	assert_null(actor__slot_entry(f.slots, ref));
	actor__slots_close(f.slots);
}

static void a_reused_slot_has_another_generation(void **state)
{
	struct fixture f;
	actor_ref first, second;

	begin(&f);
	for (int outside = 0; outside < 2; outside++) {
		first = add(&f, outside);
		for (int i = 0; i < 1000; i++) {
			actor__slot_free(f.slots, first, outside);
			second = add(&f, outside);
			assert_int_equal(
				actor_abi_ref_index(second), actor_abi_ref_index(first));
			assert_true(actor_abi_ref_generation(second) ==
				    actor_abi_ref_generation(first) + 1);
			assert_null(actor__slot_find(&f.loop, first));
			assert_ptr_equal(actor__slot_find(&f.loop, second), &f.cell);
			first = second;
		}
		actor__slot_free(f.slots, first, outside);
	}
	actor__slots_close(f.slots);
}

static void a_slot_whose_generations_are_used_up_is_retired(void **state)
{
	struct fixture f;
	actor_ref ref, next;

	begin(&f);
	ref = add(&f, false);
	actor__slot_free(f.slots, ref, false);
	/* The last generation but one, as if four billion actors had lived here. */
	((struct actor_abi_actor *)(uintptr_t)
			f.slots->segments[0])[actor_abi_ref_index(ref)].parent = UINT32_MAX - 1;
	ref = add(&f, false);
	assert_true(actor_abi_ref_generation(ref) == UINT32_MAX);
	actor__slot_free(f.slots, ref, false);
	next = add(&f, false);
	assert_true(actor_abi_ref_index(next) != actor_abi_ref_index(ref));
	actor__slot_free(f.slots, next, false);
	actor__slots_close(f.slots);
}

static void made_up_refs_find_nobody(void **state)
{
	uint64_t random = now_ns() | 1;
	struct fixture f;
	actor_ref refs[10];

	begin(&f);
	for (size_t i = 0; i < COUNT(refs); i++)
		refs[i] = add(&f, i % 2);
	for (size_t i = 0; i < COUNT(refs); i += 2)
		actor__slot_free(f.slots, refs[i], i % 2);
	for (int i = 0; i < 100000; i++) {
		actor_ref ref = random_next(&random);
		actor_ref near = refs[i % 10] & ~(actor_ref)UINT32_MAX;

		if (actor__slot_find(&f.loop, ref))
			assert_true(ref << 8 == refs[1] << 8 || ref << 8 == refs[3] << 8 ||
				    ref << 8 == refs[5] << 8 || ref << 8 == refs[7] << 8 ||
				    ref << 8 == refs[9] << 8);
		assert_null(actor__slot_find(&f.loop, near)); /* generation 0 */
		assert_null(actor__slot_entry(f.slots, near));
	}
	for (size_t i = 1; i < COUNT(refs); i += 2)
		actor__slot_free(f.slots, refs[i], i % 2);
	actor__slots_close(f.slots);
}

static void a_loop_number_keeps_its_generations(void **state)
{
	struct fixture f, again;
	actor_ref old, new;

	begin(&f);
	old = add(&f, false);
	actor__slot_free(f.slots, old, false);
	actor__slots_close(f.slots);
	begin(&again);
	assert_int_equal(again.slots->abi.loop, f.slots->abi.loop);
	new = add(&again, false);
	assert_true(new != old);
	assert_null(actor__slot_find(&again.loop, old));
	actor__slot_free(again.slots, new, false);
	actor__slots_close(again.slots);
}

static void loop_numbers_run_out_with_an_error(void **state)
{
	struct actor__slots *all[ACTOR_ABI_LOOPS], *more;
	int count = 0, rc;

	while (count < (int)COUNT(all) && !(rc = actor__slots_open(&all[count])))
		count++;
	assert_int_equal(count, ACTOR_ABI_LOOPS - 1); /* 0 is nobody's */
	assert_int_equal(actor__slots_open(&more), ACTOR_ELIMIT);
	while (count)
		actor__slots_close(all[--count]);
	assert_int_equal(actor__slots_open(&more), 0);
	actor__slots_close(more);
}

static struct actor__slots *shared;

static void *reserve_many(void *argument)
{
	actor_ref *refs = argument;

	for (int i = 0; i < 5000; i++)
		if (actor__slot_reserve(shared, true, &refs[i]))
			refs[i] = 0;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	actor_ref x = *(const actor_ref *)a, y = *(const actor_ref *)b;

	return (x > y) - (x < y);
}

static void threads_reserve_different_slots(void **state)
{
	static actor_ref refs[3 * 5000];
	pthread_t threads[2];

	assert_int_equal(actor__slots_open(&shared), 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, reserve_many, &refs[i * 5000]);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(actor__slot_reserve(shared, false, &refs[10000 + i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	qsort(refs, COUNT(refs), sizeof(refs[0]), by_value);
	for (size_t i = 1; i < COUNT(refs); i++)
		assert_true(refs[i - 1] && refs[i - 1] != refs[i]);
	actor__slots_close(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ref_finds_its_cell_until_it_is_freed),
		cmocka_unit_test(a_reused_slot_has_another_generation),
		cmocka_unit_test(a_slot_whose_generations_are_used_up_is_retired),
		cmocka_unit_test(made_up_refs_find_nobody),
		cmocka_unit_test(a_loop_number_keeps_its_generations),
		cmocka_unit_test(loop_numbers_run_out_with_an_error),
		cmocka_unit_test(threads_reserve_different_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
