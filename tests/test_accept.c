/* SPDX-License-Identifier: MIT */
/* The ranges of a header Accept, and the format that it gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "probe/accept.h"
#include "probe/format.h"

/* "type/subtype name=value ... @quality; ..." of all ranges. */
static const char *spell(const char *header)
{
	static char text[512];
	struct accept_range r;
	size_t used = 0;

	text[0] = '\0';
	while (accept_next(&header, &r)) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s/%.*s",
			used ? "; " : "", (int)r.type.count, r.type.bytes, (int)r.subtype.count,
			r.subtype.bytes);
		for (size_t i = 0; i < r.parameter_count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %.*s=%.*s",
				(int)r.parameters[i].name.count, r.parameters[i].name.bytes,
				(int)r.parameters[i].value.count, r.parameters[i].value.bytes);
		used += (size_t)snprintf(text + used, sizeof(text) - used, " @%u", r.quality);
	}
	return text;
}

static void ranges_are_read(void **state)
{
	static const struct {
		const char *header, *ranges;
	} rows[] = {
		{"", ""},
		{" , ,\t,", ""},
		{"text/plain", "text/plain @1000"},
		{"*/*;q=0.1", "*/* @100"},
		{"text/plain ; version=0.0.4 ;q=0.5 , a/b",
			"text/plain version=0.0.4 @500; a/b @1000"},
		{"a/b;x=\"1,2;3\";q=0.125,c/d", "a/b x=1,2;3 @125; c/d @1000"},
		{"a/b;x=\"\\\"\";Q=1.000", "a/b x=\\\" @1000"},
		{"a/b;;q=0", "a/b @0"},
		{"a/b;q=0.", "a/b @0"},
		{"a/b;x=", "a/b x= @1000"},
		/* Malformed ones are passed over, those beside them are not. */
		{"a/b;q=2,c/d", "c/d @1000"},
		{"a/b;q=1.001,c/d", "c/d @1000"},
		{"a/b;q=-1,c/d", "c/d @1000"},
		{"a/b;q=0.1234,c/d", "c/d @1000"},
		{"a/b;q=,c/d", "c/d @1000"},
		{"a/b;q,c/d", "c/d @1000"},
		{"a/b;q=0,5,c/d", "a/b @0; c/d @1000"},
		{"a,b/,/c,d/e f,g/h", "g/h @1000"},
		{"a/b;x=\"never ends,c/d", "c/d @1000"},
		{"a/b;x=1;x=2;x=3;x=4;x=5;x=6;x=7;x=8;x=9,c/d", "c/d @1000"},
		{"\xff/\x01,c/d", "c/d @1000"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(spell(rows[i].header), rows[i].ranges);
}

#define PROTOBUF                                                                                   \
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding="        \
	"delimited"

static void the_format_is_what_is_liked_best(void **state)
{
	static const struct {
		const char *header;
		enum format format;
	} rows[] = {
		{NULL, FORMAT_TEXT},
		{"", FORMAT_TEXT},
		{"*/*", FORMAT_TEXT},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", FORMAT_TEXT},
		{"image/png", FORMAT_TEXT},
		{"text/plain", FORMAT_TEXT},
		{"application/openmetrics-text", FORMAT_OPENMETRICS},
		{"Application/OpenMetrics-Text; Version=1.0.0", FORMAT_OPENMETRICS},
		{"application/openmetrics-text; version=\"1.0.0\"; charset=utf-8",
			FORMAT_OPENMETRICS},
		{"application/openmetrics-text;version=0.0.1", FORMAT_TEXT},
		{"application/openmetrics-text;version=2.0.0", FORMAT_TEXT},
		{"application/*;q=0.5,text/plain;q=0.4", FORMAT_OPENMETRICS},
		{PROTOBUF, FORMAT_PROTOBUF},
		{"application/vnd.google.protobuf", FORMAT_PROTOBUF},
		{"application/vnd.google.protobuf;encoding=text", FORMAT_TEXT},
		{"application/vnd.google.protobuf;proto=other;encoding=delimited", FORMAT_TEXT},
		/* What Prometheus servers send, older, plain and with native histograms. */
		{"application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/"
		 "*;q=0.1",
			FORMAT_TEXT},
		{"application/openmetrics-text;version=1.0.0,application/"
		 "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			FORMAT_OPENMETRICS},
		{PROTOBUF ",application/openmetrics-text;version=1.0.0;q=0.8,application/"
			  "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/"
			  "*;q=0.1",
			FORMAT_PROTOBUF},
		{PROTOBUF ";q=0.3,text/plain;q=0.7", FORMAT_TEXT},
		/* The closest range decides, not the best one. */
		{"text/plain;q=0.1,*/*;q=0.9", FORMAT_OPENMETRICS},
		{"text/*;q=0.2,application/*;q=0.1", FORMAT_TEXT},
		{"text/plain;q=0,*/*;q=0.5", FORMAT_OPENMETRICS},
		{"*/*;q=0", FORMAT_TEXT},
		{"*/*,application/openmetrics-text", FORMAT_OPENMETRICS},
		/* Equally liked and equally close: the first one. */
		{PROTOBUF ",text/plain", FORMAT_PROTOBUF},
		{"text/plain," PROTOBUF, FORMAT_TEXT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(format_negotiate(rows[i].header), rows[i].format);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_read),
		cmocka_unit_test(the_format_is_what_is_liked_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
