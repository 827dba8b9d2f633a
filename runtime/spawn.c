/* SPDX-License-Identifier: MIT */
/* Makes actors: on the same loop at once, on another loop or from outside in two halves. */
#include "spawn.h"

#include "bond.h"
#include "box.h"
#include "fork.h"
#include "hold.h"
#include "life.h"
#include "log.h"
#include "misuse.h"
#include "notice.h"
#include "options.h"
#include "parts.h"
#include "registry.h"
#include "schedule.h"
#include "supervision.h"
#include "throttle.h"
#include "tuning.h"

#include <errno.h>
#include <string.h>

/* Up to and with `loop`: the first version. */
#define SPAWN_OPTIONS_LEAST                                                                        \
	(offsetof(struct actor_spawn_options, loop) + sizeof(int))

/* What all ways of spawning share, after the options were looked at. */
struct request {
	struct actor_class *cls;
	struct actor_spawn_options options;
	struct actor_mailbox_options mailbox;      /* size 0: a plain one */
	struct actor__loop *loop;                  /* where it will live */
	struct actor__spec_list *spec;             /* NULL: the loop's standard one */
	uint32_t throughput;
	actor_ref parent;
};

/* What the options ask for that has to be made before the actor starts. */
static int options_check(const struct actor_spawn_options *options)
{
	if (options->throughput < 0 || options->throughput > ACTOR_BUDGET_MAX)
		return ACTOR_EBUDGET;
	if (options->stash_capacity < 0 || options->stash_capacity > UINT32_MAX)
		return ACTOR_EOPTIONS;
	if (options->strategy && actor__strategy_check(options->strategy))
		return ACTOR_EOPTIONS;
	if (options->name && !actor__name_valid(options->name))
		return ACTOR_ENAME;
	return options->throttle ? actor__throttle_check(options->throttle) : 0;
}

/* The mailbox that is asked for, or the class's; false: its options are no options. */
static bool mailbox_read(struct request *r)
{
	const struct actor_mailbox_options *o = r->options.mailbox;

	r->mailbox.size = 0;
	if (!o && r->cls->size > offsetof(struct actor_class, mailbox))
		o = r->cls->mailbox;
	return !o || actor__options_read(&r->mailbox, sizeof(r->mailbox), o, sizeof(*o));
}

static int request_init(struct request *r, struct actor_system *system, struct actor_class *cls,
	const struct actor_spawn_options *given)
{
	struct actor_spawn_options *options = &r->options;
	int rc = actor__class_register(cls);

	if (rc)
		return rc;
	r->cls = cls;
	r->spec = NULL;
	r->loop = NULL;
	r->parent = 0;
	if (!given)
		memset(options, 0, sizeof(*options));
	else if (!actor__options_read(options, sizeof(*options), given, SPAWN_OPTIONS_LEAST))
		return ACTOR_EOPTIONS;
	rc = options_check(options);
	if (rc)
		return rc;
	if (ACTOR__UNLIKELY(system->config != NULL))
		actor__tuning_spawn(system, cls, options);
	r->throughput =
		options->throughput ? (uint32_t)options->throughput : system->throughput;
	if (options->throughput > ACTOR__WARN_ABOVE && !atomic_exchange(&system->warned, 1))
		actor__log(system, ACTOR_LOG_WARN,
			"class %s: throughput %u is above %u: one actor may hold its loop for long",
			cls->name, r->throughput, ACTOR__WARN_ABOVE);
	if (options->loop < 0 || (uint32_t)options->loop > system->loop_count || !mailbox_read(r))
		return ACTOR_EOPTIONS;
	if (options->loop)
		r->loop = system->loops[options->loop - 1];
	if (atomic_load_explicit(&system->phase, memory_order_relaxed) != ACTOR__OPEN)
		return ACTOR_ECLOSED;
	return options->dispatcher ? actor__spec_use(system, options->dispatcher, &r->spec) : 0;
}

/* Gives the cell another mailbox than a plain one, if that is asked for. */
static int cell_mailbox(struct actor__cell *cell, const struct actor_mailbox_options *o)
{
	struct actor__box *box;
	int rc;

	if (!o->size)
		return 0;
	rc = actor__box_new(&box, o);
	if (rc || (!box && !o->high_water))
		return rc;
	if (!actor__extra_of(cell)) {
		actor__box_free(box);
		return -ENOMEM;
	}
	if (o->high_water) {
		cell->mailbox.watched = 1;
		cell->extra->high_water = o->high_water > 0 ? (uint64_t)o->high_water : 0;
	}
	if (box) {
		cell->extra->box = box;
		cell->mailbox.end = ACTOR__BOXED;
		cell->state |= ACTOR__CAREFUL;
	}
	return 0;
}

static struct actor_strategy *strategy_copy(const struct actor_strategy *strategy)
{
	struct actor_strategy *copy = actor__heap_alloc(sizeof(*copy));

	if (copy)
		*copy = *strategy;
	return copy;
}

/* Fills a cell of zeros whose slot is reserved. */
static void cell_init(struct actor__cell *cell, const struct request *r, actor_ref ref, bool heap)
{
	cell->unit.run = actor__schedule_run;
	cell->unit.flags = ACTOR__UNIT_CELL;
	cell->loop = r->loop;
	cell->cls = r->cls;
	cell->receive = r->cls->on_message;
	cell->self = ref;
	cell->parent = r->parent;
	cell->throughput = r->throughput;
	cell->state = ACTOR__CREATING;
	if (heap)
		cell->flags |= ACTOR__FROM_HEAP;
	if (!r->options.init || !r->cls->state_bytes)
		return;
	cell->flags |= ACTOR__KEEPS_INIT;
	memcpy(actor__cell_state(cell), r->options.init, r->cls->state_bytes);
	memcpy(actor__cell_init(cell), r->options.init, r->cls->state_bytes);
}

static void cell_free(const struct request *r, struct actor__cell *cell)
{
	actor__names_remove(&r->loop->system->names, cell->name);
	actor__slot_free(r->loop->slots, cell->self, cell->flags & ACTOR__FROM_HEAP);
	actor__life_free(r->loop, cell);
}

/* The extra part, if an option needs it from the beginning. */
static int cell_equip(struct actor__cell *cell, const struct request *r)
{
	struct actor__extra *extra;

	if (!r->options.strategy && !r->options.stash_capacity && !r->options.throttle)
		return 0;
	extra = actor__extra_of(cell);
	if (!extra)
		return -ENOMEM;
	extra->stash_capacity = (uint32_t)r->options.stash_capacity;
	if (r->options.strategy)
		extra->strategy = strategy_copy(r->options.strategy);
	if (r->options.strategy && !extra->strategy)
		return -ENOMEM;
	if (!r->options.throttle)
		return 0;
	if (!actor__throttle_of(cell))
		return -ENOMEM;
	actor__throttle_set(extra->throttle, r->options.throttle);
	actor__extra_careful(cell);
	return 0;
}

/* Makes a cell with its slot and name. `outside`: not on the new actor's loop. */
static int cell_make(const struct request *r, bool outside, struct actor__cell **out)
{
	size_t bytes = actor__cell_bytes(r->cls, r->options.init && r->cls->state_bytes);
	struct actor__loop *loop = r->loop;
	struct actor__cell *cell;
	actor_ref ref;
	int rc = -ENOMEM;

	if (r->cls->state_bytes < PTRDIFF_MAX / 4) /* `bytes` has not wrapped around */
		rc = actor__slot_reserve(loop->slots, outside, &ref);
	if (rc)
		return rc;
	cell = outside ? actor__heap_alloc(bytes) : actor__pool_take(&loop->pool, bytes);
	if (!cell) {
		actor__slot_free(loop->slots, ref, outside);
		return -ENOMEM;
	}
	memset(cell, 0, bytes);
	cell_init(cell, r, ref, outside);
	rc = cell_equip(cell, r);
	if (!rc)
		rc = cell_mailbox(cell, &r->mailbox);
	if (!rc && r->options.name)
		rc = actor__names_add(
			&loop->system->names, r->parent, r->options.name, ref, &cell->name);
	if (rc)
		cell_free(r, cell);
	else
		*out = cell;
	return rc;
}

/* On the loop itself: everything at once. */
static int spawn_here(const struct request *r, struct actor__cell *parent, actor_ref *ref)
{
	struct actor_dispatcher *dispatcher = r->loop->standard;
	struct actor__cell *cell;
	int rc = 0;

	if (r->spec)
		rc = actor__dispatcher_open(r->loop, &r->spec->spec, r->spec->number, &dispatcher);
	if (!rc)
		rc = cell_make(r, false, &cell);
	if (rc)
		return rc;
	cell->unit.dispatcher = dispatcher;
	actor__slot_publish(r->loop->slots, cell, dispatcher->number);
	actor__family_adopt(r->loop, parent, cell);
	if (parent && parent->holds & ACTOR__HELD_SUBTREE)
		actor__hold(cell, ACTOR__HELD_ABOVE);
	actor__counter_add(&r->loop->created, 1);
	actor__cell_signal(cell, ACTOR__SIGNAL_CREATE);
	if (ref)
		*ref = cell->self;
	return 0;
}

/* What binds a child to a parent on another loop. */
static struct actor__bond *bond_new(const struct request *r, const struct actor__cell *parent)
{
	struct actor__bond *bond = actor__bond_new();

	if (!bond)
		return NULL;
	bond->cls = r->cls;
	if (parent->holds & ACTOR__HELD_SUBTREE)
		atomic_init(&bond->orders, ACTOR__ORDER_HOLD);
	if (!r->options.strategy)
		return bond;
	bond->strategy = strategy_copy(r->options.strategy);
	if (bond->strategy)
		return bond;
	actor__bond_drop(bond);
	return NULL;
}

/* What the news of an actor travels in: of a child the bond to its parent, else a block. */
static struct actor__notice *news_new(const struct request *r, const struct actor__cell *parent)
{
	struct actor__bond *bond;

	if (!parent)
		return actor__heap_alloc(sizeof(struct actor__notice));
	bond = bond_new(r, parent);
	return bond ? &bond->up : NULL;
}

static void news_free(bool child, struct actor__notice *news)
{
	if (child)
		actor__bond_drop(actor__bond_of_up(news));
	else
		actor__heap_free(news);
}

/* For another loop: the cell is complete and findable, mail to it waits until it arrives. All
 * memory is there before it can be found. */
static int spawn_there(const struct request *r, struct actor__cell *parent, actor_ref *ref)
{
	struct actor__spec_list *spec = r->spec;
	struct actor__notice *news;
	struct actor__cell *cell;
	int rc = spec ? 0 : actor__spec_use(r->loop->system, NULL, &spec);

	if (rc)
		return rc;
	news = news_new(r, parent);
	if (!news)
		return -ENOMEM;
	rc = cell_make(r, true, &cell);
	if (rc) {
		news_free(parent != NULL, news);
		return rc;
	}
	if (ref)
		*ref = cell->self;
	/* Counted before anybody can count its end. */
	if (parent) {
		actor__bond_of_up(news)->down.to = cell->self;
		actor__family_adopt_remote(parent, actor__bond_of_up(news));
		actor__counter_add(&parent->loop->created, 1);
	} else {
		atomic_fetch_add(&r->loop->system->outside_created, 1);
	}
	actor__slot_publish(r->loop->slots, cell, spec->number);
	actor__notice_send(r->loop, news, ACTOR__CREATE, cell->self, spec);
	return 0;
}

void actor__spawn_arrive(struct actor__loop *loop, struct actor__notice *news)
{
	struct actor__cell *cell = actor__slot_find(loop, news->to);
	const struct actor__spec_list *spec = news->pointer;
	int rc = actor__dispatcher_open(loop, &spec->spec, spec->number, &cell->unit.dispatcher);

	if (rc) {
		actor__log(loop->system, ACTOR_LOG_ERROR,
			"dispatcher %s cannot be opened on another loop, %s runs its actor: %s",
			spec->spec.id, loop->standard->spec.id, actor_strerror(rc));
		cell->unit.dispatcher = loop->standard;
	}
	actor__family_adopt(loop, NULL, cell);
	if (cell->parent) {
		struct actor__bond *bond = actor__bond_of_up(news);

		actor__tie_add(&cell->ties, &bond->child);
		if (atomic_load_explicit(&bond->orders, memory_order_relaxed) & ACTOR__ORDER_HOLD)
			actor__hold(cell, ACTOR__HELD_ABOVE);
	} else {
		actor__heap_free(news);
	}
	if (loop->stopping)
		cell->signals |= ACTOR__SIGNAL_TERMINATE;
	actor__cell_signal(cell, ACTOR__SIGNAL_CREATE);
}

int actor_spawn(struct actor_ctx *ctx, struct actor_class *cls,
	const struct actor_spawn_options *options, actor_ref *ref)
{
	struct request r;
	int rc = actor__misuse_turn(ctx, "actor_spawn");

	if (!rc)
		rc = request_init(&r, ctx->loop->system, cls, options);
	if (rc)
		return rc;
	if (actor__cell_life(ctx->cell) >= ACTOR__TERMINATING)
		return ACTOR_ECLOSED;
	r.parent = ctx->cell->self;
	if (!r.loop)
		r.loop = ctx->loop;
	if (r.loop == ctx->loop)
		return spawn_here(&r, ctx->cell, ref);
	return spawn_there(&r, ctx->cell, ref);
}

int actor_system_spawn(struct actor_system *system, struct actor_class *cls,
	const struct actor_spawn_options *options, actor_ref *ref)
{
	struct request r;
	int rc = actor__forked(system) ? actor__refusal(system) : request_init(&r, system, cls, options);

	if (!rc && r.options.strategy && r.options.strategy->scope == ACTOR_ALL_FOR_ONE)
		rc = ACTOR_EOPTIONS; /* whom else? */
	if (rc)
		return rc;
	if (!r.loop)
		r.loop = system->loops[atomic_fetch_add(&system->next_loop, 1) % system->loop_count];
	if (actor__loop_here(r.loop)) {
		actor__handles_ensure(r.loop);
		return spawn_here(&r, NULL, ref);
	}
	/* Closing takes the same lock: what was sent before is stopped with the rest. */
	if (!r.spec)
		rc = actor__spec_use(system, NULL, &r.spec);
	if (rc)
		return rc;
	pthread_mutex_lock(&system->lock);
	if (atomic_load_explicit(&system->phase, memory_order_relaxed) != ACTOR__OPEN)
		rc = ACTOR_ECLOSED;
	else
		rc = spawn_there(&r, NULL, ref);
	pthread_mutex_unlock(&system->lock);
	return rc;
}
