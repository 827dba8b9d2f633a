/* SPDX-License-Identifier: MIT */
/* One observation of the fake target, as the tests of both modes open it. After cmocka.h. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <string.h>
#include <unistd.h>

#include "probe/aggregate.h"
#include "probe/error.h"
#include "tests/fake.h"

/* Prints why and skips the test. */
#define SKIP_WITHOUT_ROOT()                                                                        \
	do {                                                                                       \
		if (geteuid() != 0) {                                                              \
			print_message("SKIP %s: attaching needs root\n", __func__);                \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static const char *const ways[] = {"uprobe_multi", "perf"};

struct fixture {
	struct fake fake;
	struct session *session;
	struct aggregate a;
	struct error error;
};

static inline void fixture_open(
	struct fixture *f, enum aggregate_mode mode, struct session_options options)
{
	options.pid = f->fake.pid;
	options.mode = mode;
	f->error = (struct error){0};
	session_open(&f->session, &options, &f->error);
	assert_string_equal(f->error.text, "");
}

#endif
