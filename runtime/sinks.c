/* SPDX-License-Identifier: MIT */
/* Renders records of log as text or JSON and writes them to a file descriptor.
 *
 * What actors say may hold anything. Text keeps valid UTF-8 but control characters, and writes all
 * else as \xNN, so that a line stays a line and no terminal takes it for a command; JSON has what
 * it needs escaped and U+FFFD for what is no UTF-8. */
#include "sinks.h"

#include "jsontext.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 24576 /* a longest text, path and context, each byte escaped to six */

struct line {
	size_t used;
	char bytes[LINE_BYTES];
};

static void put(struct line *line, const char *bytes, size_t count)
{
	if (count > sizeof(line->bytes) - 1 - line->used)
		count = sizeof(line->bytes) - 1 - line->used; /* a place is left for the newline */
	memcpy(line->bytes + line->used, bytes, count);
	line->used += count;
}

static void put_text(struct line *line, const char *text)
{
	put(line, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void put_format(
	struct line *line, const char *format, ...)
{
	char text[64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put_text(line, text);
}

/* C0, DEL, C1, line and paragraph separators, and what turns the direction of text around. */
static bool is_control(const unsigned char *at, size_t bytes)
{
	if (bytes == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (bytes == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	if (bytes != 3 || at[0] != 0xe2)
		return false;
	return (at[1] == 0x80 &&
		       ((at[2] >= 0xa8 && at[2] <= 0xae) || at[2] == 0x8e || at[2] == 0x8f)) ||
	       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

static void put_escaped_text(struct line *line, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		size_t bytes = actor__utf8_bytes(at);

		if (bytes && !is_control(at, bytes)) {
			put(line, (const char *)at, bytes);
			at += bytes;
			continue;
		}
		for (size_t n = bytes ? bytes : 1; n; n--, at++) {
			if (*at == '\n')
				put_text(line, "\\n");
			else if (*at == '\t')
				put_text(line, "\\t");
			else
				put_format(line, "\\x%02x", *at);
		}
	}
}

static void put_json_string(struct line *line, const char *text)
{
	size_t room = sizeof(line->bytes) - 1 - line->used;
	size_t bytes = actor__json_string(line->bytes + line->used, room, text);

	line->used += bytes < room ? bytes : room;
}

/* "2026-01-02T03:04:05.678901Z" */
static void put_time(struct line *line, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000u);
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	put_format(line, "%s.%06uZ", text, (unsigned int)(time_ns % 1000000000u / 1000));
}

static const char *level_name(enum actor_log_level level)
{
	static const char *const names[] = {"?", "debug", "info", "warning", "error"};

	return names[level >= ACTOR_LOG_DEBUG && level <= ACTOR_LOG_ERROR ? level : 0];
}

/* One write() as a rule, so that lines of several writers do not mix. */
static int line_write(int fd, struct line *line)
{
	const char *at = line->bytes;

	line->bytes[line->used++] = '\n';
	while (line->used) {
		ssize_t n = write(fd, at, line->used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		line->used -= (size_t)n;
	}
	return 0;
}

int actor__sink_text(void *data, const struct actor_log_record *record)
{
	struct line line;

	line.used = 0;
	put_time(&line, record->time_ns);
	put_format(&line, " %-7s ", level_name(record->level));
	put_escaped_text(&line, record->system);
	if (record->path[0]) {
		put_text(&line, " ");
		put_escaped_text(&line, record->path);
	}
	put_text(&line, ": ");
	put_escaped_text(&line, record->text);
	for (size_t i = 0; i < record->field_count; i++) {
		put_text(&line, i ? " " : " | ");
		put_escaped_text(&line, record->fields[i].key);
		put_text(&line, "=");
		put_escaped_text(&line, record->fields[i].value);
	}
	return line_write((int)(intptr_t)data, &line);
}

int actor__sink_json(void *data, const struct actor_log_record *record)
{
	struct line line;

	line.used = 0;
	put_text(&line, "{\"time\":\"");
	put_time(&line, record->time_ns);
	put_format(&line, "\",\"level\":\"%s\",\"system\":", level_name(record->level));
	put_json_string(&line, record->system);
	if (record->path[0]) {
		put_text(&line, ",\"actor\":");
		put_json_string(&line, record->path);
	}
	put_text(&line, ",\"text\":");
	put_json_string(&line, record->text);
	if (record->field_count)
		put_text(&line, ",\"context\":{");
	for (size_t i = 0; i < record->field_count; i++) {
		if (i)
			put_text(&line, ",");
		put_json_string(&line, record->fields[i].key);
		put_text(&line, ":");
		put_json_string(&line, record->fields[i].value);
	}
	put_text(&line, record->field_count ? "}}" : "}");
	return line_write((int)(intptr_t)data, &line);
}

void actor_log_to_text(struct actor_log_sink *sink, int fd)
{
	if (!sink)
		return;
	memset(sink, 0, sizeof(*sink));
	sink->size = sizeof(*sink);
	sink->write = actor__sink_text;
	sink->data = (void *)(intptr_t)fd;
}

void actor_log_to_json(struct actor_log_sink *sink, int fd)
{
	actor_log_to_text(sink, fd);
	if (!sink)
		return;
	sink->write = actor__sink_json;
}
