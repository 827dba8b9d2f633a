/* SPDX-License-Identifier: MIT */
/* Reads and drops the capabilities of this process without libcap. */
#include "probe/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	enum capability capability;
	const char *name;
} names[] = {
	{CAPABILITY_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{CAPABILITY_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{CAPABILITY_PERFMON, "CAP_PERFMON"},
	{CAPABILITY_BPF, "CAP_BPF"},
};

static int capabilities(long call, struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(call, &header, data) < 0 ? -errno : 0;
}

bool capability_have(enum capability capability)
{
	struct __user_cap_data_struct data[2] = {{0}};

	return capabilities(SYS_capget, data) == 0 &&
	       (data[capability / 32].effective & 1u << capability % 32);
}

const char *capability_missing(char *to, size_t bytes, const int *wanted)
{
	size_t used = 0;

	to[0] = '\0';
	for (; *wanted >= 0; wanted++) {
		if (capability_have((enum capability) * wanted))
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if ((int)names[i].capability == *wanted && used < bytes)
				used += (size_t)snprintf(to + used, bytes - used, "%s%s",
					used ? " and " : "", names[i].name);
	}
	return to;
}

int capability_drop_all(void)
{
	struct __user_cap_data_struct none[2] = {{0}};

	return capabilities(SYS_capset, none);
}

int capability_drop_others(enum capability kept)
{
	struct __user_cap_data_struct data[2] = {{0}};
	int r = capabilities(SYS_capget, data);

	for (unsigned int i = 0; i < 2; i++) {
		data[i].permitted &= i == kept / 32 ? 1u << kept % 32 : 0;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return r < 0 ? r : capabilities(SYS_capset, data);
}

int capability_keep(const int *kept)
{
	struct __user_cap_data_struct data[2] = {{0}};
	uint32_t mask[2] = {0};
	int r = capabilities(SYS_capget, data);

	for (; *kept >= 0; kept++)
		mask[*kept / 32] |= 1u << *kept % 32;
	for (unsigned int i = 0; i < 2; i++) {
		data[i].permitted &= mask[i];
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return r < 0 ? r : capabilities(SYS_capset, data);
}

static int effective_set(bool some)
{
	struct __user_cap_data_struct data[2] = {{0}};
	int r = capabilities(SYS_capget, data);

	for (int i = 0; i < 2; i++)
		data[i].effective = some ? data[i].permitted : 0;
	return r < 0 ? r : capabilities(SYS_capset, data);
}

int capability_rest(void)
{
	return effective_set(false);
}

int capability_resume(void)
{
	return effective_set(true);
}
