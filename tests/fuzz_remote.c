/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as the memory of a target, from address 0 on, with the root at its start. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/deepwatch.h"
#include "probe/directory.h"
#include "probe/remote.h"

#define WISHES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void resolve(const struct directory *d, struct remote *remote)
{
	struct directory_wish wishes[WISHES];

	for (uint32_t i = 0; i < WISHES; i++)
		wishes[i] = (struct directory_wish){.actor = (uint64_t)i << 32, .mask = 0};
	if (directory_resolve(d, remote, wishes, WISHES) == 0)
		for (uint32_t i = 0; i < WISHES; i++)
			free(wishes[i].path);
}

static void watch(const struct directory *d, struct remote *remote)
{
	static const struct calibration rate = {1u << 30, 30};
	struct aggregate a = {0};

	if (deepwatch_fill(d, remote, &rate, &a) < 0)
		abort();
	aggregate_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int file = -1;
	static struct remote *remote;
	const uint64_t magic = ACTOR_ABI_MAGIC;
	struct directory *d = NULL;

	if (file < 0) {
		file = memfd_create("memory", MFD_CLOEXEC);
		if (file < 0 || remote_wrap(&remote, dup(file)) < 0)
			abort();
	}
	if (ftruncate(file, 0) < 0 || pwrite(file, data, bytes, 0) < 0 ||
		pwrite(file, &magic, sizeof(magic), 0) < 0)
		abort();
	if (directory_read(&d, remote, 0, 1) == 0) {
		resolve(d, remote);
		watch(d, remote);
		free(directory_label(&d->classes, 1));
	}
	directory_free(d);
	return 0;
}
