# SPDX-License-Identifier: MIT
"""Suite `heuristics`: which dispatcher and which budget fit which load, and what mistakes cost.

Rows are LOAD/VARIANT with what was measured as their system. Beside HTTP: how long a request takes
(p50, p99), messages handled meanwhile (work), how busy the loop was, errors of dispatchers. Where
nothing else runs: the time of one operation. `default` is the hybrid dispatcher of the system with
64 turns per pass and 16 messages per turn, `again` is the same once more: what differs less from
`default` than that does not differ. A dispatcher that is named is one apart, for the load alone.
"""
from measure import BOTH, Failed, ONE, path, run

# Always busy: a message that was handled is told again.
HEAVY = ["actors=1", "messages=100", "handler_ns=20000", "duration_ms=250"]
MANY = ["actors=1000", "messages=1", "handler_ns=10000", "duration_ms=400"]
# Bursts of work that takes no time of its own, so that what surrounds it is seen.
SMALL = ["actors=1", "messages=500", "handler_ns=0", "throughput=1", "burst_ms=20"]

MIXED = {
    "no load": (["messages=0"], {"default": []}),
    "heavy actor": (HEAVY, {
        "default": [], "again": [], "t4": ["throughput=4"], "t1": ["throughput=1"],
        "t256": ["throughput=256"], "hybrid-4, t4": ["dispatcher=hybrid-4", "throughput=4"],
        "immediate": ["dispatcher=immediate"],
        "immediate, t4": ["dispatcher=immediate", "throughput=4"],
        "throughput-16": ["dispatcher=throughput-16"],
        "throughput-500": ["dispatcher=throughput-500"],
        "microtask": ["dispatcher=microtask"], "own loop": ["loop=2"]}),
    "1000 actors": (MANY, {
        "default": [], "again": [], "t1": ["throughput=1"], "hybrid-64": ["dispatcher=hybrid-64"],
        "throughput-16": ["dispatcher=throughput-16"],
        "throughput-100000": ["dispatcher=throughput-100000"],
        "immediate": ["dispatcher=immediate"], "microtask": ["dispatcher=microtask"]}),
    "small turns": (SMALL, {
        "default": [], "again": [], "synchronous": ["dispatcher=synchronous"]}),
}

ALL = {"default": [], "again": [], "throughput-16": ["dispatcher=throughput-16"],
       "throughput-200": ["dispatcher=throughput-200"], "immediate": ["dispatcher=immediate"],
       "microtask": ["dispatcher=microtask"]}
ALONE = {
    "one hot actor": (["tell_flood"], {
        "default": [], "again": [], "t1": ["throughput=1"], "t64": ["throughput=64"],
        "t256": ["throughput=256"], "throughput-16": ["dispatcher=throughput-16"],
        "throughput-500": ["dispatcher=throughput-500"],
        "immediate": ["dispatcher=immediate"]}),
    "many small actors": (["fanout"], ALL),
    "pipeline of 100": (["ring100"], ALL),
    "20 us handlers": (["tell_flood", "handler_ns=20000"], dict(ALL, t256=["throughput=256"])),
}

MEMORY = {"queued message": (["queued_mem"], {"default": []}),
          "queued message, 100 bytes": (["queued_mem_block"], {"default": []})}


def mixed_once(load, words):
    return [(name, unit, values[0])
            for name, unit, values in run(BOTH, [path("mix")] + MIXED[load][0] + words)]


def alone_once(load, words):
    command = ALONE[load][0] + words + ["total=20000", "repetition_ms=15", "repetitions=3"]
    if load == "20 us handlers":
        command += ["total=1000", "repetitions=2"]
    return [("time", unit, value) for _, unit, values in run(ONE, [path("bench")] + command)
            for value in values]


def memory_once(load, words):
    return [("memory", unit, values[0])
            for _, unit, values in run(ONE, [path("bench")] + MEMORY[load][0])]


def suite(results):
    values, units = {}, {}
    for _ in range(1 if results.quick else 3):
        for table, once in ((MIXED, mixed_once), (ALONE, alone_once), (MEMORY, memory_once)):
            for load, (_, variants) in table.items():
                for variant, words in variants.items():
                    try:
                        for what, unit, value in once(load, words):
                            key = (f"{load}/{variant}", what)
                            values.setdefault(key, []).append(value)
                            units[key] = unit
                    except (Failed, OSError, ValueError) as error:
                        results.fail(f"heuristics {load}/{variant}: {error}")
    for (workload, what), found in values.items():
        results.add("heuristics", workload, what, found, units[workload, what])
