/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading a target's memory and a probe's arguments. */
#ifndef BPF_COPY_H
#define BPF_COPY_H

#if defined(__TARGET_ARCH_arm64)
#define ARGUMENT(ctx, n) (((struct user_pt_regs *)(ctx))->regs[n])
#else
#define ARGUMENT_0	 rdi
#define ARGUMENT_1	 rsi
#define ARGUMENT_2	 rdx
#define ARGUMENT_3	 rcx
#define ARGUMENT_4	 r8
#define ARGUMENT_5	 r9
#define ARGUMENT(ctx, n) (((struct pt_regs *)(ctx))->ARGUMENT_##n)
#endif

/* A sleepable program waits for a page that is away; for the other one it cannot be read. */
static __always_inline int copy(void *to, uint32_t bytes, uint64_t from, bool sleepable)
{
	if (sleepable)
		return bpf_copy_from_user(to, bytes, (const void *)from);
	return bpf_probe_read_user(to, bytes, (const void *)from);
}

#endif
