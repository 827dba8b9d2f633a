/* SPDX-License-Identifier: MIT */
/* Tries what attaching needs, on this very program, and says what is missing and how to get it. */
#define _GNU_SOURCE
#include "probe/doctor.h"

#include "bpf/actorprobe.skel.h"
#include "probe/attach.h"
#include "probe/capability.h"
#include "probe/error.h"
#include "probe/objects.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define TRAPS 100 /* hits of one round, to measure them */

/* A probe site of our own with its semaphore; `not_zero` keeps both out of .bss, which no file
 * backs. */
static volatile struct {
	uint16_t semaphore;
	uint16_t not_zero;
} own = {0, 1};

extern const char probe_doctor_site[] __attribute__((visibility("hidden")));

#if defined(__clang__)
#define SITE __attribute__((noinline, used))
#else
#define SITE __attribute__((noinline, noclone, used)) /* the label must exist once */
#endif

static SITE void own_site(void)
{
	__asm__ volatile(".globl probe_doctor_site\n"
			 ".hidden probe_doctor_site\n"
			 "probe_doctor_site: nop" ::
				 : "memory");
}

static struct doctor_check *add(struct doctor_report *r, const char *check, enum doctor_state state,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static struct doctor_check *add(struct doctor_report *r, const char *check, enum doctor_state state,
	const char *format, ...)
{
	struct doctor_check *c =
		&r->checks[r->count < DOCTOR_CHECKS_MAX - 1 ? r->count++ : r->count];
	va_list list;

	*c = (struct doctor_check){.check = check, .state = state};
	va_start(list, format);
	vsnprintf(c->text, sizeof(c->text), format, list);
	va_end(list);
	if (state > r->worst)
		r->worst = state;
	return c;
}

static void way_out(struct doctor_check *c, const char *text)
{
	snprintf(c->way_out, sizeof(c->way_out), "%s", text);
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

/* The first line of a file, "" if there is none. */
static const char *line_of(const char *path, char *line, int bytes)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (file && !fgets(line, bytes, file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void check_kernel(struct doctor_report *r)
{
	struct utsname name;

	uname(&name);
	add(r, "kernel", DOCTOR_OK, "Linux %s on %s", name.release, name.machine);
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		add(r, "btf", DOCTOR_OK, "the kernel describes its types; they are not needed");
	else
		add(r, "btf", DOCTOR_OK,
			"the kernel does not describe its types; not needed either");
}

static void check_capabilities(struct doctor_report *r)
{
	static const int wanted[] = {CAPABILITY_BPF, CAPABILITY_PERFMON, -1};
	char missing[64];
	struct doctor_check *c;

	if (*capability_missing(missing, sizeof(missing), wanted)) {
		c = add(r, "capabilities", DOCTOR_FAIL, "missing: %s", missing);
		way_out(c,
			"run as root, or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep actorprobe");
	} else {
		add(r, "capabilities", DOCTOR_OK, "CAP_BPF and CAP_PERFMON are there");
	}
	if (!capability_have(CAPABILITY_SYS_PTRACE)) {
		c = add(r, "other users", DOCTOR_WARN,
			"without CAP_SYS_PTRACE only processes of this user can be observed");
		way_out(c, "run as root, or add cap_sys_ptrace");
	} else {
		add(r, "other users", DOCTOR_OK,
			"CAP_SYS_PTRACE is there: processes of every user can be observed");
	}
}

/* A program that does nothing; `attach_type` 0 is the kind for perf events. */
static int program_load(int attach_type, uint32_t flags)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags,
		.expected_attach_type = (enum bpf_attach_type)attach_type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "doctor", "GPL", nothing, 2, &options);

	return fd < 0 ? -errno : fd;
}

/* Where an address of ours lies in our file. */
static int own_offset(
	const struct objects *o, const volatile void *address, uint64_t *offset, size_t *object)
{
	uint64_t at = (uint64_t)(uintptr_t)address;

	for (size_t i = 0; i < o->mapping_count; i++) {
		const struct objects_mapping *m = &o->mappings[i];

		if (at < m->start || at >= m->end)
			continue;
		*offset = m->offset + (at - m->start);
		*object = m->object;
		return 0;
	}
	return -ENOENT;
}

static uint64_t trap_ns; /* of the last attach_own() */

/* The least of several rounds: others use this machine as well. */
static uint64_t own_site_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < 10; round++) {
		struct timespec from, to;
		uint64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < TRAPS; i++)
			own_site();
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
		     (uint64_t)from.tv_nsec;
		least = ns / TRAPS < least ? ns / TRAPS : least;
	}
	return least;
}

/* Attaches a program to the site above. 1: the semaphore rose and fell; 0: it did not; -errno. */
static int attach_own(enum attach_how how, int program_fd)
{
	struct attach_sites sites = {.count = 1};
	struct attachment a = {.count = 0};
	struct objects objects;
	size_t object = 0;
	int r = objects_read(&objects, getpid(), getpid()), fd, up;

	if (r < 0)
		return r;
	r = own_offset(&objects, &own.semaphore, &sites.semaphores[0], &object);
	if (r == 0)
		r = own_offset(&objects, probe_doctor_site, &sites.offsets[0], &object);
	fd = r == 0 ? objects_open(&objects, object) : r;
	objects_fini(&objects);
	if (fd < 0)
		return fd;
	r = attach_add(&a, how, program_fd, fd, getpid(), &sites);
	if (r == 0) {
		trap_ns = own_site_cost();
		up = own.semaphore != 0;
		attach_close(&a);
		r = up && own.semaphore == 0;
	}
	close(fd);
	return r;
}

static int try_multi(void)
{
	int program = program_load(ATTACH_TYPE_MULTI, BPF_F_SLEEPABLE), r;

	if (program < 0)
		return program;
	r = attach_multi_works(program);
	if (r == 0)
		r = -EOPNOTSUPP;
	if (r > 0)
		r = attach_own(ATTACH_MULTI, program);
	close(program);
	return r;
}

static int try_perf(void)
{
	int program = program_load(0, 0), r;

	if (program < 0)
		return program;
	r = attach_own(ATTACH_PERF, program);
	close(program);
	return r;
}

static void check_attach(struct doctor_report *r, bool *multi_works)
{
	int multi = try_multi(), perf;
	uint64_t multi_trap_ns = trap_ns;
	struct doctor_check *c;

	perf = try_perf();
	*multi_works = multi > 0;
	if (multi > 0) {
		add(r, "uprobe_multi", DOCTOR_OK,
			"attached to this program and left it again; a trap costs %.2f us",
			(double)multi_trap_ns / 1e3);
	} else {
		c = add(r, "uprobe_multi", perf > 0 ? DOCTOR_WARN : DOCTOR_FAIL,
			"does not work: %s",
			multi == 0 ? "the semaphore did not follow" : strerror(-multi));
		way_out(c, multi == -EPERM || multi == -EACCES
				   ? "grant cap_bpf and cap_perfmon"
				   : "use Linux 6.10 or newer; perf events serve meanwhile");
	}
	if (perf > 0) {
		add(r, "perf events", DOCTOR_OK, "uprobes by perf events work as well");
	} else {
		c = add(r, "perf events", multi > 0 ? DOCTOR_OK : DOCTOR_FAIL,
			"uprobes by perf events do not work: %s%s",
			perf == 0 ? "the semaphore did not follow" : strerror(-perf),
			multi > 0 ? "; they are not needed" : "");
		if (multi <= 0)
			way_out(c,
				perf == -EPERM || perf == -EACCES
					? "run as root: from Linux 6.16 on they need cap_sys_admin"
					: "use a kernel with CONFIG_UPROBE_EVENTS");
	}
}

static void check_uprobes(struct doctor_report *r)
{
	static const char source[] = "/sys/bus/event_source/devices/uprobe/";
	char line[64], path[128];
	struct doctor_check *c;

	snprintf(path, sizeof(path), "%stype", source);
	if (*line_of(path, line, sizeof(line))) {
		add(r, "uprobes", DOCTOR_OK, "the kernel has them (event source %s)", line);
	} else {
		c = add(r, "uprobes", DOCTOR_FAIL, "the kernel has no uprobes");
		way_out(c, "use a kernel with CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS");
	}
	snprintf(path, sizeof(path), "%sformat/ref_ctr_offset", source);
	if (*line_of(path, line, sizeof(line))) {
		add(r, "semaphores", DOCTOR_OK, "the kernel raises and lowers them");
	} else {
		c = add(r, "semaphores", DOCTOR_FAIL, "the kernel does not know probe semaphores");
		way_out(c, "use Linux 4.20 or newer");
	}
}

static void check_programs(struct doctor_report *r, bool multi_works)
{
	struct actorprobe *s = actorprobe__open();
	struct bpf_program *program;
	struct doctor_check *c;
	int failed = s ? 0 : -errno;

	if (s) {
		bpf_object__for_each_program(program, s->obj)
		{
			bool perf = strstr(bpf_program__name(program), "_perf") != NULL;

			bpf_program__set_autoload(program, perf != multi_works);
			if (!perf)
				bpf_program__set_expected_attach_type(
					program, (enum bpf_attach_type)ATTACH_TYPE_MULTI);
		}
		failed = actorprobe__load(s);
	}
	if (failed == 0) {
		add(r, "programs", DOCTOR_OK, "the verifier accepts actorprobe's programs");
	} else {
		c = add(r, "programs", DOCTOR_FAIL, "actorprobe's programs cannot be loaded: %s",
			strerror(-failed));
		way_out(c, failed == -EPERM || failed == -EACCES ? "grant cap_bpf and cap_perfmon"
								 : "use Linux 5.17 or newer");
	}
	actorprobe__destroy(s);
}

static void check_ring_buffer(struct doctor_report *r)
{
	int fd = bpf_map_create(
		BPF_MAP_TYPE_RINGBUF, "doctor", 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL);
	struct doctor_check *c;

	if (fd >= 0) {
		close(fd);
		add(r, "ring buffer", DOCTOR_OK, "there is one, which mode ledger uses");
		return;
	}
	c = add(r, "ring buffer", DOCTOR_WARN, "cannot be made: %s", strerror(errno));
	way_out(c, "use Linux 5.8 or newer and cap_bpf; --mode trace does without meanwhile");
}

static void check_policies(struct doctor_report *r)
{
	char line[128];
	struct doctor_check *c;

	line_of("/sys/kernel/security/lockdown", line, sizeof(line));
	if (strstr(line, "[confidentiality]")) {
		c = add(r, "lockdown", DOCTOR_FAIL, "the kernel is locked down (confidentiality)");
		way_out(c, "boot with lockdown=integrity or without");
	} else {
		add(r, "lockdown", DOCTOR_OK, "%s", *line ? line : "this kernel has none");
	}
	line_of("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	if (atoi(line) > 2 && !capability_have(CAPABILITY_SYS_ADMIN)) {
		c = add(r, "perf_event_paranoid", DOCTOR_WARN,
			"is %s: perf events are closed to all but root", line);
		way_out(c,
			"uprobe_multi does not ask it; else sysctl kernel.perf_event_paranoid=2");
	} else {
		add(r, "perf_event_paranoid", DOCTOR_OK, "is %s, which does not hinder",
			*line ? line : "absent");
	}
	line_of("/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line));
	add(r, "unprivileged bpf", DOCTOR_OK,
		"kernel.unprivileged_bpf_disabled is %s; not relied on", *line ? line : "absent");
}

void doctor_run(struct doctor_report *report)
{
	bool multi_works = false;

	*report = (struct doctor_report){0};
	libbpf_set_print(print_nothing);
	check_kernel(report);
	check_capabilities(report);
	check_uprobes(report);
	check_attach(report, &multi_works);
	check_programs(report, multi_works);
	check_ring_buffer(report);
	check_policies(report);
}

int doctor_exit(const struct doctor_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].state == DOCTOR_FAIL &&
			strcmp(report->checks[i].check, "capabilities") == 0)
			return EXIT_PERMISSION;
	return report->worst == DOCTOR_FAIL ? EXIT_KERNEL : EXIT_FINE;
}
