/* SPDX-License-Identifier: MIT */
/* Foreign bytes into text that is safe on a terminal, in a page and in a label. */
#ifndef PROBE_ESCAPE_H
#define PROBE_ESCAPE_H

#include <stddef.h>

/* Most bytes that one byte of input becomes, the NUL aside. */
#define ESCAPE_FACTOR 4

/* Copies at most `bytes` bytes, up to a NUL, as valid UTF-8. Bytes that are not UTF-8, control
 * characters and those that reorder text become \xNN, byte by byte. Cuts at a whole character
 * where `to` is too small, always ends with a NUL, and returns the length. */
size_t escape_text(char *to, size_t to_bytes, const char *from, size_t bytes);

/* The same as a heap block, NULL without memory. */
char *escape_copy(const char *from, size_t bytes);

#endif
