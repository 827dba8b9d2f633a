/* SPDX-License-Identifier: MIT */
/* An actor that notes what it handles, for tests of mailboxes. After tests/lab.h. */
#ifndef TESTS_NOTES_H
#define TESTS_NOTES_H

#define MAILBOX(...)                                                                               \
	{                                                                                          \
		.size = sizeof(struct actor_mailbox_options), __VA_ARGS__                          \
	}

/* ---- an actor that notes what it handles, and does to itself what a message says ---- */

struct notes {
	char text[256];
	uint32_t count;
	int rc; /* of what it did last */
};

static struct notes notes;

static inline void note(char c)
{
	if (notes.count < sizeof(notes.text) - 1)
		notes.text[notes.count++] = c;
}

static inline uint64_t first_word(const struct actor_message *m)
{
	uint64_t word;

	memcpy(&word, m->payload, sizeof(word));
	return word;
}

/* '*' tells itself five times; the payload must be what it was when it is done. */
static inline int on_note(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word = first_word(m);

	note((char)word);
	for (uint64_t c = '1'; word == '*' && c <= '5'; c++) {
		uint64_t token = token_new(c);

		notes.rc = actor_tell(ctx, actor_self(ctx), &token_type, &token, sizeof(token));
		if (notes.rc)
			atomic_fetch_sub(&tokens_alive, 1); /* still ours */
	}
	return first_word(m) == word ? 0 : -1;
}

static struct actor_class note_class = {
	.size = sizeof(note_class), .name = "note", .on_message = on_note};

/* The digit or letter itself; '9' cannot be told, '8' is out of range. */
static inline int64_t rank(const struct actor_message *m, void *data)
{
	uint64_t c = first_word(m);

	return c == '9' ? -22 : c == '8' ? INT64_MIN : (int64_t)c;
}

/* Tells a message of a type that counts; returns the code. */
static inline int token_tell(struct lab *lab, actor_ref ref, char c)
{
	uint64_t token = token_new((uint64_t)c);
	int rc = actor_system_tell(lab->system, ref, &token_type, &token, sizeof(token));

	if (rc)
		atomic_fetch_sub(&tokens_alive, 1); /* still ours */
	return rc;
}

/* Tells what stands there; ' ' runs the loop, '+' moves a clock by hand, '!' stops the actor. */
static inline void notes_play(struct lab *lab, actor_ref ref, const char *told)
{
	for (; *told; told++) {
		if (*told == ' ')
			lab_run(lab);
		else if (*told == '+')
			assert_int_equal(actor_system_advance(lab->system, 10), 0);
		else if (*told == '!')
			assert_int_equal(actor_system_stop(lab->system, ref), 0);
		else
			assert_int_equal(token_tell(lab, ref, *told), 0);
	}
	lab_run(lab);
}

/* In the given case of a table. */
static inline void notes_expect(size_t row, const char *text)
{
	if (strcmp(notes.text, text) != 0)
		fail_msg("case %zu: %s", row, notes.text);
}

#endif
