/* SPDX-License-Identifier: MIT */
/* Subscribing and publishing. A publisher holds the audience of a kind while it asks each predicate
 * and tells whoever wants the event; nothing that goes wrong with one keeps the others from it. */
#include "events.h"

#include "deliver.h"
#include "event.h"
#include "fork.h"
#include "log.h"
#include "misuse.h"
#include "options.h"
#include "path.h"
#include "registry.h"
#include "tell.h"

#include <errno.h>

struct publication {
	struct actor_system *system;
	struct actor__loop *loop; /* whose thread it is; NULL: any other */
	struct actor_ctx *ctx;    /* the handler that publishes; NULL: none does */
	struct actor_type *type;
	struct actor_message message;
	int told;
	int error; /* the first */
};

/* Any thread: only the table is looked at. */
static bool alive(actor_ref ref)
{
	struct actor__slots *slots = actor__slots_of(actor__ref_loop(ref));

	return slots && actor__slot_entry(slots, ref);
}

static void complain(struct publication *p, struct actor__subscription *s, int rc, const char *what)
{
	char path[ACTOR__PATH_BYTES];

	if (atomic_exchange(&s->complained, 1))
		return;
	actor__path_text(p->system, s->ref, path, sizeof(path));
	actor__log(p->system, ACTOR_LOG_ERROR, "subscription of %s to %s: %s: %s", path,
		p->type->name, what, actor_strerror(rc));
}

/* A copy of the payload in an envelope. 0 or an error. */
static int envelope_copy(struct publication *p, actor_ref to, struct actor__envelope *e)
{
	const struct actor_message *m = &p->message;
	int rc = actor__envelope_fill(e, to, m->sender, p->type, m->payload, m->bytes);

	return rc || !p->type->destroy ? rc : actor__envelope_clone(e);
}

static int subscriber_tell(struct publication *p, actor_ref to)
{
	struct actor__envelope copy;
	struct actor__envelope e;
	int rc = envelope_copy(p, to, &copy);

	if (rc)
		return rc;
	e = copy;
	if (p->ctx)
		rc = actor__send_with(p->ctx, &e);
	else
		rc = p->loop ? actor__send_here(p->loop, &e) : actor__send(p->system, &e);
	if (rc < 0 && p->type->destroy)
		actor__envelope_release(&copy); /* plain bytes are gone already */
	return rc < 0 ? rc : 0;
}

static void subscriber_serve(struct publication *p, struct actor__subscription *s)
{
	int rc = 1;

	if (atomic_load_explicit(&s->removed, memory_order_relaxed))
		return;
	if (!alive(s->ref)) {
		/* It stopped while somebody on another thread subscribed it. */
		actor__subscriptions_remove(&p->system->subscriptions, s->ref, 0);
		return;
	}
	if (s->predicate)
		rc = s->predicate(s->data, &p->message);
	if (rc < 0)
		complain(p, s, rc, "its predicate failed, which is a no");
	if (rc <= 0)
		return;
	rc = subscriber_tell(p, s->ref);
	if (!rc) {
		p->told++;
		return;
	}
	if (!p->error)
		p->error = rc;
	complain(p, s, rc, "an event is lost");
}

static int publish(struct publication *p)
{
	struct actor__subscriptions *all = &p->system->subscriptions;
	int kind = p->type ? actor__type_id(p->type) : ACTOR_ETYPE;
	struct actor__audience *audience;
	uint32_t count;

	if (kind < 0)
		return kind;
	if ((p->message.bytes && !p->message.payload) || (p->type->destroy && !p->type->copy))
		return ACTOR_ETYPE;
	if (!actor__subscribed(all, (uint32_t)kind))
		return 0;
	audience = actor__audience_take(all, (uint32_t)kind, &count);
	if (!audience)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		subscriber_serve(p, audience->at[i]);
	actor__audience_give(all, audience);
	return p->error ? p->error : p->told;
}

static int publish_own(
	struct actor__loop *loop, struct actor_type *type, const void *payload, size_t bytes)
{
	struct publication p = {.system = loop->system, .loop = loop, .type = type};

	p.message = (struct actor_message){type, (void *)(uintptr_t)payload, bytes, 0};
	return publish(&p);
}

int actor_publish(struct actor_ctx *ctx, struct actor_type *kind, const void *payload, size_t bytes)
{
	struct publication p = {.type = kind};
	int rc = actor__misuse_turn(ctx, "actor_publish");

	if (rc)
		return rc;
	p.system = ctx->loop->system;
	p.loop = ctx->loop;
	p.ctx = ctx;
	p.message =
		(struct actor_message){kind, (void *)(uintptr_t)payload, bytes, ctx->cell->self};
	return publish(&p);
}

int actor_system_publish(
	struct actor_system *system, struct actor_type *kind, const void *payload, size_t bytes)
{
	struct publication p = {.system = system, .type = kind};

	if (actor__forked(system))
		return actor__refusal(system);
	p.message = (struct actor_message){kind, (void *)(uintptr_t)payload, bytes, 0};
	return publish(&p);
}

int actor_system_subscribe(struct actor_system *system, actor_ref ref, struct actor_type *kind,
	const struct actor_subscription *given)
{
	static const struct actor_subscription plain = {.size = sizeof(plain)};
	struct actor_subscription subscription;
	int number;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!actor__options_read(&subscription, sizeof(subscription), given ? given : &plain,
		    sizeof(subscription)))
		return ACTOR_EOPTIONS;
	number = kind ? actor__type_id(kind) : ACTOR_ETYPE;
	if (number < 0)
		return number;
	if (!actor__loop_of(system, ref) || !alive(ref))
		return -ENOENT;
	rc = actor__subscriptions_add(&system->subscriptions, ref, (uint32_t)number, &subscription);
	/* It may have stopped meanwhile, without having seen a subscription of its own. Then it
	 * goes, here or when somebody publishes. */
	if (!rc && !alive(ref))
		actor__subscriptions_remove(&system->subscriptions, ref, 0);
	return rc;
}

int actor_subscribe(struct actor_ctx *ctx, struct actor_type *kind,
	const struct actor_subscription *subscription)
{
	int rc = actor__misuse_turn(ctx, "actor_subscribe");

	return rc ? rc
		  : actor_system_subscribe(ctx->loop->system, ctx->cell->self, kind, subscription);
}

int actor_system_unsubscribe(
	struct actor_system *system, actor_ref ref, const struct actor_type *kind)
{
	uint32_t number = kind ? actor__type_mark(kind) & (ACTOR__IDS - 1) : 0;

	if (actor__forked(system))
		return actor__refusal(system);
	if (kind && !number)
		return 0; /* nobody has subscribed to it */
	return actor__subscriptions_remove(&system->subscriptions, ref, number);
}

int actor_unsubscribe(struct actor_ctx *ctx, const struct actor_type *kind)
{
	int rc = actor__misuse_turn(ctx, "actor_unsubscribe");

	return rc ? rc : actor_system_unsubscribe(ctx->loop->system, ctx->cell->self, kind);
}

static void hook_set(void)
{
	actor__event_publish = publish_own;
}

void actor__events_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, hook_set);
}
