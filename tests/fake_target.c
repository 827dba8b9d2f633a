/* SPDX-License-Identifier: MIT */
/* A process that fires probes with hand-made records, told what to do line by line.
 *
 * It has the probes, the root and the clock of libactor, but no runtime: classes, dispatchers, a
 * loop and its actors stand in tables made here. Each command is answered by one line.
 *
 *   message CLASS ACTOR WAIT RUN DEPTH FLAGS   adds a message record to the batch
 *   turn CLASS ACTOR DELAY RUN MESSAGES FLAGS  adds a turn record
 *   raw META WHO FIRST SECOND                  adds any record
 *   end OUTCOME [CLASS]                        fires turn_end with mark and batch
 *   hand ADDRESS COUNT OUTCOME                 fires turn_end with any arguments
 *   over                                       fires ledger with the batch, without its mark
 *   fill N CLASS                               the same with N messages of 1 us, 1 us
 *   gap N                                      leaves out N sequence numbers
 *   header FIELD VALUE                         0 major, 1 loop, 2 count of the next hand-overs are
 *                                              wrong by VALUE
 *   fire ADDRESS BYTES LOOP MESSAGES           fires ledger with any arguments
 *   unmap N                                    a hand-over of 7 messages and 4 others whose records
 *                                              (1) or header too (2) lie on a page that is away
 *   skip N                                     delivers N messages that nobody is told of
 *   enqueue CLASS | start DISPATCHER | yield DISPATCHER REASON
 *   actors N                                   a batch of one message by each of N actors
 *   major N | open ACTOR | ticks | listened | quit
 */
#define _GNU_SOURCE
#include "runtime/clock.h"
#include "runtime/probes.h"
#include "runtime/root.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOP   3u
#define ACTORS 4096u

static struct actor_abi_name classes[64], types[64], dispatchers[64];
static struct actor_abi_actor actors[ACTORS];
static uint64_t actor_segments[1];
static struct actor_abi_loop loop;
static struct actor_abi_record batch[ACTOR_ABI_TURN_RECORDS];
static uint64_t batch_count = 1, batch_messages, batch_unstamped;
static char huge_name[5000];
static struct {
	struct actor_abi_handover head;
	struct actor_abi_record records[2000];
} ledger;
static uint64_t handovers, wrong[3];

static void name_set(struct actor_abi_table *table, struct actor_abi_name *entries, uint32_t id,
	const char *text, uint32_t kind)
{
	entries[id].bytes = (uint32_t)strlen(text);
	entries[id].kind = kind;
	strncpy(entries[id].text, text, ACTOR_ABI_NAME_BYTES - 1);
	((uint64_t *)(uintptr_t)table->segments)[0] = (uint64_t)(uintptr_t)entries;
	if (table->count <= id)
		table->count = id + 1;
}

static uint64_t actor_id(uint32_t index)
{
	return (uint64_t)LOOP << 56 | (uint64_t)index << 32 | actors[index].generation;
}

static void actor_set(uint32_t index, uint32_t generation, const char *name, uint64_t parent)
{
	actors[index].generation = generation;
	actors[index].class_id = 1;
	actors[index].dispatcher = 1;
	actors[index].name = (uint64_t)(uintptr_t)name;
	actors[index].parent = parent;
}

static void set_up(void)
{
	actor__root_init();
	name_set(&actor_root.classes, classes, 1, "alpha", 0);
	name_set(&actor_root.classes, classes, 2, "beta\x1b[31m\xff", 0);
	name_set(&actor_root.classes, classes, 4, "alpha", 0);
	name_set(&actor_root.types, types, 1, "ping", 0);
	name_set(&actor_root.dispatchers, dispatchers, 1, "default", ACTOR_ABI_HYBRID);
	name_set(&actor_root.dispatchers, dispatchers, 2, "slow", ACTOR_ABI_MICROTASK);
	for (uint32_t i = 1; i < ACTORS; i++)
		actor_set(i, 70000 + i, NULL, 0);
	memset(huge_name, 'x', sizeof(huge_name) - 1);
	actor_set(1, 7, "boss", 0);
	actor_set(2, 70009, "child", actor_id(1));
	actor_set(3, 5, "cycle", 0);
	actor_set(4, 6, "of", actor_id(3));
	actors[3].parent = actor_id(4);
	actor_set(6, 9, huge_name, 0);
	actor_set(7, 9, (const char *)8, 0);
	actor_segments[0] = (uint64_t)(uintptr_t)actors;
	loop.actors = (struct actor_abi_table){
		(uint64_t)(uintptr_t)actor_segments, 1, ACTORS, sizeof(actors[0]), ACTORS};
	loop.loop = LOOP;
	loop.thread = (uint32_t)syscall(SYS_gettid);
	loop.state = ACTOR_ABI_LOOP_OPEN;
	strcpy(loop.system, "fake");
	actor_root.loops[LOOP] = (uint64_t)(uintptr_t)&loop;
}

static void add(struct actor_abi_record record)
{
	if (batch_count < ACTOR_ABI_TURN_RECORDS)
		batch[batch_count++] = record;
	if (actor_abi_meta_kind(record.meta) == ACTOR_ABI_MESSAGE) {
		batch_messages++;
		batch_unstamped += actor_abi_meta_flags(record.meta) & ACTOR_ABI_UNSTAMPED;
	}
}

static void add_message(const uint64_t *a)
{
	uint32_t index = (uint32_t)a[1] % ACTORS;

	add((struct actor_abi_record){actor_abi_meta(ACTOR_ABI_MESSAGE, a[5], 1, a[0], 1),
		actor_id(index) & ~0xffffffffull, actor_abi_pack(a[2], a[4]),
		actor_abi_pack(a[3], actors[index].generation & 0xffff)});
}

static void add_turn(const uint64_t *a)
{
	add((struct actor_abi_record){actor_abi_meta(ACTOR_ABI_TURN, a[5], 0, a[0], 1),
		actor_id((uint32_t)a[1] % ACTORS), actor_abi_pack(a[2], a[4]),
		actor_abi_pack(a[3], 0)});
}

static void batch_end(uint64_t outcome, uint64_t class_id)
{
	batch[0] = (struct actor_abi_record){actor_abi_meta(ACTOR_ABI_MARK, 0, 0, 0, 0),
		loop.delivered, loop.unstamped, actor_abi_pack(loop.sequence++, LOOP)};
	loop.delivered += batch_messages;
	loop.unstamped += batch_unstamped;
	ACTOR__FIRE(turn_end, actor_id(1), 1, (uint64_t)(uintptr_t)batch, batch_count, outcome,
		class_id ? class_id : 1);
	batch_count = 1;
	batch_messages = batch_unstamped = 0;
}

/* Fires a hand-over of what stands behind the header. */
static void hand_over(struct actor_abi_handover *head, uint64_t records, uint64_t messages)
{
	*head = (struct actor_abi_handover){.major = (uint16_t)(ACTOR_ABI_MAJOR + wrong[0]),
		.minor = ACTOR_ABI_MINOR,
		.loop = (uint16_t)(LOOP + wrong[1]),
		.count = records + wrong[2],
		.sequence = handovers++,
		.delivered = loop.delivered,
		.unstamped = loop.unstamped,
		.ticks = actor__ticks(),
		.monotonic_ns = actor__monotonic_ns()};
	loop.delivered += messages;
	ACTOR__FIRE(ledger, (uint64_t)(uintptr_t)head,
		sizeof(*head) + records * sizeof(struct actor_abi_record), LOOP, messages);
}

static void batch_over(void)
{
	memcpy(ledger.records, batch + 1, (batch_count - 1) * sizeof(*batch));
	hand_over(&ledger.head, batch_count - 1, batch_messages);
	loop.unstamped += batch_unstamped;
	batch_count = 1;
	batch_messages = batch_unstamped = 0;
}

static void fill_over(uint64_t n, uint64_t class_id)
{
	for (uint64_t i = 0; i < n; i++)
		ledger.records[i % 2000] = (struct actor_abi_record){
			actor_abi_meta(ACTOR_ABI_MESSAGE, 0, 1, class_id, 1),
			actor_id(2) & ~0xffffffffull, actor_abi_pack(1000, 1),
			actor_abi_pack(1000, actors[2].generation & 0xffff)};
	hand_over(&ledger.head, n, n);
}

/* A header at the end of one page, its records on the next one, which is away. */
static void page_over(uint64_t away)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct actor_abi_handover *head = (struct actor_abi_handover *)(page + 4096) - 1;

	*head = (struct actor_abi_handover){.major = ACTOR_ABI_MAJOR,
		.loop = LOOP,
		.count = 11,
		.sequence = handovers++,
		.delivered = loop.delivered};
	munmap(page + 4096, 4096);
	if (away > 1)
		munmap(page, 4096);
	loop.delivered += 7;
	ACTOR__FIRE(ledger, (uint64_t)(uintptr_t)head, sizeof(*head) + 11 * 32, LOOP, 7);
}

static void many_actors(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		add_message((uint64_t[]){1, 8 + i, 1000, 1000, 1, 0});
		if (batch_count == ACTOR_ABI_TURN_RECORDS)
			batch_end(ACTOR_ABI_MORE, 0);
	}
	batch_end(ACTOR_ABI_MORE, 0);
}

/* Returns 0 for a command that does not exist. */
static int obey(const char *command, const uint64_t *a)
{
	if (strcmp(command, "message") == 0)
		add_message(a);
	else if (strcmp(command, "turn") == 0)
		add_turn(a);
	else if (strcmp(command, "raw") == 0)
		add((struct actor_abi_record){a[0], a[1], a[2], a[3]});
	else if (strcmp(command, "end") == 0)
		batch_end(a[0], a[1]);
	else if (strcmp(command, "hand") == 0)
		ACTOR__FIRE(turn_end, actor_id(1), 1, a[0], a[1], a[2], 1);
	else if (strcmp(command, "over") == 0)
		batch_over();
	else if (strcmp(command, "fill") == 0)
		fill_over(a[0], a[1]);
	else if (strcmp(command, "gap") == 0)
		handovers += a[0];
	else if (strcmp(command, "header") == 0)
		wrong[a[0] % 3] = a[1];
	else if (strcmp(command, "fire") == 0)
		ACTOR__FIRE(ledger, a[0], a[1], a[2], a[3]);
	else if (strcmp(command, "unmap") == 0)
		page_over(a[0]);
	else if (strcmp(command, "skip") == 0)
		loop.delivered += a[0];
	else if (strcmp(command, "enqueue") == 0)
		ACTOR__FIRE(enqueue, actor_id(1), 0, 1, 1, 1, a[0]);
	else if (strcmp(command, "start") == 0)
		ACTOR__FIRE(turn_start, actor_id(1), a[0], 1, 0, 1);
	else if (strcmp(command, "yield") == 0)
		ACTOR__FIRE(dispatcher_yield, a[0], a[1], 1, 0, LOOP);
	else if (strcmp(command, "actors") == 0)
		many_actors(a[0]);
	else if (strcmp(command, "major") == 0)
		actor_root.major = (uint16_t)a[0];
	else if (strcmp(command, "open") == 0)
		loop.actor = a[0] ? actor_id((uint32_t)a[0]) : 0;
	else
		return 0;
	return 1;
}

int main(void)
{
	char line[256], command[32];
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	set_up();
	printf("ready %d %" PRIu64 "\n", getpid(), (uint64_t)(uintptr_t)hole);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t a[6] = {0};

		if (sscanf(line,
			    "%31s %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64
			    " %" SCNi64,
			    command, (int64_t *)&a[0], (int64_t *)&a[1], (int64_t *)&a[2],
			    (int64_t *)&a[3], (int64_t *)&a[4], (int64_t *)&a[5]) < 1)
			continue;
		if (strcmp(command, "quit") == 0)
			break;
		if (strcmp(command, "listened") == 0)
			printf("%d\n", actor__semaphores.turn_end + actor__semaphores.ledger +
					       actor__semaphores.enqueue +
					       actor__semaphores.turn_start +
					       actor__semaphores.dispatcher_yield);
		else
			puts(obey(command, a) ? "ok" : "what?");
		fflush(stdout);
	}
	return 0;
}
