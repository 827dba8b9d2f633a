/* SPDX-License-Identifier: MIT */
/* A bond between a parent and a child on different loops: told once, freed once. */
#include "tests/lab.h"

#include "runtime/bond.h"
#include "runtime/notice.h"

static int setup(void **state)
{
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	lab_heap_end();
	return 0;
}

/* Two loops that never run, and a parent on the first. */
struct pair {
	struct actor_system system;
	struct actor__loop *loops[2];
	struct actor__cell parent;
	struct actor__cell child;
};

static struct actor__bond *pair_open(struct pair *p)
{
	struct actor__bond *bond = actor__bond_new();

	assert_non_null(bond);
	memset(p, 0, sizeof(*p));
	p->system.loops = p->loops;
	p->system.loop_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		p->loops[i] = actor__heap_zero(sizeof(*p->loops[i]));
		p->loops[i]->id = i + 1;
		p->loops[i]->system = &p->system;
	}
	p->parent.loop = p->loops[0];
	p->parent.self = 1ull << 56 | 7;
	p->child.loop = p->loops[1];
	p->child.parent = p->parent.self;
	p->child.self = 2ull << 56 | 9;
	bond->down.to = p->child.self;
	actor__tie_add(&p->parent.ties, &bond->parent);
	actor__tie_add(&p->child.ties, &bond->child);
	return bond;
}

static void pair_close(struct pair *p)
{
	for (uint32_t i = 0; i < 2; i++)
		actor__heap_free(p->loops[i]);
}

static struct actor__notice *taken(struct actor__loop *loop)
{
	struct actor__link *link = actor__inbox_take(&loop->notices);

	assert_true(!link || !link->next);
	return (struct actor__notice *)link;
}

static void terminate(struct pair *p)
{
	actor__bonds_order(&p->parent, ACTOR__ORDER_TERMINATE, 0);
}

static void a_child_is_told_to_stop_once(void **state)
{
	int64_t before = lab_heap_blocks;
	struct pair p;
	struct actor__bond *bond = pair_open(&p);
	struct actor__notice *down;

	terminate(&p);
	terminate(&p);
	actor__bonds_order(&p.child, ACTOR__ORDER_TERMINATE, 0); /* its parent is no child of it */
	down = taken(p.loops[1]);
	assert_non_null(down);
	assert_int_equal(down->command, ACTOR__ORDERS);
	assert_int_equal(down->to, p.child.self);
	assert_ptr_equal(actor__bond_of_down(down), bond);
	assert_int_equal(actor__bond_orders(bond), ACTOR__ORDER_TERMINATE | ACTOR__ORDER_SENT);
	terminate(&p); /* it knows */
	assert_null(taken(p.loops[0]));
	assert_null(taken(p.loops[1]));
	actor__bond_drop(bond);
	actor__bond_drop(bond);
	pair_close(&p);
	assert_int_equal(lab_heap_blocks, before);
}

/* What the parent orders: set, clear; whether the child looks after it, and what it sees then. */
static const struct {
	uint32_t set, clear;
	bool looks;
	uint32_t seen;
} order_rows[] = {
	{ACTOR__ORDER_HOLD, 0, true, ACTOR__ORDER_HOLD},
	{ACTOR__ORDER_HOLD, 0, false, 0}, /* nothing new: nothing is sent */
	{0, ACTOR__ORDER_HOLD, true, 0},
	{ACTOR__ORDER_HOLD, 0, false, 0},
	{0, ACTOR__ORDER_HOLD, false, 0},
	{ACTOR__ORDER_RESTART, 0, true, ACTOR__ORDER_RESTART},
	{ACTOR__ORDER_RESTART, 0, false, 0},
	{ACTOR__ORDER_RESTART, 0, false, 0},
	{ACTOR__ORDER_HOLD, 0, true, ACTOR__ORDER_RESTART | ACTOR__ORDER_HOLD},
	{ACTOR__ORDER_TERMINATE, 0, true, ACTOR__ORDER_TERMINATE | ACTOR__ORDER_HOLD},
};

static void any_number_of_orders_travel_in_one_notice(void **state)
{
	int64_t before = lab_heap_blocks;
	struct pair p;
	struct actor__bond *bond = pair_open(&p);

	for (size_t i = 0; i < COUNT(order_rows); i++) {
		actor__bonds_order(&p.parent, order_rows[i].set, order_rows[i].clear);
		if (!order_rows[i].looks)
			continue;
		assert_ptr_equal(taken(p.loops[1]), &bond->down);
		assert_int_equal(
			actor__bond_orders(bond), order_rows[i].seen | ACTOR__ORDER_SENT);
		actor__bond_drop(bond); /* down's */
	}
	assert_null(taken(p.loops[1]));
	actor__bond_drop(bond);
	pair_close(&p);
	assert_int_equal(lab_heap_blocks, before);
}

static void a_bond_lives_until_both_its_notices_have_arrived(void **state)
{
	for (int down_first = 0; down_first < 2; down_first++) {
		int64_t before = lab_heap_blocks;
		struct pair p;
		struct actor__bond *bond = pair_open(&p);
		struct actor__notice *down, *up;
		int64_t held = lab_heap_blocks;

		assert_ptr_equal(actor__bond_to_parent(&p.child), bond);
		assert_null(actor__bond_to_parent(&p.parent));
		terminate(&p);
		actor__bond_gone(&p.child); /* before it heard of the stop */
		assert_null(p.child.ties);
		down = taken(p.loops[1]);
		up = taken(p.loops[0]);
		assert_int_equal(up->command, ACTOR__CHILD_GONE);
		assert_int_equal(up->to, p.parent.self);
		actor__tie_remove(&p.parent.ties, &bond->parent);
		assert_null(p.parent.ties);
		actor__bond_drop(down_first ? actor__bond_of_down(down) : actor__bond_of_up(up));
		assert_int_equal(lab_heap_blocks, held);
		actor__bond_drop(down_first ? actor__bond_of_up(up) : actor__bond_of_down(down));
		assert_int_equal(lab_heap_blocks, held - 1);
		pair_close(&p);
		assert_int_equal(lab_heap_blocks, before);
	}
}

static void ties_are_taken_out_from_any_place(void **state)
{
	static const int orders[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t i = 0; i < COUNT(orders); i++) {
		struct actor__tie ties[3] = {0};
		struct actor__tie *list = NULL;
		int left = 3;

		for (int n = 0; n < 3; n++)
			actor__tie_add(&list, &ties[n]);
		for (int n = 0; n < 3; n++) {
			int count = 0;

			for (struct actor__tie *tie = list; tie; tie = tie->next)
				count++;
			assert_int_equal(count, left--);
			actor__tie_remove(&list, &ties[orders[i][n]]);
		}
		assert_null(list);
	}
}

static void a_bond_without_memory_is_refused(void **state)
{
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_null(actor__bond_new());
	actor__bond_drop(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_is_told_to_stop_once),
		TEST(any_number_of_orders_travel_in_one_notice),
		TEST(a_bond_lives_until_both_its_notices_have_arrived),
		TEST(ties_are_taken_out_from_any_place),
		TEST(a_bond_without_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
