/* SPDX-License-Identifier: MIT */
/* Contexts of log lines: what a handler sets, where it goes with what it tells, and where it ends.
 */
#include "tests/lab.h"

#include "runtime/log_context.h"
#include "runtime/probes.h"

#include <stdio.h>

/* ---- lines ---- */

struct line {
	char text[64];
	char fields[64]; /* "key=value " each */
};
static struct line lines[64];
static uint32_t line_count;
static struct lab lab;

static int on_line(void *data, const struct actor_log_record *record)
{
	struct line *line = &lines[line_count++ % COUNT(lines)];
	size_t used = 0;

	snprintf(line->text, sizeof(line->text), "%s", record->text);
	line->fields[0] = '\0';
	for (size_t i = 0; i < record->field_count; i++)
		used += (size_t)snprintf(line->fields + used, sizeof(line->fields) - used, "%s=%s ",
			record->fields[i].key, record->fields[i].value);
	return 0;
}

static void assert_line(uint32_t n, const char *text, const char *fields)
{
	if (n >= line_count)
		fail_msg("there are %u lines, the last one: %s", line_count,
			lines[(line_count - 1) % COUNT(lines)].text);
	if (strncmp(lines[n].text, text, strlen(text)) || strcmp(lines[n].fields, fields))
		fail_msg("line %u: %s | %s, expected %s | %s", n, lines[n].text, lines[n].fields,
			text, fields);
}

static void open_logged(void)
{
	struct actor_log_sink sink = {.size = sizeof(sink), .write = on_line};

	line_count = 0;
	lab_open(&lab, NULL);
	assert_true(actor_system_log_add(lab.system, &sink) > 0);
}

/* All contexts are gone when nothing runs. */
static void close_logged(void)
{
	lab_close(&lab);
	assert_int_equal(actor__semaphores.contexts, 0);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(counted_alive, 0);
}

/* ---- actors that do what a test says ---- */

typedef int (*script)(struct actor_ctx *ctx, const struct actor_message *m);

static int play(struct actor_ctx *ctx, const struct actor_message *m)
{
	script *own = actor_state(ctx);

	return (*own)(ctx, m);
}

static struct actor_class player_class = {.size = sizeof(player_class),
	.name = "player",
	.state_bytes = sizeof(script),
	.on_message = play};

static actor_ref player(script own)
{
	struct actor_spawn_options options = {.size = sizeof(options), .init = &own};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &player_class, &options, &ref), 0);
	return ref;
}

static void kick(actor_ref ref)
{
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	lab_run(&lab);
}

static int log_only(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_log(ctx, ACTOR_LOG_INFO, "%s", m->type->name);
}

static int set_and_log(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_log(ctx, ACTOR_LOG_INFO, "before");
	assert_null(actor_log_context_get(ctx, "request"));
	assert_int_equal(actor_log_context_set(ctx, "request", "7f"), 0);
	assert_int_equal(actor_log_context_set(ctx, "user", "ada"), 0);
	assert_string_equal(actor_log_context_get(ctx, "request"), "7f");
	actor_log(ctx, ACTOR_LOG_INFO, "with");
	assert_int_equal(actor_log_context_set(ctx, "request", NULL), 0);
	actor_log(ctx, ACTOR_LOG_INFO, "less");
	assert_int_equal(actor_log_context_clear(ctx), 0);
	actor_log(ctx, ACTOR_LOG_INFO, "none");
	return actor_log_context_set(ctx, "left", "over");
}

static void a_context_ends_with_its_handler(void **state)
{
	actor_ref ref;

	open_logged();
	ref = player(set_and_log);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(line_count, 20);
	for (uint32_t i = 0; i < 20; i += 4) {
		assert_line(i, "before", "");
		assert_line(i + 1, "with", "request=7f user=ada ");
		assert_line(i + 2, "less", "user=ada ");
		assert_line(i + 3, "none", "");
	}
	close_logged();
}

/* ---- it goes along ---- */

static actor_ref target;
static int tell_rc;

static int tell_all_sizes(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t token = token_new(5);
	char plain[100] = "plain";

	assert_int_equal(actor_log_context_set(ctx, "n", "1"), 0);
	assert_int_equal(actor_tell(ctx, target, &plain_type, "12345678", 8), 0);
	assert_int_equal(actor_tell(ctx, target, &plain_type, NULL, 0), 0);
	assert_int_equal(actor_tell(ctx, target, &plain_type, "123", 3), 0);
	assert_int_equal(actor_tell(ctx, target, &plain_type, plain, sizeof(plain)), 0);
	assert_int_equal(actor_tell(ctx, target, &token_type, &token, sizeof(token)), 0);
	assert_int_equal(
		actor_tell(ctx, target, &counted_type, counted_new(6), sizeof(struct counted)), 0);
	assert_int_equal(actor_log_context_clear(ctx), 0);
	assert_int_equal(actor_tell(ctx, target, &plain_type, "12345678", 8), 0);
	return 0;
}

static int check_payload(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t value;

	assert_non_null(m->payload);
	if (m->type == &plain_type && m->bytes == 8)
		assert_memory_equal(m->payload, "12345678", 8);
	if (m->type == &plain_type && m->bytes == 3)
		assert_memory_equal(m->payload, "123", 3);
	if (m->type == &plain_type && m->bytes == 100)
		assert_string_equal(m->payload, "plain");
	if (m->type == &token_type) {
		memcpy(&value, m->payload, sizeof(value));
		assert_int_equal(value, 5);
		assert_int_equal((uintptr_t)m->payload % 16, 0);
	}
	if (m->type == &counted_type)
		assert_int_equal(((struct counted *)m->payload)->value, 6);
	return actor_log(ctx, ACTOR_LOG_INFO, "%zu", m->bytes);
}

static void a_context_goes_along_with_payloads_of_all_sizes(void **state)
{
	static const char *const texts[] = {"8", "0", "3", "100", "8", "64", "8"};

	open_logged();
	target = player(check_payload);
	kick(player(tell_all_sizes));
	assert_int_equal(line_count, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_line(i, texts[i], i < 6 ? "n=1 " : "");
	close_logged();
}

static int pass_on(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_log(ctx, ACTOR_LOG_INFO, "passing");
	return actor_tell(ctx, target, &plain_type, m->payload, m->bytes);
}

static actor_ref hop;

static int begin_chain(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(actor_log_context_set(ctx, "chain", "x"), 0);
	return actor_tell(ctx, hop, &plain_type, NULL, 0);
}

static void a_context_goes_on_from_handler_to_handler(void **state)
{
	open_logged();
	target = player(log_only);
	hop = player(pass_on);
	kick(player(begin_chain));
	assert_line(0, "passing", "chain=x ");
	assert_line(1, "plain", "chain=x ");
	kick(hop);
	assert_line(2, "passing", "");
	assert_line(3, "plain", "");
	close_logged();
}

static int answer(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_log(ctx, ACTOR_LOG_INFO, "asked");
	return actor_reply(ctx, &plain_type, "87654321", 8);
}

static int on_answer(struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	assert_int_equal(status, 0);
	assert_memory_equal(m->payload, "87654321", 8);
	return actor_log(ctx, ACTOR_LOG_INFO, "answered");
}

static int ask_it(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(actor_log_context_set(ctx, "ask", "1"), 0);
	return actor_ask(ctx, target, &plain_type, NULL, 0, 0, on_answer, NULL);
}

static void an_answer_brings_the_context_back(void **state)
{
	open_logged();
	target = player(answer);
	kick(player(ask_it));
	assert_line(0, "asked", "ask=1 ");
	assert_line(1, "answered", "ask=1 ");
	close_logged();
}

static int stash_first(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->bytes == 1)
		return actor_unstash_all(ctx) < 0 ? -EIO : 0;
	if (actor_log_context_get(ctx, "seen"))
		return -EIO;
	actor_log(ctx, ACTOR_LOG_INFO, "turn");
	if (line_count == 1) {
		actor_log_context_set(ctx, "seen", "1"); /* ends with this handler */
		return actor_stash(ctx);
	}
	return 0;
}

static int publish_it(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(actor_log_context_set(ctx, "news", "1"), 0);
	assert_int_equal(actor_publish(ctx, &plain_type, NULL, 0), 1);
	return 0;
}

static void a_stashed_message_keeps_its_context_and_an_event_has_it(void **state)
{
	open_logged();
	hop = player(stash_first);
	kick(player(begin_chain));
	assert_line(0, "turn", "chain=x ");
	assert_int_equal(actor_system_tell(lab.system, hop, &plain_type, "u", 1), 0);
	lab_run(&lab);
	assert_int_equal(line_count, 2);
	assert_line(1, "turn", "chain=x ");
	target = player(log_only);
	assert_int_equal(actor_system_subscribe(lab.system, target, &plain_type, NULL), 0);
	kick(player(publish_it));
	assert_line(2, "plain", "news=1 ");
	close_logged();
}

/* ---- where there is none ---- */

static int child_start(struct actor_ctx *ctx)
{
	actor_log(ctx, ACTOR_LOG_INFO, "start");
	return actor_log_context_set(ctx, "of", "start");
}

static void child_stop(struct actor_ctx *ctx)
{
	actor_log_context_set(ctx, "of", "stop");
	actor_log(ctx, ACTOR_LOG_INFO, "stop");
}

static struct actor_class child_class = {.size = sizeof(child_class),
	.name = "child",
	.on_start = child_start,
	.on_message = log_only,
	.on_stop = child_stop};

static int spawn_child(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(actor_log_context_set(ctx, "parent", "1"), 0);
	assert_int_equal(actor_spawn(ctx, &child_class, NULL, &target), 0);
	assert_int_equal(actor_log_context_clear(ctx), 0);
	return actor_tell(ctx, target, &token_type, (uint64_t[]){token_new(1)}, 8);
}

static int start_timer(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(actor_log_context_set(ctx, "timer", "1"), 0);
	return actor_timer_single(ctx, 1, 1, &counted_type, counted_new(1), sizeof(struct counted));
}

static int start_or_log(struct actor_ctx *ctx, const struct actor_message *m)
{
	return m->type == &plain_type ? start_timer(ctx, m) : log_only(ctx, m);
}

static void hooks_and_timers_begin_with_an_empty_context(void **state)
{
	open_logged();
	kick(player(spawn_child));
	assert_line(0, "start", "");
	assert_line(1, "token", "");
	actor_system_stop(lab.system, target);
	lab_run(&lab);
	assert_line(2, "stop", "of=stop ");
	kick(player(start_or_log));
	lab_count(&lab); /* a handle that keeps the loop alive */
	for (int i = 0; i < 5000 && line_count < 4; i++) {
		sleep_ms(1);
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	}
	lab_count_stop(&lab);
	assert_line(3, "counted", "");
	close_logged();
}

/* ---- failures ---- */

static int fail_with(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_log_context_set(ctx, "why", "test");
	return actor_fail(ctx, -EIO, "broken");
}

static int fail_without(struct actor_ctx *ctx, const struct actor_message *m)
{
	return -EIO;
}

static void the_line_of_a_failure_has_its_handlers_context(void **state)
{
	uint32_t first;

	open_logged();
	kick(player(fail_with));
	assert_line(0, "actor /user/", "why=test ");
	first = line_count;
	kick(player(fail_without));
	assert_line(first, "actor /user/", "");
	hop = player(fail_without);
	first = line_count;
	kick(player(begin_chain));
	assert_line(first, "actor /user/", "chain=x ");
	close_logged();
}

static actor_ref remote;

static int spawn_elsewhere(struct actor_ctx *ctx, const struct actor_message *m)
{
	script own = fail_with;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &own, .loop = 2};

	if (!remote)
		return actor_spawn(ctx, &player_class, &options, &remote);
	assert_int_equal(actor_log_context_set(ctx, "from", "parent"), 0);
	return actor_tell(ctx, remote, &plain_type, NULL, 0);
}

static bool has_line(const char *fields)
{
	for (uint32_t i = 0; i < line_count; i++)
		if (strstr(lines[i].text, "actor /user/") && !strcmp(lines[i].fields, fields))
			return true;
	return false;
}

/* Its parent, on another loop, decides about the failure and logs it. */
static void the_context_of_a_failure_goes_to_the_loop_that_decides_about_it(void **state)
{
	struct actor_log_sink sink = {.size = sizeof(sink), .write = on_line};
	struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};
	script own = spawn_elsewhere;
	actor_ref parent;

	line_count = 0;
	remote = 0;
	lab_open_owned(&lab, 2);
	assert_true(actor_system_log_add(lab.system, &sink) > 0);
	options.init = &own;
	assert_int_equal(actor_system_spawn(lab.system, &player_class, &options, &parent), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(actor_system_tell(lab.system, parent, &plain_type, NULL, 0), 0);
	for (int i = 0; i < 10000 && lab_stats(&lab).failed == 0; i++)
		sleep_ms(1);
	close_logged();
	assert_true(has_line("from=parent why=test "));
}

static int take_all(struct actor_ctx *ctx, const struct actor_message *m)
{
	void *payload = actor_take(ctx);

	assert_non_null(actor_log_context_get(ctx, "n"));
	if (m->bytes > ACTOR_INLINE_BYTES)
		free(payload);
	if (m->type == &token_type)
		atomic_fetch_sub(&tokens_alive, 1);
	if (m->type == &counted_type)
		atomic_fetch_sub(&counted_alive, 1);
	return 0;
}

static int tell_owned(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t token = token_new(5);
	char plain[100] = "plain";

	assert_int_equal(actor_log_context_set(ctx, "n", "1"), 0);
	actor_tell(ctx, target, &plain_type, "12345678", 8);
	actor_tell(ctx, target, &plain_type, plain, sizeof(plain));
	actor_tell(ctx, target, &token_type, &token, sizeof(token));
	actor_tell(ctx, target, &counted_type, counted_new(6), sizeof(struct counted));
	return 0;
}

static void a_payload_with_a_context_can_be_taken_or_be_a_dead_letter(void **state)
{
	open_logged();
	target = player(take_all);
	kick(player(tell_owned));
	actor_system_stop(lab.system, target);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 0);
	kick(player(tell_owned));
	assert_int_equal(lab.dead_letters, 4);
	close_logged();
}

static void wrong_calls_are_refused(void **state)
{
	assert_int_equal(actor_log_context_set(NULL, "a", "b"), -EINVAL);
	assert_int_equal(actor_log_context_clear(NULL), -EINVAL);
	assert_null(actor_log_context_get(NULL, "a"));
	assert_int_equal(actor_log(NULL, ACTOR_LOG_INFO, "x"), -EINVAL);
}

/* ---- memory ---- */

static int count_only(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_string_equal(actor_log_context_get(ctx, "k"), "v");
	line_count++;
	return 0;
}

static int64_t fail_nth;

static int tell_without_memory(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint32_t told = 0;

	lab_heap_fail(fail_nth, LAB_FAIL_ONCE, 0);
	tell_rc = actor_log_context_set(ctx, "k", "v");
	assert_true(tell_rc == 0 || tell_rc == -ENOMEM);
	if (tell_rc)
		assert_null(actor_log_context_get(ctx, "k"));
	for (int i = 0; i < 40 && !tell_rc; i++) {
		uint64_t token = token_new(5);
		int rc = actor_tell(ctx, target, &token_type, &token, sizeof(token));

		assert_true(rc == 0 || rc == -ENOMEM);
		if (rc)
			atomic_fetch_sub(&tokens_alive, 1); /* still ours */
		told += !rc;
	}
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	tell_rc = (int)told;
	return 0;
}

static void without_memory_context_and_message_are_the_senders(void **state)
{
	lab_heap_begin();
	for (fail_nth = 1; fail_nth < 8; fail_nth++) {
		int64_t blocks = lab_heap_blocks;

		lab_open(&lab, NULL);
		line_count = 0;
		target = player(count_only);
		lab_run(&lab);
		kick(player(tell_without_memory));
		assert_int_equal(line_count, tell_rc);
		if (fail_nth == 1)
			assert_int_equal(tell_rc, 0);
		close_logged();
		assert_int_equal(lab_heap_blocks, blocks);
	}
	lab_heap_end();
}

/* ---- three loops ---- */

#define FLOWS 200
#define HOPS  50

static actor_ref ring[9];
static _Atomic uint32_t ended, wrong;

static int ring_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	const char *flow = actor_log_context_get(ctx, "flow");
	uint64_t value[2];
	char number[24];

	memcpy(value, m->payload, sizeof(value));
	snprintf(number, sizeof(number), "%llu", (unsigned long long)value[0]);
	if (value[1] == HOPS) {
		/* Every other flow has no context. */
		if (flow || (value[0] % 2 && actor_log_context_set(ctx, "flow", number)))
			atomic_fetch_add(&wrong, 1);
	} else if (value[0] % 2 ? !flow || strcmp(flow, number) : flow != NULL) {
		atomic_fetch_add(&wrong, 1);
	}
	if (!value[1]--) {
		atomic_fetch_add(&ended, 1);
		return 0;
	}
	return actor_tell(
		ctx, ring[(value[0] + value[1]) % COUNT(ring)], &plain_type, value, sizeof(value));
}

static void flows_on_three_loops_keep_their_contexts_apart(void **state)
{
	script own = ring_message;

	lab_open_owned(&lab, 3);
	ended = wrong = 0;
	for (size_t i = 0; i < COUNT(ring); i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .init = &own, .loop = (int)(i % 3) + 1};

		assert_int_equal(
			actor_system_spawn(lab.system, &player_class, &options, &ring[i]), 0);
	}
	for (uint64_t i = 0; i < FLOWS; i++)
		assert_int_equal(actor_system_tell(lab.system, ring[i % COUNT(ring)], &plain_type,
					 (uint64_t[]){i, HOPS}, 16),
			0);
	for (int i = 0; i < 10000 && atomic_load(&ended) < FLOWS; i++)
		sleep_ms(1);
	assert_int_equal(ended, FLOWS);
	assert_int_equal(wrong, 0);
	lab_close(&lab);
	assert_int_equal(actor__semaphores.contexts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_ends_with_its_handler),
		cmocka_unit_test(a_context_goes_along_with_payloads_of_all_sizes),
		cmocka_unit_test(a_context_goes_on_from_handler_to_handler),
		cmocka_unit_test(an_answer_brings_the_context_back),
		cmocka_unit_test(a_stashed_message_keeps_its_context_and_an_event_has_it),
		cmocka_unit_test(hooks_and_timers_begin_with_an_empty_context),
		cmocka_unit_test(the_line_of_a_failure_has_its_handlers_context),
		cmocka_unit_test(the_context_of_a_failure_goes_to_the_loop_that_decides_about_it),
		cmocka_unit_test(a_payload_with_a_context_can_be_taken_or_be_a_dead_letter),
		cmocka_unit_test(wrong_calls_are_refused),
		cmocka_unit_test(without_memory_context_and_message_are_the_senders),
		cmocka_unit_test(flows_on_three_loops_keep_their_contexts_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
