/* SPDX-License-Identifier: MIT */
/* Puts protobuf messages together in a piece of text.
 *
 * A message is the sequence of its fields, so that a large one is written piece by piece: what is
 * made from structs is appended as it is, and a message inside is wrapped when it is complete.
 */
#ifndef PROBE_WIRE_H
#define PROBE_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "probe/text.h"

/* Appends the fields of a message. */
void wire_add_message(struct text *t, const ProtobufCMessage *message);

/* Appends a complete message as a field of the one that is written. */
void wire_add_field(struct text *t, uint32_t field, const struct text *inside);

/* Appends a message behind its length. */
void wire_add_delimited(struct text *t, const struct text *message);

#endif
