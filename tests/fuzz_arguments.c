/* SPDX-License-Identifier: MIT */
/* libFuzzer target: the parsers of what an operator types.
 *
 * The input is first read as one value by each parser, then as a command line, one word per line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/arguments.h"

#define WORDS_MAX 16

static void check_values(const char *text)
{
	struct number_address address;
	uint64_t value;

	if (number_parse_whole(text, 1, 1000, &value) == 0 && (value < 1 || value > 1000))
		abort();
	if (number_parse_seconds(text, &value) == 0 && value < 10000000)
		abort();
	if (number_parse_address(text, &address) == 0 && !address.bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	char *argv[WORDS_MAX + 2] = {"actorprobe"};
	struct arguments arguments;
	struct error error = {0};
	char *rest;
	int argc = 1;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_values(text);
	for (char *word = strtok_r(text, "\n", &rest); word && argc <= WORDS_MAX;
		word = strtok_r(NULL, "\n", &rest))
		argv[argc++] = word;
	/* Refused is fine, but then with a sentence; accepted only what can be run. */
	if (arguments_parse(&arguments, argc, argv, &error)) {
		if (!error.text[0] || strchr(error.text, '\n'))
			abort();
	} else if (arguments.command == OPTION_HIST && arguments.pid <= 0) {
		abort();
	}
	free(text);
	return 0;
}
