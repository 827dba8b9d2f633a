# SPDX-License-Identifier: MIT
"""Suite `runtime`: libactor, its peers and the floor, in alternation, with an A/A control."""
from measure import BENCH, BOTH, Failed, ONE, built, median, path, run

SINGLE = ["tell_flood", "volley", "ask", "ring100", "fanout", "spawn"]
CROSS = ["cross_flood", "cross_volley"]
QUICK = ["tell_flood", "volley", "ask", "cross_flood"]
FLOOR = {"tell_flood": "ring64_batch", "volley": "ring64_pingpong", "ring100": "ring64_pingpong",
         "fanout": "ring64_batch", "cross_flood": "mpsc_cross_flood",
         "cross_volley": "mpsc_cross_volley"}
# More ways to write a workload with a peer: {workload: [(system, CPUs, peer's workload)]}
CAF_MORE = {"ask": [("caf/timeout", BOTH, "ask_timeout60s_clock0")],
            "spawn": [("caf/clock0", BOTH, "spawn_clock0")],
            "cross_flood": [("caf/2w", BOTH, "cross_flood_2w")],
            "cross_volley": [("caf/2w", BOTH, "cross_volley_2w")]}
PEERS = ["erlang", "erlang/gen_server", "caf", "caf/t16", "caf/timeout", "caf/clock0", "caf/2w"]
MISSING = {"bench_caf": "libcaf-dev", "peerbench.beam": "erlang-base and erlang-dev"}


def erlang(workload, repetitions):
    schedulers = ["+S", "2:2", "+sbt", "db"] if workload in CROSS else ["+S", "1:1"]
    return ["erl"] + schedulers + ["-noinput", "-pa", BENCH, "-run", "peerbench", "main", workload,
                                   str(repetitions)]


def caf(workload, throughput, repetitions):
    return [path("bench_caf"), workload, str(throughput), str(repetitions)]


def contestants(workload, repetitions, more):
    """[(system, CPUs, command)]; `more`: with the other ways to set a peer up"""
    cpus = BOTH if workload in CROSS + ["wake"] else ONE
    own = [path("bench"), workload, f"repetitions={max(repetitions, 3)}"]
    them = [("libactor", cpus, own)]
    if workload == "wake":
        return them + [("floor", cpus, [path("uv_wake"), str(repetitions)]), ("again", cpus, own)]
    peer = workload.replace("_used", "")
    if built("peerbench.beam"):
        them.append(("erlang", cpus, erlang(peer, repetitions)))
        if workload == "ask" and more:
            them.append(("erlang/gen_server", cpus, erlang("ask_genserver", repetitions)))
    if built("bench_caf"):
        them.append(("caf", cpus, caf(peer, 0, repetitions)))
        if workload not in CROSS and more:
            them.append(("caf/t16", cpus, caf(peer, 16, repetitions)))
        for system, where, name in CAF_MORE.get(workload, []) if more else []:
            them.append((system, where, caf(name, 0, 1)))
    if workload in FLOOR:
        them.append(("floor", cpus, [path("limits"), FLOOR[workload], str(repetitions)]))
    return them + [("again", cpus, own)]


def measure(results, workload, rounds, repetitions):
    values, unit = {}, "ns"
    for _ in range(rounds):
        for system, cpus, command in contestants(workload, repetitions, not results.quick):
            try:
                _, unit, found = run(cpus, command)[-1]
                values.setdefault(system, []).append(found)
            except (Failed, OSError, ValueError) as error:
                results.fail(f"runtime {workload} {system}: {error}")
    control = [median(b) / median(a) for a, b in zip(values.get("libactor", []),
                                                      values.pop("again", []))]
    for system, found in values.items():
        results.add("runtime", workload, system, sum(found, []), unit)
    if control:
        results.add("control", workload, "libactor", control, "ratio")


def suite(results):
    for name, package in MISSING.items():
        if not built(name):
            results.skip(f"runtime: {name.split('.')[0]}", f"{package} not installed")
    rounds, repetitions = (1, 1) if results.quick else (3, 2)
    for workload in QUICK if results.quick else SINGLE + CROSS + ["wake"]:
        measure(results, workload, rounds, repetitions)
    for workload in ["idle_mem_used"] if results.quick else ["idle_mem", "idle_mem_used"]:
        measure(results, workload, rounds, 1)
