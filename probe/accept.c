/* SPDX-License-Identifier: MIT */
/* Reads the header Accept of a request: which media types are wanted, and how much. */
#include "probe/accept.h"

#include <string.h>
#include <strings.h>

static bool is_token(char c)
{
	return c > ' ' && c < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static struct accept_piece read_token(const char **at)
{
	struct accept_piece piece = {*at, 0};

	while (is_token(piece.bytes[piece.count]))
		piece.count++;
	*at += piece.count;
	return piece;
}

/* The text between quotes as it stands there. False without a closing one. */
static bool read_quoted(const char **at, struct accept_piece *piece)
{
	const char *end = *at + 1;

	*piece = (struct accept_piece){end, 0};
	while (*end && *end != '"')
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end)
		return false;
	piece->count = (size_t)(end - piece->bytes);
	*at = end + 1;
	return true;
}

/* To the comma that ends the range, or to the end; a comma between quotes ends nothing. */
static const char *skip_range(const char *at)
{
	struct accept_piece ignored;

	while (*at && *at != ',')
		if (*at != '"' || !read_quoted(&at, &ignored))
			at++;
	return at;
}

/* "1", "0.25", "0.": at most three decimals, at most 1. */
static bool read_quality(struct accept_piece text, unsigned int *quality)
{
	unsigned int weight = 100;

	if (text.count == 0 || text.count > 5 || (text.bytes[0] != '0' && text.bytes[0] != '1'))
		return false;
	if (text.count > 1 && text.bytes[1] != '.')
		return false;
	*quality = text.bytes[0] == '1' ? ACCEPT_QUALITY_MAX : 0;
	for (size_t i = 2; i < text.count; i++, weight /= 10) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return false;
		*quality += (unsigned int)(text.bytes[i] - '0') * weight;
	}
	return *quality <= ACCEPT_QUALITY_MAX;
}

static bool read_parameter(const char **at, struct accept_range *range)
{
	struct accept_piece name = read_token(at), value;

	if (name.count == 0 || **at != '=')
		return false;
	++*at;
	if (**at == '"') {
		if (!read_quoted(at, &value))
			return false;
	} else {
		value = read_token(at);
	}
	if (accept_is(name, "q"))
		return read_quality(value, &range->quality);
	if (range->parameter_count == ACCEPT_PARAMETERS_MAX)
		return false;
	range->parameters[range->parameter_count].name = name;
	range->parameters[range->parameter_count++].value = value;
	return true;
}

/* True if the range is well formed, then `*at` is at its end. */
static bool read_range(const char **at, struct accept_range *range)
{
	*range = (struct accept_range){.quality = ACCEPT_QUALITY_MAX};
	range->type = read_token(at);
	if (range->type.count == 0 || **at != '/')
		return false;
	++*at;
	range->subtype = read_token(at);
	if (range->subtype.count == 0)
		return false;
	for (*at = skip_blanks(*at); **at == ';'; *at = skip_blanks(*at)) {
		*at = skip_blanks(*at + 1);
		if (**at == ';' || **at == ',' || !**at)
			continue;
		if (!read_parameter(at, range))
			return false;
	}
	return **at == ',' || !**at;
}

bool accept_next(const char **at, struct accept_range *range)
{
	while (**at) {
		bool fine;

		*at += strspn(*at, " \t,");
		if (!**at)
			return false;
		fine = read_range(at, range);
		*at = skip_range(*at);
		if (fine)
			return true;
	}
	return false;
}

bool accept_is(struct accept_piece piece, const char *text)
{
	return strlen(text) == piece.count && strncasecmp(piece.bytes, text, piece.count) == 0;
}
