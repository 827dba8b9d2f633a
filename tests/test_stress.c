/* SPDX-License-Identifier: MIT */
/* Seeded stress: three loops, foreign threads, tiny rings, actors that come and go.
 *
 * Oracle: conservation. Every message that was accepted is handled or becomes a dead letter, and
 * each is destroyed once. Order: per sender and receiver, each of them numbers its messages, and a
 * receiver must see them in order without a gap until it stops. STRESS_SEED repeats a run,
 * STRESS_SECONDS makes it longer. */
#include "tests/lab.h"

#include <stdio.h>
#include <unistd.h>

#define ACTORS   24
#define THREADS  2
#define SENDERS  (ACTORS + THREADS)
#define LOOPS    3
#define HOPS_MAX 12

/* Counted per loop's thread or foreign thread, summed in the end: no shared cache line. */
struct tally {
	_Alignas(64) _Atomic uint64_t sent, handled, wrong;
};
static struct tally tallies[LOOPS + THREADS + 1];
static _Atomic uint64_t dead, spawned;
static _Atomic actor_ref places[ACTORS]; /* who lives at each place now */
static _Atomic uint64_t incarnations[ACTORS];
static _Atomic bool over;
static uint64_t seed;

/* One message: 32 bytes inside the envelope, or more by pointer. */
struct parcel {
	uint32_t place;       /* of the sender; ACTORS + n: a thread */
	uint32_t hops;        /* how often it is sent on */
	uint64_t incarnation; /* of the sender */
	uint64_t number;      /* from this sender to this receiver */
	uint64_t receiver;    /* its incarnation */
};

struct big_parcel {
	struct parcel parcel;
	char fill[40];
};

/* What a sender knows of its receivers, and a receiver of its senders. The old and the new actor
 * of a place may live at the same time for a while. */
#define PAGES 32
struct book {
	struct page {
		uint64_t incarnation;
		uint64_t number;
	} pages[SENDERS][PAGES];
	uint8_t next[SENDERS];
};

struct citizen {
	uint32_t place;
	uint64_t incarnation;
	uint64_t random;
	struct book in, out;
};

static void parcel_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&tokens_alive, 1);
}

static void big_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static struct actor_type parcel_type = {sizeof(parcel_type), "parcel", parcel_destroy, NULL, 0};
static struct actor_type big_type = {sizeof(big_type), "big_parcel", big_destroy, NULL, 0};
static struct actor_type copy_type = ACTOR_TYPE("copied_parcel");

_Static_assert(sizeof(struct parcel) == ACTOR_INLINE_BYTES, "a parcel just fits");

/* The number of the next message to a receiver; a new incarnation of it begins anew. */
static uint64_t book_next(struct book *book, uint32_t place, uint64_t incarnation)
{
	struct page *page = book->pages[place];

	for (int i = 0; i < PAGES; i++)
		if (page[i].incarnation == incarnation)
			return page[i].number++;
	page += book->next[place]++ % PAGES;
	page->incarnation = incarnation;
	page->number = 1;
	return 0;
}

typedef int (*send_fn)(void *from, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes);

static int send_inside(
	void *from, actor_ref to, struct actor_type *type, const void *payload, size_t bytes)
{
	return actor_tell(from, to, type, payload, bytes);
}

static int send_outside(
	void *from, actor_ref to, struct actor_type *type, const void *payload, size_t bytes)
{
	return actor_system_tell(from, to, type, payload, bytes);
}

/* Sends to a random place. The generation of a ref says which incarnation it is. */
static void send_somewhere(send_fn send, void *from, struct tally *tally, struct book *book,
	uint64_t *random, struct parcel p)
{
	uint32_t place = random_below(random, ACTORS);
	actor_ref to = atomic_load(&places[place]);
	int rc;

	if (!to)
		return;
	p.receiver = to;
	p.number = book_next(book, place, to);
	switch (random_below(random, 3)) {
	case 0: {
		struct big_parcel *big = calloc(1, sizeof(*big));

		big->parcel = p;
		atomic_fetch_add(&counted_alive, 1);
		rc = send(from, to, &big_type, big, sizeof(*big));
		break;
	}
	case 1: {
		struct big_parcel copied = {.parcel = p};

		rc = send(from, to, &copy_type, &copied, sizeof(copied));
		break;
	}
	default:
		atomic_fetch_add(&tokens_alive, 1);
		rc = send(from, to, &parcel_type, &p, sizeof(p));
	}
	if (rc)
		atomic_fetch_add(&tally->wrong, 1);
	else
		atomic_fetch_add(&tally->sent, 1);
}

static struct actor_class citizen_class;

static uint64_t new_random(void)
{
	static _Atomic uint64_t count;

	return (seed + atomic_fetch_add(&count, 1) * 0x9e3779b97f4a7c15ull) | 1;
}

static int settle(struct actor_system *system, struct actor_ctx *ctx, uint32_t place, int loop)
{
	struct citizen init = {.place = place,
		.incarnation = atomic_fetch_add(&incarnations[place], 1) + 1,
		.random = new_random()};
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &init, .loop = loop};
	actor_ref ref;
	int rc = ctx ? actor_spawn(ctx, &citizen_class, &options, &ref)
		     : actor_system_spawn(system, &citizen_class, &options, &ref);

	if (rc)
		return rc;
	atomic_fetch_add(&spawned, 1);
	atomic_store(&places[place], ref);
	return 0;
}

/* Now and then somebody stops and a new one takes the place: a child, or one at top level. */
static int move_house(struct actor_ctx *ctx, struct citizen *self)
{
	uint32_t roll = random_below(&self->random, 400);
	int loop = 1 + (int)random_below(&self->random, LOOPS);
	int rc = 0;

	if (roll > 2 || atomic_load(&over))
		return 0;
	/* A child would stop with its parent, so it takes the place before that happens. */
	if (roll == 0)
		rc = settle(NULL, ctx, self->place, loop);
	else
		rc = settle(actor_ctx_system(ctx), NULL, self->place, loop);
	if (rc && rc != ACTOR_ECLOSED)
		return rc;
	if (roll == 1)
		actor_stop_self(ctx);
	else
		actor_stop(ctx, actor_self(ctx));
	return 0;
}

static int citizen_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct citizen *self = actor_state(ctx);
	struct tally *tally = &tallies[(actor_self(ctx) >> 56) % LOOPS];
	struct parcel p;

	memcpy(&p, message->payload, sizeof(p));
	atomic_fetch_add(&tally->handled, 1);
	if (p.receiver != actor_self(ctx) ||
		p.number != book_next(&self->in, p.place, p.incarnation))
		atomic_fetch_add(&tally->wrong, 1);
	if (p.hops && !atomic_load(&over)) {
		struct parcel next = {.place = self->place,
			.hops = p.hops - 1,
			.incarnation = actor_self(ctx)};

		send_somewhere(send_inside, ctx, tally, &self->out, &self->random, next);
		if (random_below(&self->random, 8) == 0)
			send_somewhere(
				send_inside, ctx, tally, &self->out, &self->random, next);
	}
	return move_house(ctx, self);
}

static struct actor_class citizen_class = {
	.size = sizeof(citizen_class),
	.name = "citizen",
	.state_bytes = sizeof(struct citizen),
	.on_message = citizen_message,
};

struct thread {
	pthread_t id;
	struct actor_system *system;
	uint32_t number;
	struct book out;
};

static void *thread_main(void *argument)
{
	struct thread *t = argument;
	uint64_t random = new_random();
	struct parcel p = {.place = ACTORS + t->number, .incarnation = 1, .hops = HOPS_MAX};

	while (!atomic_load(&over)) {
		for (uint32_t i = random_below(&random, 40); i; i--)
			send_somewhere(send_outside, t->system, &tallies[LOOPS + t->number],
				&t->out, &random, p);
		if (random_below(&random, 50) == 0) {
			uint32_t place = random_below(&random, ACTORS);
			actor_ref old = atomic_load(&places[place]);

			settle(t->system, NULL, place, 1 + (int)random_below(&random, LOOPS));
			actor_system_stop(t->system, old);
		}
		if (random_below(&random, 4) == 0)
			sleep_ms(1);
	}
	return NULL;
}

static void on_dead(void *data, actor_ref recipient, const struct actor_message *message)
{
	atomic_fetch_add(&dead, 1);
}

static uint64_t sum(size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(tallies); i++)
		sum += atomic_load((_Atomic uint64_t *)((char *)&tallies[i] + offset));
	return sum;
}

static void on_done(struct actor_system *system, void *data)
{
	*(bool *)data = true;
}

static void on_timer(uv_timer_t *timer)
{
	atomic_store(&over, true);
	uv_close((uv_handle_t *)timer, NULL);
}

static void open_options(struct actor_system_options *options, uint64_t *random, uv_loop_t *loop,
	struct actor_dispatcher_spec *spec)
{
	static const int slots[] = {2, 2, 4, 1024};

	memset(options, 0, sizeof(*options));
	options->size = sizeof(*options);
	options->loop = loop;
	options->loops = LOOPS - 1;
	options->ring_slots = slots[random_below(random, COUNT(slots))];
	options->throughput = 1 + random_below(random, 40);
	options->drain_ms = random_below(random, 3) ? 20000 : -1;
	options->dispatcher = spec;
	if (random_below(random, 2))
		actor_dispatcher_hybrid(spec, 1 + random_below(random, 64), NULL);
	else
		actor_dispatcher_throughput(spec, 1 + random_below(random, 32), NULL);
}

/* One system from its opening to its end, with all its messages accounted for. */
static void run_once(uint64_t ms, uint64_t *random)
{
	static struct thread threads[THREADS];
	struct actor_system_options options;
	struct actor_dispatcher_spec spec;
	struct actor_system *system;
	uv_timer_t timer;
	bool done = false;
	uv_loop_t loop;

	memset(tallies, 0, sizeof(tallies));
	memset(threads, 0, sizeof(threads));
	atomic_store(&dead, 0);
	atomic_store(&over, false);
	uv_loop_init(&loop);
	open_options(&options, random, &loop, &spec);
	assert_int_equal(actor_system_open(&system, &options), 0);
	actor_system_on_dead_letter(system, on_dead, NULL);
	for (uint32_t i = 0; i < ACTORS; i++)
		assert_int_equal(settle(system, NULL, i, 1 + (int)(i % LOOPS)), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].system = system;
		threads[i].number = i;
		pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
	}
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, on_timer, ms, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	assert_int_equal(actor_system_close(system, on_done, &done), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_true(done);
	assert_int_equal(uv_loop_close(&loop), 0);
	for (uint32_t i = 0; i < ACTORS; i++)
		atomic_store(&places[i], 0);

	assert_int_equal(sum(offsetof(struct tally, wrong)), 0);
	assert_int_equal(sum(offsetof(struct tally, sent)),
		sum(offsetof(struct tally, handled)) + atomic_load(&dead));
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(counted_alive, 0);
	assert_true(sum(offsetof(struct tally, handled)) > 0);
}

static void every_message_is_handled_or_a_dead_letter_and_in_order(void **state)
{
	const char *wish = getenv("STRESS_SECONDS");
	const char *again = getenv("STRESS_SEED");
	uint64_t end = now_ns() + (wish ? (uint64_t)atoll(wish) : 5) * 1000000000u;
	uint64_t messages = 0;

	seed = again ? strtoull(again, NULL, 0) : now_ns() ^ (uint64_t)getpid() << 40;
	print_message("seed %#llx\n", (unsigned long long)seed);
	do {
		uint64_t random = new_random();

		run_once(100 + random_below(&random, 400), &random);
		messages += sum(offsetof(struct tally, sent));
	} while (now_ns() < end);
	print_message("%llu messages, %llu actors\n", (unsigned long long)messages,
		(unsigned long long)atomic_load(&spawned));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_is_handled_or_a_dead_letter_and_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
