# SPDX-License-Identifier: MIT
"""Puts the medians of a run of `make bench` into the tables of the README, or of runtime/tuning.md.

    python3 tests/bench/figures.py build/bench/results.jsonl README.md

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; what is between
them is replaced, the rest of the file stays as it is, tables that the run has nothing for as well.
"""
import json
import re
import sys

PLAYS = ["ping_pong", "counting", "fork_join_throughput", "fork_join_create", "thread_ring",
         "chameneos", "big", "bounded_buffer", "philosophers", "banking", "sieve", "fibonacci",
         "nqueens"]

COSTS = [("tell_flood", "tell flood, per message"), ("volley", "volley, per hop"),
         ("ring100", "ring of 100, per hop"), ("fanout", "fan-out, per message"),
         ("ask", "ask with its time-out, per round"), ("spawn", "spawn, start, stop"),
         ("cross_flood", "flood to another loop"),
         ("cross_volley", "volley between two busy loops, per hop"),
         ("idle_mem", "idle actor, bytes"), ("idle_mem_used", "the same after a message, bytes")]

OBSERVED = [("compiled-out", "probes compiled out"), ("off", "probes off"),
            ("ledger", "ledger mode"), ("sampled-16", "ledger mode, every 16th batch"),
            ("trace", "trace mode"), ("lttng-ust", "LTTng-UST, three events"),
            ("bpftrace-3", "bpftrace, three events")]

HEAVY = [("default", "hybrid, with HTTP's, 16 messages per turn (default)"), ("again", "the same again"),
         ("t256", "256 messages per turn"), ("t4", "4 messages per turn"),
         ("t1", "1 message per turn"), ("hybrid-4, t4", "hybrid, 4 turns per pass, 4 messages per turn"),
         ("immediate", "immediate"), ("immediate, t4", "immediate, 4 messages per turn"),
         ("throughput-16", "throughput, 16 turns per pass"),
         ("throughput-500", "throughput, 500 turns per pass"), ("own loop", "any, on a loop of its own"),
         ("microtask", "microtask")]

MANY = [("default", "hybrid, with HTTP's, 16 messages per turn (default)"), ("again", "the same again"),
        ("t1", "1 message per turn"), ("hybrid-64", "hybrid, but one for them alone"),
        ("throughput-16", "throughput, 16 turns per pass"), ("immediate", "immediate"),
        ("throughput-100000", "throughput, 100 000 turns per pass"), ("microtask", "microtask")]

LOADS = ["one hot actor", "many small actors", "pipeline of 100", "20 us handlers"]
ALONE = [("again", "the default again"), ("t1", "1 message per turn"), ("t64", "64 messages per turn"),
         ("t256", "256 messages per turn"), ("throughput-16", "throughput, 16 turns"),
         ("throughput-200", "throughput, 200 turns"), ("throughput-500", "throughput, 500 turns"),
         ("immediate", "immediate"), ("microtask", "microtask")]


def number(value):
    if value is None:
        return ""
    if value < 10:
        return f"{value:.1f}"
    return f"{value:,.0f}".replace(",", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def fastest(found, suite, workload, system):
    """The quickest variant of a system, as `caf`, `caf/t16`."""
    values = [value for (s, w, name), value in found.items()
              if s == suite and w == workload and name.split("/")[0] == system]
    return min(values, default=None)


def costs(found):
    systems = ["libactor", "caf", "erlang", "floor"]
    rows = [[text] + [number(fastest(found, "runtime", key, s)) for s in systems]
            for key, text in COSTS]
    return table(["ns per operation", "libactor", "CAF 0.17.6", "Erlang 25", "bare ring"], rows)


def observed(found):
    loads = ["tell_flood/0ns", "tell_flood/1000ns", "volley/0ns", "volley/1000ns"]
    rows = [[text] + [number(found.get(("observe", load, key))) for load in loads]
            for key, text in OBSERVED]
    return table(["observing, ns per message", "flood", "flood, 1 us handler", "volley",
                  "volley, 1 us handler"], rows)


def savina(found):
    def cells(play, loops):
        return [number(found.get(("savina", f"{play}/{loops}", s)))
                for s in ("libactor", "caf", "erlang")]

    rows = [[f"`{play}`"] + cells(play, 1) + cells(play, 2) for play in PLAYS]
    return table(["ns per operation", "libactor /1", "CAF /1", "Erlang /1", "libactor /2", "CAF /2",
                  "Erlang /2"], rows)


def spell(us):
    return f"{us / 1000:.3g} ms" if us >= 1000 else f"{us:.0f} us"


def share(value, of):
    ratio = value / of
    return f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def beside_http(found, load, rows):
    """Requests and work beside a load, against the default."""
    def cell(variant, what):
        return found.get(("heuristics", f"{load}/{variant}", what), 0)

    default = [cell("default", what) for what in ("p50", "work")]
    return table(["the actors' dispatcher", "a request takes", "times as fast", "work done"],
                 [[text, spell(cell(key, "p50")), share(default[0], cell(key, "p50")),
                   share(cell(key, "work"), default[1])] for key, text in rows])


def heavy(found):
    return beside_http(found, "heavy actor", HEAVY)


def many(found):
    return beside_http(found, "1000 actors", MANY)


def alone(found):
    """Each load, as a share of its default."""
    def cell(load, variant):
        value = found.get(("heuristics", f"{load}/{variant}", "time"))
        return share(value, found[("heuristics", f"{load}/default", "time")]) if value else ""

    return table([""] + LOADS, [[text] + [cell(load, key) for load in LOADS]
                                for key, text in ALONE])


TABLES = {"costs": ("runtime", costs), "observed": ("observe", observed),
          "savina": ("savina", savina), "heavy": ("heuristics", heavy),
          "many": ("heuristics", many), "alone": ("heuristics", alone)}


def main(results, readme):
    found, places = {}, 0
    with open(results, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["suite"], row["workload"], row["system"]] = row["value"]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    for name, (suite, make) in TABLES.items():
        begin, end = f"<!-- figures: {name} -->\n", "\n<!-- end of figures -->"
        if text.count(begin) > 1:
            sys.exit(f"{readme}: there must be one place for the figures {name}")
        places += text.count(begin)
        if any(key[0] == suite for key in found):
            text = re.sub(re.escape(begin) + ".*?" + re.escape(end),
                          lambda _, t=begin, m=make, e=end: t + m(found) + e, text, flags=re.S)
    if not places:
        sys.exit(f"{readme}: there is no place for figures")
    with open(readme, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
