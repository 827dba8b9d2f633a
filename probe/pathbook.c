/* SPDX-License-Identifier: MIT */
/* Remembers actors' paths in a sorted array. */
#define _GNU_SOURCE
#include "probe/pathbook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHBOOK_MOST (1u << 20) /* of those that come out of a file */

static int row_compare(const void *a, const void *b)
{
	const struct pathbook_row *x = a, *y = b;

	return (x->actor > y->actor) - (x->actor < y->actor);
}

static const struct pathbook_row *row_find(const struct pathbook *book, uint64_t actor)
{
	struct pathbook_row key = {.actor = actor};

	return book->count ? bsearch(&key, book->rows, book->count, sizeof(key), row_compare)
			   : NULL;
}

static char *spell(uint64_t actor)
{
	char *text;

	return asprintf(&text, "#%u.%u", actor_abi_ref_loop(actor), actor_abi_ref_index(actor)) < 0
		       ? NULL
		       : text;
}

void pathbook_sort(struct pathbook *book)
{
	struct pathbook_row *rows = book->rows;
	size_t kept = 0;

	if (!book->count)
		return;
	qsort(rows, book->count, sizeof(*rows), row_compare);
	for (size_t i = 1; i < book->count; i++) {
		if (rows[i].actor == rows[kept].actor)
			free(rows[i].path);
		else
			rows[++kept] = rows[i];
	}
	book->count = kept + 1;
}

int pathbook_append(struct pathbook *book, size_t *room, uint64_t actor, char *path)
{
	struct pathbook_row *more = book->rows;

	if (book->count == *room && book->count < PATHBOOK_MOST) {
		more = realloc(book->rows, (2 * *room + 64) * sizeof(*more));
		if (more)
			*room = 2 * *room + 64;
	}
	if (!more || book->count == *room) {
		free(path);
		return more ? -E2BIG : -ENOMEM;
	}
	book->rows = more;
	more[book->count++] = (struct pathbook_row){.actor = actor, .path = path};
	return 0;
}

/* Puts the answers in; takes the paths over. */
static int rows_add(struct pathbook *book, struct directory_wish *wishes, size_t count)
{
	struct pathbook_row *rows = realloc(book->rows, (book->count + count) * sizeof(*rows));
	size_t old = book->count;

	if (!rows)
		return -ENOMEM;
	book->rows = rows;
	for (size_t i = 0; i < count; i++) {
		rows[book->count] = (struct pathbook_row){.actor = wishes[i].actor,
			.path = wishes[i].path ? wishes[i].path : spell(wishes[i].actor)};
		wishes[i].path = NULL;
		book->count++;
	}
	if (old != book->count)
		pathbook_sort(book); /* some may have been asked for twice */
	return 0;
}

int pathbook_learn(struct pathbook *book, const struct directory *d, struct remote *remote,
	const uint64_t *actors, size_t count)
{
	struct directory_wish *wishes = calloc(count + 1, sizeof(*wishes));
	size_t n = 0;
	int r = 0;

	if (!wishes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (actors[i] && !row_find(book, actors[i]))
			wishes[n++] = (struct directory_wish){.actor = actors[i], .mask = 0xffff};
	if (n)
		r = directory_resolve(d, remote, wishes, n);
	if (n && r == 0)
		r = rows_add(book, wishes, n);
	for (size_t i = 0; i < n; i++)
		free(wishes[i].path);
	free(wishes);
	return r;
}

char *pathbook_label(const struct pathbook *book, uint64_t actor)
{
	const struct pathbook_row *row = row_find(book, actor);

	return row && row->path ? strdup(row->path) : spell(actor);
}

void pathbook_fini(struct pathbook *book)
{
	for (size_t i = 0; i < book->count; i++)
		free(book->rows[i].path);
	free(book->rows);
	*book = (struct pathbook){0};
}
