/* SPDX-License-Identifier: MIT */
/* What an actor of the crowd may do. */
#include "tests/crowd.h"

struct act {
	struct actor_ctx *ctx;
	struct actor *self;
	const struct actor_message *message;
	bool told; /* it is a deed or crate, none of the other kinds */
	uint32_t hops;
	bool stashed, taken, pending;
	int rc; /* of the handler */
};

static struct deed_payload next_deed(const struct act *act)
{
	return (struct deed_payload){.sender = actor_self(act->ctx), .hops = act->hops - 1};
}

static int on_message_too(struct actor_ctx *ctx, const struct actor_message *message)
{
	return crowd_message(ctx, message);
}

static void do_tell(struct act *act)
{
	struct deed_payload p = next_deed(act);
	actor_ref to = somebody(&act->self->random);

	count_made(DEED);
	accepted(DEED, actor_tell(act->ctx, to, &deed_type, &p, sizeof(p)), DO_tell);
}

static void do_crate(struct act *act)
{
	struct crate_payload *crate = crate_new(next_deed(act));
	actor_ref to = somebody(&act->self->random);

	if (!accepted(
		    CRATE, actor_tell(act->ctx, to, &crate_type, crate, sizeof(*crate)), DO_crate))
		free(crate);
}

static void do_answer(struct act *act)
{
	uint64_t number = act->hops;

	if (!act->told)
		return;
	count_made(ANSWER);
	accepted(ANSWER, actor_reply(act->ctx, &answer_type, &number, sizeof(number)), DO_answer);
}

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	struct actor *self = actor_state(ctx);

	if (status == 0 && kind_of(reply->type) != ANSWER)
		complain(__LINE__, status);
	return random_below(&self->random, 40) ? 0 : -EPROTO;
}

static void do_ask(struct act *act)
{
	struct deed_payload p = next_deed(act);
	actor_ref to = somebody(&act->self->random);
	int64_t timeout_ms = 1 + random_below(&act->self->random, 20);

	count_made(DEED);
	accepted(DEED,
		actor_ask(act->ctx, to, &deed_type, &p, sizeof(p), timeout_ms, on_answer, NULL),
		DO_ask);
}

static void do_cancel(struct act *act)
{
	if (actor_ask_cancel(act->ctx, actor_ask_id(act->ctx)) == 0)
		atomic_fetch_add(&done[DO_cancel], 1);
}

static void do_tick(struct act *act)
{
	uint64_t *random = &act->self->random;
	const uint64_t key = random_below(random, 4), payload = key;
	const int64_t first_ms = random_below(random, 5), then_ms = 1 + random_below(random, 5);
	int rc;

	count_made(TICK);
	switch (random_below(random, 3)) {
	case 0:
		rc = actor_timer_single(
			act->ctx, key, first_ms, &tick_type, &payload, sizeof(payload));
		break;
	case 1:
		rc = actor_timer_fixed_rate(
			act->ctx, key, first_ms, then_ms, &tick_type, &payload, sizeof(payload));
		break;
	default:
		rc = actor_timer_fixed_delay(
			act->ctx, key, first_ms, then_ms, &tick_type, &payload, sizeof(payload));
	}
	accepted(TICK, rc, DO_tick);
}

static void do_untick(struct act *act)
{
	if (actor_timer_cancel(act->ctx, random_below(&act->self->random, 4)) > 0)
		atomic_fetch_add(&done[DO_untick], 1);
}

static void do_quiet(struct act *act)
{
	count_call(DO_quiet, actor_receive_timeout(act->ctx, random_below(&act->self->random, 4)));
}

/* The runtime's own message, or one that counts. */
static void do_watch(struct act *act)
{
	uint64_t *random = &act->self->random;
	const uint64_t payload = 7;
	actor_ref ref = somebody(random);

	if (ref == actor_self(act->ctx))
		return;
	if (random_below(random, 2)) {
		count_call(DO_watch, actor_watch(act->ctx, ref));
		return;
	}
	count_made(TICK);
	accepted(TICK, actor_watch_with(act->ctx, ref, &tick_type, &payload, sizeof(payload)),
		DO_watch);
}

static void do_unwatch(struct act *act)
{
	int rc = -ENOENT;

	for (int i = 0; i < 8 && rc == -ENOENT; i++)
		rc = actor_unwatch(act->ctx, somebody(&act->self->random));
	if (rc != -ENOENT)
		count_call(DO_unwatch, rc);
}

static void do_throttle(struct act *act)
{
	uint64_t *random = &act->self->random;
	struct actor_throttle_options options = {.size = sizeof(options),
		.messages = 1 + random_below(random, 100),
		.per_ms = 1 + random_below(random, 3),
		.mode = drops && random_below(random, 2) ? ACTOR_THROTTLE_DROP
							 : ACTOR_THROTTLE_PAUSE};
	bool on = random_below(random, 2);

	count_call(DO_throttle, actor_throttle(act->ctx, on ? &options : NULL));
}

static void do_stash(struct act *act)
{
	int rc;

	if (act->taken || act->pending || act->stashed || !act->told)
		return;
	rc = actor_stash(act->ctx);
	act->stashed = rc == 0;
	if (rc != ACTOR_ESTASH)
		count_call(DO_stash, rc);
}

static void do_unstash(struct act *act)
{
	if (actor_unstash_all(act->ctx) > 0)
		atomic_fetch_add(&done[DO_unstash], 1);
}

static void do_become(struct act *act)
{
	if (act->self->behaviours++ % 2)
		count_call(DO_become, actor_become(act->ctx, crowd_message));
	else
		count_call(DO_become, actor_become_over(act->ctx, on_message_too));
}

static void do_unbecome(struct act *act)
{
	if (actor_unbecome(act->ctx) == 0)
		atomic_fetch_add(&done[DO_unbecome], 1);
}

static void do_later(struct act *act)
{
	struct deed_payload p = next_deed(act);
	actor_ref to = somebody(&act->self->random);

	count_made(DEED);
	accepted(DEED,
		actor_system_schedule(actor_ctx_system(act->ctx), to,
			random_below(&act->self->random, 10), &deed_type, &p, sizeof(p)),
		DO_later);
}

static void on_pool(void *payload, size_t bytes)
{
	(*(uint64_t *)payload)++;
}

static void do_work(struct act *act)
{
	uint64_t payload = 0;
	actor_ref to = random_below(&act->self->random, 2) ? actor_self(act->ctx)
							   : somebody(&act->self->random);

	count_made(WORK);
	accepted(WORK, actor_work(act->ctx, to, &work_type, &payload, sizeof(payload), on_pool),
		DO_work);
}

/* From here on what it tells has one. */
static void do_context(struct act *act)
{
	char value[16] = "";

	for (uint32_t i = random_below(&act->self->random, sizeof(value)); i; i--)
		value[i - 1] = 'x';
	count_call(DO_context, actor_log_context_set(act->ctx, "key", value));
}

static void do_publish(struct act *act)
{
	uint64_t payload = 1;
	int rc = actor_publish(act->ctx, &news_type, &payload, sizeof(payload));

	count_call(DO_publish, rc == ACTOR_EFULL ? 0 : rc);
}

static void do_subscribe(struct act *act)
{
	int rc = actor_subscribe(act->ctx,
		random_below(&act->self->random, 3) ? &news_type : &actor_event_failed, NULL);

	if (rc != -EALREADY)
		count_call(DO_subscribe, rc);
}

static void do_unsubscribe(struct act *act)
{
	count_call(DO_unsubscribe, actor_unsubscribe(act->ctx, NULL));
}

static void do_child(struct act *act)
{
	actor_ref ref;

	if (act->self->depth >= CROWD_DEPTH)
		return;
	if (crowd_spawn(NULL, act->ctx,
		    (struct actor){.place = CROWD_PLACES, .depth = act->self->depth + 1},
		    &act->self->random, &ref) == 0) {
		struct deed_payload p = next_deed(act);

		atomic_fetch_add(&done[DO_child], 1);
		p.hops = 3;
		count_made(DEED);
		accepted(DEED, actor_tell(act->ctx, ref, &deed_type, &p, sizeof(p)), DO_tell);
	}
}

/* Somebody else takes the place. */
static void do_move(struct act *act)
{
	if (act->self->place == CROWD_PLACES)
		return;
	if (settle(actor_ctx_system(act->ctx), NULL, act->self->place, &act->self->random) == 0)
		atomic_fetch_add(&done[DO_move], 1);
	actor_stop_self(act->ctx);
}

/* A place is taken anew before whoever has it ends, so that none is empty. */
static actor_ref evict(struct act *act)
{
	const uint32_t place = random_below(&act->self->random, CROWD_PLACES);
	actor_ref old = atomic_load(&places[place]);

	return settle(actor_ctx_system(act->ctx), NULL, place, &act->self->random) ? ACTOR_NONE
										   : old;
}

static void do_stop(struct act *act)
{
	actor_ref old = evict(act);

	if (old)
		count_call(DO_stop, actor_stop(act->ctx, old));
}

static int on_gone(struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	if (status != 0 && status != -ETIMEDOUT && status != -ECANCELED)
		complain(__LINE__, status);
	return 0;
}

static void do_stop_within(struct act *act)
{
	actor_ref old = evict(act);

	if (old && old != actor_self(act->ctx))
		count_call(DO_stop_within,
			actor_stop_within(act->ctx, old, 1 + random_below(&act->self->random, 10),
				on_gone, NULL));
}

static void do_suspend(struct act *act)
{
	count_call(DO_suspend, actor_suspend(act->ctx, somebody(&act->self->random)));
}

static void do_resume(struct act *act)
{
	count_call(DO_resume, actor_resume(act->ctx, somebody(&act->self->random)));
}

static void do_kill(struct act *act)
{
	count_call(DO_kill, actor_kill(act->ctx, somebody(&act->self->random)));
}

static void do_terminate(struct act *act)
{
	actor_ref old = evict(act);

	if (old)
		count_call(DO_terminate, actor_terminate(act->ctx, old));
}

static void do_take(struct act *act)
{
	void *payload;

	if (act->stashed || act->pending || act->taken || kind_of(act->message->type) != CRATE)
		return;
	payload = actor_take(act->ctx);
	act->taken = payload != NULL;
	if (payload != act->message->payload)
		complain(__LINE__, 0);
	free(payload);
	count_ended(CRATE);
	atomic_fetch_add(&done[DO_take], 1);
}

static void do_pend(struct act *act)
{
	struct actor_token token;
	int rc;

	if (act->stashed || act->pending)
		return;
	rc = actor_pending(act->ctx, &token);
	act->pending = rc == 0;
	count_call(DO_pend, rc);
	if (rc == 0)
		complete(actor_ctx_system(act->ctx), dangle(token, &act->self->random),
			&act->self->random);
}

static int on_pending_pool(void *data)
{
	return 0;
}

static void do_pend_work(struct act *act)
{
	int rc;

	if (act->stashed || act->pending)
		return;
	atomic_fetch_add(&called, 1);
	rc = actor_pending_work(act->ctx, on_pending_pool, on_complete, NULL);
	if (rc)
		atomic_fetch_sub(&called, 1);
	act->pending = rc == 0;
	count_call(DO_pend_work, rc);
}

static void do_fail(struct act *act)
{
	if (act->pending)
		return; /* a handler that fails is not pending, and its token would dangle */
	act->rc = actor_fail(act->ctx, -EIO, "by chance");
	atomic_fetch_add(&done[DO_fail], 1);
}

/* ---- handlers ---- */

static const struct {
	uint32_t of_1000;
	void (*act)(struct act *act);
} deeds[] = {
#define DEED_ROW(name, weight) {weight, do_##name},
	CROWD_DEEDS(DEED_ROW)
#undef DEED_ROW
};

int crowd_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct act act = {ctx, actor_state(ctx), message, false, 0, false, false, false, 0};
	enum kind kind = kind_of(message->type);

	act.told = kind == DEED || kind == CRATE;
	if (act.told)
		act.hops = ((const struct deed_payload *)message->payload)->hops;
	for (uint32_t i = 0; i < DEED_COUNT && !act.rc && !atomic_load(&over); i++)
		if ((act.hops || i >= DO_stash) && /* the rest begins new messages */
			random_below(&act.self->random, 1000) < deeds[i].of_1000)
			deeds[i].act(&act);
	if (kind < KINDS && !act.stashed)
		atomic_fetch_add_explicit(&accounts[kind].handled, 1, memory_order_relaxed);
	return act.rc;
}
