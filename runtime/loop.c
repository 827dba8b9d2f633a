/* SPDX-License-Identifier: MIT */
/* Passes of a loop: prepare says that it may sleep, check takes mail and runs units.
 *
 * Sleeping. prepare: sleeping = 1, full fence, look for mail; then poll. Senders: publish, full
 * fence, read `sleeping`, signal if it is set. One of the two sees the other. While units are
 * ready the loop does not sleep and nobody signals it. */
#define _GNU_SOURCE
#include "loop.h"

#include "alarm.h"
#include "channel.h"
#include "deliver.h"
#include "dispatcher.h"
#include "later.h"
#include "life.h"
#include "log.h"
#include "observe.h"
#include "pass.h"
#include "pending.h"
#include "query.h"
#include "receive.h"
#include "slots.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HOPS_MOST 64 /* answers of other loops that one pass waits for */

struct actor__loop_hooks actor__loop_hooks;

/* The thread may be another one than last time: a caller may run his loop where he likes. */
static void thread_note(struct actor__loop *loop)
{
	uintptr_t self = (uintptr_t)pthread_self();

	if (atomic_load_explicit(&loop->thread, memory_order_relaxed) == self)
		return;
	atomic_store_explicit(&loop->thread, self, memory_order_relaxed);
	__atomic_store_n(&loop->abi->thread, (uint32_t)gettid(), __ATOMIC_RELAXED);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* A microsecond or two; true: there is mail. */
static bool mail_soon(struct actor__loop *loop)
{
	for (int i = 0; i < 32; i++) {
		if (actor__receive_waiting(loop))
			return true;
		cpu_relax();
	}
	return false;
}

/* Looks for mail for a while; true: there is some. */
static bool spin_for_mail(struct actor__loop *loop)
{
	uint64_t end = uv_hrtime() + loop->spin.ns;
	bool found;

	do
		found = mail_soon(loop);
	while (!found && uv_hrtime() < end);
	actor__spin_result(&loop->spin, found);
	return found;
}

/* One of a system that is driven by hand: whoever drives it takes mail in and runs the units. */
static void driven_prepare(struct actor__loop *loop)
{
	if (loop->dirty)
		actor__channels_flush(loop);
	if (actor__probes_records())
		actor__observe_poll(loop, 0);
}

static void driven_check(struct actor__loop *loop)
{
	if (actor__probes_records() || loop->observer.listening) {
		actor__observe_polled(loop);
		actor__observe_pass(loop);
	}
	if (atomic_load_explicit(&loop->system->phase, memory_order_relaxed) != ACTOR__OPEN)
		actor__loop_hooks.passed(loop);
}

static void on_prepare(struct actor__loop *loop)
{
	thread_note(loop);
	if (ACTOR__UNLIKELY(loop->system->driver != NULL)) {
		driven_prepare(loop);
		return;
	}
	if (loop->pass)
		actor__pass_prepare(loop);
	if (loop->dirty)
		actor__channels_flush(loop);
	if (actor__probes_records())
		actor__observe_poll(loop, loop->awake ? 0 : uv_backend_timeout(loop->uv));
	if (loop->awake)
		return;
	if (loop->owned) {
		if (loop->spin.ns && uv_backend_timeout(loop->uv) != 0 && spin_for_mail(loop)) {
			actor__loop_wake(loop);
			return;
		}
		actor__spin_sleep(&loop->spin, uv_hrtime());
	}
	if (ACTOR__UNLIKELY(actor__pool_grown(&loop->pool)))
		actor__pool_trim(&loop->pool);
	atomic_store_explicit(&loop->sleeping, 1, memory_order_relaxed);
	actor__fence();
	if (!actor__receive_waiting(loop))
		return;
	atomic_store_explicit(&loop->sleeping, 0, memory_order_relaxed);
	actor__loop_wake(loop);
}

/* Mail goes to and fro between loops faster than they can poll: as long as answers come at once
 * and the pass has units left, they are handled without a poll in between. */
static uint32_t hops_run(struct actor__loop *loop)
{
	uint32_t work = 0;

	for (int hops = 0; hops < HOPS_MOST; hops++) {
		work += actor__dispatchers_drain(loop, false);
		if (loop->dirty)
			actor__channels_flush(loop);
		if (loop->abi->ready || !mail_soon(loop))
			break;
		work += actor__receive(loop);
	}
	return work;
}

static void on_check(struct actor__loop *loop)
{
	uint32_t work;

	thread_note(loop);
	if (ACTOR__UNLIKELY(loop->system->driver != NULL)) {
		driven_check(loop);
		return;
	}
	atomic_store_explicit(&loop->sleeping, 0, memory_order_relaxed);
	if (ACTOR__UNLIKELY(actor__probes_records() || loop->observer.listening)) {
		actor__observe_polled(loop);
		actor__observe_pass(loop);
	}
	work = actor__receive(loop);
	if (loop->spin.slept_at)
		actor__spin_woken(&loop->spin, uv_hrtime(), work != 0);
	if (loop->spin.ns)
		work += hops_run(loop);
	work += actor__dispatchers_drain(loop, true);
	if (ACTOR__UNLIKELY(loop->held != NULL))
		actor__receive_held(loop);
	if (loop->dirty)
		actor__channels_flush(loop);
	if (actor__probes_records()) {
		actor__observe_pass(loop);
		if (!loop->abi->ready && !uv_loop_alive(loop->uv))
			actor__observe_leave(loop); /* uv_run() is about to return */
	}
	if (work)
		actor__counter_add(&loop->worked, 1);
	if (ACTOR__UNLIKELY(atomic_load_explicit(&loop->system->phase, memory_order_relaxed) !=
			    ACTOR__OPEN))
		actor__loop_hooks.passed(loop);
}

static void on_closed(struct actor__loop *loop)
{
	actor__loop_hooks.closed(loop);
}

static void on_look(struct actor__loop *loop)
{
	actor__loop_hooks.look(loop);
}

static void on_order(struct actor__loop *loop, uint16_t order)
{
	actor__loop_hooks.order(loop, order);
}

static void callbacks_set(void)
{
	actor__handle_callbacks.prepare = on_prepare;
	actor__handle_callbacks.check = on_check;
	actor__handle_callbacks.timer = actor__alarm_expire;
	actor__handle_callbacks.look = on_look;
	actor__handle_callbacks.closed = on_closed;
	actor__receive_order = on_order;
}

int actor__loop_open(struct actor_system *system, uint32_t index, uv_loop_t *uv)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct actor__loop *loop = actor__heap_zero(sizeof(*loop));
	int rc = 0;

	if (!loop)
		return -ENOMEM;
	pthread_once(&once, callbacks_set);
	loop->system = system;
	loop->index = index;
	loop->owned = uv == NULL;
	loop->sleeping = system->driver != NULL;
	loop->ctx.loop = loop;
	actor__pendings_init(&loop->pendings);
	loop->manual_ms = atomic_load(&system->manual_ms);
	rc = actor__slots_open(&loop->slots);
	if (rc) {
		actor__heap_free(loop);
		return rc;
	}
	loop->segments = loop->slots->segments;
	system->loops[index] = loop;
	loop->abi = &loop->slots->abi;
	loop->id = loop->abi->loop;
	loop->delivered_before = loop->abi->delivered;
	loop->turns_before = loop->abi->turn;
	memcpy(loop->abi->system, system->name, sizeof(loop->abi->system));
	loop->uv = uv ? uv : &loop->own_uv;
	if (loop->owned)
		rc = uv_loop_init(&loop->own_uv);
	else
		thread_note(loop);
	if (rc) {
		loop->uv = NULL;
		return rc;
	}
	return loop->owned ? actor__loop_listen(loop) : 0;
}

int actor__loop_listen(struct actor__loop *loop)
{
	int rc = actor__handles_open(loop);

	if (rc)
		return rc;
	__atomic_store_n(&loop->abi->state, ACTOR_ABI_LOOP_OPEN, __ATOMIC_RELEASE);
	if (actor__dispatchers_ready(loop))
		actor__loop_wake(loop); /* a dispatcher's open() queued something */
	return 0;
}

static void *thread_main(void *argument)
{
	struct actor__loop *loop = argument;

	thread_note(loop);
	uv_run(&loop->own_uv, UV_RUN_DEFAULT);
	actor__loop_hooks.thread_ended(loop);
	return NULL;
}

int actor__loop_start(struct actor__loop *loop)
{
	return -pthread_create(&loop->owner, NULL, thread_main, loop);
}

void actor__loop_stop_all(struct actor__loop *loop, enum actor__stopping why)
{
	if (why > atomic_load_explicit(&loop->stopping, memory_order_relaxed))
		atomic_store(&loop->stopping, why);
	actor__pendings_abandon(&loop->pendings);
	for (struct actor__cell *cell = loop->top; cell; cell = cell->next_sibling)
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
}

struct foreign {
	struct actor__loop *loop;
	unsigned int count;
};

/* A program's own handles on a loop of ours: they would keep its thread for ever. */
static void close_foreign(uv_handle_t *handle, void *data)
{
	struct foreign *foreign = data;

	if (uv_is_closing(handle) || handle->data == foreign->loop)
		return;
	uv_close(handle, NULL);
	foreign->count++;
}

void actor__loop_end(struct actor__loop *loop)
{
	struct foreign foreign = {.loop = loop};

	loop->closed = true;
	actor__receive_close(loop);
	actor__queries_end(loop);
	actor__later_end(loop);
	actor__dispatchers_close(loop);
	actor__observe_leave(loop);
	actor__handles_rest(loop);
	actor__handles_revive(loop);
	actor__handles_close(loop);
	if (!loop->owned)
		return;
	uv_walk(&loop->own_uv, close_foreign, &foreign);
	if (foreign.count)
		actor__log(loop->system, ACTOR_LOG_WARN,
			"%u libuv handles were still open on loop %u and were closed with it",
			foreign.count, loop->index + 1);
}

/* What was sent to a loop that had ended already. */
static void channel_free(struct actor__loop *loop, struct actor__channel *channel)
{
	struct actor__envelope *e;

	for (struct actor__ring *ring = channel->first, *next; ring; ring = next) {
		while ((e = actor__ring_peek(ring))) {
			actor__dead_letter(channel->to, e);
			actor__ring_pop(ring);
		}
		next = atomic_load_explicit(&ring->next, memory_order_acquire);
		actor__ring_free(ring);
	}
	while (channel->overflow.count) {
		actor__dead_letter(channel->to, actor__mailbox_pop(&channel->overflow));
		actor__mailbox_done(&channel->overflow, &loop->pool);
	}
	actor__heap_free(channel);
}

void actor__loop_channels_free(struct actor__loop *loop)
{
	for (uint32_t i = 0; i < ACTOR_ABI_LOOPS; i++) {
		if (!loop->out[i])
			continue;
		channel_free(loop, loop->out[i]);
		loop->out[i] = NULL;
	}
}

void actor__loop_free(struct actor__loop *loop)
{
	actor__index_fini(&loop->asks.by_number);
	actor__index_fini(&loop->timers);
	actor__pendings_fini(&loop->pendings);
	actor__pool_fini(&loop->pool);
	actor__handles_free(loop);
	actor__observe_fini(loop);
	if (loop->owned && loop->uv)
		uv_loop_close(&loop->own_uv);
	actor__slots_close(loop->slots);
	actor__heap_free(loop);
}
