/* SPDX-License-Identifier: MIT */
/* A loop with a system for tests of the runtime. */
#include "tests/lab.h"

#include "runtime/memory.h"

#include <assert.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static void on_log(void *data, enum actor_log_level level, const char *text)
{
	struct lab *lab = data;

	pthread_mutex_lock(&lab->lock);
	lab->logged++;
	strncpy(lab->last_log, text, sizeof(lab->last_log) - 1);
	pthread_mutex_unlock(&lab->lock);
}

static void on_dead_letter(void *data, actor_ref recipient, const struct actor_message *message)
{
	struct lab *lab = data;

	atomic_fetch_add(&lab->dead_letters, 1);
}

static void lab_init(struct lab *lab)
{
	memset(lab, 0, sizeof(*lab));
	pthread_mutex_init(&lab->lock, NULL);
	lab->options.size = sizeof(lab->options);
	lab->options.log = on_log;
	lab->options.log_data = lab;
}

static void lab_begin(struct lab *lab)
{
	assert_int_equal(actor_system_open(&lab->system, &lab->options), 0);
	actor_system_on_dead_letter(lab->system, on_dead_letter, lab);
}

void lab_open(struct lab *lab, const struct actor_dispatcher_spec *dispatcher)
{
	lab_init(lab);
	assert_int_equal(uv_loop_init(&lab->loop), 0);
	lab->options.loop = &lab->loop;
	lab->options.dispatcher = dispatcher;
	lab_begin(lab);
}

void lab_open_with(struct lab *lab, void (*change)(struct actor_system_options *options))
{
	lab_init(lab);
	assert_int_equal(uv_loop_init(&lab->loop), 0);
	lab->options.loop = &lab->loop;
	change(&lab->options);
	lab_begin(lab);
}

void lab_by_hand(struct actor_system_options *options)
{
	options->manual_ms = 1000;
}

void lab_open_owned(struct lab *lab, int loops)
{
	lab_init(lab);
	lab->options.loops = loops;
	lab_begin(lab);
}

static void on_closed(struct actor_system *system, void *data)
{
	struct lab *lab = data;

	lab->closed = true;
}

void lab_close(struct lab *lab)
{
	if (!lab->options.loop) {
		assert_int_equal(actor_system_close_wait(lab->system), 0);
		return;
	}
	if (lab->prepare.data)
		lab_count_stop(lab);
	if (!lab->closed) {
		assert_int_equal(actor_system_close(lab->system, on_closed, lab), 0);
		uv_run(&lab->loop, UV_RUN_DEFAULT);
		assert_true(lab->closed);
	}
	uv_run(&lab->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&lab->loop), 0);
	pthread_mutex_destroy(&lab->lock);
}

void lab_run(struct lab *lab)
{
	uv_run(&lab->loop, UV_RUN_DEFAULT);
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct lab *lab = prepare->data;

	if (lab->passes < LAB_PASSES)
		lab->pass_units[lab->passes++] = lab->units;
	lab->units = 0;
}

void lab_count(struct lab *lab)
{
	lab->units = 0;
	lab->passes = 0;
	uv_prepare_init(&lab->loop, &lab->prepare);
	lab->prepare.data = lab;
	uv_prepare_start(&lab->prepare, on_prepare);
}

void lab_count_stop(struct lab *lab)
{
	if (!lab->prepare.data)
		return;
	on_prepare(&lab->prepare);
	lab->prepare.data = NULL;
	uv_close((uv_handle_t *)&lab->prepare, NULL);
}

uint32_t lab_busy_passes(const struct lab *lab, uint32_t *units, uint32_t room)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lab->passes; i++)
		if (lab->pass_units[i] && count < room)
			units[count++] = lab->pass_units[i];
	return count;
}

struct actor_stats lab_stats(const struct lab *lab)
{
	struct actor_stats stats = {.size = sizeof(stats)};

	assert_int_equal(actor_system_stats(lab->system, &stats), 0);
	return stats;
}

bool lab_wait_terminated(struct lab *lab, uint64_t count)
{
	for (int i = 0; i < 10000; i++) {
		if (lab_stats(lab).terminated >= count)
			return true;
		sleep_ms(1);
	}
	return false;
}

const struct actor_strategy lab_stops = {
	.size = sizeof(lab_stops), .directive = ACTOR_DIRECTIVE_STOP};

_Atomic int64_t counted_alive;
_Atomic int64_t tokens_alive;

static void counted_destroy(void *payload, size_t bytes)
{
	assert(bytes == sizeof(struct counted));
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static void token_destroy(void *payload, size_t bytes)
{
	assert(bytes == sizeof(uint64_t));
	atomic_fetch_sub(&tokens_alive, 1);
}

struct actor_type counted_type = {sizeof(counted_type), "counted", counted_destroy, NULL, 0};
struct actor_type token_type = {sizeof(token_type), "token", token_destroy, NULL, 0};
struct actor_type plain_type = ACTOR_TYPE("plain");

struct counted *counted_new(uint64_t value)
{
	struct counted *c = calloc(1, sizeof(*c));

	c->value = value;
	atomic_fetch_add(&counted_alive, 1);
	return c;
}

uint64_t token_new(uint64_t value)
{
	atomic_fetch_add(&tokens_alive, 1);
	return value;
}

static struct actor__heap usual_heap;
static _Atomic int64_t fail_at; /* counts down; 0 = none fails */
static _Atomic int fail_how;
static _Atomic size_t fail_bytes;
_Atomic int64_t lab_heap_blocks;
_Atomic int64_t lab_heap_asked;

/* Is it this one's turn to fail? */
static bool heap_fails(void)
{
	int64_t at = atomic_load(&fail_at);

	while (at > 0) {
		if (at == 1 && atomic_load(&fail_how) == LAB_FAIL_FROM_THEN_ON)
			return true;
		if (atomic_compare_exchange_weak(&fail_at, &at, at - 1))
			return at == 1;
	}
	return false;
}

static void *heap_alloc(size_t align, size_t bytes)
{
	void *block;

	atomic_fetch_add(&lab_heap_asked, 1);
	if (bytes >= atomic_load(&fail_bytes) && heap_fails())
		return NULL;
	block = usual_heap.alloc(align, bytes);
	if (block)
		atomic_fetch_add(&lab_heap_blocks, 1);
	return block;
}

static void heap_free(void *block)
{
	atomic_fetch_sub(&lab_heap_blocks, 1);
	usual_heap.free(block);
}

void lab_heap_begin(void)
{
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	usual_heap = actor__heap;
	actor__heap.alloc = heap_alloc;
	actor__heap.free = heap_free;
}

void lab_heap_end(void)
{
	actor__heap = usual_heap;
}

void lab_heap_fail(int64_t n, enum lab_heap_failure how, size_t bytes)
{
	atomic_store(&fail_at, 0);
	atomic_store(&fail_how, how);
	atomic_store(&fail_bytes, bytes);
	atomic_store(&lab_heap_asked, 0);
	atomic_store(&fail_at, n);
}

static int usual_stderr, caught_stderr[2];

void lab_stderr_catch(void)
{
	assert_int_equal(pipe(caught_stderr), 0);
	fcntl(caught_stderr[0], F_SETFL, O_NONBLOCK);
	usual_stderr = dup(STDERR_FILENO);
	dup2(caught_stderr[1], STDERR_FILENO);
}

void lab_stderr_release(char *text, size_t bytes)
{
	ssize_t n;

	dup2(usual_stderr, STDERR_FILENO);
	close(usual_stderr);
	close(caught_stderr[1]);
	n = read(caught_stderr[0], text, bytes - 1);
	close(caught_stderr[0]);
	text[n > 0 ? n : 0] = '\0';
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void spin_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

uint32_t random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(random_next(state) >> 33) % bound;
}
