/* SPDX-License-Identifier: MIT */
/* A file of metrics in a directory that node_exporter's textfile collector reads. */
#define _GNU_SOURCE
#include "probe/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Another ending: the collector reads *.prom only. */
#define UNFINISHED "." TEXTFILE_NAME ".new"

struct textfile {
	int directory;
	char *name; /* of the directory */
	bool written;
};

static int refuse(const struct textfile *f, struct error *error)
{
	return error_set(error, EXIT_USAGE,
		"%s/" TEXTFILE_NAME
		" cannot be written (%s); give --textfile a directory that this "
		"user may write to",
		f->name, strerror(errno));
}

int textfile_open(struct textfile **out, const char *directory, struct error *error)
{
	struct textfile *f = calloc(1, sizeof(*f));
	int code = 0;

	*out = NULL;
	if (f)
		f->name = strdup(directory);
	if (!f || !f->name) {
		free(f);
		return error_set(error, EXIT_KERNEL, "out of memory; free some");
	}
	f->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->directory < 0)
		code = refuse(f, error);
	if (code)
		textfile_close(f);
	else
		*out = f;
	return code;
}

/* What an earlier run left unfinished is no obstacle, and a link that lies there leads nowhere. */
static int create(const struct textfile *f)
{
	unlinkat(f->directory, UNFINISHED, 0);
	return openat(f->directory, UNFINISHED,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
}

int textfile_write(struct textfile *f, const struct text *page, struct error *error)
{
	int fd = create(f), code = 0;

	if (fd < 0)
		return refuse(f, error);
	/* Its reader is another user, whatever the mask says. */
	if (fchmod(fd, 0644))
		code = refuse(f, error);
	if (!code)
		code = text_write(page, fd, error);
	if (close(fd) && !code)
		code = refuse(f, error);
	if (!code && renameat(f->directory, UNFINISHED, f->directory, TEXTFILE_NAME))
		code = refuse(f, error);
	if (code)
		unlinkat(f->directory, UNFINISHED, 0);
	else
		f->written = true;
	return code;
}

void textfile_close(struct textfile *f)
{
	if (!f)
		return;
	if (f->written)
		unlinkat(f->directory, TEXTFILE_NAME, 0);
	if (f->directory >= 0)
		close(f->directory);
	free(f->name);
	free(f);
}
