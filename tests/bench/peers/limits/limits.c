/* SPDX-License-Identifier: MIT */
// The floor of this machine: a message, a wake-up, a clock read with no actor library at all.
//   limits WORKLOAD [REPETITIONS]   one thread: CPU 1; mpsc_cross_* and *_cross: CPUs 1 and 0
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { BATCH = 10000, RING_SLOTS = 16384, LINE = 64 };
#define FLOOD UINT64_C(2000000)
#define VOLLEY UINT64_C(1000000)
#define CROSS_VOLLEY UINT64_C(1000000)
#define CROSS_EVENTFD UINT64_C(20000)
#define SYSCALLS UINT64_C(200000)
#define CLOCKS UINT64_C(2000000)

static const char *workload = "?";

static _Noreturn void fail(const char *what, uint64_t want, uint64_t got)
{
	printf("FAIL %s: %s: sent %" PRIu64 ", handled %" PRIu64 "\n", workload, what, want, got);
	fflush(stdout);
	_exit(1);
}

static void check(const char *what, uint64_t want, uint64_t got)
{
	if (want != got)
		fail(what, want, got);
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t s;
	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	if (pthread_setaffinity_np(pthread_self(), sizeof s, &s) != 0)
		fail("pin to cpu", (uint64_t)cpu, 0);
}

// ---- a ring of 64-byte slots, push + pop + indirect call ---------------------------------------

struct actor {
	uint64_t handled, sum;
	struct actor *peer;
	uint64_t left;
};

struct slot {
	void (*fn)(struct actor *, uint64_t);
	struct actor *to;
	uint64_t payload[6];
} __attribute__((aligned(LINE)));
_Static_assert(sizeof(struct slot) == LINE, "slot is one cache line");

static struct slot ring[RING_SLOTS];
static uint32_t ring_in, ring_out;

static inline void ring_push(void (*fn)(struct actor *, uint64_t), struct actor *to, uint64_t x)
{
	struct slot *s = &ring[ring_in++ & (RING_SLOTS - 1)];
	s->fn = fn;
	s->to = to;
	s->payload[0] = x;
}

static inline int ring_run_one(void)
{
	if (ring_in == ring_out)
		return 0;
	struct slot *s = &ring[ring_out++ & (RING_SLOTS - 1)];
	s->fn(s->to, s->payload[0]);
	return 1;
}

static __attribute__((noinline)) void on_count(struct actor *a, uint64_t x)
{
	a->handled++;
	a->sum += x;
}

static __attribute__((noinline)) void on_bounce(struct actor *a, uint64_t x)
{
	a->handled++;
	if (x > 1)
		ring_push(on_bounce, a->peer, x - 1);
}

static void ring64_batch(uint64_t n)
{
	static struct actor a;
	a = (struct actor){0};
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (uint64_t k = 0; k < BATCH; k++)
			ring_push(on_count, &a, k);
		while (ring_run_one())
			;
	}
	check("messages", n, a.handled);
}

static void ring64_pingpong(uint64_t n)
{
	static struct actor a, b;
	a = (struct actor){.peer = &b};
	b = (struct actor){.peer = &a};
	ring_push(on_bounce, &a, n);
	while (ring_run_one())
		;
	check("hops", n, a.handled + b.handled);
}

// ---- the same with one malloc and one free per message (ring of pointers) ----------------------

static struct slot *pring[RING_SLOTS];
static uint32_t pring_in, pring_out;

static inline void pring_push(void (*fn)(struct actor *, uint64_t), struct actor *to, uint64_t x)
{
	struct slot *s = malloc(sizeof *s);
	if (!s)
		fail("malloc", 1, 0);
	s->fn = fn;
	s->to = to;
	s->payload[0] = x;
	pring[pring_in++ & (RING_SLOTS - 1)] = s;
}

static inline int pring_run_one(void)
{
	if (pring_in == pring_out)
		return 0;
	struct slot *s = pring[pring_out++ & (RING_SLOTS - 1)];
	s->fn(s->to, s->payload[0]);
	free(s);
	return 1;
}

static __attribute__((noinline)) void on_bounce_malloc(struct actor *a, uint64_t x)
{
	a->handled++;
	if (x > 1)
		pring_push(on_bounce_malloc, a->peer, x - 1);
}

static void malloc_batch(uint64_t n)
{
	static struct actor a;
	a = (struct actor){0};
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (uint64_t k = 0; k < BATCH; k++)
			pring_push(on_count, &a, k);
		while (pring_run_one())
			;
	}
	check("messages", n, a.handled);
}

static void malloc_pingpong(uint64_t n)
{
	static struct actor a, b;
	a = (struct actor){.peer = &b};
	b = (struct actor){.peer = &a};
	pring_push(on_bounce_malloc, &a, n);
	while (pring_run_one())
		;
	check("hops", n, a.handled + b.handled);
}

// ---- intrusive multi-producer single-consumer queue (Vyukov's scheme) --------------------------
// Producers exchange `in` and link behind the previous node; the consumer walks from `out`.
// A stub node keeps the queue non-empty.

struct node {
	_Atomic(struct node *) next;
	void (*fn)(struct actor *, uint64_t);
	struct actor *to;
	uint64_t payload;
} __attribute__((aligned(LINE)));

struct mpsc {
	_Atomic(struct node *) in __attribute__((aligned(LINE)));
	struct node *out __attribute__((aligned(LINE)));
	struct node stub;
};

static void mpsc_init(struct mpsc *q)
{
	atomic_store(&q->stub.next, NULL);
	atomic_store(&q->in, &q->stub);
	q->out = &q->stub;
}

static inline void mpsc_push(struct mpsc *q, struct node *n)
{
	atomic_store_explicit(&n->next, NULL, memory_order_relaxed);
	struct node *prev = atomic_exchange_explicit(&q->in, n, memory_order_acq_rel);
	atomic_store_explicit(&prev->next, n, memory_order_release);
}

// NULL: empty, or a producer is between its two stores.
static inline struct node *mpsc_pop(struct mpsc *q)
{
	struct node *out = q->out;
	struct node *next = atomic_load_explicit(&out->next, memory_order_acquire);
	if (out == &q->stub) {
		if (!next)
			return NULL;
		q->out = out = next;
		next = atomic_load_explicit(&out->next, memory_order_acquire);
	}
	if (next) {
		q->out = next;
		return out;
	}
	if (out != atomic_load_explicit(&q->in, memory_order_acquire))
		return NULL;
	mpsc_push(q, &q->stub); // `out` is the last node: put the stub behind it to free it
	next = atomic_load_explicit(&out->next, memory_order_acquire);
	if (!next)
		return NULL;
	q->out = next;
	return out;
}

static struct node pool[BATCH];
static struct mpsc qa, qb;

static inline void node_fill(struct node *n, void (*fn)(struct actor *, uint64_t), struct actor *to,
			     uint64_t x)
{
	n->fn = fn;
	n->to = to;
	n->payload = x;
}

static void mpsc_same_batch(uint64_t n)
{
	static struct actor a;
	a = (struct actor){0};
	mpsc_init(&qa);
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (uint64_t k = 0; k < BATCH; k++) {
			node_fill(&pool[k], on_count, &a, k);
			mpsc_push(&qa, &pool[k]);
		}
		for (struct node *m; (m = mpsc_pop(&qa));)
			m->fn(m->to, m->payload);
	}
	check("messages", n, a.handled);
}

static struct node *bounce_node;

static __attribute__((noinline)) void on_bounce_mpsc(struct actor *a, uint64_t x)
{
	a->handled++;
	if (x > 1) {
		node_fill(bounce_node, on_bounce_mpsc, a->peer, x - 1);
		mpsc_push(&qa, bounce_node);
	}
}

static void mpsc_same_pingpong(uint64_t n)
{
	static struct actor a, b;
	a = (struct actor){.peer = &b};
	b = (struct actor){.peer = &a};
	mpsc_init(&qa);
	// Two nodes in turn: the one just popped may be reused by the handler it calls.
	bounce_node = &pool[1];
	node_fill(&pool[0], on_bounce_mpsc, &a, n);
	mpsc_push(&qa, &pool[0]);
	for (struct node *m; (m = mpsc_pop(&qa)); bounce_node = m)
		m->fn(m->to, m->payload);
	check("hops", n, a.handled + b.handled);
}

// ---- two threads -------------------------------------------------------------------------------

struct cross {
	uint64_t n;
	int use_malloc;
	_Atomic uint64_t confirmed __attribute__((aligned(LINE))); // consumer -> producer
	_Atomic uint64_t ready __attribute__((aligned(LINE)));
	uint64_t handled;
	int e1, e2;
};

static void *cross_consumer(void *arg)
{
	struct cross *c = arg;
	static struct actor a;
	a = (struct actor){0};
	pin(0);
	atomic_store(&c->ready, 1);
	for (uint64_t done = 0; done < c->n;) {
		struct node *m = mpsc_pop(&qa);
		if (!m) {
			_mm_pause();
			continue;
		}
		m->fn(m->to ? m->to : &a, m->payload);
		if (c->use_malloc)
			free(m);
		if (++done % BATCH == 0)
			atomic_store_explicit(&c->confirmed, done, memory_order_release);
	}
	c->handled = a.handled;
	return NULL;
}

static void start_peer(struct cross *c, void *(*fn)(void *), pthread_t *t)
{
	if (pthread_create(t, NULL, fn, c) != 0)
		fail("thread", 1, 0);
	while (!atomic_load(&c->ready))
		_mm_pause();
}

static uint64_t lap_start; // set by the cross workloads once both threads run

static void cross_flood(uint64_t n, int use_malloc)
{
	struct cross c = {.n = n, .use_malloc = use_malloc};
	pthread_t t;
	mpsc_init(&qa);
	start_peer(&c, cross_consumer, &t);
	lap_start = now_ns();
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (uint64_t k = 0; k < BATCH; k++) {
			struct node *m = &pool[k];
			if (use_malloc) {
				m = malloc(sizeof *m);
				if (!m)
					fail("malloc", 1, 0);
			}
			node_fill(m, on_count, NULL, k);
			mpsc_push(&qa, m);
		}
		while (atomic_load_explicit(&c.confirmed, memory_order_acquire) != i + BATCH)
			_mm_pause();
	}
	pthread_join(t, NULL);
	check("messages", n, c.handled);
}

static void mpsc_cross_flood(uint64_t n)
{
	cross_flood(n, 0);
}

static void mpsc_cross_flood_malloc(uint64_t n)
{
	cross_flood(n, 1);
}

static void *cross_pong(void *arg)
{
	struct cross *c = arg;
	pin(0);
	atomic_store(&c->ready, 1);
	while (c->handled < c->n / 2) {
		struct node *m = mpsc_pop(&qa);
		if (!m) {
			_mm_pause();
			continue;
		}
		c->handled++;
		mpsc_push(&qb, m);
	}
	return NULL;
}

static void mpsc_cross_volley(uint64_t n)
{
	struct cross c = {.n = n};
	pthread_t t;
	uint64_t own = 0;
	mpsc_init(&qa);
	mpsc_init(&qb);
	start_peer(&c, cross_pong, &t);
	lap_start = now_ns();
	mpsc_push(&qa, &pool[0]);
	// A popped node is free at once: pop() has moved the queue past it.
	while (own < n / 2) {
		struct node *m = mpsc_pop(&qb);
		if (!m) {
			_mm_pause();
			continue;
		}
		if (++own < n / 2)
			mpsc_push(&qa, m);
	}
	pthread_join(t, NULL);
	check("hops", n, own + c.handled);
}

// ---- eventfd and epoll -------------------------------------------------------------------------

static int epoll_of(int fd)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = {.events = EPOLLIN};
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) != 0)
		fail("epoll", 1, 0);
	return ep;
}

static int event_fd(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0)
		fail("eventfd", 1, 0);
	return fd;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;
	if (write(fd, &one, sizeof one) != sizeof one)
		fail("eventfd write", 1, 0);
}

static uint64_t wait_fd(int ep, int fd)
{
	struct epoll_event e;
	uint64_t v = 0;
	if (epoll_wait(ep, &e, 1, -1) != 1 || read(fd, &v, sizeof v) != sizeof v)
		fail("eventfd read", 1, 0);
	return v;
}

static void eventfd_same(uint64_t n)
{
	int fd = event_fd(), ep = epoll_of(fd);
	uint64_t got = 0;
	for (uint64_t i = 0; i < n; i++) {
		signal_fd(fd);
		got += wait_fd(ep, fd);
	}
	check("round trips", n, got);
	close(ep);
	close(fd);
}

static void *eventfd_peer(void *arg)
{
	struct cross *c = arg;
	pin(0);
	int ep = epoll_of(c->e1);
	atomic_store(&c->ready, 1);
	while (c->handled < c->n) {
		c->handled += wait_fd(ep, c->e1);
		signal_fd(c->e2);
	}
	close(ep);
	return NULL;
}

static void eventfd_cross(uint64_t n)
{
	struct cross c = {.n = n, .e1 = event_fd(), .e2 = event_fd()};
	int ep = epoll_of(c.e2);
	pthread_t t;
	uint64_t got = 0;
	start_peer(&c, eventfd_peer, &t);
	lap_start = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		signal_fd(c.e1);
		got += wait_fd(ep, c.e2);
	}
	pthread_join(t, NULL);
	check("round trips", n, got);
	check("peer's round trips", n, c.handled);
	close(ep);
	close(c.e1);
	close(c.e2);
}

static void epoll_wait0(uint64_t n)
{
	int fd = event_fd(), ep = epoll_of(fd);
	struct epoll_event e;
	uint64_t empty = 0;
	for (uint64_t i = 0; i < n; i++)
		empty += epoll_wait(ep, &e, 1, 0) == 0;
	check("calls", n, empty);
	close(ep);
	close(fd);
}

// ---- clocks and the bare system call -----------------------------------------------------------

static void clock_monotonic(uint64_t n)
{
	struct timespec t;
	uint64_t ok = 0;
	for (uint64_t i = 0; i < n; i++)
		ok += clock_gettime(CLOCK_MONOTONIC, &t) == 0;
	check("calls", n, ok);
}

static void rdtsc(uint64_t n)
{
	uint64_t prev = __rdtsc(), ok = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t t = __rdtsc();
		ok += t >= prev;
		prev = t;
	}
	check("reads", n, ok);
}

static void getppid_call(uint64_t n)
{
	uint64_t ok = 0;
	pid_t p = getppid();
	for (uint64_t i = 0; i < n; i++)
		ok += getppid() == p;
	check("calls", n, ok);
}

// A system call number that does not exist: kernel entry and exit, nothing else.
static void syscall_enosys(uint64_t n)
{
	uint64_t ok = 0;
	for (uint64_t i = 0; i < n; i++)
		ok += syscall(9999) == -1;
	check("calls", n, ok);
}

// ---- main --------------------------------------------------------------------------------------

static const struct row {
	const char *name;
	void (*fn)(uint64_t);
	uint64_t n;
} rows[] = {
	{"ring64_batch", ring64_batch, FLOOD},
	{"ring64_pingpong", ring64_pingpong, VOLLEY},
	{"malloc_batch", malloc_batch, FLOOD},
	{"malloc_pingpong", malloc_pingpong, VOLLEY},
	{"mpsc_same_batch", mpsc_same_batch, FLOOD},
	{"mpsc_same_pingpong", mpsc_same_pingpong, VOLLEY},
	{"eventfd_rt_same", eventfd_same, SYSCALLS},
	{"epoll_wait0", epoll_wait0, SYSCALLS},
	{"clock_monotonic", clock_monotonic, CLOCKS},
	{"rdtsc", rdtsc, CLOCKS},
	{"getppid", getppid_call, SYSCALLS},
	{"syscall_enosys", syscall_enosys, SYSCALLS},
	{"mpsc_cross_flood", mpsc_cross_flood, FLOOD},
	{"mpsc_cross_flood_malloc", mpsc_cross_flood_malloc, FLOOD},
	{"mpsc_cross_volley", mpsc_cross_volley, CROSS_VOLLEY},
	{"eventfd_rt_cross", eventfd_cross, CROSS_EVENTFD},
};

// One warm-up, then the repetitions that count.
static void measure(const struct row *row, int repetitions)
{
	workload = row->name;
	for (int i = -1; i < repetitions; i++) {
		lap_start = now_ns();
		row->fn(row->n);
		double ns = (double)(now_ns() - lap_start) / (double)row->n;
		if (i < 0)
			printf("%s ns", workload);
		else
			printf(" %.2f", ns);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	pin(1);
	for (size_t r = 0; argc > 1 && r < sizeof rows / sizeof *rows; r++)
		if (strcmp(rows[r].name, argv[1]) == 0) {
			measure(&rows[r], argc > 2 ? atoi(argv[2]) : 5);
			return 0;
		}
	fprintf(stderr, "usage: %s WORKLOAD [REPETITIONS]\n", argv[0]);
	return 2;
}
