/* SPDX-License-Identifier: MIT */
/* Dead letters as events: what they carry, and that they make no more of themselves. */
#include "tests/hearer.h"
#include "tests/lab.h"

static void a_dead_letter_event_carries_the_message(void **state)
{
	struct actor_type *const types[] = {
		&plain_type, &plain_type, &token_type, &small_copied, &counted_type, &big_copied};
	static const bool copied[] = {true, true, false, true, false, true};
	struct heard heard, other;
	actor_ref ref, dead;
	struct lab lab;

	lab_open(&lab, NULL);
	dead = hearer(&lab, &other, NULL);
	actor_system_stop(lab.system, dead);
	ref = hearer(&lab, &heard, NULL);
	subscribe(&lab, ref, &actor_event_dead_letter);
	subscribe(&lab, hearer(&lab, &other, NULL), &actor_event_dead_letter);
	lab_run(&lab);
	for (size_t i = 0; i < COUNT(types); i++) {
		uint64_t token = 77 + i;
		struct counted big = {.value = 77 + i};
		const void *payload = i == 1 ? (void *)&big : &token;
		size_t bytes = i == 1 || i > 3 ? sizeof(big) : sizeof(token);

		if (i == 2 || i == 3)
			token_new(0);
		if (i > 3)
			payload = counted_new(77 + i);
		memset(heard.payload, 0, sizeof(heard.payload));
		assert_int_equal(actor_system_tell(lab.system, dead, types[i], payload, bytes), 0);
		lab_run(&lab);
		assert_int_equal(heard.count, i + 1);
		assert_int_equal(other.count, i + 1);
		assert_int_equal(heard.letter.recipient, dead);
		assert_int_equal(heard.letter.sender, 0);
		assert_ptr_equal(heard.letter.type, types[i]);
		assert_int_equal(heard.letter.bytes, bytes);
		assert_int_equal(heard.letter.payload != NULL, copied[i]);
		memcpy(&token, heard.payload, sizeof(token));
		assert_int_equal(token, copied[i] ? 77 + i : 0);
		assert_int_equal(tokens_alive, 0);
		assert_int_equal(counted_alive, 0);
	}
	assert_int_equal(lab.dead_letters, COUNT(types));
	lab_close(&lab);
}

static actor_ref dead_ref;

static void tell_the_dead(void *data, actor_ref recipient, const struct actor_message *message)
{
	struct lab *lab = data;

	lab->dead_letters++;
	assert_int_equal(actor_system_tell(lab->system, dead_ref, &plain_type, NULL, 0), 0);
}

static void a_dead_letter_made_by_telling_of_one_is_only_counted(void **state)
{
	struct heard heard;
	struct lab lab;

	lab_open(&lab, NULL);
	dead_ref = hearer(&lab, &heard, NULL);
	actor_system_stop(lab.system, dead_ref);
	lab_run(&lab);
	actor_system_on_dead_letter(lab.system, tell_the_dead, &lab);
	assert_int_equal(actor_system_tell(lab.system, dead_ref, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 1);
	assert_int_equal(lab_stats(&lab).dead_letters, 2);
	lab_close(&lab);
}

/* Its subscription goes with it. What waits for it when it stops is a dead letter each, and those
 * about dead letters are the end of it. */
static void case_21_a_subscriber_that_stops_without_unsubscribing_is_removed(void **state)
{
	struct heard heard, other;
	actor_ref ref, dead;
	struct lab lab;

	lab_open(&lab, NULL);
	dead = hearer(&lab, &heard, NULL);
	actor_system_stop(lab.system, dead);
	lab_run(&lab);
	ref = hearer(&lab, &heard, NULL);
	lab_run(&lab);
	subscribe(&lab, ref, &actor_event_dead_letter);
	subscribe(&lab, ref, &news);
	actor_system_stop(lab.system, ref);
	/* These come behind its end: events of both kinds that never get handled. */
	for (int i = 0; i < 10; i++) {
		assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 1);
		assert_int_equal(actor_system_tell(lab.system, dead, &plain_type, NULL, 0), 0);
	}
	lab_run(&lab);
	assert_int_equal(heard.count, 0);
	assert_int_equal(lab.dead_letters, 20); /* 10 to the dead, 10 news to the subscriber */
	assert_int_equal(lab_stats(&lab).dead_letters, 30);
	assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 0);
	assert_int_equal(actor_system_unsubscribe(lab.system, ref, NULL), 0);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &news, NULL), -ENOENT);

	/* Two of them, the end of one making letters for the other, and many over time. */
	subscribe(&lab, hearer(&lab, &other, NULL), &actor_event_dead_letter);
	for (int i = 0; i < 1000; i++) {
		ref = hearer(&lab, &heard, NULL);
		subscribe(&lab, ref, &news);
		subscribe(&lab, ref, &actor_event_dead_letter);
		actor_system_stop(lab.system, ref);
		assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 1);
		lab_run(&lab);
	}
	assert_int_equal(other.count, 1000);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_letter_event_carries_the_message),
		cmocka_unit_test(a_dead_letter_made_by_telling_of_one_is_only_counted),
		cmocka_unit_test(case_21_a_subscriber_that_stops_without_unsubscribing_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
