/* SPDX-License-Identifier: MIT */
/* The sentence for each error code, and the version. */
#include "actor.h"

#include <errno.h>
#include <string.h>

#define STRING(x)  #x
#define VERSION(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

/* libuv allocates the text of a code that it does not know, and keeps it for ever. */
static const char *uv_text(int code)
{
	static const char unknown[] = "Unknown system error";
	char text[64];

	uv_strerror_r(code, text, sizeof(text));
	return strncmp(text, unknown, sizeof(unknown) - 1) == 0 ? "unknown error" : uv_strerror(code);
}

const char *actor_strerror(int code)
{
	switch (code) {
#define CASE(value, name, text)                                                                    \
	case name:                                                                                 \
		return text;
		ACTOR_ERRORS(CASE)
	/* libuv has no text for these. */
	case -ECHILD:
		return "the actor system belongs to the process before fork";
	case -EDEADLK:
		return "a loop's thread would wait for itself; use actor_ask() in a handler";
	default:
		return code < 0 ? uv_text(code) : "no error";
	}
}

const char *actor_version(void)
{
	return VERSION(ACTOR_VERSION_MAJOR, ACTOR_VERSION_MINOR, ACTOR_VERSION_PATCH);
}
