/* SPDX-License-Identifier: MIT */
/* Between the tokens and the state of a cell. */
#include "throttle.h"

#include "dispatcher.h"
#include "extra.h"
#include "options.h"

/* Up to and with `mode`: the first version. */
#define OPTIONS_LEAST                                                                              \
	(offsetof(struct actor_throttle_options, mode) + sizeof(enum actor_throttle_mode))

static bool options_read(
	struct actor_throttle_options *o, const struct actor_throttle_options *given)
{
	if (!actor__options_read(o, sizeof(*o), given, OPTIONS_LEAST))
		return false;
	if (!o->per_ms)
		o->per_ms = 1000;
	if (!o->burst)
		o->burst = o->messages;
	if (!o->mode)
		o->mode = ACTOR_THROTTLE_PAUSE;
	return true;
}

static bool within(int64_t value, int64_t most)
{
	return value >= 1 && value <= most;
}

int actor__throttle_check(const struct actor_throttle_options *given)
{
	struct actor_throttle_options o;

	if (!options_read(&o, given) || !within(o.messages, ACTOR__TOKENS_MOST) ||
		!within(o.per_ms, ACTOR__TOKENS_PER) || !within(o.burst, ACTOR__TOKENS_MOST) ||
		(o.mode != ACTOR_THROTTLE_PAUSE && o.mode != ACTOR_THROTTLE_DROP))
		return ACTOR_EOPTIONS;
	return 0;
}

struct actor__throttle *actor__throttle_of(struct actor__cell *cell)
{
	struct actor__extra *extra = actor__extra_of(cell);

	if (extra && !extra->throttle) {
		extra->throttle = actor__heap_zero(sizeof(*extra->throttle));
		if (extra->throttle)
			extra->throttle->cell = cell;
	}
	return extra ? extra->throttle : NULL;
}

void actor__throttle_set(
	struct actor__throttle *throttle, const struct actor_throttle_options *given)
{
	struct actor_throttle_options o;

	throttle->mode = 0;
	if (!given)
		return;
	options_read(&o, given);
	throttle->mode = o.mode;
	actor__tokens_init(
		&throttle->tokens, (uint32_t)o.messages, (uint32_t)o.per_ms, (uint32_t)o.burst);
}

bool actor__throttle_take(struct actor__throttle *throttle)
{
	const struct actor__loop *loop = throttle->cell->loop;

	/* The time of the pass first, which costs nothing. */
	return actor__tokens_take(&throttle->tokens, actor__now_ms(loop)) ||
	       actor__tokens_take(&throttle->tokens, actor__fresh_ms(loop));
}

static void on_due(struct actor__loop *loop, struct actor__deadline *deadline)
{
	(void)loop;
	actor__throttle_resume((struct actor__throttle *)deadline);
}

void actor__throttle_pause(struct actor__throttle *throttle)
{
	struct actor__loop *loop = throttle->cell->loop;

	throttle->cell->state |= ACTOR__PAUSED;
	actor__deadline_arm(loop, &throttle->resume,
		actor__time_in(loop, actor__tokens_wait_ms(&throttle->tokens)), on_due);
}

void actor__throttle_resume(struct actor__throttle *throttle)
{
	actor__deadline_cancel(&throttle->resume);
	throttle->cell->state &= (uint8_t)~ACTOR__PAUSED;
	actor__cell_ask(throttle->cell);
}

void actor__throttle_free(struct actor__throttle *throttle)
{
	if (!throttle)
		return;
	actor__deadline_cancel(&throttle->resume);
	actor__heap_free(throttle);
}
