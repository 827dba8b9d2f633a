/* SPDX-License-Identifier: MIT */
/* Keeps and runs health checks, and writes what they say as JSON. */
#include "health.h"

#include "fork.h"
#include "jsontext.h"
#include "registry.h"
#include "shutdown.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char built_in[] = "actor-system";

void actor__health_init(struct actor__health *health)
{
	pthread_mutex_init(&health->lock, NULL);
}

void actor__health_fini(struct actor__health *health)
{
	while (health->checks) {
		struct actor__check *check = health->checks;

		health->checks = check->next;
		actor__heap_free(check);
	}
	pthread_mutex_destroy(&health->lock);
}

/* ---- the set ---- */

static bool kind_valid(enum actor_health_kind kind)
{
	return kind == ACTOR_LIVENESS || kind == ACTOR_READINESS;
}

/* Takes the lock; not inside a check. */
static int enter(struct actor_system *system)
{
	struct actor__health *health;

	if (actor__forked(system))
		return actor__refusal(system);
	health = &system->health;
	if (atomic_load_explicit(&health->inside, memory_order_relaxed) ==
		(uintptr_t)pthread_self())
		return -EDEADLK;
	pthread_mutex_lock(&health->lock);
	return 0;
}

static void leave(struct actor_system *system)
{
	pthread_mutex_unlock(&system->health.lock);
}

/* Where a check of this name is, or the list's end. The lock is held. */
static struct actor__check **find(
	struct actor__health *health, enum actor_health_kind kind, const char *name)
{
	struct actor__check **place = &health->checks;

	while (*place && ((*place)->kind != kind || strcmp((*place)->name, name) != 0))
		place = &(*place)->next;
	return place;
}

int actor_health_add(struct actor_system *system, enum actor_health_kind kind, const char *name,
	actor_health_cb cb, void *data)
{
	struct actor__check *check;
	struct actor__check **place;
	int rc;

	if (!kind_valid(kind) || !cb)
		return -EINVAL;
	if (!actor__name_valid(name))
		return ACTOR_ENAME;
	check = actor__heap_zero(sizeof(*check));
	if (!check)
		return -ENOMEM;
	check->kind = kind;
	check->cb = cb;
	check->data = data;
	snprintf(check->name, sizeof(check->name), "%s", name);
	rc = enter(system);
	if (!rc) {
		place = find(&system->health, kind, name);
		if (*place || strcmp(name, built_in) == 0)
			rc = -EEXIST;
		else
			*place = check;
		leave(system);
	}
	if (rc)
		actor__heap_free(check);
	return rc;
}

int actor_health_remove(struct actor_system *system, enum actor_health_kind kind, const char *name)
{
	struct actor__check **place;
	struct actor__check *check;
	int rc = name ? enter(system) : -ENOENT;

	if (rc)
		return rc;
	place = find(&system->health, kind, name);
	check = *place;
	if (check)
		*place = check->next;
	leave(system);
	actor__heap_free(check);
	return check ? 0 : -ENOENT;
}

/* ---- the answer ---- */

struct answer {
	char *to;
	size_t room;
	size_t used; /* with what does not fit */
	bool up;
	bool some; /* a check was written */
};

static void put_string(struct answer *answer, const char *text)
{
	size_t room = answer->used < answer->room ? answer->room - answer->used : 0;

	answer->used += actor__json_string(room ? answer->to + answer->used : NULL, room, text);
}

__attribute__((format(printf, 2, 3))) static void put(
	struct answer *answer, const char *format, ...)
{
	size_t room = answer->used < answer->room ? answer->room - answer->used : 0;
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(room ? answer->to + answer->used : NULL, room, format, arguments);
	va_end(arguments);
	answer->used += bytes > 0 ? (size_t)bytes : 0;
}

/* `result` as a check returns it. */
static void put_check(
	struct answer *answer, const char *name, int result, const char *detail, uint64_t failed)
{
	put(answer, "%s{\"name\":", answer->some ? "," : "");
	put_string(answer, name);
	put(answer, ",\"status\":\"%s\"", result > 0 ? "UP" : "DOWN");
	if (detail[0]) {
		put(answer, ",\"detail\":");
		put_string(answer, detail);
	}
	if (failed)
		put(answer, ",\"failed\":%" PRIu64, failed);
	put(answer, "}");
	answer->some = true;
	if (result <= 0)
		answer->up = false;
}

/* The built-in one: a system that closes is not alive, one that shuts down wants no more work. */
static void put_system(
	struct answer *answer, const struct actor_system *system, enum actor_health_kind kind)
{
	const char *detail = "";

	if (atomic_load(&system->phase) != ACTOR__OPEN)
		detail = "the actor system is closing";
	else if (kind == ACTOR_READINESS && actor__shutdown_begun(system))
		detail = "the actor system is shutting down";
	put_check(answer, built_in, detail[0] ? 0 : 1, detail, 0);
}

static void put_checks(
	struct answer *answer, struct actor__health *health, enum actor_health_kind kind)
{
	char detail[ACTOR_HEALTH_DETAIL_BYTES];

	for (struct actor__check *check = health->checks; check; check = check->next) {
		int result;

		if (check->kind != kind)
			continue;
		detail[0] = '\0';
		result = check->cb(check->data, detail, sizeof(detail));
		detail[sizeof(detail) - 1] = '\0';
		if (result < 0) {
			check->failed++;
			if (!detail[0])
				snprintf(detail, sizeof(detail), "%s", actor_strerror(result));
		}
		put_check(answer, check->name, result, detail, check->failed);
	}
}

int actor_health(
	struct actor_system *system, enum actor_health_kind kind, char *json, size_t *bytes)
{
	/* The status stands in front and is known last: it is put there afterwards. */
	static const char up[] = "{\"status\":\"UP\",\"checks\":[";
	static const char down[] = "{\"status\":\"DOWN\",\"checks\":[";
	struct answer answer = {.to = json, .room = json && bytes ? *bytes : 0, .up = true};
	int rc = kind_valid(kind) ? enter(system) : -EINVAL;

	if (rc)
		return rc;
	answer.used = sizeof(down) - 1;
	atomic_store_explicit(
		&system->health.inside, (uintptr_t)pthread_self(), memory_order_relaxed);
	put_system(&answer, system, kind);
	put_checks(&answer, &system->health, kind);
	atomic_store_explicit(&system->health.inside, 0, memory_order_relaxed);
	leave(system);
	put(&answer, "]}");
	if (!bytes)
		return answer.up;
	if (answer.used + 1 <= answer.room) {
		const char *head = answer.up ? up : down;
		size_t length = strlen(head);

		memmove(json + length, json + sizeof(down) - 1, answer.used + 2 - sizeof(down));
		memcpy(json, head, length);
		*bytes = answer.used + length - (sizeof(down) - 1);
		return answer.up;
	}
	*bytes = answer.used + 1;
	return json ? -ENOBUFS : answer.up;
}
