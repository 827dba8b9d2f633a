/* SPDX-License-Identifier: MIT */
/* Keeps what is printable UTF-8 and spells every other byte out. */
#include "probe/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the UTF-8 character at `p`, 0 if it is none: too long, a surrogate, cut off. */
static size_t character(const unsigned char *p, size_t left, uint32_t *code)
{
	static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = p[0] < 0x80	     ? 1
		   : p[0] >> 5 == 6  ? 2
		   : p[0] >> 4 == 14 ? 3
		   : p[0] >> 3 == 30 ? 4
				     : 0;

	if (n == 0 || n > left)
		return 0;
	*code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < lowest[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return n;
}

static bool printable(uint32_t code)
{
	static const uint32_t bad[][2] = {
		{0, 0x1f}, {0x7f, 0x9f},					      /* controls */
		{0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}, /* order */
		{0x2028, 0x2029}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, /* lines, invisible marks */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (code >= bad[i][0] && code <= bad[i][1])
			return false;
	return true;
}

size_t escape_text(char *to, size_t to_bytes, const char *from, size_t bytes)
{
	static const char hex[] = "0123456789abcdef";
	size_t used = 0;

	if (to_bytes == 0)
		return 0;
	bytes = strnlen(from, bytes);
	for (size_t at = 0, n; at < bytes; at += n) {
		const unsigned char *p = (const unsigned char *)from + at;
		uint32_t code = 0;

		n = character(p, bytes - at, &code);
		if (n && printable(code)) {
			if (used + n >= to_bytes)
				break;
			memcpy(to + used, p, n);
			used += n;
			continue;
		}
		n = 1;
		if (used + 4 >= to_bytes)
			break;
		to[used++] = '\\';
		to[used++] = 'x';
		to[used++] = hex[p[0] >> 4];
		to[used++] = hex[p[0] & 15];
	}
	to[used] = '\0';
	return used;
}

char *escape_copy(const char *from, size_t bytes)
{
	size_t room = strnlen(from, bytes) * ESCAPE_FACTOR + 1;
	char *to = malloc(room);

	if (to)
		escape_text(to, room, from, bytes);
	return to;
}
