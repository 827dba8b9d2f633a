# SPDX-License-Identifier: MIT
"""Puts the medians of a run of `make bench` into the tables of the README.

    python3 tests/bench/figures.py build/bench/results.jsonl README.md

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; what is between
them is replaced, the rest of the file stays as it is.
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


def main(results, readme):
    found = {}
    with open(results, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["suite"], row["workload"], row["system"]] = row["value"]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    for name, make in {"costs": costs, "observed": observed, "savina": savina}.items():
        begin, end = f"<!-- figures: {name} -->\n", "\n<!-- end of figures -->"
        text, count = re.subn(re.escape(begin) + ".*?" + re.escape(end),
                              lambda _, t=make(found): begin + t + end, text, flags=re.S)
        if count != 1:
            sys.exit(f"{readme}: there must be one place for the figures {name}, not {count}")
    with open(readme, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
