# SPDX-License-Identifier: MIT
"""The bars: what was measured, what it must be, met or not."""
from suite_runtime import PEERS


class Checklist:
    def __init__(self, results):
        self.results, self.lines = results, []

    def at_most(self, what, value, bar, unit=""):
        self.line(what, value, f"<= {bar:g}{unit}", unit, lambda: value <= bar)

    def at_least(self, what, value, bar, unit=""):
        self.line(what, value, f">= {bar:g}{unit}", unit, lambda: value >= bar)

    def line(self, what, value, bar, unit, met):
        if value is None:
            self.lines.append((what, "-", bar, "not measured"))
        else:
            self.lines.append((what, f"{value:.3f}".rstrip("0").rstrip(".") + unit, bar,
                               "met" if met() else "not met"))

    # Arithmetic on what may be missing.
    def runtime(self, workload, system="libactor"):
        return self.results.get("runtime", workload, system)

    def observe(self, workload, system):
        return self.results.get("observe", workload, system)

    def collector(self, workload):
        return self.results.get("collector", workload, "libactor")

    def added(self, workload, system):
        """What a way of observing adds to a message."""
        return minus(self.observe(workload, system), self.observe(workload, "off"))

    def of_peers(self, workload):
        found = [v for v in (self.runtime(workload, peer) for peer in PEERS) if v]
        return over(self.runtime(workload), min(found)) if found else None


def minus(a, b):
    return None if a is None or b is None else a - b


def over(a, b):
    return None if a is None or not b else a / b


SPEED = [  # workload, ns, as a share of the fastest peer
    ("tell_flood", 12, 6), ("volley", 25, 12), ("ring100", 25, 12), ("fanout", 20, 6),
    ("ask", 100, 8), ("spawn", 200, 6), ("cross_flood", 50, 4), ("cross_volley", 500, None)]


def speed(c):
    for workload, ns, share in SPEED:
        c.at_most(workload, c.runtime(workload), ns, " ns")
        if share:
            value = c.of_peers(workload)
            c.line(f"{workload}, of the fastest peer", over(1, value), f">= {share} times faster",
                   " times", lambda: 1 / value >= share)
    wake = over(c.runtime("wake"), c.runtime("wake", "floor"))
    spread = control_spread(c, "wake")
    c.at_most("wake of a blocked loop, of uv_async_send", wake, 1 + spread)
    for workload in ("idle_mem", "idle_mem_used"):
        c.at_most(workload, c.runtime(workload), 256, " bytes")


def control_spread(c, workload):
    """How far two runs of the same differ, as a share."""
    for row in c.results.rows:
        if row["suite"] == "control" and row["workload"] == workload:
            return round(max(row["max"] - 1, 1 - row["min"]), 3)
    return 0


def observability(c):
    for workload, most in (("tell_flood", 3), ("volley", 7)):
        c.at_most(f"{workload}: instructions for probes that are off",
                  minus(c.observe(f"{workload}/instructions", "off"),
                        c.observe(f"{workload}/instructions", "compiled-out")), most)
    for workload in ("tell_flood", "volley"):
        row = [r for r in c.results.rows if r["workload"] == f"{workload}/orders"
               and r["system"] == "off-again"]
        spread = max(row[0]["max"] - 1, 1 - row[0]["min"]) if row else 0
        c.at_most(f"{workload}: time off / compiled out (A/A spread {spread:.3f} + 0.03)",
                  c.observe(f"{workload}/orders", "off"), round(1.03 + spread, 3))


def ledger(c):
    flood = "tell_flood/0ns"
    added = c.added(flood, "ledger")
    c.at_most("ledger adds to a flood's message", added, 35, " ns")
    for tracer, share in (("bpftrace-3", 100), ("lttng-ust", 10)):
        times = over(c.added(flood, tracer), added)
        c.line(f"ledger, against {tracer}'s addition", times, f">= {share} times less", " times",
               lambda: times >= share)
    for workload in ("tell_flood", "volley"):
        ratio = c.observe(f"{workload}/1000ns/ratio", "ledger")
        c.at_least(f"{workload}, 1 us handler: rate with ledger", over(1, ratio), 0.95)
    c.at_most("folding adds to a message in the ledger", c.collector("folding, over ledger"), 150,
              " ns")
    c.at_least("folding is visible: folded records", c.collector("folded"), 1)
    again = [r for r in c.results.rows if r["workload"] == "switch/ratio"]
    spread = max([max(r["max"] - 1, 1 - r["min"]) for r in again if r["system"] == "off-again"]
                 or [0])
    for mode in ("ledger", "trace"):
        c.at_most(f"context switch of an idle process, {mode} / not attached",
                  c.observe("switch/ratio", mode), round(1 + spread, 3))


def tool(c):
    c.at_most("actorprobe at 1 M messages/s", c.collector("1000000/s/cpu"), 5, " % of a core")
    c.at_most("actorprobe resident", c.collector("resident"), 32, " MiB")
    c.at_most("attach", c.collector("attach"), 500, " ms")
    c.at_most("scrape of 1 000 series", c.collector("scrape of 1000 series"), 5, " ms")


def check(results):
    c = Checklist(results)
    observability(c)
    speed(c)
    ledger(c)
    tool(c)
    return c.lines
