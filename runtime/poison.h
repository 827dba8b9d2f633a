/* SPDX-License-Identifier: MIT */
/* Tells AddressSanitizer which blocks of a pool are free, so that it sees a late access to one;
 * nothing in other builds. */
#ifndef ACTOR_POISON_H
#define ACTOR_POISON_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define ACTOR__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ACTOR__ASAN 1
#endif
#endif

#ifdef ACTOR__ASAN
#include <sanitizer/asan_interface.h>

static inline void actor__poison(void *block, size_t bytes)
{
	__asan_poison_memory_region(block, bytes);
}

static inline void actor__unpoison(void *block, size_t bytes)
{
	__asan_unpoison_memory_region(block, bytes);
}
#else
static inline void actor__poison(void *block, size_t bytes)
{
	(void)block;
	(void)bytes;
}

static inline void actor__unpoison(void *block, size_t bytes)
{
	(void)block;
	(void)bytes;
}
#endif
#endif
