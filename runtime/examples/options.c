/* SPDX-License-Identifier: MIT */
/* The shop's command line: one table of numbers, a few words. */
#define _GNU_SOURCE

#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_PORT = 256,
	KEY_CONNECTIONS,
	KEY_IDLE,
	KEY_DISPATCHER,
	KEY_BUDGET,
	KEY_THROUGHPUT,
	KEY_LOOPS,
	KEY_PRICE,
	KEY_PRICING_THROUGHPUT,
	KEY_PRICING_DISPATCHER,
	KEY_PRICING_LOOP,
	KEY_IMPORT_WORK,
	KEY_IMPORT_ROWS,
	KEY_IMPORT_EVERY,
	KEY_IMPORTER_THROUGHPUT,
	KEY_LOAD,
	KEY_DURATION,
	KEY_QUIET,
	KEY_HELP,
};

static const struct argp_option known[] = {
	{"port", KEY_PORT, "N", 0, "port on 127.0.0.1 (default: any free one)", 0},
	{"connections", KEY_CONNECTIONS, "N", 0, "most connections at a time (default 256)", 0},
	{"idle-ms", KEY_IDLE, "MS", 0, "time for a client to send a request (default 5000)", 0},
	{"dispatcher", KEY_DISPATCHER, "NAME", 0,
		"hybrid (default), microtask, immediate or throughput", 0},
	{"budget", KEY_BUDGET, "N", 0, "units per pass of a hybrid or throughput dispatcher", 0},
	{"throughput", KEY_THROUGHPUT, "N", 0, "messages per turn (default 16)", 0},
	{"loops", KEY_LOOPS, "N", 0, "loops with threads of their own (default 0)", 0},
	{"price-us", KEY_PRICE, "US", 0, "work for one quote (default 300)", 0},
	{"pricing-throughput", KEY_PRICING_THROUGHPUT, "N", 0, "messages per turn of pricing", 0},
	{"pricing-dispatcher", KEY_PRICING_DISPATCHER, "NAME", 0, "a dispatcher for pricing alone",
		0},
	{"pricing-loop", KEY_PRICING_LOOP, 0, 0, "pricing has a loop of its own", 0},
	{"import-us", KEY_IMPORT_WORK, "US", 0, "work for one imported row (default 20)", 0},
	{"import-rows", KEY_IMPORT_ROWS, "N", 0, "rows of one import (default 2000)", 0},
	{"import-every", KEY_IMPORT_EVERY, "MS", 0, "import again and again", 0},
	{"importer-throughput", KEY_IMPORTER_THROUGHPUT, "N", 0,
		"messages per turn of the importer", 0},
	{"load", KEY_LOAD, "R", 0, "make R requests per second itself", 0},
	{"duration", KEY_DURATION, "S", 0, "end after this time (default: at SIGINT, SIGTERM)", 0},
	{"quiet", KEY_QUIET, 0, 0, "print the address only", 0},
	{"help", KEY_HELP, 0, 0, "print this text", -1},
	{0, 0, 0, 0, 0, 0},
};

static const struct argp parser;

static const struct {
	int key;
	size_t offset;
	int64_t least;
	int64_t most;
} numbers[] = {
	{KEY_PORT, offsetof(struct options, port), 0, 65535},
	{KEY_CONNECTIONS, offsetof(struct options, connections), 1, 10000},
	{KEY_IDLE, offsetof(struct options, idle_ms), 1, 600000},
	{KEY_BUDGET, offsetof(struct options, budget), 1, ACTOR_BUDGET_MAX},
	{KEY_THROUGHPUT, offsetof(struct options, throughput), 1, ACTOR_BUDGET_MAX},
	{KEY_LOOPS, offsetof(struct options, loops), 0, 64},
	{KEY_PRICE, offsetof(struct options, pricing_us), 0, 1000000},
	{KEY_PRICING_THROUGHPUT, offsetof(struct options, pricing_throughput), 1, ACTOR_BUDGET_MAX},
	{KEY_IMPORT_WORK, offsetof(struct options, import_us), 0, 1000000},
	{KEY_IMPORT_ROWS, offsetof(struct options, import_rows), 1, 100000},
	{KEY_IMPORT_EVERY, offsetof(struct options, import_every_ms), 1, 3600000},
	{KEY_IMPORTER_THROUGHPUT, offsetof(struct options, importer_throughput), 1,
		ACTOR_BUDGET_MAX},
	{KEY_LOAD, offsetof(struct options, load), 1, 100000},
	{KEY_DURATION, offsetof(struct options, duration_s), 1, 1000000},
};

static const struct {
	const char *name;
	enum actor_dispatcher_kind kind;
} dispatchers[] = {
	{"hybrid", ACTOR_HYBRID},
	{"microtask", ACTOR_MICROTASK},
	{"immediate", ACTOR_IMMEDIATE},
	{"throughput", ACTOR_THROUGHPUT_DISPATCHER},
};

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("shop: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static const char *name_of(int key)
{
	for (size_t i = 0; known[i].name; i++)
		if (known[i].key == key)
			return known[i].name;
	return "";
}

static enum actor_dispatcher_kind dispatcher_of(int key, const char *value)
{
	for (size_t i = 0; i < sizeof(dispatchers) / sizeof(dispatchers[0]); i++)
		if (strcmp(dispatchers[i].name, value) == 0)
			return dispatchers[i].kind;
	refuse("--%s '%s' is no dispatcher; use hybrid, microtask, immediate or throughput",
		name_of(key), value);
}

static int number_set(struct options *options, int key, const char *value)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *end;
		long long number;

		if (numbers[i].key != key)
			continue;
		errno = 0;
		number = strtoll(value, &end, 10);
		if (errno || end == value || *end || value[0] < '0' || value[0] > '9' ||
			number < numbers[i].least || number > numbers[i].most)
			refuse("--%s '%s' must be a whole number from %lld to %lld", name_of(key),
				value, (long long)numbers[i].least, (long long)numbers[i].most);
		*(int64_t *)((char *)options + numbers[i].offset) = number;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_key(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_DISPATCHER:
		options->dispatcher = dispatcher_of(key, value);
		return 0;
	case KEY_PRICING_DISPATCHER:
		options->pricing_dispatcher = dispatcher_of(key, value);
		return 0;
	case KEY_PRICING_LOOP:
		options->pricing_loop = true;
		return 0;
	case KEY_QUIET:
		options->quiet = true;
		return 0;
	case KEY_HELP:
		argp_help(&parser, stdout, ARGP_HELP_STD_HELP, program_invocation_short_name);
		exit(0);
	case ARGP_KEY_ARG:
		refuse("'%s' is one word too many; see shop --help", value);
	case ARGP_KEY_ERROR:
		refuse("option '%s' is unknown, ambiguous, lacks its value or takes none; see "
		       "shop --help",
			state->argv[state->next > 1 ? state->next - 1 : 0]);
	default:
		return number_set(options, key, value);
	}
}

static const struct argp parser = {
	.options = known,
	.parser = parse_key,
	.doc = "A small HTTP shop made of actors: GET /product/N, POST /import.",
};

void options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.connections = 256,
		.idle_ms = 5000,
		.dispatcher = ACTOR_HYBRID,
		.pricing_us = 300,
		.import_us = 20,
		.import_rows = 2000,
	};
	if (argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, options))
		refuse("the command line cannot be read; see shop --help");
	if (options->budget && options->dispatcher != ACTOR_HYBRID &&
		options->dispatcher != ACTOR_THROUGHPUT_DISPATCHER)
		refuse("--budget means nothing to this dispatcher; only hybrid and throughput "
		       "have one");
	if (options->pricing_loop && !options->loops)
		options->loops = 1;
}
