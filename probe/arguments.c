/* SPDX-License-Identifier: MIT */
/* The command line: one table of options, and what an operator asked for. */
#define _GNU_SOURCE

#include "probe/arguments.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(command)  (1u << (command))
#define OBSERVING     (BIT(ARGUMENTS_LIVE) | BIT(ARGUMENTS_HIST) | BIT(ARGUMENTS_EXPORT))
#define PRINTING      (BIT(ARGUMENTS_LIVE) | BIT(ARGUMENTS_HIST))
#define EVERY_COMMAND UINT32_MAX

#define DEFAULT_MAX_SERIES 1000
#define LAST_MAX_SERIES	   100000

enum long_only {
	KEY_BY = 256,
	KEY_LISTEN,
	KEY_MODE,
	KEY_PERF,
	KEY_MAX_SERIES,
	KEY_HELP,
	KEY_VERSION,
};

static const char description[] =
	"Shows where the messages of a running libactor program wait, from outside.\n"
	"\n"
	"  actorprobe -p PID [interval [count]]        live view\n"
	"  actorprobe hist -p PID [interval [count]]   histograms\n"
	"  actorprobe export -p PID                    metrics for Prometheus\n"
	"  actorprobe list                             processes that can be observed\n"
	"  actorprobe doctor                           what this host allows\n"
	"\n"
	"Options:"
	"\v"
	"Examples:\n"
	"  actorprobe list                     # which processes carry libactor\n"
	"  actorprobe -p 181                   # who waits where, every second\n"
	"  actorprobe hist -p 181 -d 10        # histograms of the next ten seconds\n"
	"  actorprobe hist -p 181 1 5          # five blocks, one per second\n"
	"  actorprobe hist -p 181 -d 5 -j --by class\n"
	"                                      # per class, one JSON object per line\n"
	"  actorprobe export -p 181 --listen 0.0.0.0:9464\n"
	"                                      # http://HOST:9464/metrics\n"
	"\n"
	"Exit status: 0 fine, 1 usage or output, 2 target, 3 permission, 4 kernel,\n"
	"5 no probes.";

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0, "observe this process", 0},
	{"duration", 'd', "SECONDS", 0, "end after this time", 0},
	{"by", KEY_BY, "LABEL", 0, "hist: group by dispatcher, class or actor", 0},
	{"json", 'j', 0, 0, "one JSON object per line", 0},
	{"timestamp", 'T', 0, 0, "print the time of day above each block", 0},
	{"listen", KEY_LISTEN, "ADDR[:PORT]", 0, "export: where to serve (default 127.0.0.1:9464)",
		0},
	{"max-series", KEY_MAX_SERIES, "N", 0, "cap on label sets per metric (default 1000)", 0},
	{"mode", KEY_MODE, "MODE", 0, "trace, the only mode of this version", 0},
	{"perf-events", KEY_PERF, 0, 0, "attach by perf events, not by uprobe_multi", 0},
	{"verbose", 'v', 0, 0, "say what is done; hist: print all six histograms", 0},
	{"help", KEY_HELP, 0, 0, "print this text", -1},
	{"version", KEY_VERSION, 0, 0, "print the version", -1},
	{0, 0, 0, 0, 0, 0},
};

static const struct {
	const char *name;
	enum arguments_command command;
} commands[] = {
	{"list", ARGUMENTS_LIST},
	{"hist", ARGUMENTS_HIST},
	{"export", ARGUMENTS_EXPORT},
	{"doctor", ARGUMENTS_DOCTOR},
};

/* Which commands an option belongs to, beside those that all of them know. */
static const struct {
	int key;
	uint32_t commands;
} scopes[] = {
	{'p', OBSERVING},
	{'d', OBSERVING},
	{KEY_BY, BIT(ARGUMENTS_HIST)},
	{'j', BIT(ARGUMENTS_HIST) | BIT(ARGUMENTS_LIST) | BIT(ARGUMENTS_DOCTOR)},
	{'T', PRINTING},
	{KEY_LISTEN, BIT(ARGUMENTS_EXPORT)},
	{KEY_MAX_SERIES, OBSERVING},
	{KEY_MODE, OBSERVING},
	{KEY_PERF, OBSERVING},
};

struct parse {
	struct arguments *arguments;
	struct error *error;
	unsigned int positionals;
	bool command_given;
	uint64_t given; /* bit i: options[i] */
};

static size_t option_index(int key)
{
	size_t i = 0;

	while (options[i].name && options[i].key != key)
		i++;
	return i;
}

static int refuse(struct parse *p, const char *format, const char *value)
{
	error_set(p->error, EXIT_USAGE, format, value);
	return EINVAL;
}

static const char *command_name(enum arguments_command command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == command)
			return commands[i].name;
	return "-p PID";
}

/* ---- values ---- */

static int parse_pid(struct parse *p, const char *value)
{
	uint64_t pid;

	if (number_parse_whole(value, 1, INT32_MAX, &pid))
		return refuse(p,
			"bad process id '%s'; give the number that `actorprobe list` prints",
			value);
	p->arguments->pid = (pid_t)pid;
	return 0;
}

static int parse_by(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum grouping by;
	} labels[] = {
		{"dispatcher", GROUPING_DISPATCHER},
		{"class", GROUPING_CLASS},
		{"actor", GROUPING_ACTOR},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (strcmp(labels[i].name, value) == 0) {
			p->arguments->by = labels[i].by;
			return 0;
		}
	}
	return refuse(p, "cannot group by '%s'; use --by dispatcher, class or actor", value);
}

static int parse_mode(struct parse *p, const char *value)
{
	if (strcmp(value, "trace") == 0)
		return 0;
	if (strcmp(value, "ledger") == 0)
		return refuse(p, "mode '%s' is not in this version yet; use --mode trace", value);
	return refuse(p, "unknown mode '%s'; use --mode trace", value);
}

static int parse_max_series(struct parse *p, const char *value)
{
	uint64_t count;

	if (number_parse_whole(value, 1, LAST_MAX_SERIES, &count))
		return refuse(p, "bad number of series '%s'; give 1 to 100000", value);
	p->arguments->max_series = (uint32_t)count;
	return 0;
}

static bool parse_command(struct parse *p, const char *value)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, value) == 0) {
			p->arguments->command = commands[i].command;
			p->command_given = true;
			return true;
		}
	}
	return false;
}

static int parse_positional(struct parse *p, const char *value)
{
	struct arguments *a = p->arguments;

	if (!p->command_given && !p->positionals && parse_command(p, value))
		return 0;
	p->positionals++;
	if (p->positionals == 1 && !p->command_given && (value[0] < '0' || value[0] > '9'))
		return refuse(p,
			"unknown command '%s'; use list, hist, export or doctor, or only "
			"-p PID for the live view",
			value);
	if (p->positionals == 1 && number_parse_seconds(value, &a->interval_ns))
		return refuse(
			p, "bad interval '%s'; give seconds from 0.01 on, like 1 or 0.5", value);
	if (p->positionals == 2 && number_parse_whole(value, 1, UINT32_MAX, &a->count))
		return refuse(p, "bad count '%s'; give a whole number from 1 on", value);
	if (p->positionals > 2)
		return refuse(
			p, "one argument too many: '%s'; give interval and count only", value);
	return 0;
}

/* ---- what argp could not parse ---- */

static bool word_means(const char *word, const struct argp_option *option)
{
	size_t bytes = (size_t)(strchrnul(word, '=') - word);

	if (word[0] != '-' || bytes < 2)
		return false;
	if (word[1] != '-')
		return !word[2] && option->key == word[1];
	return bytes > 2 && strncmp(option->name, word + 2, bytes - 2) == 0;
}

/* The one option that a word of the command line means, or the end of the table. */
static const struct argp_option *option_of(const char *word)
{
	const struct argp_option *found = &options[option_index(0)];

	for (size_t i = 0; options[i].name; i++) {
		if (!word_means(word, &options[i]))
			continue;
		if (found->name)
			return &options[option_index(0)];
		found = &options[i];
	}
	return found;
}

/* getopt stopped behind the word it could not use, or in the midst of a cluster of letters. */
static int refuse_option(struct parse *p, const struct argp_state *state)
{
	const char *word = state->argv[state->next > 1 ? state->next - 1 : 0];
	const struct argp_option *option;

	if (state->next < state->argc && state->argv[state->next][0] == '-' &&
		state->argv[state->next][1] != '-' && strlen(state->argv[state->next]) > 2 &&
		!option_of(word)->arg)
		word = state->argv[state->next];
	option = option_of(word);
	if (option->name && option->arg)
		return refuse(p, "option '%s' needs a value; see actorprobe --help", word);
	if (option->name && strchr(word, '='))
		return refuse(p, "option '%s' takes no value; see actorprobe --help", word);
	return refuse(p, "unknown or ambiguous option '%s'; see actorprobe --help", word);
}

static int parse_value(struct parse *p, int key, char *value, const struct argp_state *state)
{
	struct arguments *a = p->arguments;

	switch (key) {
	case 'p':
		return parse_pid(p, value);
	case 'd':
		if (number_parse_seconds(value, &a->duration_ns))
			return refuse(
				p, "bad duration '%s'; give seconds from 0.01 on, like 10", value);
		return 0;
	case KEY_BY:
		return parse_by(p, value);
	case KEY_MODE:
		return parse_mode(p, value);
	case KEY_MAX_SERIES:
		return parse_max_series(p, value);
	case KEY_LISTEN:
		if (number_parse_address(value, &a->listen))
			return refuse(p,
				"bad address '%s'; give a numeric one like 127.0.0.1:9464 "
				"or [::1]:9464",
				value);
		return 0;
	case ARGP_KEY_ARG:
		return parse_positional(p, value);
	case ARGP_KEY_ERROR:
		return refuse_option(p, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_key(int key, char *value, struct argp_state *state)
{
	struct parse *p = state->input;
	struct arguments *a = p->arguments;
	size_t index = option_index(key);

	if (key > 0 && options[index].name)
		p->given |= 1ull << index;
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case 'T':
		a->timestamps = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case KEY_PERF:
		a->force_perf = true;
		return 0;
	case KEY_HELP:
	case KEY_VERSION:
		return 0;
	default:
		return parse_value(p, key, value, state);
	}
}

static const struct argp parser = {
	.options = options,
	.parser = parse_key,
	.args_doc = "[COMMAND] [interval [count]]",
	.doc = description,
};

/* ---- what only the whole line can tell ---- */

static bool was_given(const struct parse *p, int key)
{
	return p->given & 1ull << option_index(key);
}

static int check(struct parse *p)
{
	struct arguments *a = p->arguments;
	uint32_t bit = BIT(a->command);

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (was_given(p, scopes[i].key) && !(scopes[i].commands & bit))
			return error_set(p->error, EXIT_USAGE,
				"option '--%s' means nothing to '%s'; see actorprobe --help",
				options[option_index(scopes[i].key)].name,
				command_name(a->command));
	if (p->positionals && !(bit & PRINTING))
		return error_set(p->error, EXIT_USAGE,
			"'%s' takes no interval; interval and count belong to hist and the live "
			"view",
			command_name(a->command));
	if ((bit & OBSERVING) && !a->pid)
		return error_set(p->error, EXIT_USAGE,
			"which process? give -p PID; `actorprobe list` prints those that can be "
			"observed");
	return 0;
}

int arguments_parse(struct arguments *a, int argc, char **argv, struct error *error)
{
	struct parse p = {.arguments = a, .error = error};

	memset(a, 0, sizeof(*a));
	a->max_series = DEFAULT_MAX_SERIES;
	number_parse_address("127.0.0.1", &a->listen);
	if (argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p))
		return error_set(error, EXIT_USAGE,
			"the command line cannot be read; see actorprobe --help");
	if (was_given(&p, KEY_HELP) || was_given(&p, KEY_VERSION)) {
		a->command = was_given(&p, KEY_HELP) ? ARGUMENTS_HELP : ARGUMENTS_VERSION;
		return 0;
	}
	return check(&p);
}

void arguments_help(void)
{
	char name[] = "actorprobe";

	argp_help(&parser, stdout, ARGP_HELP_STD_HELP, name);
}
