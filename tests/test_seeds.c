/* SPDX-License-Identifier: MIT */
/* The test kit's seeds, which find an order in which a program fails and repeat it, and its
 * synchronous dispatcher. */
#include "tests/lab.h"

#include "runtime/actor_test.h"

#include <inttypes.h>

static struct actor_type word_type = ACTOR_TYPE("word");

/* ---- a program that loses an update in some orders ---- */

static struct actor_type get_type = ACTOR_TYPE("get");
static struct actor_type value_type = ACTOR_TYPE("value");
static struct actor_type put_type = ACTOR_TYPE("put");

static uint64_t balance;

static int account_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &get_type)
		return actor_reply(ctx, &value_type, &balance, sizeof(balance));
	memcpy(&balance, m->payload, sizeof(balance));
	return 0;
}

static struct actor_class account_class = {
	.size = sizeof(account_class), .name = "account", .on_message = account_message};

static int client_start(struct actor_ctx *ctx)
{
	return actor_tell(ctx, *(actor_ref *)actor_state(ctx), &get_type, NULL, 0);
}

static int client_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t value;

	memcpy(&value, m->payload, sizeof(value));
	value++; /* whatever the others do meanwhile is lost */
	return actor_reply(ctx, &put_type, &value, sizeof(value));
}

static struct actor_class client_class = {.size = sizeof(client_class),
	.name = "client",
	.state_bytes = sizeof(actor_ref),
	.on_start = client_start,
	.on_message = client_message};

struct outcome {
	uint64_t trace;
	uint64_t balance;
	uint64_t steps;
	uint64_t calls;
};

static void on_step(void *data, const struct actor_test_step *step)
{
	struct outcome *outcome = data;

	assert_int_equal(step->number, ++outcome->steps);
	assert_in_range(step->loop, 1, 3);
	if (step->what == ACTOR_TEST_UNIT)
		assert_string_equal(step->dispatcher, "hybrid");
	else
		assert_string_equal(step->dispatcher, "");
}

static int account_test(uint64_t seed, void *data)
{
	struct actor_system_options system = {.size = sizeof(system),
		.loops = 3,
		.log_level = ACTOR_LOG_WARN,
		.config = ""};
	struct outcome *outcome = data;
	struct actor_test_options options = {.size = sizeof(options),
		.system = &system,
		.order = ACTOR_TEST_SEEDED,
		.seed = seed,
		.on_step = on_step,
		.on_step_data = outcome};
	struct actor_spawn_options spawn = {.size = sizeof(spawn), .loop = 1};
	struct actor_test *kit;
	actor_ref account, client;

	balance = 0;
	outcome->steps = 0;
	outcome->calls++;
	assert_int_equal(actor_test_open(&kit, &options), 0);
	assert_int_equal(actor_test_seed(kit), seed);
	assert_int_equal(actor_system_spawn(
		actor_test_system(kit), &account_class, &spawn, &account), 0);
	spawn.init = &account;
	for (spawn.loop = 2; spawn.loop <= 3; spawn.loop++)
		assert_int_equal(actor_system_spawn(
			actor_test_system(kit), &client_class, &spawn, &client), 0);
	assert_true(actor_test_run(kit) > 0);
	outcome->trace = actor_test_trace(kit);
	outcome->balance = balance;
	assert_int_equal(actor_test_close(kit), 0);
	return balance == 2 ? 0 : -1;
}

static void a_seed_finds_a_lost_update_and_repeats_it(void **state)
{
	struct outcome found = {0}, repeated = {0};
	char text[256], wanted[64];
	uint64_t seed = 0;

	lab_stderr_catch();
	assert_int_equal(actor_test_seeds(1, 100, account_test, &found, &seed), -1);
	lab_stderr_release(text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "ACTOR_TEST_SEED=%" PRIu64 " repeats it", seed);
	assert_non_null(strstr(text, wanted));
	assert_int_equal(found.balance, 1);
	assert_int_equal(found.calls, seed);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(account_test(seed, &repeated), -1);
		assert_int_equal(repeated.trace, found.trace);
		assert_int_equal(repeated.balance, 1);
	}
}

static void the_environment_chooses_the_seed(void **state)
{
	struct outcome outcome = {0};
	struct actor_test *kit;
	uint64_t seed = 0;
	char text[256];

	setenv("ACTOR_TEST_SEED", "4711", 1);
	assert_int_equal(actor_test_open(&kit, NULL), 0);
	assert_int_equal(actor_test_seed(kit), 4711);
	assert_int_equal(actor_test_close(kit), 0);
	lab_stderr_catch();
	if (actor_test_seeds(1, 100, account_test, &outcome, &seed))
		assert_int_equal(seed, 4711);
	lab_stderr_release(text, sizeof(text));
	assert_int_equal(outcome.calls, 1);
	unsetenv("ACTOR_TEST_SEED");
}

static void other_seeds_go_other_ways(void **state)
{
	struct outcome outcome[40] = {{0}};
	uint32_t same = 0, right = 0;

	for (uint32_t i = 0; i < COUNT(outcome); i++) {
		right += account_test(i + 1, &outcome[i]) == 0;
		for (uint32_t j = 0; j < i; j++)
			same += outcome[i].trace == outcome[j].trace;
	}
	/* Few orders are met twice, and the program is right in some and wrong in others. */
	assert_in_range(same, 0, 20);
	assert_in_range(right, 1, COUNT(outcome) - 1);
}

/* ---- the synchronous dispatcher ---- */

static uint64_t seen[64];
static uint32_t seen_count;
static uint32_t depth, deepest;

struct relay {
	actor_ref to[2]; /* told one less, until 0 */
	uint64_t mark;
};

static int relay_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	const struct relay *relay = actor_state(ctx);
	uint64_t left;
	int rc = 0;

	depth++;
	deepest = depth > deepest ? depth : deepest;
	memcpy(&left, m->payload, sizeof(left));
	if (seen_count < COUNT(seen))
		seen[seen_count++] = relay->mark * 100 + left % 100;
	for (int i = 0; i < 2 && left && !rc; i++) {
		uint64_t less = left - 1;

		if (relay->to[i])
			rc = actor_tell(ctx, relay->to[i], &word_type, &less, sizeof(less));
	}
	depth--;
	return rc;
}

static struct actor_class relay_class = {.size = sizeof(relay_class),
	.name = "relay",
	.state_bytes = sizeof(struct relay),
	.on_message = relay_message};

static struct actor_test *synchronous_open(int loops, int64_t units)
{
	struct actor_dispatcher_spec spec;
	struct actor_system_options system = {.size = sizeof(system),
		.loops = loops,
		.dispatcher = &spec,
		.drain_ms = 20,
		.log_level = ACTOR_LOG_OFF,
		.config = ""};
	struct actor_test_options options = {
		.size = sizeof(options), .system = &system, .units = units};
	struct actor_test *kit;

	assert_int_equal(actor_test_synchronous(&spec, NULL), 0);
	assert_string_equal(spec.id, "synchronous");
	assert_int_equal(actor_test_open(&kit, &options), 0);
	seen_count = depth = deepest = 0;
	return kit;
}

static actor_ref relay_spawn(
	struct actor_test *kit, int loop, uint64_t mark, actor_ref a, actor_ref b)
{
	struct relay relay = {{a, b}, mark};
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = loop, .init = &relay};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(actor_test_system(kit), &relay_class, &options, &ref), 0);
	return ref;
}

static void tell(struct actor_test *kit, actor_ref to, uint64_t left)
{
	assert_int_equal(actor_system_tell(
		actor_test_system(kit), to, &word_type, &left, sizeof(left)), 0);
}

static void a_synchronous_tell_returns_when_all_is_handled(void **state)
{
	for (int loops = 1; loops <= 3; loops += 2) {
		struct actor_test *kit = synchronous_open(loops, 0);
		actor_ref c = relay_spawn(kit, loops, 3, 0, 0);
		actor_ref b = relay_spawn(kit, loops > 1 ? 2 : 1, 2, c, 0);
		actor_ref a = relay_spawn(kit, 1, 1, b, c);
		static const uint64_t here[] = {102, 201, 301, 300};

		tell(kit, a, 2);
		assert_int_equal(seen_count, 4);
		assert_int_equal(deepest, 1); /* turns do not nest */
		if (loops == 1)
			assert_memory_equal(seen, here, sizeof(here));
		assert_int_equal(actor_test_step(kit), 0);
		assert_int_equal(actor_test_close(kit), 0);
	}
}

static void a_long_chain_needs_no_stack(void **state)
{
	struct actor_test *kit = synchronous_open(2, 0);
	struct actor_test_probe *probe;
	actor_ref last;

	assert_int_equal(actor_test_probe_open(kit, NULL, 0, &probe), 0);
	last = relay_spawn(kit, 2, 2, actor_test_ref(probe), 0);
	for (int i = 0; i < 2000; i++)
		last = relay_spawn(kit, 1 + i % 2, 2, last, 0);
	tell(kit, last, 2001);
	assert_int_equal(actor_test_count(probe), 1);
	assert_int_equal(deepest, 1);
	assert_int_equal(actor_test_close(kit), 0);
}

static int self_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_tell(ctx, actor_self(ctx), &word_type, m->payload, m->bytes);
}

static struct actor_class self_class = {
	.size = sizeof(self_class), .name = "self", .on_message = self_message};

static void a_synchronous_volley_without_end_ends(void **state)
{
	struct actor_test *kit = synchronous_open(1, 100);
	actor_ref ref;

	assert_int_equal(actor_system_spawn(actor_test_system(kit), &self_class, NULL, &ref), 0);
	tell(kit, ref, 1);
	assert_int_equal(actor_test_close(kit), 0);
}

static void others_wait_for_their_step(void **state)
{
	struct actor_test *kit = synchronous_open(1, 0);
	struct actor_dispatcher_spec slow;
	struct relay relay = {.mark = 5};
	struct actor_spawn_options options = {
		.size = sizeof(options), .dispatcher = &slow, .init = &relay};
	actor_ref other, first;

	assert_int_equal(actor_dispatcher_immediate(&slow, NULL), 0);
	assert_int_equal(actor_system_spawn(
		actor_test_system(kit), &relay_class, &options, &other), 0);
	first = relay_spawn(kit, 1, 1, other, 0);
	tell(kit, first, 1);
	assert_int_equal(seen_count, 1);
	assert_int_equal(actor_test_step(kit), 1);
	assert_int_equal(seen_count, 2);
	assert_int_equal(seen[1], 500);
	/* A step of another actor runs what it tells synchronous ones as well. */
	relay.to[0] = first;
	options.init = &relay;
	assert_int_equal(actor_system_spawn(
		actor_test_system(kit), &relay_class, &options, &other), 0);
	tell(kit, other, 1);
	assert_int_equal(seen_count, 2);
	assert_int_equal(actor_test_step(kit), 1);
	assert_int_equal(seen_count, 4);
	assert_int_equal(actor_test_close(kit), 0);
}

static void programs_have_no_synchronous_dispatcher(void **state)
{
	struct actor_system_options options = {.size = sizeof(options), .config = ""};
	struct actor_spawn_options spawn = {.size = sizeof(spawn)};
	struct actor_dispatcher_spec spec;
	struct actor_system *system;
	struct lab lab;
	actor_ref ref;

	assert_int_equal(actor_test_synchronous(&spec, "now"), 0);
	assert_int_equal(actor_test_synchronous(&spec, "/"), ACTOR_ENAME);
	assert_int_equal(actor_test_synchronous(&spec, "now"), 0);
	options.dispatcher = &spec;
	assert_int_equal(actor_system_open(&system, &options), ACTOR_EDISPATCHER);
	lab_open(&lab, NULL);
	spawn.dispatcher = &spec;
	assert_int_equal(actor_system_spawn(lab.system, &self_class, &spawn, &ref),
		ACTOR_EDISPATCHER);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_finds_a_lost_update_and_repeats_it),
		cmocka_unit_test(the_environment_chooses_the_seed),
		cmocka_unit_test(other_seeds_go_other_ways),
		cmocka_unit_test(a_synchronous_tell_returns_when_all_is_handled),
		cmocka_unit_test(a_long_chain_needs_no_stack),
		cmocka_unit_test(a_synchronous_volley_without_end_ends),
		cmocka_unit_test(others_wait_for_their_step),
		cmocka_unit_test(programs_have_no_synchronous_dispatcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
