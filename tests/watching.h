/* SPDX-License-Identifier: MIT */
/* What tests of watches share: members that watch each other, and that nothing is left of them. */
#ifndef TESTS_WATCHING_H
#define TESTS_WATCHING_H

#include "tests/family.h"

static inline int setup(void **state)
{
	trail_reset();
	members_alive = 0;
	tokens_alive = 0;
	counted_alive = 0;
	return 0;
}

static inline int teardown(void **state)
{
	assert_int_equal(members_alive, 0);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static inline actor_ref spawn(struct lab *lab, char letter, int loop)
{
	return member_spawn(
		lab, &member_class, (struct member){.letter = letter}, NULL, NULL, loop);
}

static inline void ask_for(struct lab *lab, actor_ref to, enum order_kind kind, actor_ref ref)
{
	give(lab, to, (struct order){.kind = kind, .ref = ref});
}

/* A watcher w and a subject s on one loop that have started. */
static inline void pair_open(struct lab *lab, actor_ref *w, actor_ref *s)
{
	lab_open(lab, NULL);
	*w = spawn(lab, 'w', 0);
	*s = spawn(lab, 's', 0);
	lab_run(lab);
	trail_reset();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
