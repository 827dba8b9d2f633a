/* SPDX-License-Identifier: MIT */
/* Reads probe sites and root from the notes of an ELF file, of which every byte may be hostile.
 *
 * Sites stand in .note.stapsdt, which is not loaded, so that its section header is needed; strip
 * keeps both. The root stands in a loaded note, found by the program headers. Nothing is mapped:
 * a file that shrinks meanwhile gives a short read, not a signal.
 */
#include "probe/notes.h"

#include "runtime/abi.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_BYTES_MAX	(1u << 20) /* of one note section; ours have a few hundred bytes */
#define NAMES_BYTES_MAX (1u << 20) /* of the section names */
#define SECTIONS_MAX	65536u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const char *const operands[6] = {"8@%rdi", "8@%rsi", "8@%rdx", "8@%rcx", "8@%r8", "8@%r9"};
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const char *const operands[6] = {"8@x0", "8@x1", "8@x2", "8@x3", "8@x4", "8@x5"};
#endif

struct image {
	int fd; /* -1: `bytes` holds the file */
	const uint8_t *bytes;
	uint64_t size;
};

/* A note section or segment, copied out of the file. */
struct block {
	uint8_t *bytes;
	uint64_t size;
	uint64_t address; /* as linked, of its first byte */
};

struct parser {
	struct image image;
	struct notes *notes;
	uint64_t base; /* address of .stapsdt.base, 0 = none */
};

typedef void note_handler(struct parser *p, const struct block *block, const Elf64_Nhdr *head,
	const uint8_t *name, const uint8_t *descriptor);

static int image_read(const struct image *image, uint64_t offset, void *to, uint64_t bytes)
{
	if (offset > INT64_MAX || bytes > INT64_MAX - offset)
		return -1;
	if (image->fd < 0) {
		if (offset > image->size || bytes > image->size - offset)
			return -1;
		memcpy(to, image->bytes + offset, bytes);
		return 0;
	}
	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pread(
			image->fd, (uint8_t *)to + done, bytes - done, (off_t)(offset + done));

		if (n <= 0)
			return -1;
		done += (uint64_t)n;
	}
	return 0;
}

static int block_read(struct block *block, const struct image *image, uint64_t offset,
	uint64_t bytes, uint64_t limit)
{
	if (bytes == 0 || bytes > limit)
		return -1;
	block->bytes = malloc(bytes);
	block->size = bytes;
	if (!block->bytes || image_read(image, offset, block->bytes, bytes) < 0) {
		free(block->bytes);
		block->bytes = NULL;
		return -1;
	}
	return 0;
}

static uint64_t align_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static void block_walk(struct parser *p, const struct block *block, note_handler *handle)
{
	uint64_t at = 0;

	while (block->size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		uint64_t name = at + sizeof(head), descriptor, next;

		memcpy(&head, block->bytes + at, sizeof(head));
		descriptor = name + align_up(head.n_namesz, 4);
		next = descriptor + align_up(head.n_descsz, 4);
		if (descriptor > block->size || head.n_descsz > block->size - descriptor)
			return;
		handle(p, block, &head, block->bytes + name, block->bytes + descriptor);
		if (next >= block->size)
			return;
		at = next;
	}
}

/* The offset in the file of an address, 0 if no segment of that kind holds it. */
static uint64_t file_offset(const struct notes *notes, uint64_t address, bool executable)
{
	for (uint32_t i = 0; i < notes->segment_count; i++) {
		const struct notes_segment *s = &notes->segments[i];

		if ((executable ? s->executable : s->writable) && address >= s->address &&
			address - s->address < s->file_bytes)
			return s->offset + (address - s->address);
	}
	return 0;
}

static int arguments_of(const char *probe)
{
#define ROW(name, n) {#name, n},
	static const struct {
		const char *name;
		int arguments;
	} probes[] = {ACTOR_ABI_PROBES(ROW)};
#undef ROW

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (strcmp(probes[i].name, probe) == 0)
			return probes[i].arguments;
	return -1;
}

/* Is this exactly the list of the argument registers in their order? A probe that we do not know
 * may have any number of them. */
static bool arguments_in_registers(const char *probe, const char *text)
{
	int expected = arguments_of(probe), n = 0;

	for (; *text && n < 6; n++) {
		size_t bytes = strlen(operands[n]);

		text += *text == '-'; /* a signed argument */
		if (strncmp(text, operands[n], bytes) != 0)
			return false;
		text += bytes;
		if (*text != ' ' && *text)
			return false;
		text += *text == ' ';
	}
	return !*text && (expected < 0 || n == expected);
}

/* The string at *at, which is moved behind it; NULL if none ends within the descriptor. */
static const char *string_next(const uint8_t *descriptor, uint32_t bytes, uint32_t *at)
{
	const char *text = (const char *)descriptor + *at;
	const void *end = *at < bytes ? memchr(text, 0, bytes - *at) : NULL;

	if (!end)
		return NULL;
	*at += (uint32_t)((const char *)end - text) + 1;
	return text;
}

/* A note of a probe site: address, base, semaphore, then provider, probe and arguments. */
static void handle_site(struct parser *p, const struct block *block, const Elf64_Nhdr *head,
	const uint8_t *name, const uint8_t *descriptor)
{
	struct notes *notes = p->notes;
	struct notes_site site = {0};
	uint64_t words[3];
	uint32_t at = sizeof(words);
	const char *provider, *probe, *arguments;

	(void)block;
	if (head->n_namesz != 8 || memcmp(name, "stapsdt", 8) != 0 || head->n_type != 3 ||
		head->n_descsz < sizeof(words))
		return;
	memcpy(words, descriptor, sizeof(words));
	provider = string_next(descriptor, head->n_descsz, &at);
	probe = provider ? string_next(descriptor, head->n_descsz, &at) : NULL;
	arguments = probe ? string_next(descriptor, head->n_descsz, &at) : NULL;
	if (!arguments || strcmp(provider, ACTOR_ABI_PROVIDER) != 0 ||
		strlen(probe) >= sizeof(site.probe))
		return;
	if (p->base && words[1]) { /* prelink or objcopy moved the file since */
		words[0] += p->base - words[1];
		words[2] += words[2] ? p->base - words[1] : 0;
	}
	memcpy(site.probe, probe, strlen(probe) + 1);
	site.offset = file_offset(notes, words[0], true);
	site.semaphore_offset = words[2] ? file_offset(notes, words[2], false) : 0;
	site.in_registers = arguments_in_registers(probe, arguments);
	if (!site.offset)
		return;
	if (notes->site_count == NOTES_SITES_MAX)
		notes->truncated = true;
	else
		notes->sites[notes->site_count++] = site;
}

/* The note of the root: its distance from the descriptor. */
static void handle_root(struct parser *p, const struct block *block, const Elf64_Nhdr *head,
	const uint8_t *name, const uint8_t *descriptor)
{
	uint64_t distance;

	if (p->notes->has_root || head->n_type != ACTOR_ABI_NOTE_ROOT ||
		head->n_namesz != sizeof(ACTOR_ABI_NOTE_NAME) ||
		memcmp(name, ACTOR_ABI_NOTE_NAME, sizeof(ACTOR_ABI_NOTE_NAME)) != 0 ||
		head->n_descsz < sizeof(distance))
		return;
	memcpy(&distance, descriptor, sizeof(distance));
	p->notes->root_address = block->address + (uint64_t)(descriptor - block->bytes) + distance;
	p->notes->has_root = true;
}

static void walk_at(
	struct parser *p, uint64_t offset, uint64_t bytes, uint64_t address, note_handler *handle)
{
	struct block block = {.address = address};

	if (block_read(&block, &p->image, offset, bytes, NOTE_BYTES_MAX) < 0)
		return;
	block_walk(p, &block, handle);
	free(block.bytes);
}

static void parse_segments(struct parser *p, const Elf64_Ehdr *header)
{
	struct notes *notes = p->notes;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr h;

		if (image_read(&p->image, header->e_phoff + i * sizeof(h), &h, sizeof(h)) < 0)
			return;
		if (h.p_type == PT_NOTE)
			walk_at(p, h.p_offset, h.p_filesz, h.p_vaddr, handle_root);
		if (h.p_type == PT_LOAD && notes->segment_count < NOTES_SEGMENTS_MAX)
			notes->segments[notes->segment_count++] = (struct notes_segment){
				.offset = h.p_offset,
				.address = h.p_vaddr,
				.file_bytes = h.p_filesz,
				.memory_bytes = h.p_memsz,
				.writable = h.p_flags & PF_W,
				.executable = h.p_flags & PF_X,
			};
	}
}

static bool section_is(const struct block *names, const Elf64_Shdr *h, const char *name)
{
	size_t bytes = strlen(name) + 1;

	return h->sh_name < names->size && bytes <= names->size - h->sh_name &&
	       memcmp(names->bytes + h->sh_name, name, bytes) == 0;
}

static void parse_sections(struct parser *p, const Elf64_Ehdr *header)
{
	struct block table = {0}, names = {0};
	const Elf64_Shdr *h;
	uint64_t count = header->e_shnum;

	if (header->e_shentsize != sizeof(*h) || header->e_shstrndx >= count ||
		block_read(&table, &p->image, header->e_shoff, count * sizeof(*h),
			SECTIONS_MAX * sizeof(*h)) < 0)
		return;
	h = (const Elf64_Shdr *)(const void *)table.bytes; /* malloc aligned it */
	if (block_read(&names, &p->image, h[header->e_shstrndx].sh_offset,
		    h[header->e_shstrndx].sh_size, NAMES_BYTES_MAX) == 0) {
		for (uint64_t i = 0; i < count; i++)
			if (section_is(&names, &h[i], ".stapsdt.base"))
				p->base = h[i].sh_addr;
		for (uint64_t i = 0; i < count; i++)
			if (h[i].sh_type == SHT_NOTE && section_is(&names, &h[i], ".note.stapsdt"))
				walk_at(p, h[i].sh_offset, h[i].sh_size, 0, handle_site);
	}
	free(names.bytes);
	free(table.bytes);
}

static enum notes_result parse(struct parser *p)
{
	Elf64_Ehdr header;

	memset(p->notes, 0, sizeof(*p->notes));
	if (image_read(&p->image, 0, &header, EI_NIDENT) < 0)
		return NOTES_UNREADABLE;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NOTES_NOT_ELF;
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return NOTES_32_BIT;
	if (image_read(&p->image, 0, &header, sizeof(header)) < 0)
		return NOTES_NOT_ELF;
	if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != MACHINE)
		return NOTES_FOREIGN;
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		return NOTES_NOT_ELF;
	parse_segments(p, &header);
	parse_sections(p, &header);
	return NOTES_OK;
}

enum notes_result notes_read(struct notes *notes, int fd)
{
	struct parser p = {.image = {.fd = fd}, .notes = notes};

	return parse(&p);
}

enum notes_result notes_parse(struct notes *notes, const void *image, size_t bytes)
{
	struct parser p = {.image = {.fd = -1, .bytes = image, .size = bytes}, .notes = notes};

	return parse(&p);
}
