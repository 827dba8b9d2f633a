/* SPDX-License-Identifier: MIT */
/* `actorprobe list`: the processes of this host that carry libactor. */
#include "probe/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/capability.h"
#include "probe/json.h"
#include "probe/target_list.h"

static json_t *names_of(const char *list)
{
	json_t *names = json_array();

	while (*list) {
		size_t bytes = strcspn(list, ",");
		json_t *name = json_stringn(list, bytes);

		json_array_append_new(names, name ? name : json_string("?"));
		list += bytes + (list[bytes] == ',');
	}
	return names;
}

static void add_object(struct text *t, const struct target_entry *e)
{
	json_t *object = json_object();
	char abi[32];

	snprintf(abi, sizeof(abi), "%" PRIu32 ".%" PRIu32, e->abi_major, e->abi_minor);
	json_put_count(object, "pid", (uint64_t)e->pid);
	json_put_text(object, "command", e->command);
	json_put_text(object, "exe", e->exe);
	json_put_text(object, "object", e->object);
	json_object_set_new(object, "systems", names_of(e->systems ? e->systems : ""));
	json_put_text(object, "abi", abi);
	json_put_count(object, "loops", e->loops);
	json_put_count(object, "actors", e->actors);
	json_put_count(object, "probes", e->probes);
	json_object_set_new(object, "attachable", json_boolean(e->attachable));
	json_put_text(object, "reason", e->reason && *e->reason ? e->reason : NULL);
	json_add_line(t, object);
}

static void add_row(struct text *t, const struct target_entry *e)
{
	text_add(t, "%7d ", (int)e->pid);
	text_add_left(t, e->command ? e->command : "-", 16);
	text_add(t, " %5" PRIu32 " %9" PRIu64 " %6" PRIu32 "  ", e->loops, e->actors, e->probes);
	text_add_left(t, e->systems && *e->systems ? e->systems : "-", 16);
	text_add(t, " %s\n",
		e->attachable		  ? (e->exe ? e->exe : "-")
		: e->reason && *e->reason ? e->reason
					  : "cannot be observed");
}

static void render(struct text *t, const struct target_list *list, bool json)
{
	if (!json && list->count)
		text_add(t, "    PID COMMAND          LOOPS    ACTORS PROBES  SYSTEMS          "
			    "PROGRAM\n");
	for (size_t i = 0; i < list->count; i++) {
		if (json)
			add_object(t, &list->entries[i]);
		else
			add_row(t, &list->entries[i]);
	}
}

/* Why the list is short, on stderr, so that it never mixes with the output. */
static void explain(const struct target_list *list)
{
	if (!list->count)
		fprintf(stderr, "actorprobe: no process carries libactor\n");
	if (list->unreadable)
		fprintf(stderr,
			"actorprobe: processes left out because they may not be read: %zu; %s\n",
			list->unreadable,
			capability_have(CAPABILITY_SYS_PTRACE)
				? "a security module or a user namespace forbids it"
				: "CAP_SYS_PTRACE shows them");
}

int command_list(const struct arguments *a, struct error *error)
{
	struct target_list list = {0};
	struct text text = {0};
	int code = target_list_read(&list, error);

	if (!code) {
		render(&text, &list, a->json);
		code = text_write(&text, STDOUT_FILENO, error);
	}
	if (!code && !a->json)
		explain(&list);
	text_fini(&text);
	target_list_fini(&list);
	return code;
}
