/* SPDX-License-Identifier: MIT */
/* Types and payloads of the runtime's own events. */
#include "event.h"

#include "registry.h"
#include "root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int (*actor__event_publish)(
	struct actor__loop *loop, struct actor_type *type, const void *payload, size_t bytes);

/* ---- a dead letter's payload is a copy of its own ---- */

static void letter_destroy(void *payload, size_t bytes)
{
	struct actor_dead_letter *letter = payload;

	if (letter->payload && letter->type->destroy)
		letter->type->destroy((void *)(uintptr_t)letter->payload, letter->bytes);
	/* Above the inline size destroy() frees the block as well. */
	if (!letter->type->destroy || letter->bytes <= ACTOR_INLINE_BYTES)
		free((void *)(uintptr_t)letter->payload);
	free(letter);
}

static void *payload_copy(const struct actor_dead_letter *letter)
{
	const struct actor_type *type = letter->type;
	void *copy;

	if (!letter->payload || !letter->bytes || (type->destroy && !type->copy))
		return NULL;
	copy = malloc(letter->bytes);
	if (!copy)
		return NULL;
	if (!type->destroy) {
		memcpy(copy, letter->payload, letter->bytes);
	} else if (type->copy(copy, letter->payload, letter->bytes) < 0) {
		free(copy);
		return NULL;
	}
	return copy;
}

static int letter_copy(void *to, const void *payload, size_t bytes)
{
	struct actor_dead_letter letter;

	if (bytes != sizeof(letter))
		return -EINVAL;
	memcpy(&letter, payload, sizeof(letter));
	letter.payload = payload_copy(&letter);
	memcpy(to, &letter, sizeof(letter));
	return 0;
}

#define TYPE(name)                                                                                 \
	{                                                                                          \
		sizeof(struct actor_type), "actor." name, NULL, NULL, 0                            \
	}

struct actor_type actor_event_started = TYPE("started");
struct actor_type actor_event_stopped = TYPE("stopped");
struct actor_type actor_event_restarted = TYPE("restarted");
struct actor_type actor_event_failed = TYPE("failed");
struct actor_type actor_event_dead_letter = {
	sizeof(struct actor_type), "actor.dead_letter", letter_destroy, letter_copy, 0};
struct actor_type actor_event_dispatcher_error = TYPE("dispatcher_error");

/* One that travels by pointer has its payload copied and destroyed as above. */
_Static_assert(sizeof(struct actor_dead_letter) > ACTOR_INLINE_BYTES, "letters are blocks");
_Static_assert(sizeof(struct actor_life_event) <= ACTOR_INLINE_BYTES, "no memory for each event");
_Static_assert(sizeof(struct actor_dispatcher_error) <= ACTOR_INLINE_BYTES, "");

static bool wanted(const struct actor_system *system, const struct actor_type *type)
{
	uint32_t kind = actor__type_mark(type) & (ACTOR__IDS - 1);

	/* Nobody subscribes to a type without a number. */
	return kind && actor__subscribed(&system->subscriptions, kind);
}

void actor__event_life_publish(struct actor__loop *loop, enum actor_abi_life life,
	const struct actor_class *cls, const struct actor_life_event *about)
{
	static struct actor_type *const types[] = {
		[ACTOR_ABI_LIFE_SPAWN] = &actor_event_started,
		[ACTOR_ABI_LIFE_STOP] = &actor_event_stopped,
		[ACTOR_ABI_LIFE_FAILURE] = &actor_event_failed,
		[ACTOR_ABI_LIFE_RESTART] = &actor_event_restarted,
	};
	struct actor_life_event event = *about;
	const struct actor_abi_name *name;

	if (!wanted(loop->system, types[life]))
		return;
	name = actor__table_at(&actor_root.classes, cls->id);
	event.class_name = name->text;
	actor__event_publish(loop, types[life], &event, sizeof(event));
}

void actor__event_dead_letter(
	struct actor__loop *loop, actor_ref recipient, const struct actor_message *message)
{
	struct actor_dead_letter letter = {.recipient = recipient,
		.sender = message->sender,
		.type = message->type,
		.bytes = message->bytes,
		.payload = message->payload};

	if (wanted(loop->system, &actor_event_dead_letter))
		actor__event_publish(loop, &actor_event_dead_letter, &letter, sizeof(letter));
}

int actor__event_dispatcher_error(
	const struct actor_dispatcher *dispatcher, int32_t code, actor_ref actor)
{
	struct actor_dispatcher_error event = {.actor = actor, .code = code};
	const struct actor_abi_name *name;

	if (!wanted(dispatcher->loop->system, &actor_event_dispatcher_error))
		return 0;
	name = actor__table_at(&actor_root.dispatchers, dispatcher->number);
	event.dispatcher = name->text;
	return actor__event_publish(
		dispatcher->loop, &actor_event_dispatcher_error, &event, sizeof(event));
}
