#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs scenarios, lets actorprobe diagnose them, and compares with what is true of them.

usage: run.py BUILD [--only NAME,...] [--strengths 1,2,3] [--seeds 1,2,3] [--seconds 3] [--least SHARE]

Each run is a line of BUILD/scenarios.jsonl. A run on a host that was disturbed (more than 2 % steal,
or the loop's thread starved without rivals of its own) or whose own clocks deny its truth is repeated,
at most twice, and kept as it is then. Prints the confusion matrix. Fails when less than the given share
of the top verdicts is right, or a healthy run gets a critical one.
"""
import argparse
import collections
import json
import subprocess
import sys

ATTEMPTS = 3
HEALTHY = ("healthy", "too_little_seen")


def steal_read():
    with open("/proc/stat") as f:
        numbers = [int(x) for x in f.readline().split()[1:9]]
    return sum(numbers), numbers[7]


def scenarios_list(build):
    text = subprocess.run([f"{build}/tests/scenario", "--list"], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[0]: line.split()[1] for line in text.splitlines()}


def run_once(build, name, strength, seed, seconds):
    """The verdicts and the scenario's own account."""
    before = steal_read()
    longer = 3 if name.startswith("stuck") else 30  # the others are told to end
    target = subprocess.Popen(
        [f"{build}/tests/scenario", "--scenario", name, "--strength", str(strength), "--seed",
         str(seed), "--seconds", str(seconds + longer)], stdout=subprocess.PIPE, text=True)
    try:
        pid = target.stdout.readline().split()[1]
        if not name.startswith("stuck"):  # those begin with their trouble while they are observed
            subprocess.run(["sleep", "0.3"], check=True)
        probe = subprocess.run(
            [f"{build}/actorprobe", "diagnose", "-p", pid, "-d", str(seconds), "-j"],
            capture_output=True, text=True, timeout=seconds + 30)
        if not name.startswith("stuck"):
            target.terminate()
        account = json.loads(target.communicate(timeout=60)[0])
    finally:
        target.kill()
        target.wait()
    after = steal_read()
    account["steal"] = (after[1] - before[1]) / max(1, after[0] - before[0])
    account["error"] = probe.stderr.strip()
    return [json.loads(line) for line in probe.stdout.splitlines()], account


def starved(account):
    return account["starved_share"] > 0.04 and account["starved_of_wanted"] > 0.12


def disturbed(name, account):
    return (account["steal"] > 0.02 or not account["true"] or
            (name != "host" and starved(account)))


def run(build, name, expected, strength, seed, seconds):
    for _ in range(ATTEMPTS):
        verdicts, account = run_once(build, name, strength, seed, seconds)
        if not disturbed(name, account):
            break
    top = verdicts[0] if verdicts else {"rule": "none", "severity": "none", "class": None,
                                        "dispatcher": None, "confidence": 0, "advice": None}
    return {
        "scenario": name, "strength": strength, "seed": seed, "expected": expected,
        "got": top["rule"], "severity": top["severity"], "confidence": top["confidence"],
        "class_expected": account["class"], "class": top["class"],
        "dispatcher_expected": account["dispatcher"], "dispatcher": top["dispatcher"], "advice": top["advice"],
        "others": [v["rule"] for v in verdicts[1:]], "evidence": top.get("evidence"),
        "steal": round(account["steal"], 4), "starved_share": account["starved_share"],
        "starved": starved(account),
        "true": account["true"], "disturbed": disturbed(name, account),
        "error": account["error"],
    }


def is_right(row):
    return row["got"] == row["expected"] and all(
        row[what + "_expected"] in (None, row[what]) for what in ("class", "dispatcher"))


def matrix_print(rows):
    table = collections.Counter((r["expected"], r["got"]) for r in rows)
    columns = sorted({got for _, got in table})
    print("expected".ljust(26) + "got")
    for expected in sorted({e for e, _ in table}):
        cells = ", ".join(f"{got} {table[expected, got]}" for got in columns
                          if table[expected, got])
        print(expected.ljust(26) + cells)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only")
    parser.add_argument("--strengths", default="1,2,3")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--lenient", action="store_true",
                        help="on a host that starves the loop that verdict is right as well")
    options = parser.parse_args()
    known = scenarios_list(options.build)
    names = options.only.split(",") if options.only else list(known)
    rows = []
    with open(f"{options.build}/scenarios.jsonl", "w") as out:
        for seed in map(int, options.seeds.split(",")):
            for strength in map(int, options.strengths.split(",")):
                for name in names:
                    row = run(options.build, name, known[name], strength, seed, options.seconds)
                    rows.append(row)
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                    if not is_right(row):
                        print("WRONG", json.dumps(row), flush=True)
    matrix_print(rows)
    excused = [r for r in rows if options.lenient and r["disturbed"]
               and r["got"] == "host_contention"]
    right = sum(map(is_right, rows)) + len(excused)
    alarms = sum(r["severity"] == "critical" and r["expected"] in HEALTHY for r in rows
                 if r not in excused)
    shaken = sum(r["disturbed"] for r in rows)
    print(f"{right} of {len(rows)} right, {alarms} critical verdicts on healthy runs, "
          f"{shaken} runs disturbed to the end")
    return 0 if right >= options.least * len(rows) and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
