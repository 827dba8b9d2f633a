/* SPDX-License-Identifier: MIT */
/* Bounds, ranks, and who goes when a mailbox is full. */
#include "box.h"

#include "abi.h"

#include <errno.h>
#include <string.h>

#define RANK_FIRST (-1)
#define KIND(kind) (1u << (kind))

/* Which kinds of mailbox a policy is for. */
static const uint8_t policies[] = {
	[ACTOR_DROP_HEAD] = KIND(ACTOR__BOX_FIFO),
	[ACTOR_DROP_NEW] = KIND(ACTOR__BOX_FIFO) | KIND(ACTOR__BOX_RANKS),
	[ACTOR_REJECT] = KIND(ACTOR__BOX_FIFO) | KIND(ACTOR__BOX_RANKS),
	[ACTOR_DROP_LOWEST] = KIND(ACTOR__BOX_RANKS),
};

static enum actor__box_kind kind_of(const struct actor_mailbox_options *o)
{
	if (o->ops)
		return ACTOR__BOX_CUSTOM;
	return o->rank ? ACTOR__BOX_RANKS : ACTOR__BOX_FIFO;
}

static int options_check(const struct actor_mailbox_options *o)
{
	const struct actor_mailbox_ops *ops = o->ops;

	if (o->capacity < 0 || o->capacity > ACTOR_CAPACITY_MAX || o->high_water < -1 ||
		o->high_water > UINT32_MAX)
		return ACTOR_EOPTIONS;
	if (o->overflow && (!o->capacity || (uint32_t)o->overflow > ACTOR_DROP_LOWEST ||
				   !(policies[o->overflow] & KIND(kind_of(o)))))
		return ACTOR_EOPTIONS;
	if (ops && (o->capacity || o->rank || ops->size < sizeof(*ops) || !ops->push || !ops->pop ||
			   !ops->count))
		return ACTOR_EOPTIONS;
	return 0;
}

int actor__box_new(struct actor__box **out, const struct actor_mailbox_options *o)
{
	struct actor__box *box;
	int rc = options_check(o);

	*out = NULL;
	if (rc || (!o->capacity && !o->rank && !o->ops))
		return rc;
	box = actor__heap_zero(sizeof(*box));
	if (!box)
		return -ENOMEM;
	box->kind = kind_of(o);
	box->capacity = (uint32_t)o->capacity;
	box->overflow = o->overflow ? o->overflow : o->rank ? ACTOR_DROP_LOWEST : ACTOR_DROP_HEAD;
	box->rank = o->rank;
	box->rank_data = o->rank_data;
	if (o->ops)
		rc = actor__custom_open(&box->custom, &box->list, o->ops, o->ops_data);
	if (rc)
		actor__heap_free(box);
	else
		*out = box;
	return rc;
}

void actor__box_free(struct actor__box *box)
{
	if (!box)
		return;
	actor__custom_close(&box->custom);
	actor__heap_free(box);
}

/* The oldest from this one on that a bound may drop. */
static struct actor_mail *droppable_from(struct actor_mail *mail)
{
	while (mail && actor__envelope_kept(&mail->envelope))
		mail = mail->newer;
	return mail;
}

static void take_out(struct actor__box *box, struct actor_mail *mail)
{
	if (box->kind == ACTOR__BOX_RANKS)
		actor__ranks_remove(&box->ranks, mail);
	else if (box->droppable == mail)
		box->droppable = droppable_from(mail->newer);
}

static void evict(struct actor__box *box, struct actor_mail *mail)
{
	take_out(box, mail);
	actor__mail_give_up(&box->list, mail, ACTOR_ABI_DROP_HEAD);
}

/* What rank a message has by the program's own measure; one that it cannot tell is the last. */
static int64_t rank_of(const struct actor__box *box, const struct actor_mail *mail)
{
	const struct actor_message message = {
		.type = actor_mail_type(mail),
		.payload = (void *)(uintptr_t)actor_mail_payload(mail),
		.bytes = actor_mail_bytes(mail),
		.sender = actor_mail_sender(mail),
	};
	int64_t rank = box->rank(&message, box->rank_data);

	return rank < 0 ? ACTOR_RANK_LAST : rank;
}

static void rank_set(struct actor__box *box, struct actor_mail *mail)
{
	mail->epoch = box->epoch;
	if (mail->envelope.flags & ACTOR__POISON)
		mail->rank = ACTOR_RANK_LAST;
	else if (actor__mail_answers(&mail->envelope))
		mail->rank = RANK_FIRST;
	else
		mail->rank = rank_of(box, mail);
}

/* The mailbox is full: who goes? */
static int make_room(struct actor__box *box, const struct actor_mail *mail)
{
	struct actor_mail *last = box->droppable;

	if (box->overflow == ACTOR_REJECT)
		return ACTOR_EFULL;
	if (box->overflow == ACTOR_DROP_NEW)
		return ACTOR__BOX_DROP_NEW;
	if (box->overflow == ACTOR_DROP_LOWEST) {
		last = actor__ranks_last_droppable(&box->ranks);
		if (last && actor__ranks_compare(mail, last) >= 0)
			return ACTOR__BOX_DROP_NEW;
	}
	if (last)
		evict(box, last);
	return 0;
}

int actor__box_put(struct actor__box *box, struct actor_mail *mail)
{
	int rc = 0;

	if (box->kind == ACTOR__BOX_CUSTOM)
		return actor__custom_put(&box->custom, mail);
	if (box->kind == ACTOR__BOX_RANKS)
		rank_set(box, mail);
	if (box->capacity && box->list.count >= box->capacity && !actor__envelope_kept(&mail->envelope))
		rc = make_room(box, mail);
	if (rc)
		return rc;
	actor__mail_append(&box->list, mail);
	if (box->kind == ACTOR__BOX_RANKS) {
		actor__ranks_put(&box->ranks, mail);
		box->epoch += (mail->envelope.flags & ACTOR__POISON) != 0;
	} else if (!box->droppable) {
		box->droppable = droppable_from(mail);
	}
	return 0;
}

static struct actor_mail *held_take(struct actor__box *box)
{
	struct actor_mail *mail = box->held;

	box->held = NULL;
	return mail;
}

static struct actor_mail *next(const struct actor__box *box)
{
	return box->kind == ACTOR__BOX_RANKS ? actor__ranks_first(&box->ranks) : box->list.oldest;
}

struct actor_mail *actor__box_pop(struct actor__box *box)
{
	struct actor_mail *mail = held_take(box);

	if (mail)
		return mail;
	if (box->kind == ACTOR__BOX_CUSTOM)
		return actor__custom_pop(&box->custom);
	mail = next(box);
	if (!mail)
		return NULL;
	take_out(box, mail);
	actor__mail_unlink(&box->list, mail);
	return mail;
}

struct actor_mail *actor__box_ahead(struct actor__box *box)
{
	if (box->kind != ACTOR__BOX_CUSTOM)
		return next(box);
	if (!box->held)
		box->held = actor__custom_pop(&box->custom);
	return box->held;
}

struct actor_mail *actor__box_oldest(struct actor__box *box)
{
	struct actor_mail *mail = held_take(box);

	if (mail)
		return mail;
	mail = box->list.oldest;
	if (!mail)
		return NULL;
	if (box->kind != ACTOR__BOX_CUSTOM)
		take_out(box, mail);
	actor__mail_unlink(&box->list, mail);
	return mail;
}
