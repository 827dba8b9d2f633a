/* SPDX-License-Identifier: MIT */
/* What tests of failures share: strategies, one lab per test, and orders to its actors. */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include "tests/family.h"

#define S(...)                                                                                     \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}

static const struct actor_strategy stops = S(.directive = ACTOR_DIRECTIVE_STOP);
static const struct actor_strategy resumes = S(.directive = ACTOR_DIRECTIVE_RESUME);
static const struct actor_strategy escalates = S(.directive = ACTOR_DIRECTIVE_ESCALATE);
static const struct actor_strategy restarts = S(.max_retries = -1);

static struct lab lab;

static inline int setup(void **state)
{
	trail_reset();
	members_alive = 0;
	lab_open(&lab, NULL);
	return 0;
}

static inline int teardown(void **state)
{
	lab_close(&lab);
	assert_int_equal(members_alive, 0); /* each instance has ended once */
	return 0;
}

/* A copy of a class with another strategy for its children. */
static inline struct actor_class *parent_class(
	const struct actor_class *cls, const struct actor_strategy *strategy)
{
	static struct actor_class classes[16];
	static unsigned int next;
	struct actor_class *copy = &classes[next++ % COUNT(classes)];

	*copy = *cls;
	copy->id = 0;
	copy->strategy = strategy;
	return copy;
}

static inline void orders(actor_ref ref, const char *kinds)
{
	for (; *kinds; kinds++)
		give(&lab, ref, (struct order){.kind = *kinds == '!' ? FAIL : NOTE});
}

static inline actor_ref lookup(const char *path)
{
	actor_ref ref = actor_lookup(lab.system, path);

	assert_true(ref != 0);
	return ref;
}

static inline int counts_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t *count = actor_state(ctx);

	mark(0, (char)('0' + (*count)++));
	return message->bytes ? -1 : 0;
}

static struct actor_class counts_class = {.size = sizeof(counts_class),
	.name = "counts",
	.state_bytes = sizeof(uint64_t),
	.on_message = counts_message};

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
