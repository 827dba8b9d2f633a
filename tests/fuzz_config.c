/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any bytes as a configuration file; or, if the first one is odd, each byte as a
 * word of such files, since libconfig's own parser gives no hint about how to get past it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libconfig 1.5 forgets strings before a syntax error. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig";
}

static void check_range(int64_t value, int64_t least, int64_t most)
{
	if (value != ACTOR__UNSET && (value < least || value > most))
		abort();
}

static void check(struct actor__config *config)
{
	check_range(config->override, 0, 1);
	check_range(config->throughput, 1, ACTOR_BUDGET_MAX);
	check_range(config->dispatcher, ACTOR_HYBRID, ACTOR_THROUGHPUT_DISPATCHER);
	check_range(config->dispatcher_throughput, 1, ACTOR_BUDGET_MAX);
	check_range(config->hybrid_budget, 1, ACTOR_BUDGET_MAX);
	check_range(config->drain_ms, 0, 3600000);
	check_range(config->phase_timeout_ms, 1, 3600000);
	check_range(config->log_level, ACTOR_LOG_DEBUG, ACTOR_LOG_ERROR + 1);
	for (uint32_t i = 0; i < config->class_count; i++) {
		struct actor__config_class *cls = &config->classes[i];

		check_range(cls->throughput, 1, ACTOR_BUDGET_MAX);
		check_range(cls->dispatcher, ACTOR_HYBRID, ACTOR_THROUGHPUT_DISPATCHER);
		check_range(cls->budget, 1, ACTOR_BUDGET_MAX);
		if (actor__config_class(config, cls->name) != cls)
			abort();
	}
}

static const char *const words[] = {"actor", "dispatcher", "class", "system", "log", "override",
	"throughput", "default", "hybrid_budget", "drain_ms", "level", "kind", "shutdown", "phase_timeout_ms", "budget", "name",
	"look", "=", ":", "{", "}", "(", ")", "[", "]", ";", ",", "\n", "\"hybrid\"",
	"\"Throughput\"", "\"immediate\"", "\"info\"", "\"a name\"", "\"a/b\"", "true", "false",
	"0", "-1", "7", "1000", "1000001", "0x10", "5L", "1.5", "4294967297", "= {", "};", "# c\n",
	"/* c */", "\"", "@include \"x\""};

#define WORD_BYTES 32 /* more than the longest word and the blank behind it */

/* The text that the input stands for, with a NUL behind it; the caller frees it. */
static char *text_of(const uint8_t *data, size_t size, size_t *bytes)
{
	char *text = malloc(size * WORD_BYTES + 1);

	*bytes = 0;
	if (!text)
		return NULL;
	if (size && data[0] & 1) {
		for (size_t i = 1; i < size; i++)
			*bytes += (size_t)sprintf(text + *bytes, "%s ",
				words[data[i] % (sizeof(words) / sizeof(words[0]))]);
	} else if (size) {
		memcpy(text, data, size);
		*bytes = size;
	}
	text[*bytes] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct actor__config_error error = {.file = "fuzz.conf"};
	struct actor__config *config = NULL;
	size_t bytes;
	char *text = text_of(data, size, &bytes);
	int rc;

	if (!text)
		return 0;
	rc = actor__configtext_check(text, bytes, &error);
	if (!rc)
		rc = actor__config_parse(&config, text, &error);
	/* Refused is fine, but then with one printable line. */
	if (rc && (rc != ACTOR_ECONFIG || config || !strstr(error.text, "fuzz.conf")))
		abort();
	for (const char *c = error.text; *c; c++)
		if (*c < 0x20 || *c >= 0x7f)
			abort();
	if (!rc)
		check(config);
	actor__config_free(config);
	free(text);
	return 0;
}
