/* SPDX-License-Identifier: MIT */
/* A program on libactor that tests attach to, whose messages stay open: pending and stashed ones.
 *
 * Tokens go round between actors on loops with threads. Of four messages one is handled at once,
 * one by a handler that is completed before it has returned, one by a handler that a foreign thread
 * completes, and one is stashed and comes back. Counted is what has been handled in the end.
 *
 *   loops=N messages=N    see load.c, as is what it says and obeys: ready, go, stop, done, end
 */
#define _GNU_SOURCE
#include "tests/load.h"

#include "runtime/actor.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TOKENS LOAD_OPEN

struct token {
	uint64_t hops; /* left */
	uint64_t began_ns;
	bool stashed;
};

static int loops = 1;
static uint64_t messages = 1009;
static struct load_counts *counts;
static struct actor_system *system_;
static struct actor_type token_type = ACTOR_TYPE("token");
static actor_ref actors[LOAD_ACTORS];
static sem_t go, end, finished, some;
static _Atomic bool stopping;
static _Atomic uint64_t tokens_left;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the thread that completes ---- */

static struct {
	pthread_mutex_t lock;
	struct actor_token at[TOKENS];
	uint32_t count;
} open_ = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int on_end(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data);

static void hand_over(struct actor_token token)
{
	pthread_mutex_lock(&open_.lock);
	open_.at[open_.count++] = token;
	pthread_mutex_unlock(&open_.lock);
	sem_post(&some);
}

/* Waits for a token; false: there is no more. */
static bool take(struct actor_token *token)
{
	bool found;

	while (sem_wait(&some) != 0)
		;
	pthread_mutex_lock(&open_.lock);
	found = open_.count != 0;
	if (found)
		*token = open_.at[--open_.count];
	pthread_mutex_unlock(&open_.lock);
	return found;
}

static void *complete(void *unused)
{
	struct actor_token token;

	(void)unused;
	while (take(&token))
		if (actor_complete(system_, token, 0, on_end, NULL) != 0)
			abort();
	return NULL;
}

/* ---- actors ---- */

static int place_of(actor_ref ref)
{
	int i = 0;

	while (actors[i] != ref)
		i++;
	return i;
}

static void tell(struct actor_ctx *ctx, actor_ref to, uint64_t hops)
{
	struct token token = {.hops = hops};

	if (ctx ? actor_tell(ctx, to, &token_type, &token, sizeof(token))
		: actor_system_tell(system_, to, &token_type, &token, sizeof(token)))
		abort();
}

/* The last thing in a handler, or in its completion. */
static int on_end(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	const struct token *token = message->payload;
	int place = place_of(actor_self(ctx));

	(void)status;
	(void)data;
	atomic_fetch_add_explicit(
		&counts->handled[(actor_self(ctx) >> 56) % LOAD_LOOPS], 1, memory_order_relaxed);
	if (token->hops == 1 || atomic_load_explicit(&stopping, memory_order_relaxed)) {
		if (atomic_fetch_sub(&tokens_left, 1) == 1)
			sem_post(&finished);
	} else {
		tell(ctx, actors[(place + 1 + (int)(token->hops % 3)) % LOAD_ACTORS],
			token->hops - 1);
	}
	if (loops == 1)
		counts->handler.sum_ns += now_ns() - token->began_ns;
	return 0;
}

static int on_token(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct token *token = message->payload;
	struct actor_token name;
	int rc = 0;

	token->began_ns = now_ns();
	switch (token->hops % 4) {
	case 0:
		return on_end(ctx, 0, message, NULL);
	case 1:
		rc = actor_pending(ctx, &name);
		return rc ? rc : actor_complete(system_, name, 0, on_end, NULL);
	case 2:
		rc = actor_pending(ctx, &name);
		if (!rc)
			hand_over(name);
		return rc;
	default:
		if (token->stashed)
			return on_end(ctx, 0, message, NULL);
		token->stashed = true;
		rc = actor_stash(ctx);
		return rc ? rc : actor_unstash_all(ctx) == 1 ? 0 : -1;
	}
}

static struct actor_class token_class = {
	.size = sizeof(token_class), .name = "open", .on_message = on_token};

/* ---- the program ---- */

static void *obey(void *unused)
{
	char line[64] = "";

	(void)unused;
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "go\n") == 0)
			sem_post(&go);
		else if (strcmp(line, "stop\n") == 0)
			atomic_store(&stopping, true);
		else
			break;
	}
	sem_post(&end);
	return NULL;
}

static void wait_for(sem_t *what)
{
	while (sem_wait(what) != 0)
		;
}

static void set_up(char **arguments)
{
	struct actor_system_options options = {.size = sizeof(options), .name = "open"};

	while (*++arguments) {
		if (strncmp(*arguments, "loops=", 6) == 0)
			loops = atoi(*arguments + 6);
		else if (strncmp(*arguments, "messages=", 9) == 0)
			messages = strtoull(*arguments + 9, NULL, 10);
		else
			abort();
	}
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, LOAD_COUNTS_FD, 0);
	if (counts == MAP_FAILED)
		counts = calloc(1, sizeof(*counts));
	options.loops = loops;
	if (actor_system_open(&system_, &options) < 0)
		abort();
	for (int i = 0; i < LOAD_ACTORS; i++) {
		struct actor_spawn_options spawn = {
			.size = sizeof(spawn), .loop = i % loops + 1};

		if (actor_system_spawn(system_, &token_class, &spawn, &actors[i]) < 0)
			abort();
	}
}

int main(int argc, char **argv)
{
	uint64_t each, handled = 0;
	pthread_t obeys, completes;

	(void)argc;
	sem_init(&go, 0, 0);
	sem_init(&end, 0, 0);
	sem_init(&some, 0, 0);
	sem_init(&finished, 0, 0);
	set_up(argv);
	puts("ready");
	fflush(stdout);
	pthread_create(&obeys, NULL, obey, NULL);
	pthread_create(&completes, NULL, complete, NULL);
	wait_for(&go);
	each = messages ? messages / TOKENS : UINT64_MAX;
	atomic_store(&tokens_left, TOKENS);
	for (uint64_t i = 0; i < TOKENS; i++)
		tell(NULL, actors[i], i || !messages ? each : each + messages % TOKENS);
	wait_for(&finished);
	/* No handler is pending any more, but the call for the last one may still return. */
	sem_post(&some);
	pthread_join(completes, NULL);
	/* Handlers end after their last tell; when this returns, they have. */
	actor_system_close_wait(system_);
	for (int i = 0; i < LOAD_LOOPS; i++)
		handled += atomic_load(&counts->handled[i]);
	printf("done %lu\n", (unsigned long)handled);
	fflush(stdout);
	wait_for(&end);
	pthread_join(obeys, NULL);
	return 0;
}
