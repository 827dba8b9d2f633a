/* SPDX-License-Identifier: MIT */
/* Chooses steps and takes them. */
#include "kitsteps.h"

#include "alarm.h"
#include "channel.h"
#include "dispatcher.h"
#include "loop.h"
#include "receive.h"
#include "spec.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MOST_MS 10000 /* real time that work on the thread pool may take */

struct choice {
	enum actor_test_what what;
	struct actor__loop *loop;
	struct actor_dispatcher *dispatcher; /* of a unit */
};

struct chooser {
	struct actor_test *kit;
	bool by_chance;
	struct choice best;
	uint64_t best_rank; /* in order: the lowest one wins */
	uint32_t count;     /* of what is possible */
	uint64_t place;     /* of the dispatcher being looked at */
};

/* Units come after all else, those behind the last one's dispatcher first. */
static uint64_t rank_of(const struct chooser *c, enum actor_test_what what)
{
	if (what != ACTOR_TEST_UNIT)
		return (uint64_t)what << 32 | c->count;
	return (uint64_t)what << 48 | (c->place <= c->kit->place ? (uint64_t)1 << 32 : 0) | c->place;
}

static void offer(struct chooser *c, enum actor_test_what what, struct actor__loop *loop,
	struct actor_dispatcher *dispatcher)
{
	uint64_t rank = rank_of(c, what);

	c->count++;
	if (c->by_chance ? actor__kit_random(c->kit, c->count) != 0
			 : c->count > 1 && rank > c->best_rank)
		return;
	c->best = (struct choice){what, loop, dispatcher};
	c->best_rank = rank;
}

/* The clocks of loops without a deadline that is due follow at once. */
static bool timers_due(struct actor__loop *loop)
{
	uint64_t now_ms = atomic_load(&loop->system->manual_ms);

	if (!loop->manual_ms)
		return false; /* libuv's timer sees to it */
	if (actor__alarm_next_ms(loop) <= now_ms)
		return true;
	loop->manual_ms = now_ms;
	return false;
}

static void loop_offer(struct chooser *c, struct actor__loop *loop)
{
	if (!loop->closed && (loop->held || actor__receive_waiting(loop)))
		offer(c, ACTOR_TEST_MAIL, loop, NULL);
	if (!loop->closed && timers_due(loop))
		offer(c, ACTOR_TEST_TIMERS, loop, NULL);
	for (struct actor_dispatcher *d = loop->dispatchers; d; d = d->next) {
		c->place++;
		if (d->ready)
			offer(c, ACTOR_TEST_UNIT, loop, d);
	}
}

/* How much is possible; one of it is in c->best. */
static uint32_t choose(struct chooser *c)
{
	struct actor_system *system = c->kit->system;

	for (uint32_t i = 0; i < system->loop_count && !c->kit->gone; i++)
		loop_offer(c, system->loops[i]);
	return c->count;
}

static bool possible(struct actor_test *kit)
{
	struct chooser c = {.kit = kit};

	return choose(&c) != 0;
}

static uint64_t hash(uint64_t so_far, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	/* FNV-1a (Fowler, Noll, Vo) */
	while (bytes--)
		so_far = (so_far ^ *at++) * 0x100000001b3ull;
	return so_far;
}

static void step_note(struct actor_test *kit, const struct choice *choice)
{
	struct actor_test_step step = {.size = sizeof(step),
		.number = ++kit->steps,
		.what = choice->what,
		.loop = (int)choice->loop->index + 1,
		.dispatcher = "",
		.class_name = "",
		.now_ms = actor__kit_now(kit)};
	unsigned char head[2] = {(unsigned char)choice->what, (unsigned char)step.loop};

	if (choice->dispatcher) {
		const struct actor_unit *unit = choice->dispatcher->first;

		step.dispatcher = choice->dispatcher->spec.id;
		if (unit->flags & ACTOR__UNIT_CELL) {
			step.class_name = ((const struct actor__cell *)unit)->cls->name;
			step.actor = ((const struct actor__cell *)unit)->self;
		}
	}
	kit->trace = hash(kit->trace, head, sizeof(head));
	kit->trace = hash(kit->trace, step.dispatcher, strlen(step.dispatcher) + 1);
	kit->trace = hash(kit->trace, step.class_name, strlen(step.class_name) + 1);
	if (kit->options.on_step)
		kit->options.on_step(kit->options.on_step_data, &step);
}

static void flush_all(struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (system->loops[i]->dirty)
			actor__channels_flush(system->loops[i]);
}

static void choice_do(struct actor_test *kit, const struct choice *choice)
{
	kit->inside = true;
	step_note(kit, choice);
	actor__kit_enter(kit, choice->loop);
	switch (choice->what) {
	case ACTOR_TEST_MAIL:
		actor__receive(choice->loop);
		break;
	case ACTOR_TEST_TIMERS:
		actor__alarm_expire(choice->loop);
		break;
	case ACTOR_TEST_UNIT:
		actor__dispatcher_step(choice->dispatcher);
		break;
	}
	/* A ring that has room again gets what waited for it. */
	flush_all(kit->system);
	actor__kit_leave(kit, choice->loop);
}

static bool synchronous_any(struct actor_system *system)
{
	bool any = false;

	pthread_mutex_lock(&system->lock);
	for (const struct actor__spec_list *s = system->specs; s && !any; s = s->next)
		any = s->spec.ops == &actor__synchronous;
	pthread_mutex_unlock(&system->lock);
	return any;
}

static bool synchronous_step(struct actor_test *kit, struct actor__loop *loop, int64_t *units)
{
	struct choice choice = {.what = ACTOR_TEST_MAIL, .loop = loop};

	if (!loop->closed && actor__receive_waiting(loop)) {
		choice_do(kit, &choice);
		return true;
	}
	choice.what = ACTOR_TEST_UNIT;
	for (struct actor_dispatcher *d = loop->dispatchers; d; d = d->next) {
		if (d->spec.ops != &actor__synchronous || !d->ready)
			continue;
		choice.dispatcher = d;
		choice_do(kit, &choice);
		++*units;
		return true;
	}
	return false;
}

static int64_t too_many(struct actor_test *kit)
{
	return actor__kit_failed(kit, -ELOOP,
		"not quiet after %" PRId64 " units: something goes on for ever", kit->options.units);
}

/* All that synchronous dispatchers have, a unit after the other. */
static void synchronize(struct actor_test *kit)
{
	struct actor_system *system = kit->system;
	int64_t units = 0;
	bool some = !kit->gone && synchronous_any(system);

	while (some) {
		some = false;
		for (uint32_t i = 0; i < system->loop_count; i++)
			while (units <= kit->options.units &&
				synchronous_step(kit, system->loops[i], &units))
				some = true;
		if (units > kit->options.units) {
			too_many(kit);
			return;
		}
	}
}

void actor__kit_told(struct actor__driver *driver)
{
	struct actor_test *kit = (struct actor_test *)driver;

	if (driver->thread == (uintptr_t)pthread_self() && !kit->inside)
		synchronize(kit);
}

int actor__kit_step(struct actor_test *kit)
{
	struct chooser c = {
		.kit = kit, .by_chance = kit->options.order == ACTOR_TEST_SEEDED};

	if (!choose(&c))
		return 0;
	if (c.best.what != ACTOR_TEST_UNIT) {
		choice_do(kit, &c.best);
		return 2;
	}
	kit->place = c.best_rank & UINT32_MAX;
	choice_do(kit, &c.best);
	synchronize(kit);
	return 1;
}

void actor__kit_pass(struct actor_test *kit)
{
	struct actor_system *system = kit->system;

	/* The first one last: its end is the system's. */
	for (uint32_t i = system->loop_count; i-- > 0 && !kit->gone;) {
		struct actor__loop *loop = system->loops[i];
		int alive;

		if (atomic_load(&loop->exited))
			continue;
		actor__kit_enter(kit, loop);
		alive = uv_run(loop->uv, UV_RUN_NOWAIT);
		actor__kit_leave(kit, loop);
		if (alive || !loop->closed)
			continue;
		kit->gone = i == 0;
		actor__loop_hooks.thread_ended(loop);
	}
}

static bool jobs_any(const struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (atomic_load(&system->loops[i]->jobs))
			return true;
	return false;
}

/* Has libuv something for us, now or as soon as work on the thread pool is done? */
static bool pass_helps(struct actor_test *kit)
{
	uint64_t until = uv_hrtime() + (uint64_t)JOBS_MOST_MS * 1000000u;

	for (;;) {
		actor__kit_pass(kit);
		if (possible(kit))
			return true;
		if (kit->gone || !jobs_any(kit->system) || uv_hrtime() > until)
			return false;
		usleep(200);
	}
}

int64_t actor__kit_run(struct actor_test *kit, actor__kit_there there, const void *of)
{
	int64_t units = 0;
	int64_t others = 0;

	while (!there || !there(of)) {
		int step = actor__kit_step(kit);

		if (!step && !pass_helps(kit))
			break;
		units += step == 1;
		others += step == 2;
		if (units > kit->options.units || others / 4 > kit->options.units)
			return too_many(kit);
	}
	return units;
}

static uint64_t next_ms(const struct actor_system *system)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < system->loop_count; i++) {
		uint64_t at = actor__alarm_next_ms(system->loops[i]);

		if (!system->loops[i]->closed && at < next)
			next = at;
	}
	return next;
}

/* To the next time at which something is due; false: it is `until_ms` already. */
static bool time_goes_on(struct actor_test *kit, uint64_t until_ms)
{
	struct actor_system *system = kit->system;
	uint64_t next;

	if (actor__kit_now(kit) >= until_ms)
		return false;
	if (!atomic_load(&system->manual_ms)) {
		usleep(500);
		return true;
	}
	next = next_ms(system);
	atomic_store(&system->manual_ms, next < until_ms ? next : until_ms);
	return true;
}

int64_t actor__kit_wait(
	struct actor_test *kit, uint64_t until_ms, actor__kit_there there, const void *of)
{
	int64_t units = 0;
	int64_t more;

	do {
		more = actor__kit_run(kit, there, of);
		if (more < 0)
			return more;
		units += more;
	} while (!kit->gone && !(there && there(of)) && time_goes_on(kit, until_ms));
	return units;
}
