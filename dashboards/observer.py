# SPDX-License-Identifier: MIT
"""Health of the observer: what it missed, and what it costs."""
from overview import variables
from queries import PROCESS, TARGET, total
from shapes import dashboard, limits, lines, number, row, table

UID = "actorprobe-observer"
NAME = "{{process}} {{instance}}"


def gauge(name):
    return [(NAME, f"max by ({TARGET}) ({name}{{{PROCESS}}})")]


def head():
    sums = [f"sum({n}{{{PROCESS}}})" for n in (
        "actor_messages_delivered_total", "actorprobe_records_total",
        "actorprobe_unstamped_total", "actorprobe_lost_total")]
    return [
        number("Attached", "Processes, or groups of one name, that run and are observed.",
               "0: the process has ended, or the fuse has taken the probes away; the log of "
               "actorprobe says which.", f"sum(actorprobe_attached{{{PROCESS}}})", "none"),
        number("Does it add up?", "Delivered less recorded, unstamped and lost: 0 when each "
               "message is accounted for.",
               "anything but 0 is an error of actorprobe: report it with the version below.",
               f"{sums[0]} - {sums[1]} - {sums[2]} - {sums[3]}", "none", steps=limits(1)),
        number("Lost", "Messages whose record was lost, in the shown time.",
               "the panel of reasons below tells which; percentiles of this time are not exact.",
               f"sum(increase(actorprobe_lost_total{{{PROCESS}}}[$__range]))", "none",
               steps=limits(1), decimals=0),
        number("Overhead", "Estimate of what observing costs the target, as a share of a core.",
               "start the exporter with `--sample N` or a lower `--max-overhead`; mode trace costs "
               "a trap per event, mode ledger one per batch.",
               f"max(actorprobe_overhead_ratio{{{PROCESS}}})", "percentunit",
               steps=limits(0.01, 0.05)),
        number("Observed batches: one in", "1: everything is observed. N: each Nth batch, weighted.",
               "rates stay right, rare maxima are missed; raise `--max-overhead` or take a cheaper "
               "mode to see everything again.",
               f"max(actorprobe_sample_every{{{PROCESS}}})", "none", steps=limits(2)),
        number("Attach time", "Time that attaching took, and in which the kernel was changed.",
               "far above half a second: the host is busy, or many probes are attached at once.",
               f"max(actorprobe_attach_seconds{{{PROCESS}}})", "s", steps=limits(0.5, 2)),
    ]


def accounts():
    return [
        lines("Messages, by how they were seen", "recorded: wholly observed; unstamped: queued "
              "before the attach; lost: the record was.",
              "unstamped long after the attach: very old mail is still queued. Lost: see the next "
              "panel.",
              [("recorded", f"sum(rate(actorprobe_records_total{{{PROCESS}}}[$__rate_interval]))"),
               ("unstamped",
                f"sum(rate(actorprobe_unstamped_total{{{PROCESS}}}[$__rate_interval]))"),
               ("lost", f"sum(rate(actorprobe_lost_total{{{PROCESS}}}[$__rate_interval]))")],
              "short"),
        lines("Lost, by reason", "Messages per second whose record was lost.",
              "copy: the target's memory was not there, it is short of memory. clock: the host's "
              "clock jumps. format: another libactor than this actorprobe knows. map: raise "
              "`--max-series`.",
              [("{{reason}} {{process}} {{instance}}",
                total("actorprobe_lost_total", TARGET + ", reason"))], "short"),
        lines("Batches out of sequence", "Batches that did not continue the one before them.",
              "each gap is data that never came; together with lost it tells how much.",
              [(NAME, total("actorprobe_sequence_gaps_total", TARGET))], "short", width=8),
        lines("Clock corrections", "Intervals that ran backwards by up to a microsecond, as 0.",
              "a few per second are normal between processors; many mean that the processors' "
              "clocks disagree.",
              [(NAME, total("actorprobe_clock_clamped_total", TARGET))], "short", width=8),
        lines("Beyond the cap on series", "Records that were added to the series __overflow__.",
              "more classes and dispatchers than the cap allows: raise `--max-series`, or give "
              "classes names without numbers in them.",
              [(NAME, total("actorprobe_series_overflow_total", TARGET))], "short", width=8),
        lines("Folding", "1 while the kernel side adds records up itself because the ring is full.",
              "nothing is lost, but who sends to whom is incomplete: give actorprobe more "
              "processor time, or sample.", gauge("actorprobe_folding"), "none"),
        lines("Folded records", "Records per second that the kernel side added up itself.",
              "the target hands over faster than actorprobe reads: `--sample N`, or a processor "
              "that is not used by the target.",
              [(NAME, total("actorprobe_folded_records_total", TARGET))], "short"),
    ]


def costs():
    own = 'instance=~"$instance"'
    return [
        lines("Estimated cost for the target", "Share of a core.",
              "beyond `--max-overhead` the fuse samples, then detaches. `--sample N` does so from "
              "the start.", gauge("actorprobe_overhead_ratio"), "percentunit"),
        lines("Processor time of actorprobe", "Share of a core.",
              "above 5 %: the target hands over more than a million messages per second, or "
              "scrapes come too often; scrape less often, or sample.",
              [("{{instance}}", f"rate(actorprobe_cpu_seconds_total{{{own}}}[$__rate_interval])")],
              "percentunit", steps=limits(0.05, 0.2)),
        lines("Memory of actorprobe", "Resident memory.",
              "it grows with the number of series and processes; lower `--max-series`. Growth that "
              "never ends is an error: report it.",
              [("{{instance}}", f"actorprobe_resident_memory_bytes{{{own}}}")], "bytes"),
        lines("Scrape", "How long a scrape takes, and how many samples it has.",
              "slower than the interval: lower `--max-series`, or scrape less often.",
              [("seconds {{instance}}",
                f"scrape_duration_seconds{{{own}}} and on (instance) actorprobe_build_info"),],
              "s"),
        lines("Samples per scrape", "Series of one scrape.",
              "growth that does not end: names with numbers in them; the cap `--max-series` holds "
              "it.",
              [("{{instance}}",
                f"scrape_samples_scraped{{{own}}} and on (instance) actorprobe_build_info")],
              "short"),
        lines("Processes under observation", "How many processes run and are observed.",
              "a step down: processes have ended; a step up that does not end: something starts "
              "processes again and again.", gauge("actorprobe_targets"), "none"),
        lines("Reachable", "1 while Prometheus gets an answer.",
              "actorprobe does not run or is not reachable: it binds to loopback unless `--listen` "
              "says otherwise.", [("{{job}} {{instance}}", f"up{{{own}}}")], "none"),
        table("Versions", "Which actorprobe runs where.",
              "an older actorprobe refuses a newer libactor: update it first.",
              f"actorprobe_build_info{{{own}}}", "none", height=6),
        table("Processes", "What each of them observes.",
              "a process that is missing has ended or cannot be observed: `actorprobe list` on "
              "that host says why.", f"actorprobe_target_info{{{PROCESS}}}", "none", height=6),
    ]


def board():
    panels = head() + [row("Is anything missing?")] + accounts()
    panels += [row("What does it cost?")] + costs()
    return dashboard(UID, "actorprobe: health of the observer",
                     "What actorprobe missed, and what it costs.", variables(), panels)
