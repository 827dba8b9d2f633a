/* SPDX-License-Identifier: MIT */
/* Names that a hostile program gives its actors. */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <stdlib.h>
#include <string.h>

#define HOSTILE_LONG 4096

static const char *const hostile_names[] = {
	"quote \" and {brace=\"x\"}",
	"back\\slash\\n \\",
	"line\nfeed\r\n# TYPE fake counter\nfake 1\n",
	"controls \x01\x07\x08\x7f\t",
	"broken \xff\xfe \xc3 \xed\xa0\x80 \xf5\x80\x80\x80 \xc0\xaf",
	"<script>alert('x')</script><b>&amp;",
	"\x1b[31mred\x1b[0m \x1b]0;title\x07",
	"turned \xe2\x80\xae order \xc2\x85",
	"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x98",
	"+Inf",
	" ",
	"",
};

#define HOSTILE_COUNT (sizeof(hostile_names) / sizeof(hostile_names[0]) + 1)

/* The i-th one as a heap block; the last one has 4 KiB. */
static inline char *hostile_name(size_t i)
{
	char *name;

	if (i + 1 < HOSTILE_COUNT)
		return strdup(hostile_names[i]);
	name = malloc(HOSTILE_LONG + 1);
	if (name) {
		memset(name, '\n', HOSTILE_LONG);
		name[HOSTILE_LONG] = '\0';
	}
	return name;
}

#endif
