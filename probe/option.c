/* SPDX-License-Identifier: MIT */
/* The table of options and commands, and the text that --help prints. */
#define _GNU_SOURCE

#include "probe/option.h"

#include <stddef.h>
#include <string.h>

#define BIT OPTION_BIT

const char option_description[] =
	"Shows where the messages of a running libactor program wait, from outside.\n"
	"\n"
	"  actorprobe -p PID [interval [count]]        live view\n"
	"  actorprobe hist -p PID [interval [count]]   histograms\n"
	"  actorprobe export -p PID [-p PID ...]       metrics for Prometheus\n"
	"  actorprobe export --exe PATH | --all        the same, of all that run\n"
	"  actorprobe record -p PID -o FILE            keep all of it in a file\n"
	"  actorprobe report FILE                      show what is in such a file\n"
	"  actorprobe diagnose -p PID                  who starves whom, and what to do\n"
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
	"  actorprobe diagnose -p 181 -d 10    # look for ten seconds, then a verdict\n"
	"  actorprobe record -p 181 -d 30 -o shop.rec\n"
	"  actorprobe report shop.rec --by class --chrome-trace shop.json\n"
	"                                      # for ui.perfetto.dev\n"
	"\n"
	"Exit status: 0 fine, 1 usage or output, 2 target, 3 permission, 4 kernel,\n"
	"5 no probes.";

const struct argp_option option_table[] = {
	{"pid", 'p', "PID", 0, "observe this process; export: may be given again", 0},
	{"duration", 'd', "SECONDS", 0, "end after this time (diagnose: default 10)", 0},
	{"by", KEY_BY, "LABEL", 0,
		"hist, report: group by dispatcher, class or actor; record: actor keeps their paths",
		0},
	{"json", 'j', 0, 0, "one JSON object per line", 0},
	{"timestamp", 'T', 0, 0, "print the time of day above each block", 0},
	{"listen", KEY_LISTEN, "ADDR[:PORT]", 0,
		"export: where to serve, or unix:PATH (default 127.0.0.1:9464)",
		0},
	{"once", KEY_ONCE, 0, 0, "export: print one exposition after -d (default 1 s) and end", 0},
	{"textfile", KEY_TEXTFILE, "DIR", 0, "export: keep actorprobe.prom in this directory", 0},
	{"otlp", KEY_OTLP, "URL", 0, "export: push to this receiver of OTLP over HTTP", 0},
	{"every", KEY_EVERY, "SECONDS", 0,
		"export: how often a file is written and pushed (default 15)", 0},
	{"output", 'o', "FILE", 0, "record: the file to write", 0},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0,
		"record: end when the file has so many bytes, like 64M (default 1G)", 0},
	{"chrome-trace", KEY_CHROME_TRACE, "FILE", 0,
		"report: write turns and messages as a trace for Perfetto, too", 0},
	{"exe", KEY_EXE, "PATH", 0, "export: observe each process that runs this program", 0},
	{"all", KEY_ALL, 0, 0, "export: observe every process of this host", 0},
	{"process-label", KEY_PROCESS, "WHAT", 0,
		"export: tell processes apart by command (default with several), exe or pid", 0},
	{"ttl", KEY_TTL, "SECONDS", 0,
		"export: how long ended processes stay in the sums (default 300)", 0},
	{"max-series", KEY_MAX_SERIES, "N", 0, "cap on label sets per metric (default 1000)", 0},
	{"mode", KEY_MODE, "MODE", 0,
		"ledger (default): one trap per batch of messages; trace: one per event", 0},
	{"max-overhead", KEY_OVERHEAD, "PERCENT", 0,
		"sample or detach when observing costs more of a core, like 2%", 0},
	{"sample", KEY_SAMPLE, "N", 0, "mode ledger: observe each Nth batch only", 0},
	{"perf-events", KEY_PERF, 0, 0, "attach by perf events, not by uprobe_multi", 0},
	{"verbose", 'v', 0, 0, "say what is done; hist: print every histogram", 0},
	{"help", KEY_HELP, 0, 0, "print this text", -1},
	{"version", KEY_VERSION, 0, 0, "print the version", -1},
	{0, 0, 0, 0, 0, 0},
};

static const struct {
	const char *name;
	enum option_command command;
} commands[] = {
	{"list", OPTION_LIST},
	{"hist", OPTION_HIST},
	{"export", OPTION_EXPORT},
	{"doctor", OPTION_DOCTOR},
	{"record", OPTION_RECORD},
	{"report", OPTION_REPORT},
	{"diagnose", OPTION_DIAGNOSE},
};

/* Which commands an option belongs to, beside those that all of them know. */
static const struct {
	int key;
	uint32_t commands;
} scopes[] = {
	{'p', OPTION_OBSERVING},
	{'d', OPTION_OBSERVING},
	{KEY_BY, BIT(OPTION_HIST) | BIT(OPTION_RECORD) | BIT(OPTION_REPORT)},
	{'o', BIT(OPTION_RECORD)},
	{KEY_MAX_SIZE, BIT(OPTION_RECORD)},
	{KEY_CHROME_TRACE, BIT(OPTION_REPORT)},
	{'j', BIT(OPTION_HIST) | BIT(OPTION_REPORT) | BIT(OPTION_LIST) | BIT(OPTION_DOCTOR) |
			BIT(OPTION_DIAGNOSE)},
	{'T', OPTION_PRINTING},
	{KEY_LISTEN, BIT(OPTION_EXPORT)},
	{KEY_ONCE, BIT(OPTION_EXPORT)},
	{KEY_TEXTFILE, BIT(OPTION_EXPORT)},
	{KEY_EVERY, BIT(OPTION_EXPORT)},
	{KEY_EXE, BIT(OPTION_EXPORT)},
	{KEY_ALL, BIT(OPTION_EXPORT)},
	{KEY_OTLP, BIT(OPTION_EXPORT)},
	{KEY_PROCESS, BIT(OPTION_EXPORT)},
	{KEY_TTL, BIT(OPTION_EXPORT)},
	{KEY_MAX_SERIES, OPTION_OBSERVING | BIT(OPTION_REPORT)},
	{KEY_MODE, OPTION_OBSERVING & ~(BIT(OPTION_RECORD) | BIT(OPTION_DIAGNOSE))},
	{KEY_SAMPLE, OPTION_OBSERVING & ~BIT(OPTION_DIAGNOSE)},
	{KEY_OVERHEAD, OPTION_OBSERVING & ~BIT(OPTION_DIAGNOSE)},
	{KEY_PERF, OPTION_OBSERVING},
};

size_t option_index(int key)
{
	size_t i = 0;

	while (option_table[i].name && option_table[i].key != key)
		i++;
	return i;
}

uint32_t option_commands(int key)
{
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (scopes[i].key == key)
			return scopes[i].commands;
	return UINT32_MAX;
}

const char *option_command_name(enum option_command command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == command)
			return commands[i].name;
	return "-p PID";
}

bool option_command_parse(const char *word, enum option_command *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, word) == 0) {
			*command = commands[i].command;
			return true;
		}
	}
	return false;
}

static bool word_means(const char *word, const struct argp_option *option)
{
	size_t bytes = (size_t)(strchrnul(word, '=') - word);

	if (word[0] != '-' || bytes < 2)
		return false;
	if (word[1] != '-')
		return !word[2] && option->key == word[1];
	return bytes > 2 && strncmp(option->name, word + 2, bytes - 2) == 0;
}

const struct argp_option *option_of(const char *word)
{
	const struct argp_option *found = &option_table[option_index(0)];

	for (size_t i = 0; option_table[i].name; i++) {
		if (!word_means(word, &option_table[i]))
			continue;
		if (found->name)
			return &option_table[option_index(0)];
		found = &option_table[i];
	}
	return found;
}
