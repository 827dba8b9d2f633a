/* SPDX-License-Identifier: MIT */
/* Puts protobuf messages together in a piece of text. */
#include "probe/wire.h"

#define LENGTH_DELIMITED 2u

void wire_add_message(struct text *t, const ProtobufCMessage *message)
{
	uint8_t *room = (uint8_t *)text_add_room(t, protobuf_c_message_get_packed_size(message));

	if (room)
		protobuf_c_message_pack(message, room);
}

/* Seven bits a byte, the lowest first. */
static void add_varint(struct text *t, uint64_t value)
{
	char bytes[10];
	size_t count = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[count++] = (char)(value | 0x80);
	bytes[count++] = (char)value;
	text_add_bytes(t, bytes, count);
}

void wire_add_field(struct text *t, uint32_t field, const struct text *inside)
{
	add_varint(t, field << 3 | LENGTH_DELIMITED);
	wire_add_delimited(t, inside);
}

void wire_add_delimited(struct text *t, const struct text *message)
{
	add_varint(t, message->used);
	if (message->used)
		text_add_bytes(t, message->bytes, message->used);
	t->failed |= message->failed;
}
