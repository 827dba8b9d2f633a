/* SPDX-License-Identifier: MIT */
/* Mailboxes of the program's own: one that works, as an example, and some that do not. */
#include "tests/lab.h"

/* ---- the example: the newest message first, at most so many, without memory of its own ---- */

struct newest_first {
	struct actor_mail *top; /* a stack, by the first link of each message */
	size_t count;
	size_t most;
	int opened;
	/* what it does wrong, for the tests below */
	enum wrong {
		RIGHT,
		LOSES,	 /* forgets each second message */
		REPEATS, /* hands out the same message twice */
		STEALS,	 /* hands out a message of another mailbox */
		HOLDS,	 /* hands out nothing */
		REFUSES, /* wants nothing */
		GIVES_UP, /* drops what it has when the next one comes */
		TOO_SOON, /* drops what it has not taken yet, and twice what it has */
	} wrong;
	uint32_t calls;
	struct actor_mail *last; /* that it handed out */
	int rc;			 /* of the last actor_mail_drop() */
};

static struct newest_first boxes[2];
static int closed;

static int newest_open(void **self, void *data)
{
	struct newest_first *box = data;

	if (box->opened++ > 100)
		return -ENFILE;
	*self = box;
	return 0;
}

static void newest_take(struct newest_first *box, struct actor_mail *mail)
{
	actor_mail_links(mail)[0] = box->top;
	box->top = mail;
	box->count++;
}

static int newest_push(void *self, struct actor_mail *mail)
{
	struct newest_first *box = self;

	assert_null(actor_mail_links(mail)[0]);
	assert_null(actor_mail_links(mail)[1]);
	box->calls++;
	if (box->wrong == REFUSES || (box->most && box->count == box->most))
		return -ENOSPC;
	if (box->wrong == GIVES_UP && box->top) {
		box->rc = actor_mail_drop(box->top);
		box->top = NULL;
		box->count = 0;
	}
	if (box->wrong == TOO_SOON) {
		box->rc = actor_mail_drop(mail);
		if (box->top && box->rc == -EINVAL) {
			assert_int_equal(actor_mail_drop(box->top), 0);
			box->rc = actor_mail_drop(box->top);
			box->top = NULL;
			box->count = 0;
		}
	}
	if (box->wrong != LOSES || box->calls % 2)
		newest_take(box, mail);
	return 0;
}

static struct actor_mail *newest_pop(void *self)
{
	struct newest_first *box = self;
	struct actor_mail *mail = box->top;

	if (box->wrong == HOLDS)
		return NULL;
	if (box->wrong == STEALS)
		return boxes[1].top;
	if (box->wrong == REPEATS && box->last)
		return box->last;
	if (!mail)
		return NULL;
	box->top = actor_mail_links(mail)[0];
	box->count--;
	box->last = mail;
	return mail;
}

static size_t newest_count(const void *self)
{
	return ((const struct newest_first *)self)->count;
}

static void newest_close(void *self)
{
	closed++;
}

static const struct actor_mailbox_ops newest_ops = {
	.size = sizeof(newest_ops),
	.open = newest_open,
	.push = newest_push,
	.pop = newest_pop,
	.count = newest_count,
	.close = newest_close,
};

/* ---- its actors ---- */

static char text[256];

static void note(char c)
{
	text[strlen(text)] = c;
}

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	note(status ? 'T' : 'A');
	return 0;
}

static int on_echo(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_reply(ctx, &plain_type, NULL, 0);
}

static struct actor_class echo_class = {
	.size = sizeof(echo_class), .name = "echo", .on_message = on_echo};

/* '?' asks a child, '!' stops itself when its mail so far is handled. */
static int on_note(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t word;
	actor_ref child;

	memcpy(&word, m->payload, sizeof(word));
	note((char)word);
	if (word == '!')
		return actor_stop(ctx, actor_self(ctx));
	if (word != '?')
		return 0;
	if (actor_spawn(ctx, &echo_class, NULL, &child))
		return -1;
	return actor_ask(ctx, child, &plain_type, NULL, 0, 0, on_answer, NULL);
}

static struct actor_class note_class = {
	.size = sizeof(note_class), .name = "note", .on_message = on_note};

static const struct actor_mailbox_options mailboxes[] = {
	{.size = sizeof(mailboxes[0]), .ops = &newest_ops, .ops_data = &boxes[0]},
	{.size = sizeof(mailboxes[0]), .ops = &newest_ops, .ops_data = &boxes[1]},
};

static int note_spawn(struct lab *lab, int box, actor_ref *ref)
{
	const struct actor_spawn_options options = {.size = sizeof(options),
		.name = box ? "other" : "note",
		.mailbox = &mailboxes[box]};

	return actor_system_spawn(lab->system, &note_class, &options, ref);
}

static void begin(struct lab *lab, enum wrong wrong, actor_ref *ref)
{
	memset(boxes, 0, sizeof(boxes));
	memset(text, 0, sizeof(text));
	closed = 0;
	boxes[0].wrong = wrong;
	lab_open(lab, NULL);
	assert_int_equal(note_spawn(lab, 0, ref), 0);
}

static int token_tell(struct lab *lab, actor_ref ref, char c)
{
	uint64_t token = token_new((uint64_t)c);
	int rc = actor_system_tell(lab->system, ref, &token_type, &token, sizeof(token));

	if (rc)
		atomic_fetch_sub(&tokens_alive, 1); /* still ours */
	return rc;
}

static const struct {
	enum wrong wrong;
	const char *told; /* a space runs the loop, '.' stops the actor */
	const char *handled;
	int rc; /* of the last tell */
	uint32_t dropped;
	uint32_t dead_letters;
	const char *logged;
} rows[] = {
	{RIGHT, "abc", "cba", 0, 0, 0, ""},
	{RIGHT, "ab cd", "badc", 0, 0, 0, ""},
	{RIGHT, "?b", "b?A", 0, 0, 0, ""},
	{RIGHT, "ab.cd", "ba", 0, 0, 2, ""}, /* a stop keeps its place */
	{RIGHT, "ab..c", "ba", 0, 0, 1, ""},
	{RIGHT, "!a", "a!", 0, 0, 0, ""},
	{REFUSES, "a", "", ACTOR_EFULL, 0, 0, ""},
	{REFUSES, "a.", "", 0, 0, 0, ""},
	{GIVES_UP, "abc", "c", 0, 2, 0, ""},
	{TOO_SOON, "abc", "c", 0, 2, 0, ""},
	{LOSES, "abc", "ca", 0, 1, 0, "/user/note (note) has lost messages"},
	{LOSES, "abcdef ghi", "ecaig", 0, 4, 0, "has lost messages"},
	{REPEATS, "abc", "c", 0, 0, 2, "has handed out a message that it did not have"},
	{STEALS, "ab", "x", 0, 0, 2, "has handed out a message that it did not have"},
	{HOLDS, "abc d", "", 0, 0, 4, "has messages and hands out none"},
	{HOLDS, "ab.c", "", 0, 0, 3, "has messages and hands out none"},
};

static int tell_all(struct lab *lab, actor_ref ref, const char *told)
{
	int rc = 0;

	for (; *told; told++) {
		if (*told == ' ')
			lab_run(lab);
		else if (*told == '.')
			rc = actor_system_stop(lab->system, ref);
		else
			rc = token_tell(lab, ref, *told);
	}
	return rc;
}

static void each_does_what_it_should_or_is_found_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		actor_ref ref, other;
		struct lab lab;
		uint64_t turns;

		begin(&lab, rows[i].wrong, &ref);
		assert_int_equal(tell_all(&lab, ref, rows[i].told), rows[i].rc);
		if (rows[i].wrong == STEALS) {
			assert_int_equal(note_spawn(&lab, 1, &other), 0);
			assert_int_equal(token_tell(&lab, other, 'x'), 0);
		}
		lab_run(&lab);
		if (strcmp(text, rows[i].handled) != 0)
			fail_msg("row %zu: %s", i, text);
		turns = lab_stats(&lab).turns;
		lab_run(&lab);
		assert_int_equal(lab_stats(&lab).turns, turns); /* it does not spin */
		assert_true(turns < 10);
		assert_int_equal(lab_stats(&lab).dropped, rows[i].dropped);
		if (!strstr(lab.last_log, rows[i].logged) || !*lab.last_log != !*rows[i].logged)
			fail_msg("row %zu: %s", i, lab.last_log);
		assert_int_equal(lab.logged, *rows[i].logged ? 1 : 0); /* once */
		assert_int_equal(boxes[0].rc, rows[i].wrong == TOO_SOON ? -EINVAL : 0);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, rows[i].dead_letters);
		assert_int_equal(closed, rows[i].wrong == STEALS ? 2 : 1);
		assert_int_equal(atomic_load(&tokens_alive), 0);
	}
}

static void a_bound_of_its_own_rejects_and_opens_again(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	begin(&lab, RIGHT, &ref);
	boxes[0].most = 2;
	assert_int_equal(token_tell(&lab, ref, 'a'), 0);
	assert_int_equal(token_tell(&lab, ref, 'b'), 0);
	assert_int_equal(token_tell(&lab, ref, 'c'), ACTOR_EFULL);
	lab_run(&lab);
	assert_int_equal(token_tell(&lab, ref, 'd'), 0);
	lab_run(&lab);
	assert_string_equal(text, "bad");
	assert_int_equal(atomic_load(&tokens_alive), 0);
	lab_close(&lab);
}

static void a_mailbox_that_cannot_be_opened_fails_the_spawn(void **state)
{
	const struct actor_spawn_options options = {.size = sizeof(options), .name = "again"};
	struct lab lab;
	actor_ref ref;

	(void)state;
	begin(&lab, RIGHT, &ref);
	boxes[1].opened = 1000;
	assert_int_equal(note_spawn(&lab, 1, &ref), -ENFILE);
	boxes[1].opened = 0;
	assert_int_equal(note_spawn(&lab, 1, &ref), 0);
	/* A name that is taken: the mailbox that was opened for it is closed. */
	assert_int_equal(note_spawn(&lab, 1, &ref), -EEXIST);
	assert_int_equal(closed, 1);
	assert_int_equal(actor_system_spawn(lab.system, &note_class, &options, &ref), 0);
	lab_close(&lab);
	assert_int_equal(closed, 3);
}

/* What it handed out to be looked at is not asked for again, and is the next one. */
static void a_message_that_waits_for_a_throttle_has_left_the_mailbox(void **state)
{
	static const struct actor_throttle_options throttle = {
		.size = sizeof(throttle), .messages = 1, .per_ms = 10};
	const struct actor_spawn_options options = {.size = sizeof(options),
		.mailbox = &mailboxes[0],
		.throttle = &throttle};
	struct lab lab;
	actor_ref ref;

	(void)state;
	memset(boxes, 0, sizeof(boxes));
	memset(text, 0, sizeof(text));
	lab_open_with(&lab, lab_by_hand);
	assert_int_equal(actor_system_spawn(lab.system, &note_class, &options, &ref), 0);
	tell_all(&lab, ref, "abc d ");
	assert_string_equal(text, "c");
	assert_int_equal(boxes[0].count, 2); /* 'a' and 'd' */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(actor_system_advance(lab.system, 10), 0);
		lab_run(&lab);
	}
	assert_string_equal(text, "cbd");
	assert_int_equal(lab.logged, 0);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 1);
	assert_int_equal(atomic_load(&tokens_alive), 0);
}

/* What a custom mailbox sees of a message. */
static const char *seen_bytes;
static size_t seen_count;

static int seeing_push(void *self, struct actor_mail *mail)
{
	assert_ptr_equal(actor_mail_type(mail), &plain_type);
	assert_int_equal(actor_mail_sender(mail), 0);
	assert_int_equal(actor_mail_bytes(mail), seen_count);
	assert_memory_equal(actor_mail_payload(mail), seen_bytes, seen_count);
	assert_int_equal((uintptr_t)actor_mail_payload(mail) % 16, 0);
	assert_false(actor_mail_kept(mail));
	*(struct actor_mail **)self = mail;
	return 0;
}

static struct actor_mail *seeing_pop(void *self)
{
	struct actor_mail *mail = *(struct actor_mail **)self;

	*(struct actor_mail **)self = NULL;
	return mail;
}

static size_t seeing_count(const void *self)
{
	return *(struct actor_mail *const *)self != NULL;
}

static int on_seen(struct actor_ctx *ctx, const struct actor_message *m)
{
	assert_int_equal(m->bytes, seen_count);
	assert_memory_equal(m->payload, seen_bytes, seen_count);
	text[0]++;
	return 0;
}

static void a_mailbox_sees_type_payload_and_sender(void **state)
{
	static const struct actor_mailbox_ops ops = {.size = sizeof(ops),
		.push = seeing_push,
		.pop = seeing_pop,
		.count = seeing_count};
	static struct actor_class seen_class = {
		.size = sizeof(seen_class), .name = "seen", .on_message = on_seen};
	static const char bytes[100] = "of all sizes";
	struct actor_mail *one = NULL; /* without open, what `self` is */
	const struct actor_mailbox_options mailbox = {
		.size = sizeof(mailbox), .ops = &ops, .ops_data = &one};
	const struct actor_spawn_options options = {.size = sizeof(options), .mailbox = &mailbox};
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	text[0] = 0;
	assert_int_equal(actor_system_spawn(lab.system, &seen_class, &options, &ref), 0);
	seen_bytes = bytes;
	for (seen_count = 0; seen_count <= sizeof(bytes); seen_count++) {
		assert_int_equal(
			actor_system_tell(lab.system, ref, &plain_type, bytes, seen_count), 0);
		lab_run(&lab);
	}
	assert_int_equal(text[0], 101);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_does_what_it_should_or_is_found_out),
		cmocka_unit_test(a_bound_of_its_own_rejects_and_opens_again),
		cmocka_unit_test(a_mailbox_that_cannot_be_opened_fails_the_spawn),
		cmocka_unit_test(a_message_that_waits_for_a_throttle_has_left_the_mailbox),
		cmocka_unit_test(a_mailbox_sees_type_payload_and_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
