# SPDX-License-Identifier: MIT
"""Dispatcher: how late turns start, who holds the loop, and how often the loop gets it back."""
from overview import variables as common
from queries import (BY_CLASS, BY_DISPATCHER, BY_LOOP, DISPATCHER, added, count, heat,
                     quantile, total)
from shapes import choice, dashboard, heatmap, limits, lines, link, row, table

UID = "actorprobe-dispatcher"
DELAY = "actor_dispatcher_queue_delay_seconds"
TURN = "actor_turn_seconds"
GAP = "actor_loop_gap_seconds"


def variables():
    return common() + [
        choice("dispatcher", "Dispatcher",
               f'label_values({{__name__=~"{DELAY}|{DELAY}_count",instance=~"$instance",'
               'process=~"$process"}, dispatcher)', "Which dispatcher of the program.")]


def delays():
    name = "{{dispatcher}} {{process}} {{instance}}"
    return [
        lines("Queue delay", "From asking for a turn until its first instruction, once per turn.",
              "p50 high as well: too many actors on one loop, split them. Only p99 high: a few "
              "long turns hold the loop; lower the `throughput` of their class. On a microtask "
              "dispatcher a low delay proves nothing, look at the loop gap.",
              [(f"p{label} {name}", quantile(q, DELAY, BY_DISPATCHER, DISPATCHER))
               for label, q in (("50", 0.5), ("99", 0.99), ("99.9", 0.999))], "s", log=True),
        heatmap("Queue delay, all turns", "How many turns were started how late.",
                "two bands are two kinds of passes: turns of this pass, and turns that waited for "
                "the next one. If the upper band grows, lower `dispatcher.hybrid_budget` only when "
                "timers are late; else look for the class that holds the loop.",
                heat(DELAY, DISPATCHER), "s"),
        lines("Ready units", "How many turns wait for their start, on average: seconds of delay "
              "per second.",
              "steadily above 1 the loop cannot keep up with what is ready: move actors to another "
              "dispatcher and loop; a larger budget only reorders them.",
              [(name, added(DELAY, BY_DISPATCHER, DISPATCHER))], "short", width=8),
        lines("Turns per second", "Turns that the dispatcher started.",
              "many turns of one message each are scheduling instead of work: raise `throughput` "
              "of the class, or take a hybrid dispatcher instead of an immediate one.",
              [(name, count(DELAY, BY_DISPATCHER, DISPATCHER))], "short", width=8),
        lines("Errors", "Units that failed outside any handler, or could not be run.",
              "page on the first one: supervision cannot see these. The program's log has the "
              "cause; look for work given straight to the dispatcher.",
              [(name, total("actor_dispatcher_errors_total", BY_DISPATCHER, DISPATCHER))], "short",
              width=8),
    ]


def holders():
    to_class = link("Show this class", "actorprobe-actors", "class")
    name = "{{class}} {{process}} {{instance}}"
    return [
        lines("Loop time by class", "Share of a loop's time that the turns of a class take.",
              "the class on top is the one to move to a loop of its own, or to give a smaller "
              "`throughput`, so that others wait less.",
              [(name, f"topk(10, {added(TURN, BY_CLASS, DISPATCHER)})")], "percentunit",
              stack=True, to=to_class),
        lines("Turn time p99 by class", "How long one turn of one actor holds the loop.",
              "turn = messages per turn times handler time. If the handler is short, `throughput` "
              "is too high for this latency; if it is long, only shorter handlers help.",
              [(name, f"topk(10, {quantile(0.99, TURN, BY_CLASS, DISPATCHER)})")], "s", log=True,
              to=to_class),
        table("Who holds the loop now", "Classes by their share of a loop's time.",
              "what everybody waits for is the first line: move it or lower its `throughput`.",
              f"topk(10, {added(TURN, BY_CLASS + ', dispatcher', DISPATCHER)})", "percentunit"),
        lines("Open turn", "For how long the turn that runs now has been open, at least.",
              "a handler computes or blocks now, and no histogram has it yet. `actorprobe -p PID` "
              "names actor and message type.",
              [("{{class}} on {{dispatcher}} {{process}}",
                f"max by ({BY_DISPATCHER}, class) (actor_turn_open_seconds{{{DISPATCHER}}})")],
              "s", steps=limits(0.1, 1)),
    ]


def loops():
    loop = "loop {{loop}} {{process}} {{instance}}"
    yields = total("actor_dispatcher_yields_total", BY_DISPATCHER + ", reason", DISPATCHER)
    per_yield = (f"({count(DELAY, BY_DISPATCHER, DISPATCHER)}) / "
                 f"({total('actor_dispatcher_yields_total', BY_DISPATCHER, DISPATCHER)})")
    return [
        lines("Yields by reason", "budget: units were left over; idle: none was ready any more.",
              "mostly budget and timers late: fine, the budget does its work; lower it if timers "
              "are still late. Only budget and low processor time: the budget is too small for "
              "this load (`dispatcher.hybrid_budget`, `dispatcher.throughput`).",
              [("{{reason}} {{dispatcher}} {{process}}", yields)], "short", stack=True),
        lines("Units per yield", "Turns that the dispatcher ran before it gave the loop back.",
              "always 1 on a throughput dispatcher: a single actor uses it, whose turn can be "
              "queued only once; set `class.NAME.throughput` instead.",
              [("{{dispatcher}} {{process}} {{instance}}", per_yield)], "short"),
        lines("Loop busy", "Share of the time a loop spends on anything but waiting in poll.",
              "near 100 % the thread is full: move a class away. At 100 % with an idle processor, "
              "a handler blocks in a system call.",
              [(loop, total("actor_loop_busy_seconds_total", BY_LOOP))], "percentunit",
              steps=limits(0.7, 0.95)),
        lines("Loop gap", "How long timers and I/O have to wait for their next look, once per pass.",
              "gap high and delay low: the budget is too large, or the dispatcher is microtask, "
              "which never yields; take hybrid and lower `dispatcher.hybrid_budget`. Gap equal to "
              "the handler time: the handler is the cause.",
              [(f"p{label} {loop}", quantile(q, GAP, BY_LOOP)) for label, q in
               (("50", 0.5), ("99", 0.99), ("99.9", 0.999))], "s", log=True),
        heatmap("Loop gap, all passes", "How many passes kept timers and I/O waiting how long.",
                "a bright line far up is one handler or budget that fills whole passes; find the "
                "class with turns of that length above.", heat(GAP), "s"),
        lines("Passes per second", "How often a loop looked at timers and I/O while it was busy.",
              "very many passes with little work are the price of an immediate dispatcher; a "
              "hybrid one does the same work in fewer.",
              [(loop, count(GAP, BY_LOOP))], "short"),
    ]


def board():
    panels = [row("How late turns start")] + delays() + [row("Who holds the loop")] + holders()
    panels += [row("How often the loop gets it back")] + loops()
    return dashboard(UID, "actorprobe: dispatcher",
                     "How late turns start, who holds the loop, how often the loop gets it back.",
                     variables(), panels)
