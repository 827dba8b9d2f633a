#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program handles a known number of messages while an exporter and, beside it, `actorprobe hist`
observe it. What two real Prometheus have of that, plain and with native histograms, is what hist prints:
bucket by bucket, and quantile by quantile.

   check_quantiles.py BUILD
"""
import json
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import boards
from check_stack import CLASSIC, NATIVE, Server, check_metrics

sys.path.insert(0, os.path.join(boards.ROOT, "dashboards"))

from stack import Failed, Stack, free_address

MESSAGES = 2003
OBSERVED_SECONDS = 4
QUANTILES = (("p50", 0.5), ("p99", 0.99))


# ---- programs ----

class Load:
    """Handles MESSAGES messages when it is told to."""

    def __init__(self, build):
        self.process = subprocess.Popen(
            [os.path.join(build, "tests", "load"), "work=backlog", f"messages={MESSAGES}",
             "spin=20000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, word):
        line = self.process.stdout.readline()
        if not line.startswith(word):
            raise Failed(f"the load says {line!r} in place of {word!r}")

    def work(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.expect("done")

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def start_prometheus(stack, name, options, histograms):
    file = os.path.join(stack.dir, name + ".yml")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                   "scrape_configs": [{"job_name": "load", "static_configs": [
                       {"targets": [stack.exporter]}]}]}, out)
    address = free_address(0)
    stack.start(name, [stack.tool("prometheus"), "--config.file=" + file,
                       "--storage.tsdb.path=data-" + name, "--web.listen-address=" + address,
                       *options])
    stack.wait_for(name, "Server is ready")
    return Server(address, histograms)


# ---- the same as hist ----

def observed_while(stack, load):
    """What hist prints of the load's work, by metric and labels."""
    hist = stack.start("hist", [os.path.join(stack.build, "actorprobe"), "hist", "-v", "-j", "-p",
                                str(load.process.pid), "-d", str(OBSERVED_SECONDS)])
    stack.wait_for("hist", "observing process")
    load.work()
    hist.wait(30)
    lines = [json.loads(line) for line in stack.log("hist").splitlines() if line.startswith("{")]
    return [line for line in lines if "metric" in line and line["count"]]


def selector(line):
    labels = {"job": "load", **line["labels"]}
    return "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}"


def check_buckets(server, line, complain):
    """Each classic bucket of the Prometheus has hist's count; there are at least ten."""
    counts = {math.inf if bound is None else bound: count for bound, count in line["buckets"]}
    first, found = min(counts), 0
    for series in server.ask("query", query=f"{line['metric']}_bucket{selector(line)}")["result"]:
        bound, value = float(series["metric"]["le"]), int(series["value"][1])
        # hist leaves those away before the first and behind the last one that counted.
        if bound < first:
            wanted = 0
        else:
            wanted = max((c for b, c in counts.items() if b <= bound), default=0)
            if bound not in counts and bound < max(b for b in counts if b < math.inf):
                complain(f"{line['metric']} has the bound {bound}, which hist does not have")
        found += 1
        if value != wanted:
            complain(f"{line['metric']} le={bound}: {value}, and hist has {wanted}")
    if found < 10:
        complain(f"{line['metric']} has {found} classic buckets")


def places_apart(bounds, a, b):
    place = [sum(1 for bound in bounds if bound < value * (1 - 1e-9)) for value in (a, b)]
    return abs(place[0] - place[1])


def check_quantile(server, line, name, share, complain):
    native = server.histograms == NATIVE and "sum_seconds" in line
    what = line["metric"] + ("" if native else "_bucket") + selector(line)
    value = server.value(f"histogram_quantile({share}, {what})")
    if value is None:
        complain(f"no {name} of {what}")
        return
    if native:
        bounds = [2 ** (i / 8) for i in range(-240, 81)]
    else:
        bounds = sorted(float(s["metric"]["le"]) for s in server.ask(
            "query", query=what)["result"] if s["metric"]["le"] != "+Inf")
    if places_apart(bounds, value, line[name]) > 1:
        complain(f"{name} of {what} is {value}, and hist has {line[name]}")


def check_equal(server, lines, complain):
    server.wait_until("scrape after the work",
                      f'sum(actor_messages_delivered_total{{job="load"}}) == {MESSAGES}', 30)
    for line in lines:
        if server.histograms == CLASSIC or "sum_seconds" not in line:
            check_buckets(server, line, complain)
        else:
            count = server.value(f"histogram_count({line['metric']}{selector(line)})")
            if count != line["count"]:
                complain(f"{line['metric']} counts {count}, and hist {line['count']}")
        for name, share in QUANTILES:
            check_quantile(server, line, name, share, complain)
    if len(lines) < 6:
        complain(f"hist shows {len(lines)} histograms only")


# ---- all of it ----

def run(build, complain):
    with Stack(build, (0, 0, 0)) as stack:
        load = Load(stack.build)
        stack.start_exporter(["-p", str(load.process.pid)])
        servers = [start_prometheus(stack, "plain", [], CLASSIC),
                   start_prometheus(stack, "native", ["--enable-feature=native-histograms"],
                                    NATIVE)]
        lines = observed_while(stack, load)
        for server in servers:
            check_equal(server, lines, complain)
        check_metrics(stack, complain)
        load.close()
        return f"{len(lines)} histograms are equal in {len(servers)} Prometheus"


def main():
    said = []
    try:
        done = run(sys.argv[1], said.append)
    except Failed as failure:
        said.append(str(failure))
    print("\n".join(f"check_quantiles: {text}" for text in said) or f"check_quantiles: {done}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
