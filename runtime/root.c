/* SPDX-License-Identifier: MIT */
/* Defines the root and the ELF note by which an observer finds it in any kind of build. */
#include "root.h"

#include "clock.h"

#include <pthread.h>

__attribute__((used)) struct actor_abi_root actor_root = {
	.magic = ACTOR_ABI_MAGIC,
	.major = ACTOR_ABI_MAJOR,
	.minor = ACTOR_ABI_MINOR,
	.bytes = sizeof(struct actor_abi_root),
};

/* The note is allocated, so that it survives strip and is mapped; the distance is relative, so
 * that it needs no relocation in PIE and shared builds. "R" keeps it through linker GC. */
__asm__(".pushsection .note.actor, \"aR\", @note\n"
	".balign 4\n"
	".4byte 6, 8, 1\n" /* name bytes, descriptor bytes, ACTOR_ABI_NOTE_ROOT */
	".asciz \"actor\"\n"
	".balign 4\n"
	"0: .8byte actor_root - 0b\n"
	".popsection\n");

static uint64_t class_segments[1024], type_segments[1024], dispatcher_segments[1024];

static void table_init(struct actor_abi_table *table, uint64_t *segments, uint32_t segment_max)
{
	table->segments = (uint64_t)(uintptr_t)segments;
	table->segment_max = segment_max;
	table->segment_entries = 64;
	table->entry_bytes = sizeof(struct actor_abi_name);
}

static void root_init(void)
{
	table_init(&actor_root.classes, class_segments, 1024);
	table_init(&actor_root.types, type_segments, 1024);
	table_init(&actor_root.dispatchers, dispatcher_segments, 1024);
	actor__clock_init();
	actor_root.clock = actor__clock_tsc ? ACTOR_ABI_CLOCK_TSC : ACTOR_ABI_CLOCK_MONOTONIC;
	actor_root.first_ticks = actor__clock_first_ticks;
	actor_root.first_monotonic_ns = actor__clock_first_ns;
}

void actor__root_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, root_init);
}
