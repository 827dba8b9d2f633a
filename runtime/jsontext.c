/* SPDX-License-Identifier: MIT */
/* Escapes text for JSON. */
#include "jsontext.h"

#include <stdio.h>
#include <string.h>

size_t actor__utf8_bytes(const unsigned char *at)
{
	static const struct {
		unsigned char from, to, second_from, second_to, bytes;
	} rows[] = {{0x01, 0x7f, 0, 0, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (at[0] < rows[i].from || at[0] > rows[i].to)
			continue;
		if (rows[i].bytes > 1 && (at[1] < rows[i].second_from || at[1] > rows[i].second_to))
			return 0;
		for (size_t n = 2; n < rows[i].bytes; n++)
			if (at[n] < 0x80 || at[n] > 0xbf)
				return 0;
		return rows[i].bytes;
	}
	return 0;
}

struct place {
	char *to;
	size_t room;
	size_t used; /* with what was cut */
};

static void put(struct place *place, const char *bytes, size_t count)
{
	size_t fits = place->used < place->room ? place->room - place->used : 0;

	if (fits)
		memcpy(place->to + place->used, bytes, count < fits ? count : fits);
	place->used += count;
}

size_t actor__json_string(char *to, size_t room, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	struct place place = {to, room, 0};
	char escaped[8];

	put(&place, "\"", 1);
	while (*at) {
		size_t bytes = actor__utf8_bytes(at);

		if (*at == '"' || *at == '\\')
			put(&place, escaped,
				(size_t)snprintf(escaped, sizeof(escaped), "\\%c", *at));
		else if (bytes == 1 && (*at < 0x20 || *at == 0x7f))
			put(&place, escaped,
				(size_t)snprintf(escaped, sizeof(escaped), "\\u%04x", *at));
		else if (bytes)
			put(&place, (const char *)at, bytes);
		else
			put(&place, "\\ufffd", 6);
		at += bytes ? bytes : 1;
	}
	put(&place, "\"", 1);
	return place.used;
}
