/* SPDX-License-Identifier: MIT */
/* The text of a configuration file, before libconfig sees it: read within bounds, and refused if it
 * has what libconfig would follow, misread or take silently. Any thread.
 *
 * libconfig 1.5 opens any file that a line names after @include, cuts a number to 32 bits, takes a
 * comment without an end for the end of the file, and recurses for each level. */
#ifndef ACTOR_CONFIGTEXT_H
#define ACTOR_CONFIGTEXT_H

#include <stddef.h>
#include <stdint.h>

#define ACTOR__CONFIG_BYTES  65536u /* largest file */
#define ACTOR__CONFIG_LEVELS 8u	    /* of nested braces, brackets and parentheses */
#define ACTOR__CONFIG_DIGITS 9u	    /* longest number, with its 0x */

/* Why a file is refused: "FILE:LINE: sentence". */
struct actor__config_error {
	const char *file; /* set by whoever begins */
	char text[512];
};

/* Sets the text, unless an earlier one is there; line 0: the file as a whole. Bytes that are not
 * printable become '?'. Returns ACTOR_ECONFIG. */
int actor__config_refuse(struct actor__config_error *error, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads the file; *text is a heap block with a NUL behind it. 0, ACTOR_ECONFIG, -ENOMEM. */
int actor__configtext_read(char **text, struct actor__config_error *error);

/* Looks through `bytes` bytes of text. 0, ACTOR_ECONFIG. */
int actor__configtext_check(const char *text, size_t bytes, struct actor__config_error *error);

#endif
