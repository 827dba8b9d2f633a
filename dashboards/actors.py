# SPDX-License-Identifier: MIT
"""Actors: wait and handler side by side per class, and what piles up."""
from overview import variables as common
from queries import ACTORS, BY_CLASS, CLASS, added, count, heat, quantile, total
from shapes import choice, dashboard, heatmap, limits, lines, row

UID = "actorprobe-actors"
WAIT = "actor_mailbox_wait_seconds"
HANDLER = "actor_message_handler_seconds"
DEPTH = "actor_mailbox_depth"
NAME = "{{class}} {{process}} {{instance}}"


def variables():
    scope = f'__name__=~"{WAIT}|{WAIT}_count",instance=~"$instance",process=~"$process"'
    return common() + [
        choice("dispatcher", "Dispatcher", f"label_values({{{scope}}}, dispatcher)",
               "On which dispatcher the actors run."),
        choice("class", "Class",
               f'label_values({{{scope},dispatcher=~"$dispatcher"}}, class)',
               "Which classes of actors.")]


def quantiles(metric):
    return [(f"p{label} {NAME}", quantile(q, metric, BY_CLASS, ACTORS))
            for label, q in (("50", 0.5), ("99", 0.99), ("99.9", 0.999))]


def times():
    return [
        lines("Mailbox wait", "From telling a message until its handler is about to run.",
              "handler short and delay of the dispatcher low: the actor's own backlog, raise its "
              "`throughput` or bound the mailbox. Delay as high as this: turns compete, look at "
              "the dispatcher.", quantiles(WAIT), "s", log=True),
        lines("Handler time", "Time that one message spends in its handler.",
              "the code: split the work, use asynchronous calls or a thread for what blocks. A "
              "smaller `throughput` keeps others from waiting, it does not make this shorter.",
              quantiles(HANDLER), "s", log=True),
        heatmap("Mailbox wait, all messages", "How many messages waited how long.",
                "a second band above the first are messages that came while a turn or a budget was "
                "used up: raise `throughput` if the dispatcher's delay is low.",
                heat(WAIT, ACTORS), "s"),
        heatmap("Handler time, all messages", "How many messages took how long.",
                "a separate band far up is one message type or a blocking call: move just that "
                "type to an actor of its own.", heat(HANDLER, ACTORS), "s"),
        lines("Time in handlers", "Share of a thread that the handlers of a class take.",
              "the class on top decides how long all others wait: move it to a loop of its own.",
              [(NAME, added(HANDLER, BY_CLASS, ACTORS))], "percentunit", stack=True),
        lines("Messages per second", "Messages whose handler was started.",
              "a class whose rate grows while its depth grows too is flooded: bound its mailbox, "
              "throttle who sends, or share the work among several actors.",
              [(NAME, total("actor_messages_delivered_total", BY_CLASS, CLASS))], "short"),
    ]


def piles():
    path = "{{class}} {{path}} {{process}}"
    growth = quantile(0.99, DEPTH, BY_CLASS, ACTORS)
    return [
        lines("Mailbox depth p99", "Messages in the mailbox at each delivery, this one included.",
              "depth that only grows means more messages come than are handled; a larger "
              "`throughput` helps only if the dispatcher's delay is the bottleneck. Else: "
              "`capacity`, slower senders, several actors.",
              [(NAME, quantile(0.99, DEPTH, BY_CLASS, ACTORS))], "short"),
        heatmap("Mailbox depth, all deliveries", "How deep mailboxes were at each delivery.",
                "bright rows that climb are a backlog; rows that come and go are bursts, which a "
                "mailbox is there for.", heat(DEPTH, ACTORS), "short"),
        lines("Top growth", "The classes whose depth p99 grew most since one interval before.",
              "the first line is the next mailbox over 10 000: bound it (`capacity`) before it is "
              "there, or slow its senders down.",
              [(NAME, f"topk(5, {growth} - ({growth.replace(']', '] offset $__rate_interval')}))")],
              "short"),
        lines("Mailboxes over 10 000", "The size of mailboxes with 10 000 messages or more now.",
              "these actors do not keep up. Bound the mailbox with `capacity` and choose what is "
              "dropped, share the work among several actors, or slow the senders down.",
              [(path, f"actor_mailbox_size{{{CLASS}}}")], "short", steps=limits(10000)),
        lines("Oldest message", "How long the oldest message in those mailboxes has waited.",
              "what is older than anybody waits for an answer is work for nothing: give asks a "
              "time-out, drop the oldest (drop-head) in a bounded mailbox.",
              [(NAME, f"max by ({BY_CLASS}) (actor_oldest_message_seconds{{{ACTORS}}})")], "s"),
        lines("Open turn", "For how long the turn that runs now has been open, at least.",
              "this class computes or blocks now; `actorprobe -p PID` names actor and message "
              "type.",
              [(NAME, f"max by ({BY_CLASS}) (actor_turn_open_seconds{{{ACTORS}}})")], "s",
              steps=limits(0.1, 1)),
    ]


def turns():
    return [
        lines("Turn time p99", "How long one turn of one actor of the class holds its loop.",
              "above the delay that others may have: lower `throughput`, so that it times the "
              "handler's p99 stays below.",
              [(NAME, quantile(0.99, "actor_turn_seconds", BY_CLASS, ACTORS))], "s", log=True),
        lines("Messages per turn", "Median and p99 of the messages that one turn handled.",
              "at the class's `throughput` all the time: the budget ends turns; raise it if this "
              "class waits, lower it if others do. Always 1 to 2: the budget is not the cause.",
              [(f"p{label} {NAME}", quantile(q, "actor_turn_messages", BY_CLASS, ACTORS))
               for label, q in (("50", 0.5), ("99", 0.99))], "short"),
        lines("Turns per second", "Turns of the class.",
              "many short turns of a busy class are scheduling instead of work: raise "
              "`throughput`.",
              [(NAME, count("actor_turn_seconds", BY_CLASS, ACTORS))], "short", width=12),
        heatmap("Turn time, all turns", "How many turns held the loop how long.",
                "turns longer than the latency you promise: lower `throughput` of the class, or "
                "shorten its handler.", heat("actor_turn_seconds", ACTORS), "s"),
    ]


def lives():
    return [
        lines("Started and ended", "Actors per second.",
              "more starts than ends for long: actors leak; somebody spawns and never stops them.",
              [(f"started {NAME}", total("actor_created_total", BY_CLASS, CLASS)),
               (f"ended {NAME}", total("actor_terminated_total", BY_CLASS, CLASS))], "short",
              width=8),
        lines("Restarts", "Restarts of failed actors per second.",
              "one actor again and again at the same message: set that message aside, or let "
              "supervision back off; no scheduling knob helps.",
              [(NAME, total("actor_restarted_total", BY_CLASS, CLASS))], "short", width=8),
        lines("Drops and dead letters", "Messages that were not handled, per second.",
              "reason drop-head, drop-new, reject: the mailbox's `capacity` is too small or its "
              "sender too fast; throttle: as configured; dead letters: refs outlive their actors.",
              [("{{reason}} {{class}} {{process}}",
                total("actor_mailbox_dropped_total", BY_CLASS + ", reason", CLASS)),
               ("dead letter {{class}} {{process}}",
                total("actor_dead_letters_total", BY_CLASS, CLASS))], "short", width=8),
    ]


def board():
    panels = [row("Wait and handler")] + times() + [row("What piles up")] + piles()
    panels += [row("Turns")] + turns() + [row("Life")] + lives()
    return dashboard(UID, "actorprobe: actors",
                     "Wait and handler side by side per class, and what piles up.", variables(),
                     panels)
