/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as an ELF file. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct notes notes;

	if (notes_parse(&notes, data, bytes) == NOTES_OK)
		if (notes.site_count > NOTES_SITES_MAX || notes.segment_count > NOTES_SEGMENTS_MAX)
			abort();
	return 0;
}
