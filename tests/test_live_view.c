/* SPDX-License-Identifier: MIT */
/* A frame names who runs and who waits, in rates of its interval, cut to the window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/grouping.h"
#include "probe/live_view.h"
#include "tests/aggregate_sample.h"

static struct text text;

static const char *render(uint64_t before_scale, uint64_t now_scale, struct live_view_style style)
{
	struct aggregate before, now, recent = {0};

	sample_fill(&before, before_scale);
	sample_fill(&now, now_scale);
	assert_int_equal(grouping_subtract(&recent, &now, &before), 0);
	text_clear(&text);
	live_view_render(&text, &now, &recent, &style);
	assert_false(text.failed);
	aggregate_fini(&before);
	aggregate_fini(&now);
	aggregate_fini(&recent);
	return text.bytes;
}

static void frame_shows_dispatchers_classes_and_loops(void **state)
{
	static const char *const wanted[] = {
		"pid 4711 shop, ledger mode, observed for 5 s, folding, 608 msg/s\n",
		"delivered 3040 = recorded 3000 + unstamped 25 + lost 15 (copy 15)\n",
		"DISPATCHER ",
		"fast \"lane\" ",
		"CLASS ",
		"import\\eu ",
		"caf\xc3\xa9 ",
		"/pricing/us handles quote\n",
		"idle\n",
	};
	const char *at = render(2, 5, (struct live_view_style){0});

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_non_null(strstr(at, wanted[i]));
	assert_null(strchr(at, '\033'));
}

static void longest_runner_comes_first(void **state)
{
	const char *frame = render(2, 5, (struct live_view_style){0});

	/* Handlers take 9.9, 6.6 and 3.3 us. */
	assert_true(strstr(frame, "\ncaf\xc3\xa9") < strstr(frame, "\nimport"));
	assert_true(strstr(frame, "\nimport") < strstr(frame, "\nprice"));
}

static void lines_fit_the_window(void **state)
{
	for (unsigned int columns = 1; columns < 100; columns++) {
		const char *at = render(1, 2, (struct live_view_style){.columns = columns});

		while (*at) {
			unsigned int used = 0;

			for (; *at != '\n'; at++)
				used += (*at & 0xc0) != 0x80;
			assert_true(used <= columns);
			at++;
		}
	}
}

static void eighty_columns_cut_no_table(void **state)
{
	const char *frame = render(1, 2, (struct live_view_style){.columns = 80});

	assert_null(strchr(strstr(frame, "DISPATCHER"), '~'));
}

static void headings_are_bold_where_colour_is_wanted(void **state)
{
	const char *frame = render(1, 2, (struct live_view_style){.colour = true});

	assert_non_null(strstr(frame, "\033[1mDISPATCHER"));
}

static void interval_without_time_has_no_rates(void **state)
{
	assert_non_null(strstr(render(1, 1, (struct live_view_style){0}), ", 0 msg/s\n"));
}

static int release(void **state)
{
	text_fini(&text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_shows_dispatchers_classes_and_loops),
		cmocka_unit_test(longest_runner_comes_first),
		cmocka_unit_test(lines_fit_the_window),
		cmocka_unit_test(eighty_columns_cut_no_table),
		cmocka_unit_test(headings_are_bold_where_colour_is_wanted),
		cmocka_unit_test(interval_without_time_has_no_rates),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
