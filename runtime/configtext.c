/* SPDX-License-Identifier: MIT */
/* Reads a configuration file and looks for what must not reach libconfig. */
#define _GNU_SOURCE
#include "configtext.h"

#include "actor.h"
#include "memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int actor__config_refuse(struct actor__config_error *error, uint32_t line, const char *format, ...)
{
	size_t used;
	va_list arguments;

	if (error->text[0])
		return ACTOR_ECONFIG;
	if (line)
		snprintf(error->text, sizeof(error->text), "%.200s:%u: ", error->file, line);
	else
		snprintf(error->text, sizeof(error->text), "%.200s: ", error->file);
	used = strlen(error->text);
	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
	va_end(arguments);
	for (char *c = error->text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	return ACTOR_ECONFIG;
}

/* ---- reading ---- */

/* Up to `room` bytes; the number, or -1 with errno. */
static ssize_t read_all(int file, char *to, size_t room)
{
	size_t used = 0;

	while (used < room) {
		ssize_t n = read(file, to + used, room - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static int read_file(int file, char **text, struct actor__config_error *error)
{
	struct stat about;
	ssize_t bytes;
	int rc;

	if (fstat(file, &about) < 0)
		return actor__config_refuse(error, 0, "cannot be read: %s", strerrordesc_np(errno));
	if (!S_ISREG(about.st_mode))
		return actor__config_refuse(error, 0, "is not a regular file");
	*text = actor__heap_alloc(ACTOR__CONFIG_BYTES + 1);
	if (!*text)
		return -ENOMEM;
	bytes = read_all(file, *text, ACTOR__CONFIG_BYTES + 1);
	if (bytes < 0)
		rc = actor__config_refuse(error, 0, "cannot be read: %s", strerrordesc_np(errno));
	else if (bytes > (ssize_t)ACTOR__CONFIG_BYTES)
		rc = actor__config_refuse(error, 0, "is larger than %u bytes", ACTOR__CONFIG_BYTES);
	else
		rc = actor__configtext_check(*text, (size_t)bytes, error);
	if (rc) {
		actor__heap_free(*text);
		*text = NULL;
	} else {
		(*text)[bytes] = '\0';
	}
	return rc;
}

int actor__configtext_read(char **text, struct actor__config_error *error)
{
	/* Not blocking: it might be a pipe that nobody writes to. */
	int file = open(error->file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc;

	*text = NULL;
	if (file < 0)
		return actor__config_refuse(error, 0, "cannot be read: %s", strerrordesc_np(errno));
	rc = read_file(file, text, error);
	close(file);
	return rc;
}

/* ---- looking through it ---- */

/* Where the look has come to. */
struct look {
	const char *at;
	const char *end;
	uint32_t line;
	uint32_t levels;
	struct actor__config_error *error;
};

static bool begins(const struct look *look, const char *with)
{
	size_t bytes = strlen(with);

	return (size_t)(look->end - look->at) >= bytes && memcmp(look->at, with, bytes) == 0;
}

/* One byte on. */
static void step(struct look *look)
{
	if (*look->at++ == '\n')
		look->line++;
}

static void rest_of_line(struct look *look)
{
	while (look->at < look->end && *look->at != '\n')
		look->at++;
}

static int comment(struct look *look)
{
	uint32_t line = look->line;

	look->at += 2;
	while (look->at < look->end && !begins(look, "*/"))
		step(look);
	if (look->at == look->end)
		return actor__config_refuse(look->error, line, "the comment has no end");
	look->at += 2;
	return 0;
}

static int string(struct look *look)
{
	uint32_t line = look->line;

	step(look);
	while (look->at < look->end && *look->at != '"') {
		if (*look->at == '\\' && look->at + 1 < look->end)
			step(look);
		step(look);
	}
	if (look->at == look->end)
		return actor__config_refuse(look->error, line, "the string has no end");
	step(look);
	return 0;
}

static bool of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '*' || c == '-';
}

/* A name or a number. */
static int word(struct look *look)
{
	const char *from = look->at;
	int bytes;

	while (look->at < look->end && of_word(*look->at))
		look->at++;
	bytes = (int)(look->at - from);
	if (isdigit((unsigned char)*from) && bytes > (int)ACTOR__CONFIG_DIGITS)
		return actor__config_refuse(look->error, look->line,
			"the number %.*s is too long: at most %u digits", bytes > 40 ? 40 : bytes,
			from, ACTOR__CONFIG_DIGITS);
	return 0;
}

static int bracket(struct look *look)
{
	if (strchr("{[(", *look->at)) {
		if (++look->levels > ACTOR__CONFIG_LEVELS)
			return actor__config_refuse(look->error, look->line,
				"groups and lists are nested more than %u levels deep",
				ACTOR__CONFIG_LEVELS);
	} else if (look->levels) {
		look->levels--;
	}
	look->at++;
	return 0;
}

static int token(struct look *look)
{
	char c = *look->at;

	if (c == '"')
		return string(look);
	if (begins(look, "/*"))
		return comment(look);
	if (c == '#' || begins(look, "//"))
		rest_of_line(look);
	else if (isalnum((unsigned char)c))
		return word(look);
	else if (c && strchr("{}[]()", c))
		return bracket(look);
	else
		step(look);
	return 0;
}

/* In comments and strings too: nothing depends on both sides agreeing where these end. */
static int includes(const char *text, size_t bytes, struct actor__config_error *error)
{
	static const char word[] = "@include";
	uint32_t line = 1;
	bool fresh = true; /* nothing but blanks in this line so far */

	for (size_t i = 0; i < bytes; i++) {
		if (!text[i])
			return actor__config_refuse(error, line, "a NUL byte is not allowed");
		if (fresh && bytes - i >= sizeof(word) - 1 &&
			memcmp(text + i, word, sizeof(word) - 1) == 0)
			return actor__config_refuse(
				error, line, "@include is not allowed: all keys stand in one file");
		fresh = text[i] == '\n' || (fresh && (text[i] == ' ' || text[i] == '\t'));
		line += text[i] == '\n';
	}
	return 0;
}

int actor__configtext_check(const char *text, size_t bytes, struct actor__config_error *error)
{
	struct look look = {text, text + bytes, 1, 0, error};
	int rc = includes(text, bytes, error);

	while (!rc && look.at < look.end)
		rc = token(&look);
	return rc;
}
