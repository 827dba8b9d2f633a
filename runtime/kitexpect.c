/* SPDX-License-Identifier: MIT */
/* Expectations: steps until a probe has what a test waits for, or says why not. */
#include "kitprobe.h"
#include "kitsteps.h"
#include "path.h"
#include "slots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* What is waited for; `count` messages at once. */
struct wish {
	const struct actor_test_probe *probe;
	size_t count;
};

static bool wish_there(const void *of)
{
	const struct wish *wish = of;

	return wish->probe->queue.count >= wish->count;
}

static int check(const struct actor_test_probe *probe, const char *function)
{
	return probe ? actor__kit_check(probe->kit, function) : -EINVAL;
}

static uint64_t until(const struct actor_test *kit, int64_t timeout_ms, int64_t usual_ms)
{
	return actor__kit_now(kit) + (uint64_t)(timeout_ms > 0 ? timeout_ms : usual_ms);
}

/* "message of type X", or of any. */
static const char *wanted_text(char *text, size_t bytes, const struct actor_type *type)
{
	snprintf(text, bytes, "%s%s", type ? "a message of type " : "a message",
		type ? type->name : "");
	return text;
}

/* "expected ... at PROBE, but ..." */
static int failed(struct actor_test_probe *probe, int code, const char *wanted, const char *but)
{
	char path[ACTOR__PATH_BYTES];

	actor__path_text(probe->kit->system, probe->ref, path, sizeof(path));
	return actor__kit_failed(
		probe->kit, code, "%s: expected %s, but %s", path, wanted, but);
}

/* 0: so many messages are there. */
static int await(struct actor_test_probe *probe, size_t count, uint64_t until_ms,
	int64_t timeout_ms, const char *wanted)
{
	struct wish wish = {probe, count};
	int64_t units = actor__kit_wait(probe->kit, until_ms, wish_there, &wish);
	char but[96];

	if (wish_there(&wish))
		return 0;
	if (units < 0)
		return (int)units;
	if (probe->stopped)
		return failed(probe, -ESRCH, wanted, "the probe has stopped");
	snprintf(but, sizeof(but), "%zu came within %" PRId64 " ms", probe->queue.count,
		timeout_ms > 0 ? timeout_ms : ACTOR_TEST_TIMEOUT_MS);
	return failed(probe, -ETIMEDOUT, wanted, but);
}

/* "T of N bytes from SENDER came" */
static const char *came_text(const struct actor_test_probe *probe, char *text, size_t bytes,
	const struct actor_message *m)
{
	char path[ACTOR__PATH_BYTES] = "nobody";

	if (m->sender)
		actor__path_text(probe->kit->system, m->sender, path, sizeof(path));
	snprintf(text, bytes, "%s of %zu bytes came from %s", m->type->name, m->bytes, path);
	return text;
}

static bool fits(const struct actor_message *m, const struct actor_type *type,
	actor_test_predicate predicate, void *data)
{
	return (!type || m->type == type) && (!predicate || predicate(m, data));
}

int actor_test_expect(struct actor_test_probe *probe, const struct actor_type *type,
	actor_test_predicate predicate, void *data, int64_t timeout_ms,
	struct actor_message *message)
{
	char wanted[ACTOR_NAME_BYTES + 32], came[ACTOR__PATH_BYTES + 128];
	int rc = check(probe, "actor_test_expect");
	struct actor_message m;

	if (rc)
		return rc;
	actor__kit_probe_forget(probe);
	wanted_text(wanted, sizeof(wanted), type);
	rc = await(probe, 1, until(probe->kit, timeout_ms, ACTOR_TEST_TIMEOUT_MS), timeout_ms,
		wanted);
	if (rc)
		return rc;
	actor__kit_probe_give(probe, &m);
	if (message)
		*message = m;
	if (fits(&m, type, predicate, data))
		return 0;
	came_text(probe, came, sizeof(came), &m);
	if (!type || m.type == type)
		return failed(probe, -EBADMSG, "one of which the predicate is true", came);
	return failed(probe, -EBADMSG, wanted, came);
}

int actor_test_fish(struct actor_test_probe *probe, const struct actor_type *type,
	actor_test_predicate predicate, void *data, int64_t timeout_ms,
	struct actor_message *message)
{
	char wanted[ACTOR_NAME_BYTES + 32];
	int rc = check(probe, "actor_test_fish");
	struct actor_message m;
	uint64_t until_ms;

	if (rc)
		return rc;
	until_ms = until(probe->kit, timeout_ms, ACTOR_TEST_TIMEOUT_MS);
	wanted_text(wanted, sizeof(wanted), type);
	do {
		actor__kit_probe_forget(probe);
		rc = await(probe, 1, until_ms, timeout_ms, wanted);
		if (rc)
			return rc;
		actor__kit_probe_give(probe, &m);
	} while (!fits(&m, type, predicate, data));
	if (message)
		*message = m;
	return 0;
}

int actor_test_receive(struct actor_test_probe *probe, size_t count, int64_t timeout_ms,
	struct actor_message *messages)
{
	int rc = check(probe, "actor_test_receive");
	char wanted[64];

	if (rc)
		return rc;
	actor__kit_probe_forget(probe);
	snprintf(wanted, sizeof(wanted), "%zu messages", count);
	rc = await(probe, count, until(probe->kit, timeout_ms, ACTOR_TEST_TIMEOUT_MS), timeout_ms,
		wanted);
	for (size_t i = 0; i < count && !rc; i++)
		actor__kit_probe_give(probe, messages ? &messages[i] : NULL);
	return rc;
}

int actor_test_expect_none(struct actor_test_probe *probe, int64_t timeout_ms)
{
	struct wish wish = {probe, 1};
	int rc = check(probe, "actor_test_expect_none");
	char came[ACTOR__PATH_BYTES + 128];
	struct actor_message m;
	int64_t units;

	if (rc)
		return rc;
	units = actor__kit_wait(probe->kit, until(probe->kit, timeout_ms, ACTOR_TEST_QUIET_MS),
		wish_there, &wish);
	if (!wish_there(&wish))
		return units < 0 ? (int)units : 0;
	actor__kit_probe_look(probe, &m);
	return failed(probe, -EBADMSG, "no message", came_text(probe, came, sizeof(came), &m));
}

static int watch(struct actor_ctx *ctx, void *data)
{
	return actor_watch(ctx, *(const actor_ref *)data);
}

int actor_test_watch(struct actor_test_probe *probe, actor_ref ref)
{
	return actor_test_within(probe, watch, &ref);
}

static int is_end_of(const struct actor_message *message, void *data)
{
	const struct actor_termination *termination = message->payload;

	return termination->actor == *(const actor_ref *)data;
}

int actor_test_expect_terminated(struct actor_test_probe *probe, actor_ref ref,
	int64_t timeout_ms, struct actor_termination *termination)
{
	struct actor_message message;
	int rc = actor_test_expect(
		probe, &actor_terminated, is_end_of, &ref, timeout_ms, &message);

	if (!rc && termination)
		*termination = *(const struct actor_termination *)message.payload;
	return rc;
}

struct end {
	struct actor_test *kit;
	actor_ref ref;
};

static bool end_there(const void *of)
{
	const struct end *end = of;
	struct actor__slots *slots = actor__slots_of(actor__ref_loop(end->ref));

	return end->kit->gone || !slots || !actor__slot_entry(slots, end->ref);
}

int actor_test_expect_stopped(struct actor_test *kit, actor_ref ref, int64_t timeout_ms)
{
	struct end end = {kit, ref};
	int rc = actor__kit_check(kit, "actor_test_expect_stopped");
	char path[ACTOR__PATH_BYTES];
	int64_t units;

	if (rc)
		return rc;
	units = actor__kit_wait(
		kit, until(kit, timeout_ms, ACTOR_TEST_TIMEOUT_MS), end_there, &end);
	if (end_there(&end))
		return 0;
	if (units < 0)
		return (int)units;
	actor__path_text(kit->system, ref, path, sizeof(path));
	return actor__kit_failed(kit, -ETIMEDOUT, "expected %s to stop, but it is there after %" PRId64
						  " ms", path,
		timeout_ms > 0 ? timeout_ms : ACTOR_TEST_TIMEOUT_MS);
}
