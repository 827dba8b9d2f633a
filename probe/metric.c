/* SPDX-License-Identifier: MIT */
/* The one table of metric families: exporter, JSON, documentation and tests read it. */
#include "probe/metric.h"

#include <string.h>

#define HISTOGRAM(name, index, title, labels, unit, help)                                          \
	{                                                                                          \
		name, title, METRIC_HISTOGRAM, METRIC_SERIES, index, labels, unit, help            \
	}
#define COUNTER(name, source, index, labels, unit, help)                                           \
	{                                                                                          \
		name, 0, METRIC_COUNTER, source, index, labels, unit, help                         \
	}
#define GAUGE(name, source, labels, unit, help)                                                    \
	{                                                                                          \
		name, 0, METRIC_GAUGE, source, 0, labels, unit, help                               \
	}

const struct metric metrics[] = {
	HISTOGRAM("actor_mailbox_wait_seconds", AGGREGATE_WAIT, "mailbox wait", "dispatcher,class",
		"seconds", "Time from telling a message until its handler is about to run."),
	HISTOGRAM("actor_message_handler_seconds", AGGREGATE_HANDLER, "handler time",
		"dispatcher,class", "seconds", "Time one message spent in its handler."),
	HISTOGRAM("actor_dispatcher_queue_delay_seconds", AGGREGATE_DELAY, "dispatcher queue delay",
		"dispatcher", "seconds",
		"Time from asking for a turn until its first instruction, once per turn."),
	HISTOGRAM("actor_mailbox_depth", AGGREGATE_DEPTH, "mailbox depth", "dispatcher,class",
		"messages",
		"Messages in the mailbox at each delivery, the delivered one included."),
	HISTOGRAM("actor_turn_seconds", AGGREGATE_TURN, "turn time", "dispatcher,class", "seconds",
		"Duration of one turn of one actor."),
	HISTOGRAM("actor_turn_messages", AGGREGATE_TURN_MESSAGES, "messages per turn",
		"dispatcher,class", "messages", "Messages that one turn handled."),
	HISTOGRAM("actor_loop_gap_seconds", AGGREGATE_LOOP_GAP, "loop gap", "loop", "seconds",
		"Time a loop was busy between two looks at timers and I/O, once per pass."),
	COUNTER("actor_loop_busy_seconds_total", METRIC_LOOP_BUSY, 0, "loop", "seconds",
		"Time a loop was busy, which is all but waiting in poll."),
	COUNTER("actor_messages_delivered_total", METRIC_COUNTERS, AGGREGATE_DELIVERED, "class",
		"messages", "Messages whose handler was started since the attach."),
	COUNTER("actor_dispatcher_yields_total", METRIC_COUNTERS, AGGREGATE_YIELDS,
		"dispatcher,reason", "yields", "Times the dispatcher gave the loop back."),
	COUNTER("actor_dispatcher_errors_total", METRIC_COUNTERS, AGGREGATE_DISPATCHER_ERRORS,
		"dispatcher", "errors", "Units that failed or could not be run."),
	COUNTER("actor_created_total", METRIC_COUNTERS, AGGREGATE_CREATED, "class", "actors",
		"Actors that were started since the attach."),
	COUNTER("actor_terminated_total", METRIC_COUNTERS, AGGREGATE_TERMINATED, "class", "actors",
		"Actors that have ended since the attach."),
	COUNTER("actor_restarted_total", METRIC_COUNTERS, AGGREGATE_RESTARTED, "class", "restarts",
		"Restarts of failed actors since the attach."),
	COUNTER("actor_mailbox_dropped_total", METRIC_COUNTERS, AGGREGATE_DROPPED, "class,reason",
		"messages", "Messages that a mailbox or throttle dropped since the attach."),
	COUNTER("actor_dead_letters_total", METRIC_COUNTERS, AGGREGATE_DEAD_LETTERS, "class",
		"messages", "Messages to actors that were not there any more since the attach."),
	GAUGE("actor_mailbox_size", METRIC_SIZE, "class,path", "messages",
		"Messages in the mailboxes that have 10 000 or more now; others are not shown."),
	GAUGE("actor_oldest_message_seconds", METRIC_OLDEST, "dispatcher,class", "seconds",
		"How long the oldest message of the mailboxes of 10 000 or more has waited."),
	GAUGE("actor_turn_open_seconds", METRIC_TURN_OPEN, "dispatcher,class", "seconds",
		"How long the turn that runs now has been open, at least."),
	GAUGE("actorprobe_attached", METRIC_ATTACHED, "", "boolean",
		"1 while the target runs and is observed, 0 after its end."),
	GAUGE("actorprobe_attach_seconds", METRIC_ATTACH_TIME, "", "seconds",
		"Time that attaching to the target took."),
	COUNTER("actorprobe_records_total", METRIC_RECORDS, 0, "", "messages",
		"Messages that were observed wholly."),
	COUNTER("actorprobe_unstamped_total", METRIC_UNSTAMPED, 0, "", "messages",
		"Messages that were queued before the attach, counted but not timed."),
	COUNTER("actorprobe_lost_total", METRIC_LOST, 0, "reason", "messages",
		"Messages whose record was lost."),
	COUNTER("actorprobe_clock_clamped_total", METRIC_CLAMPED, 0, "", "intervals",
		"Intervals that ran backwards by at most one microsecond and count as 0."),
	COUNTER("actorprobe_series_overflow_total", METRIC_OVERFLOW, 0, "", "records",
		"Records folded into the series __overflow__ because of the cap on series."),
	COUNTER("actorprobe_sequence_gaps_total", METRIC_GAPS, 0, "", "batches",
		"Batches of records that did not continue the one before them."),
	COUNTER("actorprobe_folded_records_total", METRIC_FOLDED, 0, "", "records",
		"Records that the kernel side added up itself because the ring was full."),
	GAUGE("actorprobe_folding", METRIC_FOLDING, "", "boolean",
		"1 if records were folded since the scrape before; who sends to whom is "
		"incomplete."),
	GAUGE("actorprobe_sample_every", METRIC_SAMPLE, "", "batches",
		"1: everything is observed. N: each Nth batch, whose messages are weighted."),
	GAUGE("actorprobe_overhead_ratio", METRIC_OVERHEAD, "", "ratio",
		"Estimate of what observing costs the target, as a share of one core."),
	COUNTER("actorprobe_cpu_seconds_total", METRIC_CPU, 0, "", "seconds",
		"CPU time of actorprobe itself."),
	GAUGE("actorprobe_resident_memory_bytes", METRIC_MEMORY, "", "bytes",
		"Resident memory of actorprobe itself."),
	GAUGE("actorprobe_build_info", METRIC_BUILD, "version", "info",
		"Always 1; the label is the version of actorprobe."),
	GAUGE("actorprobe_targets", METRIC_TARGETS, "", "processes",
		"Processes that are observed now."),
	GAUGE("actorprobe_target_info", METRIC_TARGET, "pid,command,exe,cgroup,container", "info",
		"Always 1; the labels name the observed process."),
};

const size_t metric_count = sizeof(metrics) / sizeof(metrics[0]);

_Static_assert(AGGREGATE_METRICS == 7, "each metric of the aggregate has its row above");

const struct metric *metric_of(enum aggregate_metric metric)
{
	for (size_t i = 0; i < metric_count; i++)
		if (metrics[i].source == METRIC_SERIES && metrics[i].index == metric)
			return &metrics[i];
	return &metrics[0];
}

bool metric_is_nano(const struct metric *metric)
{
	return strcmp(metric->unit, "seconds") == 0 || strcmp(metric->unit, "ratio") == 0;
}

bool metric_is_own(const struct metric *metric)
{
	return metric->source == METRIC_CPU || metric->source == METRIC_MEMORY ||
	       metric->source == METRIC_BUILD;
}

bool metric_is_info(const struct metric *metric)
{
	return strcmp(metric->unit, "info") == 0;
}

size_t metric_base_bytes(const struct metric *metric)
{
	if (metric_is_info(metric))
		return strlen(metric->name) - strlen("_info");
	return strlen(metric->name) - (metric->type == METRIC_COUNTER ? strlen("_total") : 0);
}

const char *metric_type_name(enum metric_type type)
{
	static const char *const names[] = {
		[METRIC_HISTOGRAM] = "histogram",
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
	};

	return names[type];
}

const char *metric_lost_reason(enum aggregate_lost reason)
{
	static const char *const names[AGGREGATE_LOST_REASONS] = {
		[AGGREGATE_LOST_COPY] = "copy",
		[AGGREGATE_LOST_CLOCK] = "clock",
		[AGGREGATE_LOST_FORMAT] = "format",
		[AGGREGATE_LOST_MAP] = "map",
	};

	return reason < AGGREGATE_LOST_REASONS && names[reason] ? names[reason] : "other";
}
