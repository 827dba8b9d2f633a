/* SPDX-License-Identifier: MIT */
/* Settings by tables: which keys a group has, what each allows, the sentence for all others. */
#ifndef ACTOR_CONFIGKEYS_H
#define ACTOR_CONFIGKEYS_H

#include "configtext.h"

#include "actor.h"

#include <libconfig.h>

enum actor__config_value {
	ACTOR__CONFIG_FLAG,
	ACTOR__CONFIG_NUMBER,
	ACTOR__CONFIG_KIND,  /* a dispatcher's kind, as a word */
	ACTOR__CONFIG_LEVEL, /* enum actor_log_level, as a word */
};

/* A table ends with an entry without name. */
struct actor__config_key {
	const char *name;
	enum actor__config_value value;
	size_t offset; /* of an int64_t */
	int64_t least; /* numbers */
	int64_t most;
	const char *allowed; /* ends the sentence "... is not allowed: ..." */
};

/* Where we are: "class.NAME.dispatcher." or so. */
struct actor__config_place {
	struct actor__config_error *error;
	char prefix[ACTOR_NAME_BYTES + 32];
};

static inline uint32_t actor__config_line(const config_setting_t *s)
{
	return (uint32_t)config_setting_source_line(s);
}

/* The value, or -1 if it is not what the key allows. */
int64_t actor__config_value(const struct actor__config_key *key, const config_setting_t *s);

/* Both return ACTOR_ECONFIG. */
int actor__config_refuse_value(
	const struct actor__config_place *place, const config_setting_t *s, const char *allowed);
/* `more`: what is allowed beside the keys, or NULL. */
int actor__config_refuse_key(const struct actor__config_place *place, const config_setting_t *s,
	const struct actor__config_key *keys, const char *more);

/* Takes a setting if one of the keys has its name. 1: taken; 0: no such key; ACTOR_ECONFIG. */
int actor__config_take(const struct actor__config_key *keys, void *to,
	const struct actor__config_place *place, const config_setting_t *s);

/* Takes all settings of a group. 0, ACTOR_ECONFIG. */
int actor__config_take_all(const struct actor__config_key *keys, void *to,
	const struct actor__config_place *place, const config_setting_t *group);

#endif
