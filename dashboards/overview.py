# SPDX-License-Identifier: MIT
"""Overview: which process, which dispatcher, is anything starving?"""
from queries import (BY_CLASS, BY_DISPATCHER, BY_LOOP, PROCESS, TARGET, quantile,
                     total)
from shapes import choice, choice_of_histograms, choice_of_source, dashboard, limits, lines, link
from shapes import number, row, table, words

UID = "actorprobe-overview"

GUIDE = """
| delay | wait | handler | it is | turn this knob |
|---|---|---|---|---|
| high | high | low | **turns compete**: one class holds the loop, or too many actors share it | \
lower `throughput` of the class with the longest turns, or give it a loop of its own |
| low | high | low | **one actor's backlog**: its own budget or its senders | raise `throughput` of \
that class; bound its mailbox with `capacity` and slow the senders down |
| any | any | high | **the code**: it computes or it blocks | split the work into messages, or hand \
it to a thread; no dispatcher setting makes a handler shorter |
| low | low | low | **fine**; on a microtask dispatcher look at the loop gap as well, because a low \
delay there says nothing about timers and I/O | nothing |

*Delay* is from asking for a turn to its first instruction, *wait* from telling a message to its
handler, *handler* the time inside it. `throughput` of a class is `class.NAME.throughput` in the file
that `ACTOR_CONFIG` names, so that a program need not be built anew.
"""


def variables():
    return [choice_of_source(), choice_of_histograms(),
            choice("instance", "Instance", "label_values(actorprobe_build_info, instance)",
                   "Where an actorprobe runs."),
            choice("process", "Process",
                   'label_values(actorprobe_attached{instance=~"$instance"}, process)',
                   "Which of its processes; empty when it observes only one.")]


def head():
    return [
        number("Observed processes", "Processes, or groups of one name, that run and are observed.",
               "a process that should be here has ended, or nobody observes it: `actorprobe list` "
               "on its host says why it cannot be observed.",
               f"sum(actorprobe_attached{{{PROCESS}}})", "none"),
        number("Messages per second", "Messages whose handler was started.",
               "compare with the load you expect; zero under load means that nothing is delivered: "
               "look at open turns and at restarts.",
               f"sum(rate(actor_messages_delivered_total{{{PROCESS}}}[$__rate_interval]))", "short"),
        number("Worst dispatcher delay p99", "The dispatcher that starts its turns latest.",
               "turns compete for this dispatcher's loop. Open the dispatcher dashboard, find the "
               "class with the longest turns, and lower its `throughput` or move it; "
               "`actorprobe diagnose -p PID` names it too.",
               f"max({quantile(0.99, 'actor_dispatcher_queue_delay_seconds', BY_DISPATCHER)})", "s",
               steps=limits(0.01, 0.1)),
        number("Worst mailbox wait p99", "The class whose messages wait longest.",
               "if the delay beside it is as high, turns compete; if not, that class has a backlog "
               "of its own: raise its `throughput` or slow its senders down.",
               f"max({quantile(0.99, 'actor_mailbox_wait_seconds', BY_CLASS)})", "s",
               steps=limits(0.02, 0.2)),
        number("Longest open turn", "For how long the turn that runs now has been open, at least.",
               "a handler computes or blocks right now. `actorprobe -p PID` names actor and "
               "message type; split the work or hand it to a thread.",
               f"max(actor_turn_open_seconds{{{PROCESS}}}) or vector(0)", "s",
               steps=limits(0.1, 1)),
        number("Alerts", "Firing alerts of the rules that come with these dashboards.",
               "each alert's runbook says which knob to turn; the list is on the page Alerts of "
               "Prometheus.",
               'count(ALERTS{alertname=~"Actor.*",alertstate="firing"}) or vector(0)', "none",
               steps=limits(1)),
    ]


def who_waits():
    to_dispatcher = link("Show this dispatcher", "actorprobe-dispatcher", "dispatcher")
    to_class = link("Show this class", "actorprobe-actors", "class")
    return [
        lines("Dispatcher delay p99", "From asking for a turn until its first instruction.",
              "one dispatcher high: too many actors on its loop, or one class holds it; split them "
              "or lower that class's `throughput`. All of them high at once on one host: the host "
              "lacks processor time, and no setting of the program helps.",
              [("{{dispatcher}} {{process}} {{instance}}",
                quantile(0.99, "actor_dispatcher_queue_delay_seconds", BY_DISPATCHER))], "s",
              log=True, to=to_dispatcher),
        lines("Loop busy", "Share of the time a loop spends on anything but waiting in poll.",
              "near 100 % the loop's thread is full: move a class to another loop "
              "(`class.NAME.dispatcher`, or `loop` at spawn). A busy share of 100 % with an idle "
              "processor is a handler that blocks.",
              [("loop {{loop}} {{process}} {{instance}}",
                total("actor_loop_busy_seconds_total", BY_LOOP))], "percentunit",
              steps=limits(0.7, 0.95)),
        lines("Mailbox wait p99, worst ten", "From telling a message until its handler runs.",
              "read it beside the delay: both high, turns compete; only this one, the class has a "
              "backlog: raise its `throughput`, bound its mailbox, or slow the senders down.",
              [("{{class}} {{process}} {{instance}}",
                f"topk(10, {quantile(0.99, 'actor_mailbox_wait_seconds', BY_CLASS)})")], "s",
              log=True, to=to_class),
        lines("Handler time p99, worst ten", "Time that one message spends in its handler.",
              "the code of that class is slow: split the work into messages, use the loop's "
              "asynchronous calls, or give the class a loop of its own. A lower `throughput` only "
              "limits what others suffer.",
              [("{{class}} {{process}} {{instance}}",
                f"topk(10, {quantile(0.99, 'actor_message_handler_seconds', BY_CLASS)})")], "s",
              log=True, to=to_class),
        lines("Messages per second by class", "Messages whose handler was started.",
              "a class that jumps is flooded or floods others: bound the receiver's mailbox "
              "(`capacity`) or throttle the sender.",
              [("{{class}} {{process}} {{instance}}",
                f"topk(10, {total('actor_messages_delivered_total', BY_CLASS)})")], "short",
              to=to_class),
        lines("Restarts, drops, dead letters", "Life events per second, of all classes.",
              "restarts that go on are a message that its handler cannot take: set it aside or "
              "back off. Drops: a bounded mailbox is too small or its sender too fast. Dead "
              "letters: senders keep refs of actors that have ended.",
              [("restarts", f"sum({total('actor_restarted_total', TARGET)})"),
               ("dropped", f"sum({total('actor_mailbox_dropped_total', TARGET)})"),
               ("dead letters", f"sum({total('actor_dead_letters_total', TARGET)})")], "short"),
    ]


def tail():
    return [
        number("Mailboxes over 10 000", "Actors that have 10 000 messages or more queued now.",
               "the actors dashboard names them. A class that cannot keep up needs a bounded "
               "mailbox (`capacity`), more `throughput` if its delay is low, or fewer messages.",
               f"count(actor_mailbox_size{{{PROCESS}}}) or vector(0)", "none", steps=limits(1),
               width=6),
        number("Dispatcher errors", "Units that failed outside any handler, in the shown time.",
               "one is an alarm: something below the actors is broken. The program's log has the "
               "cause and the actor whose turn was lost.",
               f"sum(increase(actor_dispatcher_errors_total{{{PROCESS}}}[$__range])) or vector(0)",
               "none", steps=limits(1), width=6, decimals=0),
        table("Who is observed", "The processes behind these numbers.",
              "a process that is missing has ended or cannot be observed; `actorprobe list` and "
              "`actorprobe doctor` say why.",
              f"actorprobe_target_info{{{PROCESS}}}", "none", width=12, height=4),
    ]


def board():
    panels = head() + [row("Who waits, and why")] + who_waits() + [row("Beyond the limits")]
    panels += tail() + [row("How to read it"), words(
        "Where to look first", "Three histograms together say what one alone does not.",
        "find the line of the table that fits, and turn its knob.", GUIDE.strip())]
    return dashboard(UID, "actorprobe: overview",
                     "Which process, which dispatcher, is anything starving?", variables(), panels)
