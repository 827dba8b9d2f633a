/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Attributes the time in which a loop's thread is off the CPU to the actor whose turn is open.
 *
 * Attached only while a diagnosis runs. All other threads of the host cost one look-up per switch.
 * The actor is read from the target's own slot: when a thread is switched out it is the current
 * one, so that its memory is at hand; a page that is away reads as no turn.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "bpf/schedule.h"

/* Of the kernel's own, only what is read; its place comes from the kernel's types. */
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCHEDULE_THREADS);
	__type(key, uint32_t);
	__type(value, struct schedule_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCHEDULE_ROWS);
	__type(key, struct schedule_key);
	__type(value, struct schedule_time);
} times SEC(".maps");

/* Times that found no room. */
uint64_t times_lost;

static __always_inline void time_add(uint64_t actor, int64_t call, uint64_t ns)
{
	const struct schedule_time zero = {0};
	struct schedule_key key = {actor, call};
	struct schedule_time *t = bpf_map_lookup_elem(&times, &key);

	if (!t) {
		bpf_map_update_elem(&times, &key, &zero, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&times, &key);
	}
	if (!t) {
		__sync_fetch_and_add(&times_lost, 1);
		return;
	}
	t->ns += ns; /* only the loop's own thread has this actor */
	t->count++;
	if (t->max_ns < ns)
		t->max_ns = ns;
}

/* What the time since the last change was spent on becomes known at the next one. */
static __always_inline void state_end(struct schedule_thread *t, uint64_t now)
{
	if (t->actor && now > t->since_ns) {
		if (t->state == SCHEDULE_BLOCKED)
			time_add(t->actor, t->call, now - t->since_ns);
		else if (t->state == SCHEDULE_READY)
			time_add(t->actor, SCHEDULE_RUNNABLE, now - t->since_ns);
	}
	t->since_ns = now;
}

static __always_inline int64_t call_of(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	int64_t call = -1;

	bpf_probe_read_kernel(&call, sizeof(call), &regs->orig_rax);
	return call;
#else
	return -1;
#endif
}

static __always_inline void switched_out(struct schedule_thread *t, bool blocked, uint64_t now)
{
	uint64_t actor = 0;

	if (bpf_probe_read_user(&actor, sizeof(actor), (const void *)t->slot))
		actor = 0;
	t->actor = actor;
	t->since_ns = now;
	t->call = blocked && actor ? call_of(bpf_get_current_task_btf()) : -1;
	t->state = blocked ? SCHEDULE_BLOCKED : SCHEDULE_READY;
}

SEC("tp_btf/sched_switch")
int on_switch(uint64_t *ctx) /* preempted, previous, next, state of previous */
{
	struct task_struct *previous = (void *)ctx[1], *next = (void *)ctx[2];
	uint32_t from = previous->pid, to = next->pid;
	bool blocked = !(ctx[0] & 1) && (uint32_t)ctx[3] != 0;
	struct schedule_thread *t = bpf_map_lookup_elem(&threads, &from);
	uint64_t now;

	if (t) {
		now = bpf_ktime_get_ns();
		switched_out(t, blocked, now);
	}
	t = bpf_map_lookup_elem(&threads, &to);
	if (t) {
		state_end(t, bpf_ktime_get_ns());
		t->state = SCHEDULE_RUNNING;
	}
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(uint64_t *ctx) /* task */
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t thread = task->pid;
	struct schedule_thread *t = bpf_map_lookup_elem(&threads, &thread);

	if (t && t->state == SCHEDULE_BLOCKED) {
		state_end(t, bpf_ktime_get_ns());
		t->state = SCHEDULE_READY;
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
