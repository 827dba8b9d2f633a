/* SPDX-License-Identifier: MIT */
/* The tables that lead from a value to its bucket. */
#include "probe/bucket.h"

#include <pthread.h>

uint16_t bucket_time_starts[64 * BUCKET_CELLS];
uint8_t bucket_depth_places[BUCKET_DEEP];

/* The least value of a cell; see bucket_cell(). */
static uint64_t cell_begin(uint32_t cell)
{
	if (cell < 2 * BUCKET_CELLS)
		return cell;
	return (uint64_t)(cell % BUCKET_CELLS + BUCKET_CELLS) << (cell / BUCKET_CELLS - 1);
}

static void tables_fill(void)
{
	for (uint32_t cell = 0; cell < 60 * BUCKET_CELLS; cell++) {
		uint16_t at = 0;

		while (at < BOUNDS_COUNT && bounds_ns[at] < cell_begin(cell))
			at++;
		bucket_time_starts[cell] = at;
	}
	for (uint32_t depth = 0; depth < BUCKET_DEEP; depth++) {
		uint8_t at = 0;

		while (at < DEPTH_BOUNDS_COUNT && depth_bounds[at] < depth)
			at++;
		bucket_depth_places[depth] = at;
	}
}

void bucket_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, tables_fill);
}
