/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs of a mode and puts them on the probe sites of a target. */
#define _GNU_SOURCE
#include "probe/programs.h"

#include "bpf/actorprobe.skel.h"
#include "bpf/maps.h"
#include "probe/capability.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `turn_end` comes last: what it counts, the others have seen as well. */
static const struct place {
	const char *probe;
	const char *program; /* its form for perf events has "_perf" behind it */
	enum aggregate_mode mode;
} places[] = {
	{"ledger", "on_ledger", AGGREGATE_LEDGER},
	{"enqueue", "on_enqueue", AGGREGATE_TRACE},
	{"dispatcher_yield", "on_dispatcher_yield", AGGREGATE_TRACE},
	{"turn_start", "on_turn_start", AGGREGATE_TRACE},
	{"turn_end", "on_turn_end", AGGREGATE_TRACE},
};

#define MANY_ENTRIES 65536u
#define MANY_SERIES  16384u /* of all targets, while the ring is full */

#define PLACES (sizeof(places) / sizeof(places[0]))

static int print_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

static int print_all(enum libbpf_print_level level, const char *format, va_list list)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, format, list);
}

static struct bpf_program *program_at(const struct programs *p, size_t place)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", places[place].program,
		p->how == ATTACH_PERF ? "_perf" : "");
	return bpf_object__find_program_by_name(p->skeleton->obj, name);
}

static size_t first_place(enum aggregate_mode mode)
{
	size_t i = 0;

	while (places[i].mode != mode)
		i++;
	return i;
}

static void configure_many(struct actorprobe *s)
{
	struct bpf_map *const large[] = {s->maps.loops, s->maps.tallies, s->maps.targets};
	struct bpf_map *const series[] = {
		s->maps.mails, s->maps.turns, s->maps.delays, s->maps.gaps};

	s->rodata->many = true;
	bpf_map__set_type(s->maps.loops, BPF_MAP_TYPE_HASH);
	bpf_map__set_map_flags(s->maps.loops, BPF_F_NO_PREALLOC);
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		bpf_map__set_max_entries(large[i], MANY_ENTRIES);
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		bpf_map__set_max_entries(series[i], MANY_SERIES);
}

static void configure(struct programs *p, const struct programs_options *options)
{
	struct actorprobe *s = p->skeleton;
	uint32_t series = options->max_series;
	struct bpf_program *program;

	bpf_object__for_each_program(program, s->obj) bpf_program__set_autoload(program, false);
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i].mode != p->mode)
			continue;
		program = program_at(p, i);
		bpf_program__set_autoload(program, true);
		if (p->how == ATTACH_MULTI)
			bpf_program__set_expected_attach_type(
				program, (enum bpf_attach_type)ATTACH_TYPE_MULTI);
	}
	s->rodata->by_actor = options->by_actor;
	s->data->tick_mult = options->calibration.mult;
	s->rodata->tick_shift = options->calibration.shift;
	s->rodata->messages_given = options->messages_given;
	s->data->sample_every = options->sample_every ? options->sample_every : 1;
	bpf_map__set_autocreate(s->maps.ring, p->mode == AGGREGATE_LEDGER);
	bpf_map__set_max_entries(s->maps.mails, series + 1);
	bpf_map__set_max_entries(s->maps.turns, series + 1);
	bpf_map__set_max_entries(s->maps.delays, series + 1);
	bpf_map__set_max_entries(s->maps.gaps, ACTOR_ABI_LOOPS + 1);
	if (options->many)
		configure_many(s);
}

/* The overflow series must exist before there is no room for it. */
static int reserve_overflow(const struct programs *p)
{
	static const struct series_key key = {0, MAPS_OVERFLOW, MAPS_OVERFLOW};
	static const struct mail_series zero; /* the largest of them */
	const struct bpf_map *maps[] = {p->skeleton->maps.mails, p->skeleton->maps.turns,
		p->skeleton->maps.delays, p->skeleton->maps.gaps};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (bpf_map_update_elem(bpf_map__fd(maps[i]), &key, &zero, BPF_NOEXIST) < 0)
			return -errno;
	for (uint32_t i = 0; i <= ACTOR_ABI_LIFE_RESUME; i++) {
		const struct tally_key tally = {
			.family = i ? TALLY_LIFE + i : TALLY_YIELDS, .id = MAPS_OVERFLOW};
		const uint64_t none = 0;

		if (bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.tallies), &tally, &none,
			    BPF_NOEXIST) < 0)
			return -errno;
	}
	return 0;
}

static int load(struct programs *p, const struct programs_options *options)
{
	int r;

	libbpf_set_print(options->verbose > 1 ? print_all : print_nothing);
	p->skeleton = actorprobe__open();
	if (!p->skeleton)
		return -errno;
	configure(p, options);
	r = actorprobe__load(p->skeleton);
	if (r == 0)
		r = reserve_overflow(p);
	if (r == 0 && p->how == ATTACH_MULTI) {
		r = attach_multi_works(bpf_program__fd(program_at(p, first_place(p->mode))));
		r = r > 0 ? 0 : r ? r : -EOPNOTSUPP;
	}
	return r;
}

static int sites_of(const struct notes *notes, const char *probe, struct attach_sites *sites)
{
	sites->count = 0;
	for (uint32_t i = 0; i < notes->site_count; i++) {
		const struct notes_site *site = &notes->sites[i];

		if (strcmp(site->probe, probe) != 0)
			continue;
		if (!site->in_registers || sites->count == ATTACH_SITES_MAX)
			return -EPROTO;
		sites->offsets[sites->count] = site->offset;
		sites->semaphores[sites->count++] = site->semaphore_offset;
	}
	return sites->count ? 0 : -ENOENT;
}

static int attach(struct programs *p, const struct target *target)
{
	pid_t pid = p->how == ATTACH_MULTI ? target->pid : target->task;
	struct attach_sites sites;
	int r = 0;

	for (size_t i = 0; i < PLACES && r == 0; i++) {
		if (places[i].mode != p->mode)
			continue;
		r = sites_of(&target->notes, places[i].probe, &sites);
		if (r == 0)
			r = attach_add(&p->attachment, p->how, bpf_program__fd(program_at(p, i)),
				target->object_fd, pid, &sites);
	}
	return r;
}

static int try(struct programs *p, enum attach_how how, const struct target *target,
	const struct programs_options *options)
{
	int r;

	*p = (struct programs){.how = how, .mode = options->mode};
	r = load(p, options);
	if (r == 0)
		r = attach(p, target);
	if (r != 0)
		programs_close(p);
	return r;
}

static int permission_error(enum attach_how how, struct error *error)
{
	static const int multi[] = {CAPABILITY_BPF, CAPABILITY_PERFMON, -1};
	static const int perf[] = {CAPABILITY_BPF, CAPABILITY_SYS_ADMIN, -1};
	char missing[64];

	capability_missing(missing, sizeof(missing), how == ATTACH_MULTI ? multi : perf);
	if (!*missing)
		return error_set(error, EXIT_PERMISSION,
			"the kernel refuses to attach although no capability is missing here: "
			"lockdown "
			"or a security module forbids it; `actorprobe doctor` shows which");
	return error_set(error, EXIT_PERMISSION,
		"attaching is not permitted; run as root, or grant the missing %s", missing);
}

int programs_explain(int r, enum attach_how how, pid_t pid, struct error *error)
{
	switch (-r) {
	case ENOENT:
		return error_set(error, EXIT_PROBES,
			"process %d carries libactor without its probes; it was built with "
			"ACTOR_NO_PROBES",
			pid);
	case EPROTO:
		return error_set(error, EXIT_PROBES,
			"the probes of process %d do not have their arguments where libactor puts "
			"them; rebuild it with an unchanged libactor",
			pid);
	case EPERM:
	case EACCES:
		return permission_error(how, error);
	case ESRCH:
		return error_set(error, EXIT_TARGET, "process %d ended meanwhile", pid);
	case EMFILE:
	case ENFILE:
		return error_set(error, EXIT_PERMISSION,
			"too many open files; raise the limit with `ulimit -n 1024`");
	default:
		return error_set(error, EXIT_KERNEL,
			"this kernel cannot attach uprobes (%s); `actorprobe doctor` shows what is "
			"missing",
			strerror(-r));
	}
}

/* Is it the kernel's inability, so that the older way may still work? */
static bool unable(int r)
{
	return r != -EPERM && r != -EACCES && r != -ENOENT && r != -EPROTO && r != -ESRCH &&
	       r != -EMFILE && r != -ENFILE;
}

int programs_open(struct programs *p, const struct target *target,
	const struct programs_options *options, struct error *error)
{
	/* A link limited to a process follows its main thread, which may have ended. */
	bool perf = options->force_perf || target->task != target->pid;
	enum attach_how how = perf ? ATTACH_PERF : ATTACH_MULTI;
	int r = try(p, how, target, options);

	if (r != 0 && how == ATTACH_MULTI && unable(r)) {
		if (options->verbose)
			fprintf(stderr, "actorprobe: no uprobe_multi (%s), using perf events\n",
				strerror(-r));
		how = ATTACH_PERF;
		r = try(p, how, target, options);
	}
	return r == 0 ? 0 : programs_explain(r, how, target->pid, error);
}

int programs_load(struct programs *p, const struct programs_options *options, struct error *error)
{
	int r;

	*p = (struct programs){.how = ATTACH_MULTI, .mode = AGGREGATE_LEDGER};
	r = load(p, options);
	if (r == 0)
		return 0;
	programs_close(p);
	return programs_explain(r, ATTACH_MULTI, 0, error);
}

int programs_link(const struct programs *p, const struct notes *notes, int file_fd)
{
	struct attachment link = {0};
	struct attach_sites sites;
	size_t place = first_place(AGGREGATE_LEDGER);
	int r = sites_of(notes, places[place].probe, &sites);

	if (r == 0)
		r = attach_add(&link, ATTACH_MULTI, bpf_program__fd(program_at(p, place)), file_fd,
			0, &sites);
	return r == 0 ? link.fds[0] : r;
}

bool programs_elsewhere(const struct programs *p)
{
	return *(volatile uint64_t *)&p->skeleton->bss->batches_elsewhere != 0;
}

int programs_enter(const struct programs *p, pid_t pid, const struct target_entry *entry)
{
	uint32_t key = (uint32_t)pid;
	int r = bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.targets), &key, entry, BPF_ANY);

	return r < 0 ? -errno : 0;
}

int programs_entry(const struct programs *p, pid_t pid, struct target_entry *entry)
{
	uint32_t key = (uint32_t)pid;
	int r = bpf_map_lookup_elem(bpf_map__fd(p->skeleton->maps.targets), &key, entry);

	return r < 0 ? -errno : 0;
}

/* Keys of one map that are of the target; what is removed meanwhile only shortens the walk. */
static void keys_forget(const struct bpf_map *map, uint32_t pid)
{
	union {
		struct series_key series;
		struct tally_key tally;
	} key, next;
	int fd = bpf_map__fd(map);
	bool tally = bpf_map__key_size(map) == sizeof(key.tally) && bpf_map__value_size(map) == 8;
	int more = bpf_map_get_next_key(fd, NULL, &next);

	while (more == 0) {
		key = next;
		more = bpf_map_get_next_key(fd, &key, &next);
		if ((tally ? key.tally.target : key.series.actor) == pid)
			bpf_map_delete_elem(fd, &key);
	}
}

void programs_forget(const struct programs *p, pid_t pid)
{
	const struct actorprobe *s = p->skeleton;
	const struct bpf_map *maps[] = {
		s->maps.mails, s->maps.turns, s->maps.delays, s->maps.gaps, s->maps.tallies};
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(s->maps.targets), &key);
	for (uint32_t loop = 0; loop < ACTOR_ABI_LOOPS; loop++) {
		key = maps_loop_key((uint32_t)pid, loop);
		bpf_map_delete_elem(bpf_map__fd(s->maps.loops), &key);
	}
	for (size_t i = 0; programs_elsewhere(p) && i < sizeof(maps) / sizeof(maps[0]); i++)
		keys_forget(maps[i], (uint32_t)pid);
}

bool programs_readable(const struct programs *p)
{
	struct loop_account account;
	uint32_t loop = 0;

	return bpf_map_lookup_elem(bpf_map__fd(p->skeleton->maps.loops), &loop, &account) == 0;
}

int programs_ring(const struct programs *p)
{
	return bpf_map__fd(p->skeleton->maps.ring);
}

void programs_set_rate(struct programs *p, uint64_t mult)
{
	*(volatile uint64_t *)&p->skeleton->data->tick_mult = mult;
}

void programs_set_sampling(struct programs *p, uint64_t every)
{
	*(volatile uint64_t *)&p->skeleton->data->sample_every = every;
}

void programs_detach(struct programs *p)
{
	attach_close(&p->attachment);
}

void programs_close(struct programs *p)
{
	programs_detach(p);
	actorprobe__destroy(p->skeleton);
	p->skeleton = NULL;
}
