/* SPDX-License-Identifier: MIT */
/* From libconfig's tree to the structure: keys by tables, a sentence for everything else. */
#include "configtree.h"

#ifdef ACTOR_NO_LIBCONFIG

int actor__configtree_take(
	struct actor__config *config, const char *text, struct actor__config_error *error)
{
	(void)config;
	(void)text;
	return actor__config_refuse(
		error, 0, "cannot be read: this libactor was built without libconfig");
}

#else

#include "configkeys.h"
#include "memory.h"
#include "registry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define A_BUDGET     "a whole number from 1 to 1000000"
#define A_KIND	     "hybrid, microtask, immediate or throughput"
#define OF(field)    offsetof(struct actor__config, field)

static const struct actor__config_key actor_keys[] = {
	{"throughput", ACTOR__CONFIG_NUMBER, OF(throughput), 1, ACTOR_BUDGET_MAX, A_BUDGET},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key dispatcher_keys[] = {
	{"default", ACTOR__CONFIG_KIND, OF(dispatcher), 0, 0, A_KIND},
	{"throughput", ACTOR__CONFIG_NUMBER, OF(dispatcher_throughput), 1, ACTOR_BUDGET_MAX,
		A_BUDGET},
	{"hybrid_budget", ACTOR__CONFIG_NUMBER, OF(hybrid_budget), 1, ACTOR_BUDGET_MAX, A_BUDGET},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key system_keys[] = {
	{"drain_ms", ACTOR__CONFIG_NUMBER, OF(drain_ms), 0, 3600000,
		"a whole number of milliseconds from 0 to 3600000"},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key log_keys[] = {
	{"level", ACTOR__CONFIG_LEVEL, OF(log_level), 0, 0, "debug, info, warning, error or off"},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key shutdown_keys[] = {
	{"phase_timeout_ms", ACTOR__CONFIG_NUMBER, OF(phase_timeout_ms), 1, 3600000,
		"a whole number of milliseconds from 1 to 3600000"},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key root_keys[] = {
	{"override", ACTOR__CONFIG_FLAG, OF(override), 0, 0, "true or false"},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct {
	const char *name;
	const struct actor__config_key *keys;
} groups[] = {
	{"actor", actor_keys},
	{"dispatcher", dispatcher_keys},
	{"system", system_keys},
	{"log", log_keys},
	{"shutdown", shutdown_keys},
};

#define OF_CLASS(field) offsetof(struct actor__config_class, field)

static const struct actor__config_key class_keys[] = {
	{"throughput", ACTOR__CONFIG_NUMBER, OF_CLASS(throughput), 1, ACTOR_BUDGET_MAX, A_BUDGET},
	{NULL, 0, 0, 0, 0, NULL},
};

static const struct actor__config_key own_dispatcher_keys[] = {
	{"kind", ACTOR__CONFIG_KIND, OF_CLASS(dispatcher), 0, 0, A_KIND},
	{"budget", ACTOR__CONFIG_NUMBER, OF_CLASS(budget), 1, ACTOR_BUDGET_MAX, A_BUDGET},
	{NULL, 0, 0, 0, 0, NULL},
};

/* ---- classes ---- */

static int own_dispatcher_take(struct actor__config_class *cls,
	const struct actor__config_place *place, const config_setting_t *s)
{
	struct actor__config_place inside = {place->error, ""};
	int rc;

	if (!config_setting_is_group(s)) {
		cls->dispatcher = actor__config_value(&own_dispatcher_keys[0], s);
		return cls->dispatcher > 0
			       ? 1
			       : actor__config_refuse_value(
					 place, s, A_KIND ", or { kind = \"...\"; budget = ...; }");
	}
	snprintf(inside.prefix, sizeof(inside.prefix), "%sdispatcher.", place->prefix);
	rc = actor__config_take_all(own_dispatcher_keys, cls, &inside, s);
	if (rc)
		return rc;
	if (cls->dispatcher == ACTOR__UNSET)
		return actor__config_refuse(place->error, actor__config_line(s),
			"%skind is missing: " A_KIND, inside.prefix);
	if (cls->budget != ACTOR__UNSET && cls->dispatcher != ACTOR_HYBRID &&
		cls->dispatcher != ACTOR_THROUGHPUT_DISPATCHER)
		return actor__config_refuse(place->error, actor__config_line(s),
			"%sbudget is not allowed: only hybrid and throughput have one",
			inside.prefix);
	return 1;
}

static int class_key_take(struct actor__config_class *cls, const struct actor__config_place *place,
	const config_setting_t *s, bool listed)
{
	int rc = actor__config_take(class_keys, cls, place, s);

	if (!rc && strcmp(config_setting_name(s), "dispatcher") == 0)
		rc = own_dispatcher_take(cls, place, s);
	if (!rc && listed && strcmp(config_setting_name(s), "name") == 0)
		return 0;
	if (!rc)
		rc = actor__config_refuse_key(
			place, s, class_keys, listed ? "dispatcher, name" : "dispatcher");
	return rc < 0 ? rc : 0;
}

static int class_take(struct actor__config_class *cls, struct actor__config_error *error,
	const char *name, const config_setting_t *s, bool listed)
{
	struct actor__config_place place = {error, ""};
	int rc = 0;

	*cls = (struct actor__config_class){.throughput = ACTOR__UNSET,
		.dispatcher = ACTOR__UNSET,
		.budget = ACTOR__UNSET,
		.line = actor__config_line(s)};
	if (!actor__name_valid(name))
		return actor__config_refuse(error, actor__config_line(s),
			"\"%.70s\" cannot be a class: %s", name, actor_strerror(ACTOR_ENAME));
	memcpy(cls->name, name, strlen(name));
	snprintf(place.prefix, sizeof(place.prefix), "class.%s.", name);
	for (int i = 0; i < config_setting_length(s) && !rc; i++)
		rc = class_key_take(
			cls, &place, config_setting_get_elem(s, (unsigned int)i), listed);
	return rc;
}

/* An element of `class = { ... }` or `class = ( ... )`. */
static int element_take(struct actor__config_class *cls, struct actor__config_error *error,
	config_setting_t *s, bool listed)
{
	const struct actor__config_place place = {error, "class."};
	const char *name = config_setting_name(s);

	if (!config_setting_is_group(s))
		return actor__config_refuse_value(&place, s, "a group like { throughput = 16; }");
	if (listed && !config_setting_lookup_string(s, "name", &name))
		return actor__config_refuse(error, actor__config_line(s),
			"a class in a list needs its name: { name = \"...\"; throughput = 16; }");
	return class_take(cls, error, name, s, listed);
}

static int by_name(const void *a, const void *b)
{
	const struct actor__config_class *left = a;
	const struct actor__config_class *right = b;

	return strcmp(left->name, right->name);
}

static int classes_sort(struct actor__config *config, struct actor__config_error *error)
{
	qsort(config->classes, config->class_count, sizeof(config->classes[0]), by_name);
	for (uint32_t i = 1; i < config->class_count; i++) {
		const struct actor__config_class *a = &config->classes[i - 1];
		const struct actor__config_class *b = &config->classes[i];

		if (strcmp(a->name, b->name) == 0)
			return actor__config_refuse(error, a->line > b->line ? a->line : b->line,
				"class %s is there twice", a->name);
	}
	return 0;
}

static int classes_take(
	struct actor__config *config, struct actor__config_error *error, config_setting_t *s)
{
	bool listed = config_setting_is_list(s);
	int count = config_setting_length(s);
	const struct actor__config_place place = {error, ""};
	int rc = 0;

	if (!listed && !config_setting_is_group(s))
		return actor__config_refuse_value(&place, s, "a group of classes, or a list");
	if (!count)
		return 0;
	config->classes = actor__heap_zero((size_t)count * sizeof(config->classes[0]));
	if (!config->classes)
		return -ENOMEM;
	for (int i = 0; i < count && !rc; i++) {
		config_setting_t *element = config_setting_get_elem(s, (unsigned int)i);

		rc = element_take(&config->classes[i], error, element, listed);
	}
	config->class_count = (uint32_t)count;
	return rc ? rc : classes_sort(config, error);
}

/* ---- the file ---- */

static int setting_take(
	struct actor__config *config, struct actor__config_error *error, config_setting_t *s)
{
	struct actor__config_place place = {error, ""};
	const char *name = config_setting_name(s);
	int rc;

	if (strcmp(name, "class") == 0)
		return classes_take(config, error, s);
	for (size_t i = 0; i < COUNT(groups); i++) {
		if (strcmp(name, groups[i].name) != 0)
			continue;
		if (!config_setting_is_group(s))
			return actor__config_refuse_value(&place, s, "a group of keys in braces");
		snprintf(place.prefix, sizeof(place.prefix), "%s.", name);
		return actor__config_take_all(groups[i].keys, config, &place, s);
	}
	rc = actor__config_take(root_keys, config, &place, s);
	if (!rc)
		rc = actor__config_refuse_key(
			&place, s, root_keys, "actor, class, dispatcher, log, shutdown, system");
	return rc < 0 ? rc : 0;
}

static int tree_take(
	struct actor__config *config, struct actor__config_error *error, const config_t *tree)
{
	config_setting_t *root = config_root_setting(tree);
	int rc = 0;

	for (int i = 0; i < config_setting_length(root) && !rc; i++)
		rc = setting_take(config, error, config_setting_get_elem(root, (unsigned int)i));
	return rc;
}

int actor__configtree_take(
	struct actor__config *config, const char *text, struct actor__config_error *error)
{
	config_t tree;
	int rc;

	config_init(&tree);
	if (config_read_string(&tree, text))
		rc = tree_take(config, error, &tree);
	else
		rc = actor__config_refuse(error, (uint32_t)config_error_line(&tree), "%s",
			config_error_text(&tree) ? config_error_text(&tree) : "cannot be parsed");
	config_destroy(&tree);
	return rc;
}

#endif
