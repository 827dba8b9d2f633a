/* SPDX-License-Identifier: MIT */
/* `actorprobe -p PID`: the live view, repainted on a terminal, plain blocks elsewhere.
 *
 * On a terminal it paints on the alternate screen, and when it ends it leaves there and prints one
 * last frame that covers the whole run. Elsewhere each block covers its interval.
 */
#include "probe/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probe/grouping.h"
#include "probe/live_view.h"
#include "probe/report.h"

#define SECOND_NS 1000000000ull

#define SCREEN_ENTER "\033[?1049h\033[?25l"
#define SCREEN_LEAVE "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define LINE_END     "\033[K\n" /* clears what an older frame left behind it */
#define SCREEN_REST  "\033[J"

struct screen {
	bool terminal;
	bool entered;
	unsigned int lines; /* 0 = unknown */
	struct live_view_style style;
};

static void screen_measure(struct screen *s)
{
	struct winsize window;
	const char *no_colour = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	s->terminal = isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0;
	if (!s->terminal)
		return;
	s->style.colour = !no_colour || !*no_colour;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
		s->style.columns = window.ws_col;
		s->lines = window.ws_row;
	}
}

/* Turns a frame into a repaint: from the top, each line cleared to its end, cut at the bottom. */
static void screen_paint(struct screen *s, struct text *out, const struct text *frame)
{
	unsigned int left = s->lines > 1 ? s->lines - 1 : UINT32_MAX;
	const char *line = frame->bytes ? frame->bytes : "";

	out->failed |= frame->failed;
	text_add(out, "%s" SCREEN_HOME, s->entered ? "" : SCREEN_ENTER);
	s->entered = true;
	while (*line && left--) {
		const char *end = strchr(line, '\n');

		if (!end)
			break;
		text_add_bytes(out, line, (size_t)(end - line));
		text_add(out, LINE_END);
		line = end + 1;
	}
	text_add(out, SCREEN_REST);
}

static int print_frame(struct report *r, struct screen *s, const struct aggregate *recent,
	const struct arguments *a, struct error *error)
{
	struct text frame = {0};

	if (a->timestamps)
		report_add_clock(&frame);
	live_view_render(&frame, &r->now, recent, &s->style);
	if (s->terminal)
		screen_paint(s, &r->text, &frame);
	else
		text_add(&r->text, "%s\n", frame.bytes ? frame.bytes : "");
	r->text.failed |= frame.failed;
	text_fini(&frame);
	return report_print(r, error);
}

/* A frame of the interval since the last one. */
static int print_recent(struct report *r, struct screen *s, const struct arguments *a,
	unsigned int events, struct error *error)
{
	struct aggregate recent = {0};
	int code = report_read(r, events, error);

	if (!code)
		code = report_recent(r, &recent, error);
	if (!code) {
		screen_measure(s);
		code = print_frame(r, s, &recent, a, error);
	}
	aggregate_fini(&recent);
	return code;
}

/* Leaves the screen as it was; a terminal then keeps one frame of the whole run. */
static int screen_leave(struct report *r, struct screen *s, const struct arguments *a,
	const struct aggregate *first, int code, struct error *error)
{
	bool was_entered = s->entered;
	const struct aggregate loops = {.loops = first->loops, .loop_count = first->loop_count};
	struct aggregate whole = {0};

	if (!s->terminal)
		return code;
	text_clear(&r->text);
	if (was_entered)
		text_add(&r->text, SCREEN_LEAVE);
	s->terminal = false;
	s->style.columns = 0;
	if (!code && grouping_subtract(&whole, &r->now, &loops))
		code = error_set(error, EXIT_USAGE, "out of memory; lower --max-series");
	if (!code)
		code = print_frame(r, s, &whole, a, error);
	else
		report_print(r, error);
	aggregate_fini(&whole);
	return code;
}

int command_live(const struct arguments *a, struct error *error)
{
	struct arguments plan = *a;
	struct report r = {0};
	struct screen screen = {0};
	struct aggregate first = {0};
	unsigned int events = 0;
	int code;

	if (!plan.interval_ns)
		plan.interval_ns = SECOND_NS;
	code = report_open(&r, &plan, error);
	if (code)
		return code;
	/* Loops count from their own start: only a second state gives their rates. */
	code = report_read(&r, 0, error);
	if (!code && grouping_apply(&first, &r.now, GROUPING_FULL))
		code = error_set(error, EXIT_USAGE, "out of memory; lower --max-series");
	while (!code && !(events & OBSERVATION_LAST)) {
		events = observation_wait(&r.observation);
		if (!(events & OBSERVATION_UNREAD))
			code = print_recent(&r, &screen, a, events, error);
	}
	code = screen_leave(&r, &screen, a, &first, code, error);
	if (!code)
		code = report_end(&r, events, error);
	aggregate_fini(&first);
	report_close(&r);
	return code;
}
