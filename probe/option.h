/* SPDX-License-Identifier: MIT */
/* The table of options and commands, and the text that --help prints. */
#ifndef PROBE_OPTION_H
#define PROBE_OPTION_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum option_command {
	OPTION_LIVE, /* no command word: -p PID alone */
	OPTION_LIST,
	OPTION_HIST,
	OPTION_EXPORT,
	OPTION_DOCTOR,
	OPTION_RECORD,
	OPTION_REPORT,
	OPTION_DIAGNOSE,
	OPTION_HELP,
	OPTION_VERSION,
};

#define OPTION_BIT(command) (1u << (command))
#define OPTION_OBSERVING                                                                           \
	(OPTION_BIT(OPTION_LIVE) | OPTION_BIT(OPTION_HIST) | OPTION_BIT(OPTION_EXPORT) |           \
		OPTION_BIT(OPTION_RECORD) | OPTION_BIT(OPTION_DIAGNOSE))
#define OPTION_PRINTING (OPTION_BIT(OPTION_LIVE) | OPTION_BIT(OPTION_HIST))

/* Options without a letter, and help; those with one have it as their key. */
enum option_key {
	KEY_HELP = 'h',
	KEY_BY = 256,
	KEY_LISTEN,
	KEY_PROCESS,
	KEY_EXE,
	KEY_ALL,
	KEY_TTL,
	KEY_MODE,
	KEY_SAMPLE,
	KEY_OVERHEAD,
	KEY_PERF,
	KEY_MAX_SERIES,
	KEY_VERSION,
	KEY_MAX_SIZE,
	KEY_CHROME_TRACE,
	KEY_ONCE,
	KEY_TEXTFILE,
	KEY_EVERY,
	KEY_OTLP,
};

extern const struct argp_option option_table[];
extern const char option_description[];

/* Place of a key in the table; the place of its end for a key that is not there. */
size_t option_index(int key);

/* The commands that an option belongs to, as bits. */
uint32_t option_commands(int key);

/* The one option that a word like "--by=x" or "-p" means, or the end of the table. */
const struct argp_option *option_of(const char *word);

const char *option_command_name(enum option_command command);

/* Whether the word is a command, and which. */
bool option_command_parse(const char *word, enum option_command *command);

#endif
