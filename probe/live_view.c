/* SPDX-License-Identifier: MIT */
/* One frame of the live view: who runs, who waits, for how long. */
#include "probe/live_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/grouping.h"
#include "probe/hist_text.h"
#include "probe/histogram.h"
#include "runtime/abi.h"

/* The widest table takes 80 columns: a name, a kind, six values, a space before each. */
#define NAME_COLUMNS  16
#define KIND_COLUMNS  9
#define VALUE_COLUMNS 8

struct frame {
	struct text *text;
	struct text line;
	struct text cell;
	const struct live_view_style *style;
	double seconds; /* of the interval */
};

/* Cuts the line to the window and puts it into the frame. */
static void end_line(struct frame *f, bool heading)
{
	struct text *t = f->text;
	const char *line = f->line.bytes && f->line.used ? f->line.bytes : "";
	size_t used = strlen(line);

	while (used && line[used - 1] == ' ')
		used--;
	if (f->line.bytes)
		f->line.bytes[used] = '\0';
	if (heading && f->style->colour)
		text_add(t, "\033[1m");
	if (f->style->columns) {
		struct text cut = {0};

		text_add_left(&cut, line, f->style->columns);
		while (cut.used && cut.bytes[cut.used - 1] == ' ')
			cut.used--;
		text_add_bytes(t, cut.bytes ? cut.bytes : "", cut.used);
		text_fini(&cut);
	} else {
		text_add_bytes(t, line, used);
	}
	if (heading && f->style->colour)
		text_add(t, "\033[0m");
	text_add(t, "\n");
	text_clear(&f->line);
}

static void put_name(struct frame *f, const char *name)
{
	text_add_left(&f->line, name ? name : "-", NAME_COLUMNS);
}

/* Moves the cell to the line, right-aligned behind a space. */
static void end_cell(struct frame *f)
{
	text_add_char(&f->line, ' ', 1);
	text_add_right(
		&f->line, f->cell.bytes && f->cell.used ? f->cell.bytes : "-", VALUE_COLUMNS);
	text_clear(&f->cell);
}

static void put_text(struct frame *f, const char *text)
{
	text_add(&f->cell, "%s", text);
	end_cell(f);
}

static void put_rate(struct frame *f, uint64_t count)
{
	if (f->seconds > 0)
		text_add_number(&f->cell, (double)count / f->seconds);
	end_cell(f);
}

/* A quantile of a series that may be absent or empty; q > 1 asks for the maximum. */
static void put_quantile(struct frame *f, const struct aggregate_series *s, double q)
{
	double value;

	if (s && s->histogram.count) {
		value = q > 1 ? (double)s->histogram.max
			      : histogram_quantile(&s->histogram, s->metric, q);
		if (histogram_is_time(s->metric))
			text_add_ns(&f->cell, value);
		else
			text_add_number(&f->cell, value);
	}
	end_cell(f);
}

static void put_kind(struct frame *f, const char *kind)
{
	text_add_char(&f->line, ' ', 1);
	text_add_left(&f->line, kind, KIND_COLUMNS);
}

static void put_headings(struct frame *f, const char *const *headings)
{
	for (; *headings; headings++)
		put_text(f, *headings);
	end_line(f, true);
}

/* ---- tables ---- */

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[ACTOR_ABI_HYBRID] = "hybrid",
		[ACTOR_ABI_MICROTASK] = "microtask",
		[ACTOR_ABI_IMMEDIATE] = "immediate",
		[ACTOR_ABI_THROUGHPUT] = "throughput",
		[ACTOR_ABI_CUSTOM] = "custom",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "-";
}

static void add_dispatcher(
	struct frame *f, const struct aggregate *grouped, const struct aggregate_series *turn)
{
	const char *name = turn->dispatcher;
	const struct aggregate_series *delay = grouping_find(grouped, AGGREGATE_DELAY, name, NULL);

	put_name(f, name);
	put_kind(f, kind_name(turn->dispatcher_kind));
	put_rate(f, turn->histogram.count);
	put_quantile(f, delay, 0.5);
	put_quantile(f, delay, 0.99);
	put_quantile(f, delay, 2);
	put_rate(f, grouping_counted(grouped, AGGREGATE_YIELDS, name, NULL, "budget"));
	put_rate(f, grouping_counted(grouped, AGGREGATE_YIELDS, name, NULL, "idle"));
	end_line(f, false);
}

static void add_dispatchers(struct frame *f, const struct aggregate *recent)
{
	static const char *const headings[] = {
		"TURNS/S", "DELAY50", "DELAY99", "MAX", "BUDGET/S", "IDLE/S", NULL};
	struct aggregate grouped = {0};

	f->text->failed |= grouping_apply(&grouped, recent, GROUPING_DISPATCHER) != 0;
	put_name(f, "DISPATCHER");
	put_kind(f, "KIND");
	put_headings(f, headings);
	for (size_t i = 0; i < grouped.series_count; i++)
		if (grouped.series[i].metric == AGGREGATE_TURN)
			add_dispatcher(f, &grouped, &grouped.series[i]);
	end_line(f, false);
	aggregate_fini(&grouped);
}

static void add_class(struct frame *f, const struct aggregate *grouped, const char *name)
{
	const struct aggregate_series *wait = grouping_find(grouped, AGGREGATE_WAIT, NULL, name);
	const struct aggregate_series *run = grouping_find(grouped, AGGREGATE_HANDLER, NULL, name);

	put_name(f, name);
	put_rate(f, grouping_counted(grouped, AGGREGATE_DELIVERED, NULL, name, NULL));
	put_quantile(f, wait, 0.5);
	put_quantile(f, wait, 0.99);
	put_quantile(f, run, 0.5);
	put_quantile(f, run, 0.99);
	put_quantile(f, grouping_find(grouped, AGGREGATE_DEPTH, NULL, name), 0.99);
	end_line(f, false);
}

/* Most handler time first: who keeps the loop from others. */
static int by_time(const void *a, const void *b)
{
	const struct aggregate_series *x = *(const struct aggregate_series *const *)a;
	const struct aggregate_series *y = *(const struct aggregate_series *const *)b;

	if (x->histogram.sum != y->histogram.sum)
		return x->histogram.sum < y->histogram.sum ? 1 : -1;
	return strcmp(x->class_name ? x->class_name : "", y->class_name ? y->class_name : "");
}

static void add_classes(struct frame *f, const struct aggregate *recent)
{
	static const char *const headings[] = {
		"MSG/S", "WAIT50", "WAIT99", "RUN50", "RUN99", "DEPTH99", NULL};
	struct aggregate grouped = {0};
	const struct aggregate_series **rows;
	size_t count = 0;

	f->text->failed |= grouping_apply(&grouped, recent, GROUPING_CLASS) != 0;
	rows = calloc(grouped.series_count + 1, sizeof(*rows));
	f->text->failed |= !rows;
	for (size_t i = 0; rows && i < grouped.series_count; i++)
		if (grouped.series[i].metric == AGGREGATE_HANDLER)
			rows[count++] = &grouped.series[i];
	if (count)
		qsort(rows, count, sizeof(*rows), by_time);
	put_name(f, "CLASS");
	put_headings(f, headings);
	for (size_t i = 0; i < count; i++)
		add_class(f, &grouped, rows[i]->class_name);
	end_line(f, false);
	free(rows);
	aggregate_fini(&grouped);
}

static void add_loops(struct frame *f, const struct aggregate *recent)
{
	static const char *const headings[] = {"THREAD", "MSG/S", "OPEN FOR", NULL};

	put_name(f, "LOOP");
	put_headings(f, headings);
	for (size_t i = 0; i < recent->loop_count; i++) {
		const struct aggregate_loop *l = &recent->loops[i];

		text_add(&f->cell, "%s/%" PRIu32, l->system ? l->system : "-", l->loop);
		put_name(f, f->cell.bytes);
		text_clear(&f->cell);
		text_add(&f->cell, "%" PRIu32, l->thread);
		end_cell(f);
		put_rate(f, l->delivered);
		if (l->actor)
			text_add_ns(&f->cell, (double)l->open_ns);
		end_cell(f);
		text_add(&f->line, "  %s", l->actor ? l->actor : "idle");
		if (l->actor && l->type)
			text_add(&f->line, " handles %s", l->type);
		end_line(f, false);
	}
}

static void add_header(struct frame *f, const struct aggregate *now, const struct aggregate *recent)
{
	text_add(&f->line, "pid %d %s, %s mode, observed for ", (int)now->pid,
		now->command ? now->command : "-", now->mode ? now->mode : "-");
	text_add_ns(&f->line, (double)now->elapsed_ns);
	text_add(&f->line, "%s", now->alive ? "" : ", ended");
	if (now->detached)
		text_add(&f->line, ", probes taken away");
	if (now->sample_every > 1)
		text_add(&f->line, ", each %" PRIu64 "th batch", now->sample_every);
	if (recent->folding)
		text_add(&f->line, ", folding");
	text_add(&f->line, ", ");
	text_add_number(&f->line, f->seconds > 0 ? (double)recent->delivered / f->seconds : 0);
	text_add(&f->line, " msg/s");
	end_line(f, true);
	hist_text_accounting(&f->line, now);
	end_line(f, false);
	end_line(f, false);
}

void live_view_render(struct text *t, const struct aggregate *now, const struct aggregate *recent,
	const struct live_view_style *style)
{
	struct frame f = {.text = t, .style = style, .seconds = (double)recent->elapsed_ns / 1e9};

	add_header(&f, now, recent);
	add_dispatchers(&f, recent);
	add_classes(&f, recent);
	add_loops(&f, recent);
	t->failed |= f.line.failed || f.cell.failed;
	text_fini(&f.line);
	text_fini(&f.cell);
}
