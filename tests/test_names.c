/* SPDX-License-Identifier: MIT */
/* Names of actors by parent, and the process's numbered names of classes, types, dispatchers. */
#include "tests/lab.h"

#include "runtime/names.h"
#include "runtime/registry.h"
#include "runtime/root.h"

#include <stdio.h>

static void a_name_is_one_per_parent(void **state)
{
	struct actor__name *a, *b, *c;
	struct actor__names names;

	actor__names_init(&names);
	assert_true(actor__names_find(&names, 0, "x", 1) == 0);
	assert_int_equal(actor__names_add(&names, 0, "x", 11, &a), 0);
	assert_int_equal(actor__names_add(&names, 0, "x", 12, &b), -EEXIST);
	assert_int_equal(actor__names_add(&names, 7, "x", 13, &b), 0);
	assert_int_equal(actor__names_add(&names, 0, "xy", 14, &c), 0);
	assert_true(actor__names_find(&names, 0, "x", 1) == 11);
	assert_true(actor__names_find(&names, 7, "x", 1) == 13);
	assert_true(actor__names_find(&names, 0, "xyz", 2) == 14);
	assert_true(actor__names_find(&names, 0, "", 0) == 0);
	actor__names_remove(&names, a);
	actor__names_remove(&names, NULL);
	assert_true(actor__names_find(&names, 0, "x", 1) == 0);
	assert_int_equal(actor__names_add(&names, 0, "x", 15, &a), 0);
	actor__names_fini(&names); /* with names left */
}

#define MANY 3000

static void many_names_come_and_go(void **state)
{
	static struct actor__name *entries[MANY];
	uint64_t random = now_ns() | 1;
	struct actor__names names;
	char text[32];

	print_message("seed %#llx\n", (unsigned long long)random);
	memset(entries, 0, sizeof(entries));
	actor__names_init(&names);
	for (int i = 0; i < 30000; i++) {
		uint32_t n = random_below(&random, MANY);
		int bytes = snprintf(text, sizeof(text), "name-%u", n / 3);
		actor_ref parent = n % 3;

		assert_int_equal(actor__names_find(&names, parent, text, (size_t)bytes),
			entries[n] ? n + 1 : 0);
		if (entries[n]) {
			actor__names_remove(&names, entries[n]);
			entries[n] = NULL;
		} else {
			assert_int_equal(
				actor__names_add(&names, parent, text, n + 1, &entries[n]), 0);
		}
	}
	actor__names_fini(&names);
}

static void names_are_checked(void **state)
{
	static char most[ACTOR_NAME_BYTES + 1], over[ACTOR_NAME_BYTES + 2];
	const struct {
		const char *name;
		bool valid;
	} rows[] = {{"a", true}, {"pricing actor", true}, {"\xc3\xa4\xc3\xb6", true},
		{"a$", true}, {most, true}, {over, false}, {"", false}, {NULL, false},
		{"$a", false}, {"a/b", false}, {"a\\b", false}, {"a\n", false}, {"\x7f", false},
		{"\x1b[31m", false}, {".", false}, {"..", false}, {"...", true}};

	memset(most, 'm', ACTOR_NAME_BYTES);
	memset(over, 'o', ACTOR_NAME_BYTES + 1);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(actor__name_valid(rows[i].name), rows[i].valid);
}

static const char *text_of(const struct actor_abi_table *table, uint32_t number)
{
	const struct actor_abi_name *entry = actor__table_at(table, number);

	assert_int_equal(entry->bytes, strlen(entry->text));
	return entry->text;
}

static int nothing(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static void classes_of_one_name_share_a_number_and_types_do_not(void **state)
{
	static struct actor_class a = {.size = sizeof(a), .name = "twin", .on_message = nothing};
	static struct actor_class b = {.size = sizeof(b), .name = "twin", .on_message = nothing};
	static struct actor_type s = ACTOR_TYPE("same"), t = ACTOR_TYPE("same");

	assert_int_equal(actor__class_register(&a), 0);
	assert_int_equal(actor__class_register(&b), 0);
	assert_true(a.id && a.id == b.id);
	assert_string_equal(text_of(&actor_root.classes, a.id), "twin");
	assert_true(actor__type_id(&s) > 0);
	assert_true(actor__type_id(&t) > 0);
	assert_true(s.mark != t.mark);
	assert_ptr_equal(actor__type(s.mark), &s);
	assert_ptr_equal(actor__type(t.mark), &t);
	assert_string_equal(text_of(&actor_root.types, t.mark), "same");
	assert_int_equal(actor__type_id(&s), s.mark);
}

static void a_dispatcher_s_number_is_its_name_kind_and_budget(void **state)
{
	int a = actor__dispatcher_register("d", ACTOR_HYBRID, 64);

	assert_true(a > 0);
	assert_int_equal(actor__dispatcher_register("d", ACTOR_HYBRID, 64), a);
	assert_int_not_equal(actor__dispatcher_register("d", ACTOR_HYBRID, 65), a);
	assert_int_not_equal(actor__dispatcher_register("d", ACTOR_IMMEDIATE, 64), a);
	assert_int_not_equal(actor__dispatcher_register("e", ACTOR_HYBRID, 64), a);
}

static void a_registered_name_is_a_copy(void **state)
{
	static struct actor_type type;
	char name[16] = "temporary";

	type = (struct actor_type)ACTOR_TYPE(name);
	assert_true(actor__type_id(&type) > 0);
	memset(name, 'x', sizeof(name) - 1);
	assert_string_equal(text_of(&actor_root.types, type.mark), "temporary");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_per_parent),
		cmocka_unit_test(many_names_come_and_go),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(classes_of_one_name_share_a_number_and_types_do_not),
		cmocka_unit_test(a_dispatcher_s_number_is_its_name_kind_and_budget),
		cmocka_unit_test(a_registered_name_is_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
