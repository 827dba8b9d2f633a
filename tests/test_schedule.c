/* SPDX-License-Identifier: MIT */
/* The kernel's word on threads of this very process: found, accounted, and blocked in a known call.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/evidence.h"
#include "probe/schedule.h"
#include "probe/threads.h"

#define MS     1000000ull
#define ACTOR  (3ull << 56 | 11ull << 32 | 2)
#define SLEEPS 20

static uint64_t slot; /* as the one of a loop: the actor whose turn is open */
static pid_t sleeper;
static sem_t known, go, done;

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

	nanosleep(&t, NULL);
}

/* Sleeps in turns of the actor, and then outside of any. */
static void *sleep_in_turns(void *unused)
{
	sleeper = gettid();
	sem_post(&known);
	while (sem_wait(&go) != 0)
		;
	for (int i = 0; i < SLEEPS; i++) {
		__atomic_store_n(&slot, ACTOR, __ATOMIC_RELAXED);
		sleep_ns(5 * MS);
		__atomic_store_n(&slot, 0, __ATOMIC_RELAXED);
		sleep_ns(1 * MS);
	}
	sem_post(&done);
	while (sem_wait(&go) != 0)
		;
	return unused;
}

static pthread_t sleeper_start(void)
{
	pthread_t thread;

	sem_init(&known, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_in_turns, NULL), 0);
	while (sem_wait(&known) != 0)
		;
	return thread;
}

static struct {
	uint64_t blocked_ns, count, others;
} found;

static void visit(void *data, const struct schedule_key *key, const struct schedule_time *time)
{
	(void)data;
	if (key->actor != ACTOR)
		found.others++;
	if (key->call == SCHEDULE_RUNNABLE)
		return;
	assert_true(key->call == SYS_nanosleep || key->call == SYS_clock_nanosleep);
	found.blocked_ns += time->ns;
	found.count += time->count;
	assert_true(time->max_ns >= 4 * MS);
}

static void blocked_time_goes_to_the_actor_whose_turn_is_open(void **state)
{
	pthread_t thread = sleeper_start();
	const struct schedule_wish wish = {sleeper, (uint64_t)(uintptr_t)&slot};
	struct schedule *s = NULL;
	char *why = NULL;

	(void)state;
	if (schedule_open(&s, &wish, 1, &why) != 0) {
		print_message("%s\n", why ? why : "?");
		free(why);
		sem_post(&go);
		sem_post(&go);
		pthread_join(thread, NULL);
		fail();
	}
	sem_post(&go);
	while (sem_wait(&done) != 0)
		;
	schedule_stop(s);
	assert_int_equal(schedule_visit(s, visit, NULL), 0);
	assert_int_equal(found.others, 0);
	assert_int_equal(found.count, SLEEPS);
	assert_true(found.blocked_ns >= SLEEPS * 4 * MS);
	assert_int_equal(schedule_lost(s), 0);
	schedule_close(s);
	sem_post(&go);
	pthread_join(thread, NULL);
}

static void a_thread_is_found_with_its_state_and_call(void **state)
{
	pthread_t thread = sleeper_start();
	int64_t call = 0;
	char seen = 0;

	(void)state;
	assert_int_equal(threads_find(getpid(), (uint32_t)sleeper), sleeper);
	assert_int_equal(threads_find(getpid(), (uint32_t)getppid()), 0);
	for (int i = 0; i < 1000 && seen != 'S'; i++) { /* it is on its way into the wait */
		sleep_ns(1 * MS);
		seen = threads_state(getpid(), sleeper);
	}
	assert_int_equal(seen, 'S');
	assert_true(threads_call(getpid(), sleeper, &call));
	assert_int_equal(call, SYS_futex);
	assert_string_equal(evidence_call_name(call), "futex");
	sem_post(&go);
	sem_post(&go);
	pthread_join(thread, NULL);
	assert_int_equal(threads_state(getpid(), sleeper), 0);
}

static void time_on_a_cpu_is_accounted(void **state)
{
	uint64_t cpu = 0, starved = 0, later = 0;
	volatile uint64_t work = 0;

	(void)state;
	assert_int_equal(threads_time(getpid(), gettid(), &cpu, &starved), 0);
	for (uint64_t i = 0; i < 50000000; i++)
		work += i;
	sleep_ns(20 * MS);
	assert_int_equal(threads_time(getpid(), gettid(), &later, &starved), 0);
	assert_true(later > cpu);
}

static void calls_have_names(void **state)
{
	(void)state;
	assert_string_equal(evidence_call_name(SYS_read), "read");
	assert_non_null(strstr(evidence_call_name(EVIDENCE_NO_CALL), "no system call"));
	assert_string_equal(evidence_call_name(9999), "system call 9999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_time_goes_to_the_actor_whose_turn_is_open),
		cmocka_unit_test(a_thread_is_found_with_its_state_and_call),
		cmocka_unit_test(time_on_a_cpu_is_accounted),
		cmocka_unit_test(calls_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
