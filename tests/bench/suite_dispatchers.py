# SPDX-License-Identifier: MIT
"""Suite `dispatchers`: budgets and throughputs, with the rate of a 1 ms timer beside the work."""
from measure import Failed, ONE, median, path, run

DISPATCHERS = ["hybrid-64", "hybrid-1000", "microtask", "immediate", "throughput-16",
               "throughput-200"]
WORKLOADS = ["tell_flood", "volley", "fanout"]
THROUGHPUTS = [1, 16, 64]


def once(results, workload, dispatcher, throughput):
    """[(name of the row, unit, values)]"""
    command = [path("bench"), workload, f"dispatcher={dispatcher}", f"throughput={throughput}",
               "timer=1", "total=20000", "repetition_ms=30", "repetitions=3"]
    try:
        return [(f"{name.split('/')[0]}/{dispatcher}/t{throughput}"
                 + ("/timer" if "/" in name else ""), unit, values)
                for name, unit, values in run(ONE, command)]
    except (Failed, OSError, ValueError) as error:
        results.fail(f"dispatchers {workload} {dispatcher} t{throughput}: {error}")
        return []


def suite(results):
    throughputs = [16] if results.quick else THROUGHPUTS
    values, units, control = {}, {}, []
    for _ in range(1 if results.quick else 3):
        for workload in WORKLOADS:
            for throughput in throughputs:
                for dispatcher in DISPATCHERS:
                    for name, unit, found in once(results, workload, dispatcher, throughput):
                        values.setdefault(name, []).extend(found)
                        units[name] = unit
        pair = [median(found) for _ in (1, 2) for _, unit, found
                in once(results, "volley", "hybrid-64", 16) if unit == "ns"]
        if len(pair) == 2:
            control.append(pair[1] / pair[0])
    for name, found in values.items():
        results.add("dispatchers", name, "libactor", found, units[name])
    if control:
        results.add("control", "volley/hybrid-64/t16", "libactor", control, "ratio")
