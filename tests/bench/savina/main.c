/* SPDX-License-Identifier: MIT */
/* The Savina suite on libactor.
 *
 *   savina PLAY n=N [loops=1|2] [repetitions=R] [amiss=1]   prints "PLAY/LOOPS ns value value ..."
 *   savina expect PLAY n=N                                  prints "PLAY RESULT OPERATIONS"
 *
 * loops=1 is the caller's loop, loops=2 are two loops with threads, on CPU 0 and 1. The values are
 * nanoseconds per operation, one for each repetition after a warm-up. The exit code is 1 if a
 * result is wrong; `amiss` falsifies what is expected, so that a test can see this.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct play *const plays[] = {&play_ping_pong, &play_counting,
	&play_fork_join_throughput, &play_fork_join_create, &play_thread_ring, &play_chameneos,
	&play_big, &play_bounded_buffer, &play_philosophers, &play_banking, &play_sieve,
	&play_fibonacci, &play_nqueens};

static const struct {
	const char *key;
	size_t offset;
	uint64_t least, most;
} keys[] = {
	{"n", offsetof(struct wish, n), 1, 1000000000},
	{"loops", offsetof(struct wish, loops), 1, 2},
	{"repetitions", offsetof(struct wish, repetitions), 1, REPETITIONS_MAX},
	{"amiss", offsetof(struct wish, amiss), 0, 1},
};

static _Noreturn void refuse(const char *what)
{
	fprintf(stderr, "savina: cannot use '%s'\n", what);
	exit(2);
}

static const struct play *play_find(const char *name)
{
	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++)
		if (strcmp(plays[i]->name, name) == 0)
			return plays[i];
	refuse(name);
}

static void wish_set(struct wish *wish, const char *word)
{
	const char *equals = strchr(word, '=');
	uint64_t value = equals ? strtoull(equals + 1, NULL, 10) : 0;

	for (size_t i = 0; equals && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(keys[i].key, word, (size_t)(equals - word)) == 0 &&
			!keys[i].key[equals - word]) {
			if (value < keys[i].least || value > keys[i].most)
				break;
			*(uint64_t *)((char *)wish + keys[i].offset) = value;
			return;
		}
	refuse(word);
}

/* From words, the first of which names the play. */
static struct wish wish_read(char **words)
{
	struct wish wish = {.loops = 1, .repetitions = 5};

	if (!*words)
		refuse("no play");
	wish.play = play_find(*words);
	while (*++words)
		wish_set(&wish, *words);
	if (!wish.n)
		refuse("no n");
	wish.expected = wish.play->expect(wish.n);
	return wish;
}

/* An actor that fails would leave the play waiting: the failure ends the program. */
static void on_log(void *data, enum actor_log_level level, const char *text)
{
	(void)data;
	if (level < ACTOR_LOG_ERROR)
		return;
	printf("FAIL %s\n", text);
	fflush(stdout);
	_exit(1);
}

int main(int argc, char **argv)
{
	bool expect = argc > 1 && strcmp(argv[1], "expect") == 0;
	struct wish wish = wish_read(argv + 1 + expect);
	struct actor_system_options options = {
		.size = sizeof(options), .name = "savina", .log = on_log};
	struct actor_system *system;
	uv_loop_t loop;

	if (expect) {
		printf("%s %llu %llu\n", wish.play->name, (unsigned long long)wish.expected.result,
			(unsigned long long)wish.expected.operations);
		return 0;
	}
	uv_loop_init(&loop);
	if (wish.loops == 1)
		options.loop = &loop;
	else
		options.loops = (int)wish.loops;
	if (actor_system_open(&system, &options) || driver_start(system, &wish))
		refuse("system");
	if (wish.loops == 1) {
		uv_run(&loop, UV_RUN_DEFAULT); /* the driver closes the system */
	} else {
		driver_wait();
		actor_system_close_wait(system);
	}
	return uv_loop_close(&loop) ? 1 : 0;
}
