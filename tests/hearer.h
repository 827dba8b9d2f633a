/* SPDX-License-Identifier: MIT */
/* For tests of events: an actor that writes down what it hears, and types that can be copied. */
#ifndef TESTS_HEARER_H
#define TESTS_HEARER_H

#include "tests/lab.h"

struct heard {
	char trail[512];
	struct actor_life_event life;
	struct actor_dead_letter letter;
	char payload[80]; /* of the letter */
	uint32_t count;
	uint64_t last;
	actor_ref sender;
};

static struct actor_type news = ACTOR_TYPE("news");
static struct actor_type blob = ACTOR_TYPE("blob");
static actor_ref watched; /* of the life events only this actor's are written down; 0: all */

static void write_down(struct heard *heard, const char *text)
{
	strncat(heard->trail, text, sizeof(heard->trail) - strlen(heard->trail) - 1);
}

static int hear(struct actor_ctx *ctx, const struct actor_message *m)
{
	static const struct {
		const struct actor_type *type;
		const char *text;
	} rows[] = {{&actor_event_started, "started "}, {&actor_event_stopped, "stopped "},
		{&actor_event_restarted, "restarted "}, {&actor_event_failed, "failed "},
		{&actor_event_dead_letter, "letter "}, {&news, "news "}, {&blob, "blob "},
		{&counted_type, "counted "}, {&token_type, "token "}};
	struct heard *heard = *(struct heard **)actor_state(ctx);

	heard->count++;
	heard->sender = m->sender;
	if (m->bytes >= sizeof(uint64_t))
		memcpy(&heard->last, m->payload, sizeof(uint64_t));
	if (m->type == &actor_event_started || m->type == &actor_event_stopped ||
		m->type == &actor_event_failed || m->type == &actor_event_restarted) {
		assert_int_equal(m->bytes, sizeof(heard->life));
		if (watched && heard->last != watched)
			return 0;
		memcpy(&heard->life, m->payload, sizeof(heard->life));
	}
	if (m->type == &actor_event_dead_letter) {
		memcpy(&heard->letter, m->payload, sizeof(heard->letter));
		if (heard->letter.payload)
			memcpy(heard->payload, heard->letter.payload,
				heard->letter.bytes < 80 ? heard->letter.bytes : 80);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].type == m->type)
			write_down(heard, rows[i].text);
	return 0;
}

static struct actor_class hearer_class = {.size = sizeof(hearer_class),
	.name = "hearer",
	.state_bytes = sizeof(struct heard *),
	.on_message = hear};

static inline actor_ref hearer(struct lab *lab, struct heard *heard, const char *name)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .name = name, .init = &heard};
	actor_ref ref;

	memset(heard, 0, sizeof(*heard));
	assert_int_equal(actor_system_spawn(lab->system, &hearer_class, &options, &ref), 0);
	return ref;
}

static inline void subscribe(struct lab *lab, actor_ref ref, struct actor_type *kind)
{
	assert_int_equal(actor_system_subscribe(lab->system, ref, kind, NULL), 0);
}

/* ---- payloads with a destroy and a copy ---- */

static int deep_copy(void *to, const void *payload, size_t bytes)
{
	memcpy(to, payload, bytes);
	atomic_fetch_add(bytes > ACTOR_INLINE_BYTES ? &counted_alive : &tokens_alive, 1);
	return 0;
}

static void counted_free(void *payload, size_t bytes)
{
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static void token_free(void *payload, size_t bytes)
{
	atomic_fetch_sub(&tokens_alive, 1);
}

static __attribute__((unused)) struct actor_type big_copied = {
	sizeof(struct actor_type), "big-copied", counted_free, deep_copy, 0};
static __attribute__((unused)) struct actor_type small_copied = {
	sizeof(struct actor_type), "small-copied", token_free, deep_copy, 0};

#endif
