/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as the header Accept. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/accept.h"
#include "probe/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_inside(const char *text, size_t bytes, struct accept_piece piece)
{
	if (piece.bytes < text || piece.bytes + piece.count > text + bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	const char *at = text;
	struct accept_range range;

	if (!text)
		return 0;
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	bytes = strlen(text);
	while (accept_next(&at, &range)) {
		if (range.quality > ACCEPT_QUALITY_MAX ||
			range.parameter_count > ACCEPT_PARAMETERS_MAX || !range.type.count ||
			!range.subtype.count)
			abort();
		check_inside(text, bytes, range.type);
		check_inside(text, bytes, range.subtype);
		for (size_t i = 0; i < range.parameter_count; i++) {
			check_inside(text, bytes, range.parameters[i].name);
			check_inside(text, bytes, range.parameters[i].value);
		}
	}
	if (at != text + bytes || (unsigned int)format_negotiate(text) >= FORMAT_COUNT)
		abort();
	free(text);
	return 0;
}
