/* SPDX-License-Identifier: MIT */
/* Behaviours: replaced, put over each other, taken off again. */
#include "tests/lab.h"

struct seen {
	uint32_t count;
	char text[64];
};

static int last_rc;

static struct seen *note(struct actor_ctx *ctx, char name)
{
	struct seen *seen = *(struct seen **)actor_state(ctx);

	seen->text[seen->count++] = name;
	return seen;
}

static uint64_t number(const struct actor_message *m)
{
	uint64_t n;

	memcpy(&n, m->payload, sizeof(n));
	return n;
}

static int upper(struct actor_ctx *ctx, const struct actor_message *m);

/* 1: replace by upper, 2: put upper over it, 3: back. */
static int change(struct actor_ctx *ctx, const struct actor_message *m, char name)
{
	note(ctx, name);
	if (number(m) == 1)
		last_rc = actor_become(ctx, upper);
	if (number(m) == 2)
		last_rc = actor_become_over(ctx, upper);
	if (number(m) == 3)
		last_rc = actor_unbecome(ctx);
	if (number(m) == 4)
		last_rc = actor_become(ctx, NULL);
	return 0;
}

static int lower(struct actor_ctx *ctx, const struct actor_message *m)
{
	return change(ctx, m, 'a');
}

static int upper(struct actor_ctx *ctx, const struct actor_message *m)
{
	return change(ctx, m, 'A');
}

static struct actor_class changer_class = {.size = sizeof(struct actor_class),
	.name = "changer",
	.state_bytes = sizeof(struct seen *),
	.on_message = lower};

static void tell_all(struct lab *lab, actor_ref ref, const char *numbers)
{
	for (; *numbers; numbers++) {
		uint64_t n = (uint64_t)(*numbers - '0');

		assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, &n, sizeof(n)), 0);
	}
	lab_run(lab);
}

static const struct {
	const char *told;
	const char *handled_by;
	int rc; /* of the last change */
} rows[] = {
	{"0", "a", 1},
	{"10", "aA", 0},
	{"1030", "aAAA", -ENOENT}, /* replaced: nothing below */
	{"2030", "aAAa", 0},
	{"22303030", "aAAAAaaa", -ENOENT},
	{"40", "aa", -EINVAL},
};

static void behaviours_change_from_the_next_message_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab lab;
		struct seen seen = {0};
		struct seen *at = &seen;
		struct actor_spawn_options options = {.size = sizeof(options), .init = &at};
		actor_ref ref;

		last_rc = 1;
		lab_open(&lab, NULL);
		assert_int_equal(actor_system_spawn(lab.system, &changer_class, &options, &ref), 0);
		tell_all(&lab, ref, rows[i].told);
		assert_string_equal(seen.text, rows[i].handled_by);
		assert_int_equal(last_rc, rows[i].rc);
		lab_close(&lab);
	}
}

static int piler(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)m;
	for (int i = 0; i < 1000; i++)
		if (actor_become_over(ctx, i % 2 ? lower : upper))
			return -1;
	for (int i = 999; i >= 1; i--)
		if (actor_unbecome(ctx))
			return -2;
	return actor_unbecome(ctx) ? -3 : actor_unbecome(ctx) == -ENOENT ? 0 : -4;
}

static struct actor_class piler_class = {
	.size = sizeof(struct actor_class), .name = "piler", .on_message = piler};

static void a_thousand_behaviours_come_off_again(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &piler_class, NULL, &ref), 0);
	tell_all(&lab, ref, "0");
	assert_int_equal(lab_stats(&lab).failed, 0);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behaviours_change_from_the_next_message_on),
		cmocka_unit_test(a_thousand_behaviours_come_off_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
