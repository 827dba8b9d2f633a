/* SPDX-License-Identifier: MIT */
/* Probe sites and root are found in a real file, and broken files are only refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/notes.h"
#include "runtime/abi.h"

static uint8_t *image;
static size_t image_bytes;

static int load(void **state)
{
	const char *path =
		getenv("FAKE_TARGET") ? getenv("FAKE_TARGET") : "build/tests/fake_target";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	(void)state;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	image_bytes = (size_t)st.st_size;
	image = malloc(image_bytes);
	return image && read(fd, image, image_bytes) == st.st_size && close(fd) == 0 ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	free(image);
	return 0;
}

static void every_probe_is_found_once_with_its_semaphore(void **state)
{
#define NAME(probe, n) #probe,
	static const char *const probes[] = {ACTOR_ABI_PROBES(NAME)};
#undef NAME
	const size_t count = sizeof(probes) / sizeof(probes[0]);
	struct notes notes;

	(void)state;
	assert_int_equal(notes_parse(&notes, image, image_bytes), NOTES_OK);
	assert_true(notes.has_root);
	assert_int_equal(notes.site_count, count);
	for (size_t i = 0; i < count; i++) {
		int found = 0;

		for (uint32_t k = 0; k < notes.site_count; k++) {
			const struct notes_site *site = &notes.sites[k];

			if (strcmp(site->probe, probes[i]) != 0)
				continue;
			found++;
			assert_true(site->in_registers);
			assert_int_equal(image[site->offset], 0x90); /* one nop of one byte */
			assert_int_equal(image[site->semaphore_offset], 0);
			assert_true(site->semaphore_offset > 0);
		}
		assert_int_equal(found, 1);
	}
}

static void the_root_note_leads_to_the_magic_number(void **state)
{
	struct notes notes;
	uint64_t magic = 0;

	(void)state;
	notes_parse(&notes, image, image_bytes);
	for (uint32_t i = 0; i < notes.segment_count; i++) {
		const struct notes_segment *s = &notes.segments[i];

		if (notes.root_address >= s->address &&
			notes.root_address - s->address + 8 <= s->file_bytes)
			memcpy(&magic, image + s->offset + (notes.root_address - s->address), 8);
	}
	assert_true(magic == ACTOR_ABI_MAGIC);
}

static void a_file_reads_like_its_image(void **state)
{
	struct notes a, b;
	int fd = memfd_create("image", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, image, image_bytes), image_bytes);
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	assert_int_equal(notes_read(&a, fd), NOTES_OK);
	notes_parse(&b, image, image_bytes);
	assert_memory_equal(&a, &b, sizeof(a));
	close(fd);
}

static void other_files_are_told_apart(void **state)
{
	static const char text[64] = "#!/bin/sh";
	struct notes notes;
	uint8_t *copy = malloc(image_bytes);

	(void)state;
	assert_int_equal(notes_parse(&notes, "", 0), NOTES_UNREADABLE);
	assert_int_equal(notes_parse(&notes, text, sizeof(text)), NOTES_NOT_ELF);
	memcpy(copy, image, image_bytes);
	copy[EI_CLASS] = ELFCLASS32;
	assert_int_equal(notes_parse(&notes, copy, image_bytes), NOTES_32_BIT);
	memcpy(copy, image, image_bytes);
	((Elf64_Ehdr *)(void *)copy)->e_machine = EM_S390;
	assert_int_equal(notes_parse(&notes, copy, image_bytes), NOTES_FOREIGN);
	free(copy);
}

static void another_form_of_arguments_is_noticed(void **state)
{
	uint8_t *copy = malloc(image_bytes), *at;
	struct notes notes;
	int bad = 0;

	(void)state;
	memcpy(copy, image, image_bytes);
	at = memmem(copy, image_bytes, "turn_end\0008@%rdi", 15);
	assert_non_null(at);
	memcpy(at + 11, "%rbx", 4);
	assert_int_equal(notes_parse(&notes, copy, image_bytes), NOTES_OK);
	for (uint32_t i = 0; i < notes.site_count; i++)
		if (!notes.sites[i].in_registers) {
			assert_string_equal(notes.sites[i].probe, "turn_end");
			bad++;
		}
	assert_int_equal(bad, 1);
	free(copy);
}

static void a_cut_file_is_survived_at_every_length(void **state)
{
	struct notes notes;

	(void)state;
	for (size_t bytes = 0; bytes < image_bytes; bytes += bytes < 4096 ? 1 : 61) {
		uint8_t *copy = malloc(bytes + 1); /* a sanitizer sees a step beyond its end */

		memcpy(copy, image, bytes);
		notes_parse(&notes, copy, bytes);
		assert_true(notes.site_count <= NOTES_SITES_MAX);
		free(copy);
	}
}

static void damaged_bytes_are_survived(void **state)
{
	unsigned int seed = 4711;
	struct notes notes;
	uint8_t *copy = malloc(image_bytes);

	(void)state;
	print_message("seed %u\n", seed);
	for (int round = 0; round < 2000; round++) {
		memcpy(copy, image, image_bytes);
		for (int i = 0; i < 4; i++) {
			size_t where = (size_t)rand_r(&seed) % (i % 2 ? image_bytes : 1024);

			copy[where] = (uint8_t)rand_r(&seed);
		}
		notes_parse(&notes, copy, image_bytes);
		assert_true(notes.segment_count <= NOTES_SEGMENTS_MAX);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_is_found_once_with_its_semaphore),
		cmocka_unit_test(the_root_note_leads_to_the_magic_number),
		cmocka_unit_test(a_file_reads_like_its_image),
		cmocka_unit_test(other_files_are_told_apart),
		cmocka_unit_test(another_form_of_arguments_is_noticed),
		cmocka_unit_test(a_cut_file_is_survived_at_every_length),
		cmocka_unit_test(damaged_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
