/* SPDX-License-Identifier: MIT */
/* Loads the scheduler's programs, tells them the threads, and reads what they have found. */
#define _GNU_SOURCE
#include "probe/schedule.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/schedule.skel.h"
#include "probe/capability.h"

struct schedule {
	struct schedule_bpf *skeleton;
};

static const int wanted[] = {CAPABILITY_BPF, CAPABILITY_PERFMON, -1};

static char *why_not(int r)
{
	char missing[64], *text = NULL;

	capability_missing(missing, sizeof(missing), wanted);
	if (*missing)
		r = asprintf(&text, "%s is missing", missing);
	else if (r == -ENOENT || r == -ESRCH || r == -EINVAL)
		r = asprintf(&text,
			"this kernel has no types of its own (BTF) or no tracepoints of "
			"its scheduler for BPF");
	else
		r = asprintf(
			&text, "the kernel refuses the scheduler's tracepoints: %s", strerror(-r));
	return r < 0 ? NULL : text;
}

static int threads_put(const struct schedule *s, const struct schedule_wish *wishes, size_t count)
{
	int fd = bpf_map__fd(s->skeleton->maps.threads);

	for (size_t i = 0; i < count; i++) {
		uint32_t task = (uint32_t)wishes[i].task;
		struct schedule_thread thread = {.slot = wishes[i].slot};

		if (task && bpf_map_update_elem(fd, &task, &thread, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

static int start(struct schedule *s, const struct schedule_wish *wishes, size_t count)
{
	int r;

	s->skeleton = schedule_bpf__open();
	if (!s->skeleton)
		return -errno;
	r = schedule_bpf__load(s->skeleton);
	if (r == 0)
		r = threads_put(s, wishes, count);
	return r ? r : schedule_bpf__attach(s->skeleton);
}

int schedule_open(
	struct schedule **out, const struct schedule_wish *wishes, size_t count, char **why)
{
	struct schedule *s = calloc(1, sizeof(*s));
	int r = s ? start(s, wishes, count) : -ENOMEM;

	if (r == 0) {
		*out = s;
		return 0;
	}
	*why = why_not(r);
	schedule_close(s);
	return r;
}

int schedule_visit(const struct schedule *s,
	void (*visit)(void *data, const struct schedule_key *key, const struct schedule_time *time),
	void *data)
{
	int fd = bpf_map__fd(s->skeleton->maps.times);
	struct schedule_key key, *before = NULL;
	struct schedule_time time;

	for (uint32_t n = 0; n < SCHEDULE_ROWS; n++) {
		if (bpf_map_get_next_key(fd, before, &key) < 0)
			return errno == ENOENT ? 0 : -errno;
		if (bpf_map_lookup_elem(fd, &key, &time) == 0)
			visit(data, &key, &time);
		before = &key;
	}
	return 0;
}

uint64_t schedule_lost(const struct schedule *s)
{
	return s->skeleton->bss->times_lost;
}

void schedule_stop(struct schedule *s)
{
	if (s && s->skeleton)
		schedule_bpf__detach(s->skeleton);
}

void schedule_close(struct schedule *s)
{
	if (!s)
		return;
	schedule_bpf__destroy(s->skeleton);
	free(s);
}
