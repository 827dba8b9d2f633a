/* SPDX-License-Identifier: MIT */
/* What every face that prints JSON needs around jansson. */
#include "probe/json.h"

#include <stdlib.h>

void json_put_text(json_t *object, const char *key, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	json_object_set_new(object, key, value ? value : json_string("?"));
}

void json_put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(
		object, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

/* 15 digits spell every bound and every time exactly, and as short as it can be. */
void json_add_line(struct text *t, json_t *object)
{
	char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	if (line)
		text_add(t, "%s\n", line);
	else
		t->failed = true;
	free(line);
	json_decref(object);
}
