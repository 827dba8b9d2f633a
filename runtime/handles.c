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
	struct actor__loop *loop = (struct actor__loop *)timer->data;

	loop->handles->timer_at_ms = 0;
	actor__handle_callbacks.timer(loop);
}

static void on_look(uv_timer_t *look)
{
	struct actor__loop *loop = (struct actor__loop *)look->data;

	loop->handles->look_due = false;
	actor__handle_callbacks.look(loop);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* being active is all it does */
}

static void on_async(uv_async_t *async)
{
	struct actor__loop *loop = (struct actor__loop *)async->data;

	/* Mail: check follows in the same pass. */
	if (ACTOR__UNLIKELY(loop->manual_ms))
		actor__handle_callbacks.timer(loop);
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
	uv_timer_init(loop->uv, &h->look);
	h->check.data = h->prepare.data = h->idle.data = h->async.data = loop;
	h->timer.data = h->look.data = loop;
	uv_check_start(&h->check, on_check);
	uv_prepare_start(&h->prepare, on_prepare);
	uv_unref((uv_handle_t *)&h->check);
	uv_unref((uv_handle_t *)&h->prepare);
	uv_unref((uv_handle_t *)&h->timer);
	if (!loop->owned)
		uv_unref((uv_handle_t *)&h->async);
	h->older = loop->handles;
	/* Release: who signals finds the async handle complete. */
	__atomic_store_n(&loop->handles, h, __ATOMIC_RELEASE);
	return 0;
}

static bool closed_by_others(const struct actor__handles *h)
{
	return uv_is_closing((const uv_handle_t *)&h->idle) ||
	       uv_is_closing((const uv_handle_t *)&h->check) ||
	       uv_is_closing((const uv_handle_t *)&h->prepare) ||
	       uv_is_closing((const uv_handle_t *)&h->async) ||
	       uv_is_closing((const uv_handle_t *)&h->timer) ||
	       uv_is_closing((const uv_handle_t *)&h->look);
}

static uint32_t close_one(uv_handle_t *handle, uv_close_cb cb)
{
	if (uv_is_closing(handle))
		return 0;
	uv_close(handle, cb);
	return 1;
}

/* Returns how many were still open. */
static uint32_t close_all(struct actor__handles *h, uv_close_cb cb)
{
	return close_one((uv_handle_t *)&h->check, cb) + close_one((uv_handle_t *)&h->prepare, cb) +
	       close_one((uv_handle_t *)&h->idle, cb) + close_one((uv_handle_t *)&h->async, cb) +
	       close_one((uv_handle_t *)&h->timer, cb) + close_one((uv_handle_t *)&h->look, cb);
}

/* Whoever walked over the loop while there was work, or something to wait for, ends neither. */
static void go_on(struct actor__loop *loop, const struct actor__handles *old)
{
	if (loop->awake)
		uv_idle_start(&loop->handles->idle, on_idle);
	if (old->look_due)
		actor__handles_look(loop, 1);
	if (old->timer_at_ms)
		actor__handles_timer(loop, old->timer_at_ms);
}

int actor__handles_revive(struct actor__loop *loop)
{
	struct actor__handles *old = loop->handles;
	int rc;

	if (!closed_by_others(old))
		return 0;
	rc = actor__handles_open(loop);
	if (rc)
		return rc;
	close_all(old, NULL);
	go_on(loop, old);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct actor__loop *loop = handle->data;

	if (--loop->handles_open == 0)
		actor__handle_callbacks.closed(loop);
}

/* Once more, with the others: whatever was closed before is done when these are. */
static void on_look_closed(uv_handle_t *look)
{
	struct actor__loop *loop = look->data;

	uv_timer_init(loop->uv, &loop->handles->look);
	loop->handles_open = close_all(loop->handles, on_closed);
}

void actor__handles_close(struct actor__loop *loop)
{
	loop->handles_open = 1; /* more when this one is closed */
	close_one((uv_handle_t *)&loop->handles->look, on_look_closed);
}

void actor__handles_look(struct actor__loop *loop, uint32_t after_ms)
{
	loop->handles->look_due = true;
	uv_timer_start(&loop->handles->look, on_look, after_ms, 0);
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
	if (!loop->handles || actor__handles_revive(loop))
		return; /* not open yet; no memory: the next enqueue tries again */
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
	uv_async_send(&__atomic_load_n(&loop->handles, __ATOMIC_ACQUIRE)->async);
}

void actor__handles_timer(struct actor__loop *loop, uint64_t at_ms)
{
	uint64_t now = uv_now(loop->uv);
	uv_timer_t *timer;

	if (actor__handles_revive(loop))
		return;
	timer = &loop->handles->timer;
	if (uv_is_active((uv_handle_t *)timer) && now + uv_timer_get_due_in(timer) <= at_ms)
		return;
	loop->handles->timer_at_ms = at_ms;
	uv_timer_start(timer, on_timer, at_ms > now ? at_ms - now : 0, 0);
}
