/* SPDX-License-Identifier: MIT */
/* What all parts of the test kit need: entering a loop, failures, seeds. */
#define _GNU_SOURCE
#include "kit.h"

#include "log.h"
#include "misuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int actor__kit_check(const struct actor_test *kit, const char *function)
{
	if (!kit)
		return -EINVAL;
	if (kit->driver.thread != (uintptr_t)pthread_self())
		return actor__misuse(kit->system, ACTOR_ETHREAD, function,
			"called on another thread than the kit's");
	if (kit->inside)
		return actor__misuse(kit->system, -EBUSY, function, "called inside a handler");
	return 0;
}

void actor__kit_enter(struct actor_test *kit, struct actor__loop *loop)
{
	kit->inside = true;
	atomic_store_explicit(&loop->thread, kit->driver.thread, memory_order_relaxed);
}

void actor__kit_leave(struct actor_test *kit, struct actor__loop *loop)
{
	atomic_store_explicit(&loop->thread, 0, memory_order_relaxed);
	kit->inside = false;
}

int actor__kit_failed(struct actor_test *kit, int code, const char *format, ...)
{
	char what[512], text[640];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	snprintf(text, sizeof(text), "%s (at %" PRIu64 " ms, step %" PRIu64 ", seed %" PRIu64 ")",
		what, actor__kit_now(kit), kit->steps, kit->seed);
	if (kit->options.on_failure)
		kit->options.on_failure(kit->options.on_failure_data, text);
	else
		actor__log(kit->system, ACTOR_LOG_ERROR, "test kit: %s", text);
	return code;
}

uint32_t actor__kit_random(struct actor_test *kit, uint32_t bound)
{
	kit->random ^= kit->random >> 12;
	kit->random ^= kit->random << 25;
	kit->random ^= kit->random >> 27;
	return (uint32_t)((kit->random * 0x2545f4914f6cdd1dull >> 32) * bound >> 32);
}

uint64_t actor__kit_spread(uint64_t seed)
{
	seed ^= seed >> 33;
	seed *= 0xff51afd7ed558ccdull;
	seed ^= seed >> 33;
	seed *= 0xc4ceb9fe1a85ec53ull;
	return seed ^ seed >> 33;
}

uint64_t actor__kit_seed_wish(void)
{
	const char *text = secure_getenv("ACTOR_TEST_SEED");

	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t actor__kit_now(const struct actor_test *kit)
{
	uint64_t manual_ms = atomic_load(&kit->system->manual_ms);

	return manual_ms ? manual_ms : uv_hrtime() / 1000000u;
}
