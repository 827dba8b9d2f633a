# SPDX-License-Identifier: MIT
"""Suite `observe`: what being observable costs, and being observed, by us and by others.

One process per way of observing, each behind a gate, with its own copy of the library and attached
to for the whole suite; they run the same work in turn. What is printed is time per message.
"""
import re
import subprocess

from measure import Failed, Gate, ONE, built, installed, library, median, path
from tracer import Actorprobe, Bpftrace, Lttng

HANDLERS = [0, 200, 1000, 10000]  # ns
WORKLOADS = ["tell_flood", "volley"]
MILLISECONDS = 15  # about, per repetition
# A message's cost besides its handler, to choose their number; what fits the ring is not folded.
COST = {"trace": 2500, "bpftrace": 3000, "bpftrace-3": 5000, "lttng-ust": 600}
MOST, WARM_UP = 80000, 2000
SAMPLE = 16


class Way:
    """A way of observing: a program behind its gate and what is attached to it."""

    def __init__(self, system, copy, program="bench", attach=None):
        self.system, self.cost, self.told = system, COST.get(system, 40), 0
        self.gate = Gate(copy, program)
        try:
            self.tracer = attach(self.gate) if attach else None
        except Exception:
            self.gate.close()
            raise

    def run(self, workload, handler):
        total = min(MOST, int(MILLISECONDS * 1e6 / (self.cost + handler))) // 2 * 2
        warm_up = min(WARM_UP, total // 4 * 2)
        self.told += warm_up + total
        return self.gate.run(workload, warm_up=warm_up, total=total, repetitions=1,
                             handler_ns=handler)[0]

    def close(self):
        """Ends the observation first, and checks its counts."""
        try:
            if isinstance(self.tracer, Actorprobe):
                return self.tracer.check(self.gate)
            if isinstance(self.tracer, Bpftrace) and self.system == "bpftrace-3":
                self.tracer.check("total_ns", self.told)
            elif isinstance(self.tracer, Bpftrace):
                self.tracer.check("depth", self.gate.delivered() - self.tracer.before)
            return None
        finally:
            self.gate.close()


def bpftrace_own(gate):
    tracer = Bpftrace(gate, "actor.bt")
    tracer.before = gate.delivered()
    return tracer


def ways_open(results, lttng):
    """Those that this machine and this build have."""
    wishes = [
        ("compiled-out", "none", "bench", None),
        ("off", "off", "bench", None),
        ("off-again", "again", "bench", None),
        ("ledger", "ledger", "bench", lambda g: Actorprobe(g, "ledger")),
        (f"sampled-{SAMPLE}", "sampled", "bench",
         lambda g: Actorprobe(g, "ledger", "--sample", str(SAMPLE))),
        ("trace", "trace", "bench", lambda g: Actorprobe(g, "trace")),
        ("bpftrace", "bpftrace", "bench", bpftrace_own),
        ("bpftrace-3", "events", "bench_sdt", lambda g: Bpftrace(g, "latency.bt")),
    ]
    if lttng:
        wishes.append(("lttng-ust", "lttng", "bench_lttng", None))
    ways = []
    for system, copy, program, attach in wishes:
        if not built(program):
            results.skip(f"observe: {system}", f"{program} is not built, its headers are missing")
            continue
        try:
            ways.append(Way(system, copy, program, attach))
        except (Failed, OSError) as error:
            results.skip(f"observe: {system}", str(error))
    return ways


def compare(results, ways, rounds):
    """Time per message with each handler; the ratio to `off` is made in each round."""
    values, ratios = {}, {}
    for _ in range(rounds):
        for workload in WORKLOADS:
            for handler in ([0, 1000] if results.quick else HANDLERS):
                name = f"{workload}/{handler}ns"
                now = {way.system: way.run(workload, handler) for way in ways}
                for system, value in now.items():
                    values.setdefault((name, system), []).append(value)
                    ratios.setdefault((name, system), []).append(value / now["off"])
    for (name, system), found in values.items():
        results.add("observe", name, system, found, "ns")
    for (name, system), found in ratios.items():
        if system != "off":
            results.add("observe", name + "/ratio", system, found, "ratio")


def switches(results, ways, rounds):
    """Hand-overs of the CPU between two threads of a process that rests but is attached to."""
    values = {}
    for _ in range(rounds):
        for way in ways:
            if way.system not in ("compiled-out", "bpftrace-3", "lttng-ust"):
                values.setdefault(way.system, []).append(way.gate.ask("switch 10000")[0])
    for system, found in values.items():
        results.add("observe", "switch", system, found, "ns")
        if system != "off":
            results.add("observe", "switch/ratio", system,
                        [a / b for a, b in zip(found, values["off"])], "ratio")


def orders(results, rounds):
    """Compiled out against off, each linked in three orders, with an A/A control of each."""
    gates = {f"{kind}-{n}": Gate(f"{kind}-{n}") for kind in ("none", "off", "again")
             for n in (1, 2, 3)}
    values = {}
    for _ in range(rounds):
        for workload in WORKLOADS:
            for name, gate in gates.items():
                found = gate.run(workload, warm_up=WARM_UP, total=MOST, repetitions=3)
                values.setdefault((workload, name), []).append(min(found))
    for gate in gates.values():
        gate.close()
    for workload in WORKLOADS:
        for system, other in (("off", "none"), ("off-again", "again")):
            medians = []
            for n in (1, 2, 3):
                pairs = zip(values[workload, f"off-{n}"], values[workload, f"{other}-{n}"])
                medians.append(median([a / b for a, b in pairs]))
            results.add("observe", f"{workload}/orders", system, medians, "ratio")


def instructions(workload, copy, total):
    done = subprocess.run(
        ["taskset", "-c", ONE, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         path("bench"), workload, f"total={total}", "repetitions=1"],
        env=library(copy), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    found = re.search(r"Collected : (\d+)", done.stderr.decode(errors="replace"))
    if done.returncode or not found:
        raise Failed(f"callgrind {workload} {copy}")
    return int(found.group(1))


def callgrind(results):
    """Instructions per message: the slope between two lengths, so that the start cancels out."""
    if not installed("valgrind"):
        results.skip("observe: instructions", "valgrind not installed")
        return
    few, many = 20000, 60000
    for workload in WORKLOADS:
        for system, copy in (("compiled-out", "none"), ("off", "off")):
            more = instructions(workload, copy, many) - instructions(workload, copy, few)
            # each length ran twice, as warm-up and as repetition
            results.add("observe", f"{workload}/instructions", system,
                        [more / (2 * (many - few))], "instructions")


def lttng_open(results):
    try:
        if built("bench_lttng") and installed("lttng-sessiond") and installed("babeltrace"):
            return Lttng()
        results.skip("observe: lttng-ust", "lttng-tools, liblttng-ust-dev or babeltrace not installed")
    except (Failed, OSError) as error:
        results.skip("observe: lttng-ust", str(error))
    return None


def ways_close(results, ways, lttng):
    for way in ways:
        try:
            if way.system == "lttng-ust":
                lttng.check(1)  # the last hop of a volley has 1 left
            account = way.close()
            if account and way.system == "ledger":
                results.add("observe", "folded", "ledger", [account["folded"]], "records")
        except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
            results.fail(f"observe {way.system}: {error}")


def suite(results):
    rounds = 3 if results.quick else 11
    lttng, ways = lttng_open(results), []
    try:
        ways = ways_open(results, lttng)
        compare(results, ways, rounds)
        switches(results, ways, rounds)
    finally:
        ways_close(results, ways, lttng)
        if lttng:
            lttng.close()
    orders(results, rounds)
    callgrind(results)
