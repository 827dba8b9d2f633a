/* SPDX-License-Identifier: MIT */
/* A test kit with its failures kept, as the tests of the kit open it. After tests/lab.h. */
#ifndef TESTS_KITTED_H
#define TESTS_KITTED_H

#include "runtime/actor_test.h"
#include "tests/lab.h"

static struct actor_type word_type = ACTOR_TYPE("word");
static char failure[640];
static uint32_t failures;

static inline void on_failure(void *data, const char *text)
{
	failures++;
	strncpy(failure, text, sizeof(failure) - 1);
}

static inline struct actor_test *kit_open(int loops)
{
	struct actor_system_options system = {.size = sizeof(system), .loops = loops, .config = ""};
	struct actor_test_options options = {.size = sizeof(options),
		.system = &system,
		.seed = 7,
		.on_failure = on_failure};
	struct actor_test *kit;

	failures = 0;
	failure[0] = '\0';
	assert_int_equal(actor_test_open(&kit, &options), 0);
	return kit;
}

static inline struct actor_test_probe *probe_open(struct actor_test *kit, const char *name, int loop)
{
	struct actor_test_probe *probe;

	assert_int_equal(actor_test_probe_open(kit, name, loop, &probe), 0);
	return probe;
}

static inline void tell(struct actor_test *kit, actor_ref to, uint64_t value)
{
	assert_int_equal(actor_system_tell(actor_test_system(kit), to, &word_type, &value,
				 sizeof(value)),
		0);
}

static inline uint64_t value_of(const struct actor_message *m)
{
	uint64_t value;

	assert_int_equal(m->bytes, sizeof(value));
	memcpy(&value, m->payload, sizeof(value));
	return value;
}

static inline actor_ref spawn(struct actor_test *kit, struct actor_class *cls, int loop, const void *init)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop, .init = init};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(actor_test_system(kit), cls, &options, &ref), 0);
	return ref;
}

static inline int is_value(const struct actor_message *m, void *data)
{
	return value_of(m) == *(uint64_t *)data;
}

#endif
