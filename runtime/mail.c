/* SPDX-License-Identifier: MIT */
/* Chunks of mail, and what a custom mailbox may ask of a piece of mail. */
#include "mail.h"

#include <errno.h>

#include "registry.h"

#define PLACES 7

struct actor__mail_chunk {
	struct actor__mail_chunk *next; /* of those with a free place */
	struct actor__mail_chunk *previous;
	struct actor_mail *free; /* given back, linked by `newer` */
	uint32_t used;
	uint32_t fresh; /* places from here on were never used */
	_Alignas(64) struct actor_mail at[PLACES];
};

_Static_assert(sizeof(struct actor__mail_chunk) <= ACTOR__CHUNK_BYTES, "mail fits a chunk");

static void chunk_list(struct actor__mails *mails, struct actor__mail_chunk *chunk)
{
	chunk->previous = NULL;
	chunk->next = mails->open;
	if (mails->open)
		mails->open->previous = chunk;
	mails->open = chunk;
}

static void chunk_unlist(struct actor__mails *mails, struct actor__mail_chunk *chunk)
{
	if (chunk->previous)
		chunk->previous->next = chunk->next;
	else
		mails->open = chunk->next;
	if (chunk->next)
		chunk->next->previous = chunk->previous;
}

static struct actor__mail_chunk *chunk_new(struct actor__mails *mails, struct actor__pool *pool)
{
	struct actor__mail_chunk *chunk = actor__pool_take(pool, ACTOR__CHUNK_BYTES);

	if (!chunk)
		return NULL;
	chunk->free = NULL;
	chunk->used = 0;
	chunk->fresh = 0;
	chunk_list(mails, chunk);
	return chunk;
}

struct actor_mail *actor__mail_new(struct actor__mails *mails, struct actor__pool *pool,
	const struct actor__envelope *envelope)
{
	struct actor__mail_chunk *chunk = mails->open ? mails->open : chunk_new(mails, pool);
	struct actor_mail *mail;

	if (!chunk)
		return NULL;
	mail = chunk->free;
	if (mail)
		chunk->free = mail->newer;
	else
		mail = &chunk->at[chunk->fresh++];
	if (++chunk->used == PLACES)
		chunk_unlist(mails, chunk);
	mail->envelope = *envelope;
	mail->older = mail->newer = NULL;
	mail->links[0] = mail->links[1] = NULL;
	mail->behind = NULL;
	mail->custom = NULL;
	mail->state = ACTOR__MAIL_OUT;
	return mail;
}

void actor__mail_free(struct actor__mails *mails, struct actor__pool *pool, struct actor_mail *mail)
{
	struct actor__mail_chunk *chunk =
		(struct actor__mail_chunk *)((uintptr_t)mail & ~(uintptr_t)(ACTOR__CHUNK_BYTES - 1));

	if (chunk->used-- == PLACES)
		chunk_list(mails, chunk);
	if (!chunk->used) {
		chunk_unlist(mails, chunk);
		actor__pool_give(pool, chunk, ACTOR__CHUNK_BYTES);
		return;
	}
	mail->custom = NULL;
	mail->state = ACTOR__MAIL_OUT;
	mail->newer = chunk->free;
	chunk->free = mail;
}

void actor__mail_append(struct actor__mail_list *list, struct actor_mail *mail)
{
	mail->older = list->newest;
	mail->newer = NULL;
	if (list->newest)
		list->newest->newer = mail;
	else
		list->oldest = mail;
	list->newest = mail;
	list->count++;
	mail->state = ACTOR__MAIL_QUEUED;
}

void actor__mail_unlink(struct actor__mail_list *list, struct actor_mail *mail)
{
	if (mail->older)
		mail->older->newer = mail->newer;
	else
		list->oldest = mail->newer;
	if (mail->newer)
		mail->newer->older = mail->older;
	else
		list->newest = mail->older;
	list->count--;
	mail->state = ACTOR__MAIL_OUT;
}

void actor__mail_give_up(struct actor__mail_list *list, struct actor_mail *mail, int64_t reason)
{
	actor__mail_unlink(list, mail);
	mail->rank = reason;
	mail->behind = list->dropped;
	list->dropped = mail;
}

const struct actor_type *actor_mail_type(const struct actor_mail *mail)
{
	return mail ? actor__type(mail->envelope.type) : NULL;
}

const void *actor_mail_payload(const struct actor_mail *mail)
{
	if (!mail)
		return NULL;
	return mail->envelope.flags & ACTOR__HEAP ? mail->envelope.heap.block
						  : mail->envelope.inlined;
}

size_t actor_mail_bytes(const struct actor_mail *mail)
{
	if (!mail)
		return 0;
	return mail->envelope.flags & ACTOR__HEAP ? mail->envelope.heap.bytes
						  : mail->envelope.bytes;
}

actor_ref actor_mail_sender(const struct actor_mail *mail)
{
	return mail ? mail->envelope.sender : ACTOR_NONE;
}

void **actor_mail_links(struct actor_mail *mail)
{
	return mail ? mail->links : NULL;
}

int actor_mail_kept(const struct actor_mail *mail)
{
	return mail ? actor__envelope_kept(&mail->envelope) : -EINVAL;
}
