/* SPDX-License-Identifier: MIT */
/* A program on libactor that tests attach to, whose mailboxes drop mail, each for its own reason, and
 * one of which grows long. How much each drops is fixed, see load.h.
 *
 * It says "ready", waits for "go", tells everything, says "told" while nothing is handled yet, waits
 * for another "go", handles what is left, says "done" and how much that was, and ends with "end".
 */
#include "tests/load.h"

#include "runtime/actor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uv_loop_t loop;
static struct actor_system *system_;
static struct actor_type number_type = ACTOR_TYPE("number");
static uint64_t handled;

/* ---- a mailbox of the program's own: the newest so many, or just the newest one ---- */

struct newest {
	struct actor_mail *first, *last;
	size_t count, most;
	int loses;
};

static int newest_push(void *self, struct actor_mail *mail)
{
	struct newest *box = self;
	struct actor_mail *first = box->first;

	if (box->loses) {
		box->first = NULL;
		box->count = 0;
	} else if (box->count == box->most) {
		box->first = actor_mail_links(first)[0];
		box->count--;
		actor_mail_drop(first);
	}
	if (box->first)
		actor_mail_links(box->last)[0] = mail;
	else
		box->first = mail;
	box->last = mail;
	box->count++;
	return 0;
}

static struct actor_mail *newest_pop(void *self)
{
	struct newest *box = self;
	struct actor_mail *mail = box->first;

	if (!mail)
		return NULL;
	box->first = actor_mail_links(mail)[0];
	box->count--;
	return mail;
}

static size_t newest_count(const void *self)
{
	return ((const struct newest *)self)->count;
}

static const struct actor_mailbox_ops newest_ops = {.size = sizeof(newest_ops),
	.push = newest_push,
	.pop = newest_pop,
	.count = newest_count};

/* ---- the actors ---- */

static int on_number(struct actor_ctx *ctx, const struct actor_message *message)
{
	(void)ctx;
	(void)message;
	handled++;
	return 0;
}

/* The number itself, which falls. */
static int64_t rank(const struct actor_message *message, void *data)
{
	uint64_t number;

	(void)data;
	memcpy(&number, message->payload, sizeof(number));
	return (int64_t)number;
}

static struct newest giver = {.most = LOAD_CAPACITY}, loser = {.loses = 1};

#define MAILBOX(...) {.size = sizeof(struct actor_mailbox_options), .high_water = -1, __VA_ARGS__}

static const struct actor_mailbox_options mailboxes[] = {
	MAILBOX(.capacity = LOAD_CAPACITY),
	MAILBOX(.capacity = LOAD_CAPACITY, .overflow = ACTOR_DROP_NEW),
	MAILBOX(.capacity = LOAD_CAPACITY, .rank = rank),
	MAILBOX(.capacity = LOAD_CAPACITY, .overflow = ACTOR_REJECT),
	MAILBOX(.ops = &newest_ops, .ops_data = &giver),
	MAILBOX(.ops = &newest_ops, .ops_data = &loser),
	MAILBOX(.capacity = 0),
};

#define CLASS(name_) {.size = sizeof(struct actor_class), .name = name_, .on_message = on_number}

static struct actor_class classes[] = {CLASS("head"), CLASS("new"), CLASS("lowest"), CLASS("reject"),
	CLASS("giver"), CLASS("loser"), CLASS("deep")};

/* Behind what stays, in the order of the classes. */
static const uint64_t told[] = {LOAD_CAPACITY + LOAD_DROP_HEAD, LOAD_CAPACITY + LOAD_DROP_NEW,
	LOAD_CAPACITY + LOAD_DROP_LOWEST, LOAD_CAPACITY + LOAD_DROP_REJECT,
	LOAD_CAPACITY + LOAD_DROP_CUSTOM, 1 + LOAD_DROP_LOST, LOAD_DEEP};

#define ACTORS (sizeof(told) / sizeof(told[0]))
#define REJECT 3

static actor_ref actors[ACTORS];

static void tell_all(size_t i)
{
	for (uint64_t number = told[i]; number > 0; number--)
		if (actor_system_tell(
			    system_, actors[i], &number_type, &number, sizeof(number)))
			abort();
}

/* Of a thread that cannot be told that its messages are rejected. */
static void *outside(void *unused)
{
	(void)unused;
	tell_all(REJECT);
	return NULL;
}

static void tell_everything(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outside, NULL);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < ACTORS; i++)
		if (i != REJECT)
			tell_all(i);
}

static void quiet(void *data, enum actor_log_level level, const char *text)
{
	(void)data;
	(void)level;
	(void)text;
}

static void set_up(void)
{
	struct actor_system_options options = {
		.size = sizeof(options), .name = "boxes", .loop = &loop, .log = quiet};

	uv_loop_init(&loop);
	if (actor_system_open(&system_, &options) < 0)
		abort();
	for (size_t i = 0; i < ACTORS; i++) {
		struct actor_spawn_options spawn = {.size = sizeof(spawn),
			.name = classes[i].name,
			.mailbox = &mailboxes[i]};

		if (actor_system_spawn(system_, &classes[i], &spawn, &actors[i]) < 0)
			abort();
	}
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void wait_for(const char *what)
{
	char line[64];

	do
		if (!fgets(line, sizeof(line), stdin))
			exit(0);
	while (strncmp(line, what, strlen(what)) != 0);
}

int main(void)
{
	set_up();
	say("ready");
	wait_for("go");
	tell_everything();
	say("told");
	wait_for("go");
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_run(&loop, UV_RUN_NOWAIT);
	printf("done %lu\n", (unsigned long)handled);
	fflush(stdout);
	wait_for("end");
	return 0;
}
