/* SPDX-License-Identifier: MIT */
/* The configuration as a structure: made, looked up, freed. */
#include "config.h"

#include "configtree.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct actor__config_class *actor__config_class(struct actor__config *config, const char *name)
{
	uint32_t low = 0;
	uint32_t high = config->class_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(name, config->classes[middle].name);

		if (!order)
			return &config->classes[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void actor__config_free(struct actor__config *config)
{
	if (!config)
		return;
	actor__heap_free(config->classes);
	actor__heap_free(config);
}

static struct actor__config *config_new(const char *file)
{
	struct actor__config *config = actor__heap_zero(sizeof(*config));

	if (!config)
		return NULL;
	config->override = 0;
	config->throughput = config->dispatcher = config->dispatcher_throughput =
		config->hybrid_budget = config->drain_ms = config->phase_timeout_ms = config->log_level = ACTOR__UNSET;
	snprintf(config->file, sizeof(config->file), "%.200s", file);
	return config;
}

int actor__config_parse(
	struct actor__config **out, const char *text, struct actor__config_error *error)
{
	struct actor__config *config = config_new(error->file);
	int rc = config ? actor__configtree_take(config, text, error) : -ENOMEM;

	*out = NULL;
	if (rc)
		actor__config_free(config);
	else
		*out = config;
	return rc;
}

int actor__config_read(struct actor__config **out, struct actor__config_error *error)
{
	char *text;
	int rc = actor__configtext_read(&text, error);

	*out = NULL;
	if (!rc)
		rc = actor__config_parse(out, text, error);
	actor__heap_free(text);
	return rc;
}
