/* SPDX-License-Identifier: MIT */
/* A million actors alive in one process: each idle one costs at most 256 bytes, and none is left.
 */
#include "tests/lab.h"
#include "tests/sanitized.h"

#include <stdio.h>
#include <unistd.h>

#define ACTORS	   (SANITIZED ? 50000u : 1000000u)
#define IDLE_BYTES 256.0

static uint32_t started, handled, stopped;

static int idler_start(struct actor_ctx *ctx)
{
	started++;
	return 0;
}

static int idler_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	handled++;
	return 0;
}

static void idler_stop(struct actor_ctx *ctx)
{
	stopped++;
}

static struct actor_class idler_class = {.size = sizeof(idler_class),
	.name = "idler",
	.on_start = idler_start,
	.on_message = idler_message,
	.on_stop = idler_stop};

static double resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* By hundreds, as a program would make them while it works: what is queued at one time is memory
 * of its own. */
static void by_hundreds(struct lab *lab, actor_ref *refs, int (*one)(struct lab *, actor_ref *))
{
	for (uint32_t n = 0; n < ACTORS; n++) {
		assert_int_equal(one(lab, &refs[n]), 0);
		if (n % 100 == 99)
			lab_run(lab);
	}
	lab_run(lab);
}

static int spawn_one(struct lab *lab, actor_ref *ref)
{
	return actor_system_spawn(lab->system, &idler_class, NULL, ref);
}

static int tell_one(struct lab *lab, actor_ref *ref)
{
	return actor_system_tell(lab->system, *ref, &plain_type, ref, sizeof(*ref));
}

static int stop_one(struct lab *lab, actor_ref *ref)
{
	return actor_system_stop(lab->system, *ref);
}

static void expect_at_most_256_bytes(double before, const char *when)
{
	double each = (resident_bytes() - before) / ACTORS;

	if (!SANITIZED && each > IDLE_BYTES)
		fail_msg("%s an actor costs %.1f bytes, more than %.0f", when, each, IDLE_BYTES);
}

static void a_million_idle_actors_cost_256_bytes_each(void **state)
{
	actor_ref *refs = malloc(ACTORS * sizeof(*refs));
	struct actor_stats stats;
	struct lab lab;
	double before;

	assert_non_null(refs);
	memset(refs, 1, ACTORS * sizeof(*refs)); /* resident, before they count */
	lab_open(&lab, NULL);
	before = resident_bytes();
	by_hundreds(&lab, refs, spawn_one);
	assert_int_equal(started, ACTORS);
	expect_at_most_256_bytes(before, "started");
	by_hundreds(&lab, refs, tell_one);
	assert_int_equal(handled, ACTORS);
	expect_at_most_256_bytes(before, "after one message");
	stats = lab_stats(&lab);
	assert_int_equal(stats.created - stats.terminated, ACTORS);

	/* Half of them one by one, the rest by the close. */
	for (uint32_t n = 0; n < ACTORS; n += 2)
		assert_int_equal(stop_one(&lab, &refs[n]), 0);
	lab_run(&lab);
	assert_int_equal(stopped, ACTORS / 2);
	lab_close(&lab);
	assert_int_equal(stopped, ACTORS);
	assert_int_equal(lab.dead_letters, 0);
	free(refs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_idle_actors_cost_256_bytes_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
