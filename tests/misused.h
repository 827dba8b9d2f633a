/* SPDX-License-Identifier: MIT */
/* The table of tests/test_misuse.c: a row is a function, what is wrong, the call, its answer. After
 * tests/lab.h. */
#ifndef TESTS_MISUSED_H
#define TESTS_MISUSED_H

#include "tests/lab.h"
#include "runtime/misuse.h"

#if defined(ACTOR_DEBUG) || defined(ACTOR__ASAN) || defined(ACTOR__TSAN)
#define DEBUG_BUILD 1
#else
#define DEBUG_BUILD 0
#endif

static struct lab lab;
static struct actor_type word_type = ACTOR_TYPE("word");

static const char *rows[1024]; /* names of functions that have one */
static uint32_t row_count;
static uint32_t wrong;

static void row(const char *function, const char *what, int64_t got, int64_t wanted)
{
	if (row_count < COUNT(rows))
		rows[row_count++] = function;
	if (got == wanted)
		return;
	wrong++;
	print_message("# %s, %s: %lld in place of %lld\n", function, what, (long long)got,
		(long long)wanted);
}

#define ROW(function, what, arguments, wanted)                                                     \
	row(#function, what, (int64_t)(intptr_t)(function arguments), wanted)

/* One that returns nothing. */
#define QUIET(function, what, arguments)                                                           \
	do {                                                                                       \
		function arguments;                                                                \
		row(#function, what, 0, 0);                                                        \
	} while (0)

#endif
