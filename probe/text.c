/* SPDX-License-Identifier: MIT */
/* A growable piece of text that every face renders into, and the human spelling of numbers. */
#include "probe/text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/error.h"

static bool reserve(struct text *t, size_t more)
{
	size_t size = t->size ? t->size : 1024;
	char *bytes;

	if (t->failed)
		return false;
	if (more < t->size - t->used && t->bytes)
		return true;
	while (size - t->used <= more)
		size *= 2;
	bytes = realloc(t->bytes, size);
	if (!bytes) {
		t->failed = true;
		return false;
	}
	t->bytes = bytes;
	t->size = size;
	return true;
}

void text_add(struct text *t, const char *format, ...)
{
	va_list arguments;
	int count;

	if (!reserve(t, 128))
		return;
	va_start(arguments, format);
	count = vsnprintf(t->bytes + t->used, t->size - t->used, format, arguments);
	va_end(arguments);
	if (count < 0) {
		t->failed = true;
		return;
	}
	if ((size_t)count >= t->size - t->used) {
		if (!reserve(t, (size_t)count))
			return;
		va_start(arguments, format);
		vsnprintf(t->bytes + t->used, t->size - t->used, format, arguments);
		va_end(arguments);
	}
	t->used += (size_t)count;
}

void text_add_bytes(struct text *t, const char *bytes, size_t count)
{
	if (!reserve(t, count))
		return;
	memcpy(t->bytes + t->used, bytes, count);
	t->used += count;
	t->bytes[t->used] = '\0';
}

char *text_add_room(struct text *t, size_t count)
{
	char *room;

	if (!reserve(t, count))
		return NULL;
	room = t->bytes + t->used;
	t->used += count;
	t->bytes[t->used] = '\0';
	return room;
}

void text_add_char(struct text *t, char c, unsigned int times)
{
	while (times--)
		text_add_bytes(t, &c, 1);
}

void text_add_count(struct text *t, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_add_bytes(t, digits + first, sizeof(digits) - first);
}

/* Three significant digits without trailing zeros; the caller keeps value below 999.5. */
static void add_short(struct text *t, double value, const char *unit)
{
	text_add(t, "%.3g%s%s", value, *unit ? " " : "", unit);
}

void text_add_ns(struct text *t, double ns)
{
	static const char *const units[] = {"ns", "us", "ms"};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ns < 999.5) {
			add_short(t, ns, units[i]);
			return;
		}
		ns /= 1000;
	}
	if (ns < 999.5)
		add_short(t, ns, "s");
	else
		text_add(t, "%.0f s", ns);
}

void text_add_number(struct text *t, double value)
{
	static const char *const units[] = {"k", "M", "G", "T"};

	if (value < 9999.5) {
		text_add(t, "%.0f", value);
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		value /= 1000;
		if (value < 999.5) {
			add_short(t, value, units[i]);
			return;
		}
	}
	text_add(t, "%.3g T", value);
}

void text_add_seconds(struct text *t, uint64_t ns)
{
	/* 15 digits are always spelled back exactly; longer sums need the whole number. */
	if (ns < 1000000000000000ull)
		text_add(t, "%.15g", (double)ns / 1e9);
	else
		text_add(t, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
			(unsigned long long)(ns % 1000000000));
}

/* Bytes that begin a character; the rest of UTF-8 takes no column. */
static unsigned int columns_of(const char *bytes)
{
	unsigned int columns = 0;

	for (; *bytes; bytes++)
		columns += (*bytes & 0xc0) != 0x80;
	return columns;
}

static size_t bytes_of(const char *bytes, unsigned int columns)
{
	size_t i = 0;

	while (bytes[i]) {
		if ((bytes[i] & 0xc0) != 0x80 && columns-- == 0)
			break;
		i++;
	}
	return i;
}

static void add_cut(struct text *t, const char *bytes, unsigned int columns)
{
	if (columns_of(bytes) <= columns) {
		text_add_bytes(t, bytes, strlen(bytes));
	} else if (columns > 0) {
		text_add_bytes(t, bytes, bytes_of(bytes, columns - 1));
		text_add_char(t, '~', 1);
	}
}

void text_add_left(struct text *t, const char *bytes, unsigned int columns)
{
	unsigned int used = columns_of(bytes);

	add_cut(t, bytes, columns);
	text_add_char(t, ' ', used < columns ? columns - used : 0);
}

void text_add_right(struct text *t, const char *bytes, unsigned int columns)
{
	unsigned int used = columns_of(bytes);

	text_add_char(t, ' ', used < columns ? columns - used : 0);
	add_cut(t, bytes, columns);
}

void text_clear(struct text *t)
{
	t->used = 0;
	if (t->bytes)
		t->bytes[0] = '\0';
}

void text_fini(struct text *t)
{
	free(t->bytes);
	memset(t, 0, sizeof(*t));
}

static int write_failed(int code, struct error *error)
{
	if (code == EPIPE)
		return error_set(error, EXIT_USAGE,
			"the output pipe was closed by its reader; keep the reader open, or end "
			"the run with -d or a count");
	return error_set(error, EXIT_USAGE,
		"the output cannot be written (%s); write to a place with room", strerror(code));
}

int text_write(const struct text *t, int fd, struct error *error)
{
	size_t done = 0;

	if (t->failed)
		return error_set(
			error, EXIT_USAGE, "out of memory while rendering; lower --max-series");
	while (done < t->used) {
		ssize_t count = write(fd, t->bytes + done, t->used - done);

		if (count >= 0) {
			done += (size_t)count;
		} else if (errno == EAGAIN) {
			struct pollfd ready = {.fd = fd, .events = POLLOUT};

			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			return write_failed(errno, error);
		}
	}
	return 0;
}
