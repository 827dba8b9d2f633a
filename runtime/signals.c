/* SPDX-License-Identifier: MIT */
/* Two libuv signal handles. They belong to the system until its first loop has closed them: what a
 * caller's uv_walk() has closed is closed before the loop's own handles are. */
#include "signals.h"

#include "log.h"
#include "shutdown.h"

#include <errno.h>
#include <signal.h>

static const int numbers[] = {SIGTERM, SIGINT};

#define COUNT (sizeof(numbers) / sizeof(numbers[0]))

struct actor__signals {
	uv_signal_t handles[COUNT];
	uint32_t count; /* that were opened */
	actor_close_cb cb;
	void *data;
};

static void on_signal(uv_signal_t *handle, int number)
{
	struct actor__loop *loop = handle->data;
	struct actor_system *system = loop->system;
	struct actor__signals *signals = system->signals;

	actor__signals_stop(system);
	if (actor__shutdown_request(system, signals->cb, signals->data, false) == 0)
		actor__log(system, ACTOR_LOG_INFO, "shutdown: signal %d", number);
}

static int signal_open(struct actor__signals *signals, struct actor__loop *loop, int number)
{
	uv_signal_t *handle = &signals->handles[signals->count];
	int rc = uv_signal_init(loop->uv, handle);

	if (rc)
		return rc;
	handle->data = loop; /* so that the loop's end knows it as its own */
	signals->count++;
	rc = uv_signal_start(handle, on_signal, number);
	uv_unref((uv_handle_t *)handle);
	return rc;
}

int actor__signals_open(struct actor_system *system, const struct actor_system_options *options)
{
	struct actor__signals *signals;
	int rc = 0;

	if (!options->shutdown_signals)
		return 0;
	signals = actor__heap_zero(sizeof(*signals));
	if (!signals)
		return -ENOMEM;
	signals->cb = options->on_shutdown;
	signals->data = options->on_shutdown_data;
	system->signals = signals;
	for (size_t i = 0; i < COUNT && !rc; i++)
		rc = signal_open(signals, system->loops[0], numbers[i]);
	return rc;
}

void actor__signals_stop(struct actor_system *system)
{
	struct actor__signals *signals = system->signals;

	for (uint32_t i = 0; signals && i < signals->count; i++)
		if (!uv_is_closing((uv_handle_t *)&signals->handles[i]))
			uv_close((uv_handle_t *)&signals->handles[i], NULL);
}

void actor__signals_free(struct actor_system *system)
{
	actor__heap_free(system->signals);
	system->signals = NULL;
}
