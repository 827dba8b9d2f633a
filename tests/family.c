/* SPDX-License-Identifier: MIT */
/* Families of actors for tests of supervision. */
#include "tests/family.h"

#include <stdio.h>

char trail[TRAIL_BYTES];
static _Atomic int start_failures;
_Atomic int last_rc, last_reason;
_Atomic int64_t members_alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t trail_bytes;

struct actor_type order_type = ACTOR_TYPE("order");

void mark(char what, char letter)
{
	pthread_mutex_lock(&lock);
	if (trail_bytes + 3 < TRAIL_BYTES) {
		if (what)
			trail[trail_bytes++] = what;
		trail[trail_bytes++] = letter;
		trail[trail_bytes] = '\0';
	}
	pthread_mutex_unlock(&lock);
}

void trail_reset(void)
{
	pthread_mutex_lock(&lock);
	trail[trail_bytes = 0] = '\0';
	pthread_mutex_unlock(&lock);
	start_failures = 0;
	last_rc = 1;
	last_reason = 1;
}

const char *trail_of(char letter)
{
	static char text[TRAIL_BYTES];
	size_t bytes = 0;

	pthread_mutex_lock(&lock);
	for (const char *at = trail; *at; at++) {
		char what = strchr("+-~*!(", *at) ? *at++ : 0;

		if (*at != letter)
			continue;
		if (what)
			text[bytes++] = what;
		text[bytes++] = letter;
	}
	pthread_mutex_unlock(&lock);
	text[bytes] = '\0';
	return text;
}

bool trail_becomes(char letter, const char *text)
{
	for (int i = 0; i < 10000; i++) {
		if (strcmp(trail_of(letter), text) == 0)
			return true;
		sleep_ms(1);
	}
	print_error("the trail of %c is \"%s\", not \"%s\"\n", letter, trail_of(letter), text);
	return false;
}

/* Who is called what; each loop notes its own. */
static struct {
	actor_ref ref;
	char letter;
} names[256];
static uint32_t named;

static void name_note(actor_ref ref, char letter)
{
	pthread_mutex_lock(&lock);
	names[named % COUNT(names)].ref = ref;
	names[named++ % COUNT(names)].letter = letter;
	pthread_mutex_unlock(&lock);
}

static char name_of(actor_ref ref)
{
	char letter = '?';

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].ref == ref)
			letter = names[i].letter;
	pthread_mutex_unlock(&lock);
	return letter;
}

static struct member *self(struct actor_ctx *ctx)
{
	return actor_state(ctx);
}

static int spawn_child(struct actor_ctx *ctx, struct member init, int loop, struct actor_class *cls,
	const struct actor_strategy *strategy)
{
	char name[2] = {init.letter, 0};
	struct actor_spawn_options options = {.size = sizeof(options),
		.name = name,
		.init = &init,
		.loop = loop,
		.strategy = strategy};
	actor_ref ref;

	return actor_spawn(ctx, cls, &options, &ref);
}

static int begin(struct actor_ctx *ctx, char what)
{
	struct member *m = self(ctx);

	mark(what, m->letter);
	name_note(actor_self(ctx), m->letter);
	atomic_fetch_add(&members_alive, 1);
	if (m->child) {
		int rc = spawn_child(ctx, (struct member){.letter = m->child}, m->child_loop,
			m->child_class ? m->child_class : &member_class, m->child_strategy);

		if (rc)
			return rc;
	}
	if (m->fails_start)
		return -EACCES;
	if (m->fails_starts && m->fails_starts > atomic_fetch_add(&start_failures, 1))
		return -EACCES;
	return 0;
}

static int member_start(struct actor_ctx *ctx)
{
	return begin(ctx, '+');
}

static int member_post_restart(struct actor_ctx *ctx, int code)
{
	last_reason = code;
	return begin(ctx, '*');
}

static void member_stop(struct actor_ctx *ctx)
{
	mark('-', self(ctx)->letter);
	atomic_fetch_sub(&members_alive, 1);
}

static void member_pre_restart(struct actor_ctx *ctx, int code)
{
	last_reason = code;
	mark('~', self(ctx)->letter);
	atomic_fetch_sub(&members_alive, 1);
}

static int other(struct actor_ctx *ctx, const struct actor_message *message)
{
	mark(0, 'b');
	return 0;
}

static int on_gone(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	last_reason = reply ? 1 : status;
	mark('(', name_of((actor_ref)(uintptr_t)data));
	return 0;
}

static int obey(struct actor_ctx *ctx, const struct order *o)
{
	switch (o->kind) {
	case SPAWN:
		return spawn_child(ctx,
			(struct member){.letter = o->letter, .fails_starts = o->fails}, o->number,
			o->cls ? o->cls : &member_class, NULL);
	case STOP_SELF:
		actor_stop_self(ctx);
		return 0;
	case STOP:
		return actor_stop(ctx, o->ref);
	case KILL:
		return actor_kill(ctx, o->ref);
	case TERMINATE:
		return actor_terminate(ctx, o->ref);
	case WATCH:
		return actor_watch(ctx, o->ref);
	case WATCH_WITH: {
		uint64_t token = token_new((uint64_t)o->number);
		int rc = actor_watch_with(ctx, o->ref, &token_type, &token, sizeof(token));

		if (rc)
			token_type.destroy(&token, sizeof(token));
		return rc;
	}
	case UNWATCH:
		return actor_unwatch(ctx, o->ref);
	case GRACEFUL:
		return actor_stop_within(ctx, o->ref, o->number, on_gone, (void *)(uintptr_t)o->ref);
	case TELL:
		return actor_tell(
			ctx, o->ref, &order_type, &(struct order){NOTE}, sizeof(struct order));
	case BECOME:
		return actor_become(ctx, other);
	case SLEEP:
		sleep_ms((unsigned int)o->number);
		return 0;
	default:
		return 0;
	}
}

static int member_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct member *m = self(ctx);
	struct order o;

	if (message->type == &actor_terminated) {
		const struct actor_termination *end = message->payload;

		last_reason = end->code;
		mark('(', end->actor == message->sender ? name_of(end->actor) : '#');
	}
	if (message->type == &token_type)
		mark('(', (char)*(const uint64_t *)message->payload);
	if (message->type != &order_type)
		return 0;
	memcpy(&o, message->payload, sizeof(o));
	m->handled++;
	if (o.kind == FAIL || o.kind == FAIL_TEXT) {
		mark('!', m->letter);
		return o.kind == FAIL ? (o.number < 0 ? o.number : -EIO)
				      : actor_fail(ctx, -EPIPE, "pipe %d broke", 7);
	}
	mark(0, m->letter);
	if (o.kind != NOTE)
		last_rc = obey(ctx, &o);
	return 0;
}

#define MEMBER                                                                                     \
	.size = sizeof(struct actor_class), .state_bytes = sizeof(struct member),                  \
	.on_start = member_start, .on_message = member_message, .on_stop = member_stop
#define HOOKS .on_pre_restart = member_pre_restart, .on_post_restart = member_post_restart

struct actor_class member_class = {MEMBER, .name = "member"};
struct actor_class hooked_class = {MEMBER, HOOKS, .name = "hooked"};
struct actor_class keeper_class = {MEMBER, HOOKS, .name = "keeper", .keeps_children = 1};

actor_ref member_spawn(struct lab *lab, struct actor_class *cls, struct member init,
	const char *name, const struct actor_strategy *strategy, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options),
		.name = name,
		.init = &init,
		.loop = loop,
		.strategy = strategy};
	actor_ref ref = 0;

	assert_int_equal(actor_system_spawn(lab->system, cls, &options, &ref), 0);
	return ref;
}

void give(struct lab *lab, actor_ref to, struct order o)
{
	assert_int_equal(actor_system_tell(lab->system, to, &order_type, &o, sizeof(o)), 0);
}
