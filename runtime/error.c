/* SPDX-License-Identifier: MIT */
/* The sentence for each error code, and the version. */
#include "actor.h"

#define STRING(x)  #x
#define VERSION(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

const char *actor_strerror(int code)
{
	switch (code) {
#define CASE(value, name, text)                                                                    \
	case name:                                                                                 \
		return text;
		ACTOR_ERRORS(CASE)
	default:
		return code < 0 ? uv_strerror(code) : "no error";
	}
}

const char *actor_version(void)
{
	return VERSION(ACTOR_VERSION_MAJOR, ACTOR_VERSION_MINOR, ACTOR_VERSION_PATCH);
}
