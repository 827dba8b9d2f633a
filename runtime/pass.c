/* SPDX-License-Identifier: MIT */
/* Keeps the passes of all uv_loop_t that have immediate dispatchers, and their members' turns. */
#include "pass.h"

#include <errno.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct actor__pass *passes;

/* The lock is held. NULL: no memory. */
static struct actor__pass *find_or_add(uv_loop_t *uv)
{
	struct actor__pass *pass;

	for (pass = passes; pass; pass = pass->next)
		if (pass->uv == uv)
			return pass;
	pass = actor__heap_zero(sizeof(*pass));
	if (!pass)
		return NULL;
	pass->uv = uv;
	pass->number = 1;
	pass->next = passes;
	passes = pass;
	return pass;
}

static void pass_free(struct actor__pass *pass)
{
	struct actor__pass **place;

	pthread_mutex_lock(&lock);
	for (place = &passes; *place != pass; place = &(*place)->next)
		;
	*place = pass->next;
	pthread_mutex_unlock(&lock);
	actor__heap_free(pass);
}

static void line_append(struct actor__pass *pass, struct actor__loop *loop)
{
	struct actor__loop **place = &pass->first;

	while (*place)
		place = &(*place)->pass_next;
	*place = loop;
	loop->pass_next = NULL;
}

static void line_remove(struct actor__pass *pass, struct actor__loop *loop)
{
	struct actor__loop **place = &pass->first;

	while (*place != loop)
		place = &(*place)->pass_next;
	*place = loop->pass_next;
}

/* Is its check to come before the pass is over? */
static bool awaited(const struct actor__loop *member)
{
	const struct actor__handles *handles = member->handles;

	return member->pass_mark != member->pass->number && handles &&
	       uv_is_active((const uv_handle_t *)&handles->check);
}

/* Does it take its turns: was it there in the pass before, and has not been in this one? */
static bool regular(const struct actor__loop *member)
{
	return member->pass_mark + 1 == member->pass->number;
}

static void begin(struct actor__pass *pass)
{
	pass->number++;
	pass->ran = pass->ran_unmarked;
	pass->ran_unmarked = 0;
}

int actor__pass_join(struct actor__loop *loop)
{
	struct actor__pass *pass;

	if (loop->pass)
		return 0;
	pthread_mutex_lock(&lock);
	pass = find_or_add(loop->uv);
	pthread_mutex_unlock(&lock);
	if (!pass)
		return -ENOMEM;
	loop->pass = pass;
	loop->pass_mark = pass->number - 1;
	line_append(pass, loop);
	return 0;
}

void actor__pass_leave(struct actor__loop *loop)
{
	struct actor__pass *pass = loop->pass;

	if (!pass)
		return;
	line_remove(pass, loop);
	loop->pass = NULL;
	if (!pass->first)
		pass_free(pass);
}

static bool immediate_ready(const struct actor__loop *loop)
{
	for (const struct actor_dispatcher *d = loop->dispatchers; d; d = d->next)
		if (d->kind == ACTOR_IMMEDIATE && d->ready)
			return true;
	return false;
}

bool actor__pass_allows(const struct actor__loop *loop)
{
	const struct actor__loop *member;

	if (loop->pass->ran)
		return false;
	for (member = loop->pass->first; member != loop; member = member->pass_next)
		if (regular(member) && immediate_ready(member))
			return false;
	return true;
}

void actor__pass_spend(struct actor__loop *loop)
{
	struct actor__pass *pass = loop->pass;

	pass->ran++;
	pass->ran_unmarked++;
	line_remove(pass, loop);
	line_append(pass, loop);
}

void actor__pass_prepare(struct actor__loop *loop)
{
	struct actor__pass *pass = loop->pass;

	for (const struct actor__loop *member = pass->first; member; member = member->pass_next) {
		if (member->pass_mark == pass->number) {
			begin(pass); /* a member's check did not come */
			return;
		}
	}
}

void actor__pass_mark(struct actor__loop *loop)
{
	struct actor__pass *pass = loop->pass;

	loop->pass_mark = pass->number;
	pass->ran_unmarked = 0;
	for (const struct actor__loop *member = pass->first; member; member = member->pass_next)
		if (awaited(member))
			return;
	begin(pass);
}
