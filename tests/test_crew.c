/* SPDX-License-Identifier: MIT */
/* What processes that are counted together leave behind when they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "probe/crew.h"
#include "probe/facts.h"
#include "probe/grouping.h"
#include "probe/merge.h"
#include "tests/aggregate_sample.h"

#define SECOND 1000000000ull

static void sums_of_the_past_stay_as_long_as_one_lives(void **state)
{
	struct crews crews = {.ttl_ns = SECOND};
	struct aggregate last, total = {0}, living;
	struct crew *crew = crews_join(&crews, "shop", 7);

	assert_ptr_equal(crews_join(&crews, "shop", 8), crew);
	assert_int_equal(crew->start_unix_ns, 7);
	sample_fill(&last, 1);
	crew_leave(crew, &last, 100);
	assert_null(last.series);
	crews_expire(&crews, 100 * SECOND);
	assert_int_equal(crew_total(crew, &total), 0);
	assert_int_equal(total.recorded, 600);
	assert_false(total.alive);
	assert_int_equal(total.loop_count + total.deep_count, 0);
	sample_fill(&living, 10);
	assert_int_equal(merge_add(&total, &living), 0);
	assert_true(total.alive);
	assert_int_equal(total.recorded, 6600);
	assert_int_equal(total.delivered, 6688);
	assert_int_equal(total.lost[AGGREGATE_LOST_COPY], 33);
	assert_int_equal(
		grouping_find(&total, AGGREGATE_WAIT, "default", "price")->histogram.count, 1100);
	assert_int_equal(grouping_counted(&total, AGGREGATE_DELIVERED, NULL, "price", NULL), 2200);
	assert_int_equal(total.loop_count, 3);
	aggregate_fini(&total);
	crews_fini(&crews);
}

static void what_is_left_after_the_time_to_live_is_a_name(void **state)
{
	struct crews crews = {.ttl_ns = SECOND};
	struct aggregate last, total = {0};
	struct crew *crew = crews_join(&crews, NULL, 7);

	sample_fill(&last, 1);
	crew_leave(crew, &last, 100);
	crews_expire(&crews, 99 + SECOND);
	assert_false(crew->expired);
	crews_expire(&crews, 100 + SECOND);
	assert_true(crew->expired);
	assert_int_equal(crew_total(crew, &total), 0);
	assert_int_equal(total.series_count + total.recorded, 0);
	aggregate_fini(&total);
	/* Who comes now counts anew. */
	assert_ptr_equal(crews_join(&crews, NULL, 9), crew);
	assert_int_equal(crew->start_unix_ns, 9);
	crews_fini(&crews);
}

static void only_so_many_names_are_remembered(void **state)
{
	struct crews crews = {.ttl_ns = SECOND};
	struct crew *kept = crews_join(&crews, "kept", 1);

	for (int i = 0; i < 1009; i++) {
		struct aggregate last = {0};
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		crew_leave(crews_join(&crews, name, 1), &last, (uint64_t)i);
	}
	crews_expire(&crews, 10 * SECOND);
	assert_int_equal(crews.count, CREW_NAMES_MAX + 1);
	for (size_t i = 0; i < crews.count; i++)
		assert_true(crews.list[i] == kept || crews.list[i]->ended_ns >= 1009 - CREW_NAMES_MAX);
	crews_fini(&crews);
}

static void a_crew_is_attached_while_one_of_it_is(void **state)
{
	struct aggregate total = {0}, cut = {.alive = true, .detached = true},
			 whole = {.alive = true}, ended = {.detached = true};

	merge_add(&total, &ended);
	merge_add(&total, &cut);
	assert_true(total.alive && total.detached);
	cut = (struct aggregate){.alive = true, .detached = true};
	merge_add(&total, &whole);
	assert_true(total.alive && !total.detached);
	merge_add(&total, &cut);
	assert_true(total.alive && !total.detached);
	aggregate_fini(&total);
}

static void containers_are_known_by_their_groups(void **state)
{
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *cgroup, *id;
	} rows[] = {
		{"/system.slice/docker-" ID ".scope", ID},
		{"/docker/" ID, ID},
		{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", ID},
		{"/a/" ID "/b/f" ID "/c", ID},
		{"/system.slice/ssh.service", NULL},
		{"/" ID "0", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *id = facts_container(rows[i].cgroup);

		if (rows[i].id)
			assert_string_equal(id, rows[i].id);
		else
			assert_null(id);
		free(id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_the_past_stay_as_long_as_one_lives),
		cmocka_unit_test(what_is_left_after_the_time_to_live_is_a_name),
		cmocka_unit_test(only_so_many_names_are_remembered),
		cmocka_unit_test(a_crew_is_attached_while_one_of_it_is),
		cmocka_unit_test(containers_are_known_by_their_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
