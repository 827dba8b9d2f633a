/* SPDX-License-Identifier: MIT */
/* What writer and reader of a recording share. */
#ifndef PROBE_RECORDINGCHUNK_H
#define PROBE_RECORDINGCHUNK_H

#include <stdint.h>

#define RECORDING_MAGIC 0x31434552424f5250ull /* "PROBREC1" */
#define RECORDING_SLACK (1u << 20)	      /* room for what is not written yet, and the end */
#define RECORDING_TEXT	4096u		      /* longest name or path */

struct recording_chunk_head {
	uint32_t kind;
	uint32_t bytes;
};

#endif
