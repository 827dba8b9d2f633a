/* SPDX-License-Identifier: MIT */
/* Compresses a piece of text for HTTP. */
#include "probe/gzip.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

#define WINDOW_GZIP (MAX_WBITS + 16) /* zlib: the header of gzip, not its own */
#define MEMORY	    8		     /* zlib's default */

int gzip_add(struct text *to, const struct text *from)
{
	z_stream z = {0};
	uLong bound;
	char *room;

	if (from->failed || from->used > UINT_MAX / 2)
		return -ENOMEM;
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW_GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
		Z_OK)
		return -ENOMEM;
	bound = deflateBound(&z, (uLong)from->used);
	room = text_add_room(to, bound);
	if (room) {
		z.next_in = (Bytef *)from->bytes;
		z.avail_in = (uInt)from->used;
		z.next_out = (Bytef *)room;
		z.avail_out = (uInt)bound;
		/* The room is enough for one step. */
		if (deflate(&z, Z_FINISH) != Z_STREAM_END)
			to->failed = true;
		to->used -= bound - z.total_out;
	}
	deflateEnd(&z);
	return to->failed ? -ENOMEM : 0;
}
