/* SPDX-License-Identifier: MIT */
/* The ELF notes by which a file is known to carry libactor: its probe sites and its root. */
#ifndef PROBE_NOTES_H
#define PROBE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTES_SITES_MAX	   64
#define NOTES_SEGMENTS_MAX 32
#define NOTES_PROBE_BYTES  32

/* All offsets are offsets in the file, as the kernel wants them for uprobes. */
struct notes_site {
	char probe[NOTES_PROBE_BYTES];
	uint64_t offset;
	uint64_t semaphore_offset; /* 0 = the site has none */
	bool in_registers;	   /* each argument lies in the C argument register of its place */
};

struct notes_segment {
	uint64_t offset;
	uint64_t address; /* as linked */
	uint64_t file_bytes;
	uint64_t memory_bytes;
	bool writable;
	bool executable;
};

struct notes {
	bool has_root;
	uint64_t root_address; /* as linked */
	uint32_t site_count;   /* sites of the provider `actor` */
	uint32_t segment_count;
	bool truncated; /* there were more sites than NOTES_SITES_MAX */
	struct notes_site sites[NOTES_SITES_MAX];
	struct notes_segment segments[NOTES_SEGMENTS_MAX]; /* the loaded ones */
};

enum notes_result {
	NOTES_OK = 0,	       /* parsed; has_root and site_count say what was found */
	NOTES_NOT_ELF = -1,    /* no ELF file, or a broken one */
	NOTES_32_BIT = -2,     /* a 32-bit program */
	NOTES_FOREIGN = -3,    /* of another machine or byte order */
	NOTES_UNREADABLE = -4, /* reading failed */
};

/* Parses the file behind `fd`, of which every byte may be hostile. Keeps no reference to it. */
enum notes_result notes_read(struct notes *notes, int fd);

/* The same for an image in memory. */
enum notes_result notes_parse(struct notes *notes, const void *image, size_t bytes);

#endif
