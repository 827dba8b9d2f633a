/* SPDX-License-Identifier: MIT */
/* Text that anybody may have written, for JSON. Any thread. */
#ifndef ACTOR_JSONTEXT_H
#define ACTOR_JSONTEXT_H

#include <stddef.h>

/* The bytes of the valid UTF-8 character at `at`, which ends in a NUL somewhere; 0: none. */
size_t actor__utf8_bytes(const unsigned char *at);

/* Writes text as a JSON string with its quotes, U+FFFD for each byte that is no UTF-8, without a
 * NUL; what does not fit is cut. Returns the bytes that it needs. */
size_t actor__json_string(char *to, size_t room, const char *text);

#endif
