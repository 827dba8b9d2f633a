/* SPDX-License-Identifier: MIT */
/* The formats that a scrape can have, and which of them a request is answered in. */
#include "probe/format.h"

#include "probe/accept.h"
#include "probe/exposition.h"
#include "probe/protobuf.h"

#define CONDITIONS_MAX 2

static const struct {
	const char *content_type;
	const char *type;
	const char *subtype;
	/* What a parameter must be if a range has it; others do not matter. */
	struct {
		const char *name;
		const char *value;
	} conditions[CONDITIONS_MAX];
	void (*render)(struct text *t, const struct snapshot *s);
} formats[FORMAT_COUNT] = {
	[FORMAT_TEXT] = {EXPOSITION_CONTENT_TYPE, "text", "plain", {{"version", "0.0.4"}},
		exposition_render},
	[FORMAT_OPENMETRICS] = {EXPOSITION_OPENMETRICS_CONTENT_TYPE, "application",
		"openmetrics-text", {{"version", "1.0.0"}}, exposition_render_openmetrics},
	[FORMAT_PROTOBUF] = {PROTOBUF_CONTENT_TYPE, "application", "vnd.google.protobuf",
		{{"proto", "io.prometheus.client.MetricFamily"}, {"encoding", "delimited"}},
		protobuf_render},
};

static bool meets_conditions(const struct accept_range *range, enum format format)
{
	for (size_t i = 0; i < range->parameter_count; i++)
		for (size_t c = 0; c < CONDITIONS_MAX; c++)
			if (formats[format].conditions[c].name &&
				accept_is(range->parameters[i].name,
					formats[format].conditions[c].name) &&
				!accept_is(range->parameters[i].value,
					formats[format].conditions[c].value))
				return false;
	return true;
}

/* How closely a range names the format: 0 = not at all, 1 = all types, 2 = all subtypes, 3 = it. */
static unsigned int closeness(const struct accept_range *range, enum format format)
{
	if (accept_is(range->type, "*") && accept_is(range->subtype, "*"))
		return 1;
	if (!accept_is(range->type, formats[format].type))
		return 0;
	if (accept_is(range->subtype, "*"))
		return 2;
	if (!accept_is(range->subtype, formats[format].subtype))
		return 0;
	return meets_conditions(range, format) ? 3 : 0;
}

/* What the ranges say of one format: the closest one decides, of equally close ones the best. */
struct liking {
	unsigned int closeness;
	unsigned int quality;
	unsigned int place; /* of the range in the header */
};

static void liking_consider(
	struct liking *l, unsigned int close, unsigned int quality, unsigned int place)
{
	if (close < l->closeness || (close == l->closeness && quality <= l->quality))
		return;
	*l = (struct liking){close, quality, place};
}

static bool liked_more(const struct liking *a, const struct liking *b)
{
	if (a->quality != b->quality)
		return a->quality > b->quality;
	if (a->closeness != b->closeness)
		return a->closeness > b->closeness;
	return a->place < b->place;
}

enum format format_negotiate(const char *accept)
{
	struct liking likings[FORMAT_COUNT] = {0};
	struct accept_range range;
	enum format best = FORMAT_TEXT;

	for (unsigned int place = 0; accept && accept_next(&accept, &range); place++)
		for (enum format f = 0; f < FORMAT_COUNT; f++)
			if (closeness(&range, f))
				liking_consider(
					&likings[f], closeness(&range, f), range.quality, place);
	for (enum format f = 0; f < FORMAT_COUNT; f++)
		if (liked_more(&likings[f], &likings[best]))
			best = f;
	return best;
}

const char *format_content_type(enum format format)
{
	return formats[format].content_type;
}

void format_render(enum format format, struct text *t, const struct snapshot *s)
{
	formats[format].render(t, s);
}
