/* SPDX-License-Identifier: MIT */
/* A growable piece of text that every face renders into, and the human spelling of numbers.
 *
 * Running out of memory is remembered and reported once, when the text is written.
 */
#ifndef PROBE_TEXT_H
#define PROBE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct text {
	char *bytes; /* ends with a NUL when used > 0 */
	size_t used;
	size_t size;
	bool failed;
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *t, const char *bytes, size_t count);
void text_add_char(struct text *t, char c, unsigned int times);

/* Room for so many bytes, which count as appended and are the caller's to fill; valid until the
 * next call. NULL without memory. */
char *text_add_room(struct text *t, size_t count);

/* A whole number in decimal. */
void text_add_count(struct text *t, uint64_t value);

/* "854 ns", "1.23 us", "45.6 ms", "7 s": three significant digits. */
void text_add_ns(struct text *t, double ns);

/* "7", "12.3 k", "4.56 M": three significant digits from 10 000 on, exact below. */
void text_add_number(struct text *t, double value);

/* Integer nanoseconds as seconds, the shortest decimal that means the same: "1e-06", "0.25". */
void text_add_seconds(struct text *t, uint64_t ns);

/* `bytes` cut to or padded to `columns` characters; a cut one ends with "~". */
void text_add_left(struct text *t, const char *bytes, unsigned int columns);
void text_add_right(struct text *t, const char *bytes, unsigned int columns);

/* Forgets the content, keeps the memory. */
void text_clear(struct text *t);
void text_fini(struct text *t);

/* Writes all of it to a descriptor. 0, or EXIT_USAGE with the sentence for a closed pipe, a full
 * disk or missing memory. */
int text_write(const struct text *t, int fd, struct error *error);

#endif
