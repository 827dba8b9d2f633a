/* SPDX-License-Identifier: MIT */
/* Actors whose handlers become pending, and what they leave behind, for tests of that. */
#ifndef TESTS_PENDER_H
#define TESTS_PENDER_H

#include "tests/lab.h"

static char trail[512];		  /* what happened, one letter each */
static _Atomic uint32_t rc_wrong; /* what was not as it should be */

static inline void mark(char letter)
{
	size_t n = strlen(trail);

	assert_true(n < sizeof(trail) - 1);
	trail[n] = letter;
	trail[n + 1] = '\0';
}

/* ---- becomes pending at 'p', and at 's', where it also stops ---- */

static struct actor_token kept_token;
static struct actor_ctx *kept_ctx;
static const void *kept_payload;

static inline int quiet_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	char letter = *(const char *)m->payload;

	mark(letter);
	if (letter == 's')
		actor_stop_self(ctx);
	if (letter != 'p' && letter != 's')
		return 0;
	kept_ctx = ctx;
	kept_payload = m->payload;
	return actor_pending(ctx, &kept_token);
}

static inline void quiet_stop(struct actor_ctx *ctx)
{
	mark('X');
}

static struct actor_class quiet_class = {.size = sizeof(struct actor_class),
	.name = "quiet",
	.on_message = quiet_message,
	.on_stop = quiet_stop};

/* ---- its parent: makes it, passes letters on, stops at 'x' ---- */

static inline int parent_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_ref *child = actor_state(ctx);

	if (!*child)
		return actor_spawn(ctx, &quiet_class, NULL, child);
	if (*(const char *)m->payload == 'x') {
		actor_stop_self(ctx);
		return 0;
	}
	return actor_tell(ctx, *child, &plain_type, m->payload, 1);
}

static struct actor_class parent_class = {.size = sizeof(struct actor_class),
	.name = "parent",
	.state_bytes = sizeof(actor_ref),
	.on_message = parent_message};

static inline actor_ref spawn(struct lab *lab, struct actor_class *cls, void *state)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &state, .strategy = &lab_stops};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, cls, &options, &ref), 0);
	return ref;
}

static inline void tell(struct lab *lab, actor_ref ref, const char *letters)
{
	for (; *letters; letters++)
		assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, letters, 1), 0);
}

/* A completion that must not be called. */
static inline int never(
	struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	rc_wrong++;
	return 0;
}

static inline int setup(void **state)
{
	rc_wrong = 0;
	trail[0] = '\0';
	return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

#endif
