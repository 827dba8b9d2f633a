/* SPDX-License-Identifier: MIT */
/* The estimate of the cost and what follows from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/fuse.h"

#define SECOND 1000000000ull

static enum fuse_action step(struct fuse *f, uint64_t hits, uint64_t spent_ns, uint64_t messages)
{
	struct fuse_reading now = f->last;

	now.at_ns += SECOND;
	now.hits += hits;
	now.spent_ns += spent_ns;
	now.messages += messages;
	return fuse_step(f, &now);
}

static void cost_is_traps_and_copies_and_stamps(void **state)
{
	struct fuse f = {.sample_every = 1};

	step(&f, 0, 0, 0);
	assert_int_equal(step(&f, 1000, 9000000, 0), FUSE_NOTHING); /* no limit, no action */
	assert_true(f.share > 0.00999 && f.share < 0.01001);
	step(&f, 0, 0, 1000000);
	assert_true(f.share > 0.02599 && f.share < 0.02601);
}

static void one_step_beyond_the_limit_is_forgiven(void **state)
{
	struct fuse f = {.limit = 0.01, .sample_every = 1};

	step(&f, 0, 0, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(step(&f, 0, 20000000, 0), FUSE_NOTHING);
		assert_int_equal(step(&f, 0, 0, 0), FUSE_NOTHING);
	}
}

static void copying_is_cut_by_sampling_and_then_ends(void **state)
{
	struct fuse f = {.limit = 0.01, .sample_every = 1};
	uint64_t expected = 1;

	step(&f, 0, 0, 0);
	while (expected < FUSE_SAMPLE_MAX) {
		assert_int_equal(step(&f, 0, 20000000, 0), FUSE_NOTHING);
		assert_int_equal(step(&f, 0, 20000000, 0), FUSE_SAMPLE);
		expected *= 4;
		assert_int_equal(f.sample_every, expected);
	}
	assert_int_equal(step(&f, 0, 20000000, 0), FUSE_NOTHING);
	assert_int_equal(step(&f, 0, 20000000, 0), FUSE_DETACH);
}

static void what_sampling_cannot_cut_ends_at_once(void **state)
{
	struct fuse stamps = {.limit = 0.01, .sample_every = 1};
	struct fuse traps = {.limit = 0.01, .sample_every = 0};

	step(&stamps, 0, 0, 0);
	step(&stamps, 0, 0, 1000000);
	assert_int_equal(step(&stamps, 0, 0, 1000000), FUSE_DETACH);
	step(&traps, 0, 0, 0);
	step(&traps, 100000, 0, 0);
	assert_int_equal(step(&traps, 100000, 0, 0), FUSE_DETACH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cost_is_traps_and_copies_and_stamps),
		cmocka_unit_test(one_step_beyond_the_limit_is_forgiven),
		cmocka_unit_test(copying_is_cut_by_sampling_and_then_ends),
		cmocka_unit_test(what_sampling_cannot_cut_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
