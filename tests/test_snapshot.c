/* SPDX-License-Identifier: MIT */
/* Families and samples of one process, and of several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "probe/snapshot.h"
#include "tests/aggregate_sample.h"

static const struct snapshot_self self = {
	.version = "1.2.3", .cpu_ns = 1500000000, .resident_bytes = 4096};

static const struct snapshot_family *family(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->family_count; i++)
		if (strcmp(s->families[i].metric->name, name) == 0)
			return &s->families[i];
	return NULL;
}

/* The sample whose labels read like this. */
static const struct snapshot_sample *sample(
	const struct snapshot *s, const char *name, const char *labels)
{
	const struct snapshot_family *f = family(s, name);

	for (size_t i = 0; f && i < f->count; i++) {
		char text[512] = "";

		for (size_t l = 0; l < f->samples[i].label_count; l++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%s",
				l ? "," : "", f->samples[i].labels[l].name,
				f->samples[i].labels[l].value);
		if (strcmp(text, labels) == 0)
			return &f->samples[i];
	}
	return NULL;
}

static void processes_are_told_apart_by_one_label(void **state)
{
	struct aggregate shop, bank;
	const struct snapshot_part parts[] = {
		{.process = "shop", .aggregate = &shop, .start_unix_ns = 7},
		{.process = "bank", .aggregate = &bank, .start_unix_ns = 9}};
	struct snapshot s;

	sample_fill(&shop, 1);
	sample_fill(&bank, 10);
	bank.alive = false;
	assert_int_equal(snapshot_build(&s, parts, 2, &self), 0);
	assert_int_equal(sample(&s, "actorprobe_records_total", "process=shop")->value, 600);
	assert_int_equal(sample(&s, "actorprobe_records_total", "process=bank")->value, 6000);
	assert_int_equal(sample(&s, "actorprobe_attached", "process=shop")->value, 1);
	assert_int_equal(sample(&s, "actorprobe_attached", "process=bank")->value, 0);
	assert_int_equal(sample(&s, "actor_mailbox_wait_seconds",
				 "process=bank,dispatcher=default,class=price")
				 ->histogram->count,
		1000);
	assert_int_equal(sample(&s, "actor_messages_delivered_total", "process=bank,class=price")
				 ->start_unix_ns,
		9);
	/* What is of actorprobe itself is of no process. */
	assert_int_equal(sample(&s, "actorprobe_cpu_seconds_total", "")->value, 1500000000);
	assert_int_equal(family(&s, "actorprobe_cpu_seconds_total")->scale, 1000000000);
	assert_int_equal(family(&s, "actorprobe_records_total")->scale, 1);
	for (size_t i = 0; i < s.family_count; i++)
		assert_true(metric_is_own(s.families[i].metric) ==
			    (s.families[i].samples[0].label_count == 0 ||
				    strcmp(s.families[i].samples[0].labels[0].name, "process")));
	snapshot_fini(&s);
	aggregate_fini(&shop);
	aggregate_fini(&bank);
}

static void equal_labels_become_one_sample(void **state)
{
	struct aggregate a, b;
	const struct snapshot_part parts[] = {
		{.process = "shop", .aggregate = &a}, {.process = "shop", .aggregate = &b}};
	struct snapshot s;

	sample_fill(&a, 1);
	sample_fill(&b, 10);
	assert_int_equal(snapshot_build(&s, parts, 2, &self), 0);
	assert_int_equal(family(&s, "actorprobe_records_total")->count, 1);
	assert_int_equal(family(&s, "actorprobe_records_total")->samples[0].value, 6600);
	assert_int_equal(family(&s, "actorprobe_attach_seconds")->samples[0].value, 12345678);
	assert_int_equal(sample(&s, "actor_mailbox_wait_seconds",
				 "process=shop,dispatcher=default,class=price")
				 ->histogram->count,
		1100);
	assert_int_equal(
		sample(&s, "actor_messages_delivered_total", "process=shop,class=price")->value,
		2200);
	snapshot_fini(&s);
	aggregate_fini(&a);
	aggregate_fini(&b);
}

static void facts_of_a_process_are_in_the_info_metric_only(void **state)
{
	struct aggregate a;
	const struct snapshot_target targets[] = {
		{"4711", "shop", "/usr/bin/shop", "/a.slice", "0123abcd"},
		{"4712", "shop", NULL, NULL, NULL}};
	const struct snapshot_part part = {
		.process = "shop", .aggregate = &a, .targets = targets, .target_count = 2};
	struct snapshot s;

	sample_fill(&a, 1);
	assert_int_equal(snapshot_build(&s, &part, 1, &self), 0);
	assert_non_null(sample(&s, "actorprobe_target_info",
		"process=shop,pid=4711,command=shop,exe=/usr/bin/shop,cgroup=/a.slice,container="
		"0123abcd"));
	assert_non_null(sample(&s, "actorprobe_target_info", "process=shop,pid=4712,command=shop"));
	for (size_t i = 0; i < s.family_count; i++)
		for (size_t k = 0; k < s.families[i].count; k++)
			for (size_t l = 0; l < s.families[i].samples[k].label_count; l++)
				assert_true(s.families[i].metric->source == METRIC_TARGET ||
					    strcmp(s.families[i].samples[k].labels[l].name, "pid"));
	snapshot_fini(&s);
	aggregate_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_are_told_apart_by_one_label),
		cmocka_unit_test(equal_labels_become_one_sample),
		cmocka_unit_test(facts_of_a_process_are_in_the_info_metric_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
