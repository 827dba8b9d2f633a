/* SPDX-License-Identifier: MIT */
/* A C++ program can include the header, define classes and types, and link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}

#include "runtime/actor.h"

static struct actor_type number = ACTOR_TYPE("number");
static int seen;

static int on_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	seen += *static_cast<int *>(message->payload);
	actor_stop_self(ctx);
	return 0;
}

static void a_cpp_program_runs_an_actor(void **)
{
	struct actor_class cls = {};
	struct actor_system_options options = {};
	struct actor_system *system;
	uv_loop_t loop;
	actor_ref ref;
	int value = 7;

	cls.size = sizeof(cls);
	cls.name = "cpp";
	cls.on_message = on_message;
	options.size = sizeof(options);
	assert_int_equal(uv_loop_init(&loop), 0);
	options.loop = &loop;
	assert_int_equal(actor_system_open(&system, &options), 0);
	assert_int_equal(actor_system_spawn(system, &cls, nullptr, &ref), 0);
	assert_int_equal(actor_system_tell(system, ref, &number, &value, sizeof(value)), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(seen, 7);
	assert_int_equal(actor_system_close(system, nullptr, nullptr), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpp_program_runs_an_actor),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
