/* SPDX-License-Identifier: MIT */
/* The smallest program: one class of actor, one message. */
#include <actor.h>
#include <stdio.h>

static int greet(struct actor_ctx *ctx, const struct actor_message *message)
{
	printf("hello, %s\n", (const char *)message->payload);
	return 0;
}

int main(void)
{
	static struct actor_class greeter = {
		.size = sizeof(greeter), .name = "greeter", .on_message = greet};
	static struct actor_type name = ACTOR_TYPE("name");
	struct actor_system_options options = {.size = sizeof(options)};
	struct actor_system *system;
	actor_ref ref;
	int rc = actor_system_open(&system, &options);

	if (rc) {
		fprintf(stderr, "hello: %s\n", actor_strerror(rc));
		return 1;
	}
	rc = actor_system_spawn(system, &greeter, NULL, &ref);
	if (!rc)
		rc = actor_system_tell(system, ref, &name, "world", sizeof("world"));
	if (rc)
		fprintf(stderr, "hello: %s\n", actor_strerror(rc));
	actor_system_close_wait(system);
	return rc ? 1 : 0;
}
