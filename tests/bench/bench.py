#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the suites, prints one table and the checklist, writes results.jsonl.

   bench.py [--quick] [SUITE ...]      runtime savina dispatchers heuristics observe collector
"""
import os
import subprocess
import sys
import time

import suite_collector
import suite_dispatchers
import suite_heuristics
import suite_observe
import suite_runtime
import suite_savina
from checklist import check
from measure import Failed, Results, path, say

SUITES = {"runtime": suite_runtime.suite, "savina": suite_savina.suite,
          "dispatchers": suite_dispatchers.suite, "heuristics": suite_heuristics.suite,
          "observe": suite_observe.suite, "collector": suite_collector.suite}


def machine():
    model = "unknown CPU"
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    load = open("/proc/loadavg").read().split()[0]
    return (f"{model}, {os.cpu_count()} cores, Linux {os.uname().release}, "
            f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, load {load} at start")


def write_lines(rows):
    with open(path("results.jsonl"), "w", encoding="utf-8") as out:
        for row in rows:
            fields = [f'"{k}":"{v}"' if isinstance(v, str) else f'"{k}":{v:.6g}'
                      for k, v in row.items()]
            out.write("{" + ",".join(fields) + "}\n")


def number(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def ratio(results, row):
    """To libactor in runtime and savina, to `off` in observe, to the default in dispatchers and heuristics."""
    base = {"observe": "off"}.get(row["suite"], "libactor")
    workload = row["workload"]
    if row["suite"] == "dispatchers":
        words = workload.split("/")
        workload = "/".join([words[0], "hybrid-64", "t16"] + words[3:])
    if row["suite"] == "heuristics":
        workload, base = workload.split("/")[0] + "/default", row["system"]
    value = results.get(row["suite"], workload, base)
    if not value or row["unit"] == "ratio" or (workload, base) == (row["workload"], row["system"]):
        return ""
    return f"{row['value'] / value:.2f}"


def table(results):
    cells = [("suite", "workload", "system", "median", "min", "max", "unit", "ratio")]
    for row in results.rows:
        cells.append((row["suite"], row["workload"], row["system"], number(row["value"]),
                      number(row["min"]), number(row["max"]), row["unit"], ratio(results, row)))
    columns(cells, {3, 4, 5, 7})


def columns(cells, right):
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        print("  ".join(cell.rjust(w) if i in right else cell.ljust(w)
                        for i, (cell, w) in enumerate(zip(line, widths))).rstrip())
    print()


def main(words):
    results = Results("--quick" in words)
    chosen = [w for w in words if not w.startswith("-")] or list(SUITES)
    about, began = machine(), time.monotonic()
    for name in chosen:
        start = time.monotonic()
        try:
            SUITES[name](results)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            results.fail(f"{name}: {error}")
        say(f"  BENCH    {name}: {time.monotonic() - start:.0f} s")
    write_lines(results.rows)
    print(about + "\n")
    table(results)
    columns([("bar", "measured", "wanted", "")] + check(results), {1})
    for what, reason in results.skips:
        print(f"SKIP {what}: {reason}")
    for text in results.failures:
        print(f"FAIL {text}")
    print(f"{len(results.rows)} rows, {len(results.skips)} skipped, "
          f"{len(results.failures)} failed, {time.monotonic() - began:.0f} s")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
