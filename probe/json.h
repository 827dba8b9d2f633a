/* SPDX-License-Identifier: MIT */
/* What every face that prints JSON needs around jansson. */
#ifndef PROBE_JSON_H
#define PROBE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "probe/text.h"

/* Sets a string; absent text is null, text that is not UTF-8 becomes "?". */
void json_put_text(json_t *object, const char *key, const char *text);

/* Sets a count; what does not fit JSON's signed 64 bits saturates. */
void json_put_count(json_t *object, const char *key, uint64_t value);

/* Appends one line and releases the object. NULL means that memory ran out. */
void json_add_line(struct text *t, json_t *object);

#endif
