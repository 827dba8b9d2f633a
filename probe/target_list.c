/* SPDX-License-Identifier: MIT */
/* Walks /proc and looks for libactor in every process that may be read. */
#define _GNU_SOURCE
#include "probe/target_list.h"

#include "probe/capability.h"
#include "probe/carrier.h"
#include "probe/directory.h"
#include "probe/escape.h"
#include "probe/target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

static const char *const needed[] = {"enqueue", "turn_start", "turn_end", "dispatcher_yield"};

static char *exe_path(pid_t pid, pid_t task)
{
	char path[64], target[PATH_BYTES];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", pid, task);
	bytes = readlink(path, target, sizeof(target));
	return escape_copy(target, bytes < 0 ? 0 : (size_t)bytes);
}

static bool sites_complete(const struct notes *notes)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		bool found = false;

		for (uint32_t k = 0; k < notes->site_count; k++)
			found |= strcmp(notes->sites[k].probe, needed[i]) == 0 &&
				 notes->sites[k].in_registers;
		if (!found)
			return false;
	}
	return true;
}

/* Names of the systems of open loops, each once. */
static char *system_names(const struct directory *d)
{
	char *text = calloc(d->loop_count + 1, ACTOR_ABI_NAME_BYTES + 2);

	for (size_t i = 0; text && i < d->loop_count; i++) {
		const struct actor_abi_loop *loop = &d->loops[i];
		bool again = loop->state != ACTOR_ABI_LOOP_OPEN;

		for (size_t k = 0; k < i && !again; k++)
			again = d->loops[k].state == ACTOR_ABI_LOOP_OPEN &&
				strcmp(d->loops[k].system, loop->system) == 0;
		if (again)
			continue;
		if (*text)
			strcat(text, ", ");
		strcat(text, loop->system);
	}
	return text;
}

static const char *obstacle(const struct notes *notes, const struct directory *d, int r)
{
	static const int wanted[] = {CAPABILITY_BPF, CAPABILITY_PERFMON, -1};
	static char text[128];
	char missing[64];

	if (r == -ETIMEDOUT)
		return "its memory does not answer";
	if (r < 0)
		return "its root cannot be read";
	if (d->major > ACTOR_ABI_MAJOR)
		return "it uses a newer libactor than this actorprobe knows";
	if (d->major < ACTOR_ABI_MAJOR)
		return "it uses an older libactor than this actorprobe reads";
	if (notes->site_count == 0)
		return "its libactor was built without probes";
	if (!sites_complete(notes))
		return "its probes are not those of libactor";
	if (!d->first_monotonic_ns)
		return "it has not started an actor system yet";
	if (!*capability_missing(missing, sizeof(missing), wanted))
		return "";
	snprintf(text, sizeof(text), "not permitted, grant the missing %s", missing);
	return text;
}

static void entry_fill(struct target_entry *e, const struct objects *objects, size_t carrier,
	const struct notes *notes)
{
	struct directory *d = NULL;
	struct remote *remote = NULL;
	const char *path = objects->objects[carrier].path;
	int r = remote_open(&remote, objects->pid, objects->task);

	e->command = target_command(objects->pid);
	e->exe = exe_path(objects->pid, objects->task);
	e->object = escape_copy(path, strlen(path));
	e->probes = notes->site_count;
	if (r == 0)
		r = directory_read(&d, remote,
			objects_address(objects, carrier, notes, notes->root_address),
			DIRECTORY_ACTORS);
	e->reason = strdup(obstacle(notes, d, r));
	e->attachable = e->reason && !*e->reason;
	if (d) {
		e->abi_major = d->major;
		e->abi_minor = d->minor;
		e->systems = system_names(d);
		for (size_t i = 0; i < d->loop_count; i++) {
			e->loops += d->loops[i].state == ACTOR_ABI_LOOP_OPEN;
			e->actors += d->actors[i];
		}
	} else {
		e->systems = strdup("");
	}
	directory_free(d);
	remote_close(remote);
}

static struct target_entry *entry_add(struct target_list *list, pid_t pid)
{
	struct target_entry *more =
		realloc(list->entries, (list->count + 1) * sizeof(*list->entries));

	if (!more)
		return NULL;
	list->entries = more;
	more += list->count++;
	*more = (struct target_entry){.pid = pid};
	return more;
}

static int process_look(struct target_list *list, pid_t pid, struct carrier_others *others)
{
	pid_t task = target_task(pid);
	struct objects objects;
	struct notes notes;
	struct target_entry *entry;
	ssize_t carrier;
	int fd, r = task ? objects_read(&objects, pid, task) : -ESRCH;

	if (r == -EACCES || r == -EPERM)
		list->unreadable++;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	carrier = carrier_find(&objects, &notes, &fd, others);
	if (carrier >= 0) {
		close(fd);
		entry = entry_add(list, pid);
		if (entry)
			entry_fill(entry, &objects, (size_t)carrier, &notes);
		else
			r = -ENOMEM;
	} else if (carrier == -EACCES || carrier == -EPERM) {
		list->unreadable++;
	}
	objects_fini(&objects);
	return r;
}

static int entry_compare(const void *a, const void *b)
{
	const struct target_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int target_list_read(struct target_list *list, struct error *error)
{
	struct carrier_others others = {0};
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int r = 0;

	*list = (struct target_list){0};
	if (!dir)
		return error_set(error, EXIT_KERNEL, "/proc is not mounted; mount it");
	while (r == 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0)
			r = process_look(list, pid, &others);
	}
	closedir(dir);
	free(others.files);
	if (r < 0) {
		target_list_fini(list);
		return error_set(error, EXIT_KERNEL, "out of memory");
	}
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), entry_compare);
	return 0;
}

void target_list_fini(struct target_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct target_entry *e = &list->entries[i];

		free(e->command);
		free(e->exe);
		free(e->object);
		free(e->systems);
		free(e->reason);
	}
	free(list->entries);
	*list = (struct target_list){0};
}
