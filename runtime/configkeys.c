/* SPDX-License-Identifier: MIT */
/* Takes settings by tables of keys. */
#ifndef ACTOR_NO_LIBCONFIG

#include "configkeys.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kinds[] = {
	[ACTOR_HYBRID] = "hybrid",
	[ACTOR_MICROTASK] = "microtask",
	[ACTOR_IMMEDIATE] = "immediate",
	[ACTOR_THROUGHPUT_DISPATCHER] = "throughput",
};

static const char *const levels[] = {
	[ACTOR_LOG_DEBUG] = "debug",
	[ACTOR_LOG_INFO] = "info",
	[ACTOR_LOG_WARN] = "warning",
	[ACTOR_LOG_ERROR] = "error",
	[ACTOR_LOG_OFF] = "off",
};

/* ---- sentences ---- */

/* A value as it stands in the file, more or less. */
static void value_text(const config_setting_t *s, char *to, size_t room)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(to, room, "%lld", config_setting_get_int64(s));
		break;
	case CONFIG_TYPE_FLOAT:
		snprintf(to, room, "%g", config_setting_get_float(s));
		break;
	case CONFIG_TYPE_STRING:
		snprintf(to, room, "\"%.40s\"", config_setting_get_string(s));
		break;
	case CONFIG_TYPE_BOOL:
		snprintf(to, room, "%s", config_setting_get_bool(s) ? "true" : "false");
		break;
	case CONFIG_TYPE_GROUP:
		snprintf(to, room, "{...}");
		break;
	default:
		snprintf(to, room, "(...)");
	}
}

int actor__config_refuse_value(
	const struct actor__config_place *place, const config_setting_t *s, const char *allowed)
{
	char value[64];

	value_text(s, value, sizeof(value));
	return actor__config_refuse(place->error, actor__config_line(s),
		"%s%.64s = %s is not allowed: %s", place->prefix,
		config_setting_name(s) ? config_setting_name(s) : "element", value, allowed);
}

/* "a, b, c" and `more`, if it is not NULL. */
static void names_of(const struct actor__config_key *keys, const char *more, char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (; keys->name && used < room; keys++)
		used += (size_t)snprintf(
			to + used, room - used, "%s%s", used ? ", " : "", keys->name);
	if (more && used < room)
		snprintf(to + used, room - used, "%s%s", used ? ", " : "", more);
}

int actor__config_refuse_key(const struct actor__config_place *place, const config_setting_t *s,
	const struct actor__config_key *keys, const char *more)
{
	char names[128];

	names_of(keys, more, names, sizeof(names));
	return actor__config_refuse(place->error, actor__config_line(s),
		"there is no key %s%.64s; allowed here: %s", place->prefix, config_setting_name(s),
		names);
}

/* ---- values ---- */

static int word_in(const char *const *words, size_t count, const config_setting_t *s)
{
	const char *word = config_setting_get_string(s);

	for (size_t i = 0; word && i < count; i++)
		if (words[i] && strcasecmp(words[i], word) == 0)
			return (int)i;
	return -1;
}

int64_t actor__config_value(const struct actor__config_key *key, const config_setting_t *s)
{
	int type = config_setting_type(s);
	int64_t number;

	switch (key->value) {
	case ACTOR__CONFIG_FLAG:
		return type == CONFIG_TYPE_BOOL ? config_setting_get_bool(s) : -1;
	case ACTOR__CONFIG_NUMBER:
		if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
			return -1;
		number = config_setting_get_int64(s);
		return number >= key->least && number <= key->most ? number : -1;
	case ACTOR__CONFIG_KIND:
		return type == CONFIG_TYPE_STRING ? word_in(kinds, COUNT(kinds), s) : -1;
	default:
		return type == CONFIG_TYPE_STRING ? word_in(levels, COUNT(levels), s) : -1;
	}
}

int actor__config_take(const struct actor__config_key *keys, void *to,
	const struct actor__config_place *place, const config_setting_t *s)
{
	for (; keys->name; keys++) {
		int64_t value;

		if (strcmp(keys->name, config_setting_name(s)) != 0)
			continue;
		value = actor__config_value(keys, s);
		if (value < 0)
			return actor__config_refuse_value(place, s, keys->allowed);
		*(int64_t *)((char *)to + keys->offset) = value;
		return 1;
	}
	return 0;
}

int actor__config_take_all(const struct actor__config_key *keys, void *to,
	const struct actor__config_place *place, const config_setting_t *group)
{
	int rc = 1;

	for (int i = 0; i < config_setting_length(group) && rc > 0; i++) {
		config_setting_t *s = config_setting_get_elem(group, (unsigned int)i);

		rc = actor__config_take(keys, to, place, s);
		if (!rc)
			rc = actor__config_refuse_key(place, s, keys, NULL);
	}
	return rc < 0 ? rc : 0;
}

#endif
