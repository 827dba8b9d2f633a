/* SPDX-License-Identifier: MIT */
/* Reading of options structures, which grow at their end: an older program knows fewer fields. */
#ifndef ACTOR_OPTIONS_H
#define ACTOR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copies what the caller's structure has, the rest is 0. Both begin with their size. `least`: the
 * first version's size. False: the caller's is smaller than that, or larger than ours with
 * something in it that we do not know. */
static inline bool actor__options_read(void *to, size_t bytes, const void *from, size_t least)
{
	const unsigned char *more = from;
	size_t size;

	memcpy(&size, from, sizeof(size));
	if (size < least)
		return false;
	for (size_t i = bytes; i < size; i++)
		if (more[i])
			return false;
	memset(to, 0, bytes);
	memcpy(to, from, size < bytes ? size : bytes);
	return true;
}

#endif
