/* SPDX-License-Identifier: MIT */
/* Opens, closes and revives the libuv handles of a loop. */
#include "handles.h"

#include <errno.h>

struct actor__handle_callbacks actor__handle_callbacks;

static void on_check(uv_check_t *check)
{
	actor__handle_callbacks.check((struct actor__loop *)check->data);
}

static void on_prepare(uv_prepare_t *prepare)
{
	actor__handle_callbacks.prepare((struct actor__loop *)prepare->data);
}

static void on_timer(uv_timer_t *timer)
{
	actor__handle_callbacks.timer((struct actor__loop *)timer->data);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* being active is all it does */
}

static void on_async(uv_async_t *async)
{
	(void)async; /* check follows in the same pass */
}

int actor__handles_open(struct actor__loop *loop)
{
	struct actor__handles *h = actor__heap_zero(sizeof(*h));
	int rc;

	if (!h)
		return -ENOMEM;
	rc = uv_async_init(loop->uv, &h->async, on_async);
	if (rc) {
		actor__heap_free(h);
		return rc;
	}
	uv_check_init(loop->uv, &h->check);
	uv_prepare_init(loop->uv, &h->prepare);
	uv_idle_init(loop->uv, &h->idle);
	uv_timer_init(loop->uv, &h->timer);
	h->check.data = h->prepare.data = h->idle.data = h->async.data = h->timer.data = loop;
	uv_check_start(&h->check, on_check);
	uv_prepare_start(&h->prepare, on_prepare);
	uv_unref((uv_handle_t *)&h->check);
	uv_unref((uv_handle_t *)&h->prepare);
	uv_unref((uv_handle_t *)&h->timer);
	if (!loop->owned)
		uv_unref((uv_handle_t *)&h->async);
	h->older = loop->handles;
	loop->handles = h;
	loop->awake = false;
	return 0;
}

static bool closed_by_others(const struct actor__handles *h)
{
	return uv_is_closing((const uv_handle_t *)&h->idle) ||
	       uv_is_closing((const uv_handle_t *)&h->check) ||
	       uv_is_closing((const uv_handle_t *)&h->prepare) ||
	       uv_is_closing((const uv_handle_t *)&h->async) ||
	       uv_is_closing((const uv_handle_t *)&h->timer);
}

static void close_one(uv_handle_t *handle, uv_close_cb cb)
{
	if (!uv_is_closing(handle))
		uv_close(handle, cb);
}

static void close_all(struct actor__handles *h, uv_close_cb cb)
{
	close_one((uv_handle_t *)&h->check, cb);
	close_one((uv_handle_t *)&h->prepare, cb);
	close_one((uv_handle_t *)&h->idle, cb);
	close_one((uv_handle_t *)&h->async, cb);
	close_one((uv_handle_t *)&h->timer, cb);
}

int actor__handles_revive(struct actor__loop *loop)
{
	struct actor__handles *old = loop->handles;
	int rc;

	if (!closed_by_others(old))
		return 0;
	rc = actor__handles_open(loop);
	if (!rc)
		close_all(old, NULL);
	return rc;
}

static void on_closed(uv_handle_t *handle)
{
	struct actor__loop *loop = handle->data;

	if (--loop->handles_open == 0)
		actor__handle_callbacks.closed(loop);
}

void actor__handles_close(struct actor__loop *loop)
{
	loop->handles_open = 5;
	close_all(loop->handles, on_closed);
}

void actor__handles_free(struct actor__loop *loop)
{
	while (loop->handles) {
		struct actor__handles *h = loop->handles;

		loop->handles = h->older;
		actor__heap_free(h);
	}
}

void actor__handles_wake(struct actor__loop *loop)
{
	if (actor__handles_revive(loop))
		return; /* no memory: the next enqueue tries again */
	uv_idle_start(&loop->handles->idle, on_idle);
	loop->awake = true;
}

void actor__handles_rest(struct actor__loop *loop)
{
	if (loop->awake && !uv_is_closing((uv_handle_t *)&loop->handles->idle))
		uv_idle_stop(&loop->handles->idle);
	loop->awake = false;
}

void actor__handles_signal(struct actor__loop *loop)
{
	uv_async_send(&loop->handles->async);
}

void actor__handles_timer(struct actor__loop *loop, uint64_t at_ms)
{
	uv_timer_t *timer = &loop->handles->timer;
	uint64_t now = uv_now(loop->uv);

	if (actor__handles_revive(loop))
		return;
	timer = &loop->handles->timer;
	if (uv_is_active((uv_handle_t *)timer) && now + uv_timer_get_due_in(timer) <= at_ms)
		return;
	uv_timer_start(timer, on_timer, at_ms > now ? at_ms - now : 0, 0);
}
