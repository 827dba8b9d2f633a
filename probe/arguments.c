/* SPDX-License-Identifier: MIT */
/* The command line: what an operator asked for. */
#include "probe/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/push.h"

#define DEFAULT_TTL_NS	   (300 * 1000000000ull)
#define DEFAULT_EVERY_NS   (15 * 1000000000ull)
#define ONCE_NS		   1000000000ull
#define DEFAULT_MAX_SERIES 1000
#define DEFAULT_DIAGNOSE_NS (10 * 1000000000ull)
#define LAST_MAX_SERIES	   100000
#define LAST_SAMPLE	   1000000
#define LEAST_MAX_SIZE	   (4ull << 20)
#define DEFAULT_MAX_SIZE   (1ull << 30)
#define LAST_MAX_SIZE	   (1ull << 40)

struct parse {
	struct arguments *arguments;
	struct error *error;
	unsigned int positionals;
	bool command_given;
	uint64_t given; /* bit i: option_table[i] */
};

static int refuse(struct parse *p, const char *format, const char *value)
{
	error_set(p->error, EXIT_USAGE, format, value);
	return EINVAL;
}

/* ---- values ---- */

static int parse_pid(struct parse *p, const char *value)
{
	uint64_t pid;

	if (number_parse_whole(value, 1, INT32_MAX, &pid))
		return refuse(p,
			"bad process id '%s'; give the number that `actorprobe list` prints",
			value);
	for (size_t i = 0; i < p->arguments->pid_count; i++)
		if (p->arguments->pids[i] == (pid_t)pid)
			return refuse(p, "process %s is given twice; give each one once", value);
	if (p->arguments->pid_count == ARGUMENTS_PIDS_MAX)
		return refuse(
			p, "process %s is one too many; 64 can be observed by their ids", value);
	if (!p->arguments->pid_count)
		p->arguments->pid = (pid_t)pid;
	p->arguments->pids[p->arguments->pid_count++] = (pid_t)pid;
	return 0;
}

static int parse_process_label(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum arguments_process label;
	} labels[] = {
		{"command", ARGUMENTS_BY_COMMAND},
		{"exe", ARGUMENTS_BY_EXE},
		{"pid", ARGUMENTS_BY_PID},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (strcmp(labels[i].name, value) == 0) {
			p->arguments->process_label = labels[i].label;
			return 0;
		}
	}
	return refuse(p, "cannot tell processes apart by '%s'; use command, exe or pid", value);
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
	if (strcmp(value, "ledger") == 0)
		p->arguments->mode = AGGREGATE_LEDGER;
	else if (strcmp(value, "trace") == 0)
		p->arguments->mode = AGGREGATE_TRACE;
	else
		return refuse(p, "unknown mode '%s'; use --mode ledger or trace", value);
	return 0;
}

static int parse_sample(struct parse *p, const char *value)
{
	if (number_parse_whole(value, 1, LAST_SAMPLE, &p->arguments->sample_every))
		return refuse(p, "bad sampling '%s'; give 1 to 1000000", value);
	return 0;
}

static int parse_overhead(struct parse *p, const char *value)
{
	char *end;
	double percent;

	if (value[0] < '0' || value[0] > '9')
		return refuse(p, "bad share '%s'; give percent of a core, like 2%%", value);
	percent = strtod(value, &end);
	if (strcmp(end, "%") == 0)
		end++;
	if (*end || !(percent >= 0.01 && percent <= 100))
		return refuse(p, "bad share '%s'; give 0.01%% to 100%% of a core", value);
	p->arguments->max_overhead = percent / 100;
	return 0;
}

static int parse_max_series(struct parse *p, const char *value)
{
	uint64_t count;

	if (number_parse_whole(value, 1, LAST_MAX_SERIES, &count))
		return refuse(p, "bad number of series '%s'; give 1 to 100000", value);
	p->arguments->max_series = (uint32_t)count;
	return 0;
}

static int parse_max_size(struct parse *p, const char *value)
{
	if (number_parse_bytes(value, LEAST_MAX_SIZE, LAST_MAX_SIZE, &p->arguments->max_size))
		return refuse(p, "bad size '%s'; give 4M to 1T, like 64M or 2G", value);
	return 0;
}

static int parse_positional(struct parse *p, const char *value)
{
	struct arguments *a = p->arguments;

	if (!p->command_given && !p->positionals && option_command_parse(value, &a->command)) {
		p->command_given = true;
		return 0;
	}
	if (a->command == OPTION_REPORT && !a->file) {
		a->file = value;
		return 0;
	}
	if (a->command == OPTION_REPORT)
		return refuse(p, "one argument too many: '%s'; give one recording", value);
	p->positionals++;
	if (p->positionals == 1 && !p->command_given && (value[0] < '0' || value[0] > '9'))
		return refuse(p,
			"unknown command '%s'; use list, hist, export, diagnose, record, report or doctor, "
			"or only -p PID for the live view",
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
	case KEY_OVERHEAD:
		return parse_overhead(p, value);
	case KEY_SAMPLE:
		return parse_sample(p, value);
	case KEY_MAX_SERIES:
		return parse_max_series(p, value);
	case KEY_MAX_SIZE:
		return parse_max_size(p, value);
	case 'o':
		a->output = value;
		return 0;
	case KEY_CHROME_TRACE:
		a->chrome_trace = value;
		return 0;
	case KEY_EXE:
		a->exe = value;
		return 0;
	case KEY_PROCESS:
		return parse_process_label(p, value);
	case KEY_TEXTFILE:
		a->textfile = value;
		return 0;
	case KEY_OTLP:
		if (!push_is_url(value))
			return refuse(p,
				"bad address '%s'; give one like http://127.0.0.1:4318/v1/metrics",
				value);
		a->otlp = value;
		return 0;
	case KEY_EVERY:
		if (number_parse_seconds(value, &a->every_ns))
			return refuse(
				p, "bad interval '%s'; give seconds from 0.01 on, like 15", value);
		return 0;
	case KEY_TTL:
		if (number_parse_seconds(value, &a->ttl_ns))
			return refuse(p,
				"bad time to live '%s'; give seconds from 0.01 on, like 300",
				value);
		return 0;
	case KEY_LISTEN:
		if (number_parse_address(value, &a->listen))
			return refuse(p,
				"bad address '%s'; give a numeric one like 127.0.0.1:9464 "
				"or [::1]:9464, or unix:PATH",
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

	if (key > 0 && option_table[index].name)
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
	case KEY_ALL:
		a->all = true;
		return 0;
	case KEY_PERF:
		a->force_perf = true;
		return 0;
	case KEY_ONCE:
		a->once = true;
		return 0;
	case KEY_HELP:
	case KEY_VERSION:
		return 0;
	default:
		return parse_value(p, key, value, state);
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_key,
	.args_doc = "[COMMAND] [interval [count]]",
	.doc = option_description,
};

/* ---- what only the whole line can tell ---- */

static bool was_given(const struct parse *p, int key)
{
	return p->given & 1ull << option_index(key);
}

/* Which ways out an exporter has: HTTP unless others are wanted alone. */
static int check_export(struct parse *p)
{
	struct arguments *a = p->arguments;
	bool elsewhere = a->textfile || a->otlp;

	if (a->once && (elsewhere || was_given(p, KEY_LISTEN)))
		return error_set(p->error, EXIT_USAGE,
			"--once prints and ends; leave it away to serve, push or write files");
	if (was_given(p, KEY_EVERY) && !elsewhere)
		return error_set(p->error, EXIT_USAGE,
			"--every says how often something is written; give --textfile or --otlp, "
			"too");
	if (a->once && !a->duration_ns)
		a->duration_ns = ONCE_NS;
	a->serve = !a->once && (!elsewhere || was_given(p, KEY_LISTEN));
	return 0;
}

static int check(struct parse *p)
{
	struct arguments *a = p->arguments;
	uint32_t bit = OPTION_BIT(a->command);

	for (size_t i = 0; option_table[i].name; i++)
		if ((p->given & 1ull << i) && !(option_commands(option_table[i].key) & bit))
			return error_set(p->error, EXIT_USAGE,
				"option '--%s' means nothing to '%s'; see actorprobe --help",
				option_table[i].name, option_command_name(a->command));
	if (p->positionals && !(bit & OPTION_PRINTING))
		return error_set(p->error, EXIT_USAGE,
			"'%s' takes no interval; interval and count belong to hist and the live "
			"view",
			option_command_name(a->command));
	if (a->sample_every > 1 && a->mode == AGGREGATE_TRACE)
		return error_set(p->error, EXIT_USAGE,
			"--sample takes whole batches, which mode trace does not have; use --mode "
			"ledger");
	if (a->command == OPTION_REPORT && !a->file)
		return error_set(p->error, EXIT_USAGE,
			"which recording? give the file that `actorprobe record` has written");
	if (a->command == OPTION_RECORD && a->by != GROUPING_FULL && a->by != GROUPING_ACTOR)
		return error_set(p->error, EXIT_USAGE,
			"a recording has all but the paths of actors in any case; use --by actor or "
			"nothing");
	if ((a->pid_count > 0) + (a->exe != NULL) + a->all > 1)
		return error_set(p->error, EXIT_USAGE,
			"-p, --exe and --all exclude each other; give one of them");
	if ((a->exe || a->all) &&
		(a->mode == AGGREGATE_TRACE || a->force_perf || a->max_overhead > 0))
		return error_set(p->error, EXIT_USAGE,
			"--mode trace, --perf-events and --max-overhead are of single processes; "
			"give -p PID");
	if ((bit & OPTION_OBSERVING) && !a->pid && !a->exe && !a->all)
		return error_set(p->error, EXIT_USAGE,
			"which process? give -p PID; `actorprobe list` prints those that can be "
			"observed");
	if (a->command == OPTION_DIAGNOSE && !a->duration_ns)
		a->duration_ns = DEFAULT_DIAGNOSE_NS;
	if (a->command == OPTION_RECORD && !a->output)
		return error_set(p->error, EXIT_USAGE,
			"which file shall have the recording? give -o FILE");
	if (a->pid_count > 1 && a->command != OPTION_EXPORT)
		return error_set(p->error, EXIT_USAGE,
			"'%s' observes one process; only export takes several",
			option_command_name(a->command));
	if ((a->pid_count > 1 || a->exe || a->all) && a->process_label == ARGUMENTS_BY_NOTHING)
		a->process_label = ARGUMENTS_BY_COMMAND;
	if (a->command == OPTION_EXPORT)
		return check_export(p);
	return 0;
}

int arguments_parse(struct arguments *a, int argc, char **argv, struct error *error)
{
	struct parse p = {.arguments = a, .error = error};

	memset(a, 0, sizeof(*a));
	a->max_series = DEFAULT_MAX_SERIES;
	a->max_size = DEFAULT_MAX_SIZE;
	a->ttl_ns = DEFAULT_TTL_NS;
	a->every_ns = DEFAULT_EVERY_NS;
	number_parse_address("127.0.0.1", &a->listen);
	if (argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p))
		return error_set(error, EXIT_USAGE,
			"the command line cannot be read; see actorprobe --help");
	if (was_given(&p, KEY_HELP) || was_given(&p, KEY_VERSION)) {
		a->command = was_given(&p, KEY_HELP) ? OPTION_HELP : OPTION_VERSION;
		return 0;
	}
	return check(&p);
}

void arguments_help(void)
{
	char name[] = "actorprobe";

	argp_help(&parser, stdout, ARGP_HELP_STD_HELP, name);
}
