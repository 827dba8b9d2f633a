/* SPDX-License-Identifier: MIT */
/* Units and actors that are counted per pass. */
#include "tests/workload.h"

/* ---- units of the test's own ---- */

uint32_t order[4096];
uint32_t ordered;

int job_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	job->lab->units++;
	if (ordered < COUNT(order))
		order[ordered++] = job->number;
	if (job->again) {
		job->again--;
		return actor_dispatcher_execute(unit->dispatcher, unit);
	}
	return 0;
}

struct job jobs[UNITS];

struct actor_dispatcher *dispatcher_of(
	struct lab *lab, const struct actor_dispatcher_spec *spec)
{
	struct actor_dispatcher *dispatcher;

	assert_int_equal(actor_system_dispatcher(lab->system, 1, spec, &dispatcher), 0);
	return dispatcher;
}

void queue_on(struct lab *lab, const struct actor_dispatcher_spec *spec, uint32_t from,
	uint32_t to, uint32_t again)
{
	struct actor_dispatcher *dispatcher = dispatcher_of(lab, spec);

	for (uint32_t i = from; i < to; i++) {
		actor_unit_init(&jobs[i].unit, job_run);
		jobs[i].lab = lab;
		jobs[i].number = i;
		jobs[i].again = again;
		assert_int_equal(actor_dispatcher_execute(dispatcher, &jobs[i].unit), 0);
	}
}

void jobs_queue(struct lab *lab, uint32_t from, uint32_t to, uint32_t again)
{
	queue_on(lab, NULL, from, to, again);
}

/* ---- actors that count their turns ---- */

uint32_t messages;

static int counter_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct counter *c = actor_state(ctx);

	messages++;
	c->lab->units++;
	return 0;
}

struct actor_class counter_class = {
	.size = sizeof(counter_class),
	.name = "counter",
	.state_bytes = sizeof(struct counter),
	.on_message = counter_message,
};

actor_ref refs[UNITS];

void counters_spawn(struct lab *lab, uint32_t count)
{
	struct counter init = {.lab = lab};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(
			actor_system_spawn(lab->system, &counter_class, &options, &refs[i]), 0);
	lab_run(lab);
}

void counters_tell(struct lab *lab, uint32_t count, uint32_t each)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t n = 0; n < each; n++)
			assert_int_equal(
				actor_system_tell(lab->system, refs[i], &plain_type, NULL, 0), 0);
}

/* ---- the table of dispatchers ---- */

const struct kind kinds[KINDS] = {
	[IMMEDIATE] = {"immediate", 1},
	[THROUGHPUT_16] = {"throughput(16)", 16},
	[THROUGHPUT_5] = {"throughput(5)", 5},
	[HYBRID_64] = {"hybrid(64)", 64},
	[HYBRID_3] = {"hybrid(3)", 3},
	[MICROTASK] = {"microtask", UNITS},
};

static struct actor_dispatcher_spec spec_of(enum which kind)
{
	struct actor_dispatcher_spec spec;
	int rc = 0;

	if (kind == IMMEDIATE)
		rc = actor_dispatcher_immediate(&spec, NULL);
	else if (kind == MICROTASK)
		rc = actor_dispatcher_microtask(&spec, NULL);
	else if (kind == HYBRID_64 || kind == HYBRID_3)
		rc = actor_dispatcher_hybrid(&spec, kinds[kind].per_pass, NULL);
	else
		rc = actor_dispatcher_throughput(&spec, kinds[kind].per_pass, NULL);
	assert_int_equal(rc, 0);
	return spec;
}

void lab_open_kind(struct lab *lab, enum which kind)
{
	struct actor_dispatcher_spec spec = spec_of(kind);

	lab_open(lab, &spec);
}

/* Every busy pass ran `most` units, the last one the rest. */
void assert_passes(const struct lab *lab, uint32_t most, uint32_t total, const char *what)
{
	uint32_t units[LAB_PASSES];
	uint32_t count = lab_busy_passes(lab, units, LAB_PASSES);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t expected = total < most ? total : most;

		if (units[i] != expected)
			fail_msg("%s: busy pass %u ran %u units, expected %u", what, i, units[i],
				expected);
		total -= units[i];
	}
	if (total)
		fail_msg("%s: %u units did not run", what, total);
}

void run_counted(struct lab *lab)
{
	uv_unref((uv_handle_t *)&lab->prepare);
	uv_run(&lab->loop, UV_RUN_DEFAULT);
	uv_ref((uv_handle_t *)&lab->prepare);
}
