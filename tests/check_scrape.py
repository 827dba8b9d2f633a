#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes a real program for a minute, and knows what `actorprobe hist` knows: the
counts exactly, the quantiles within a bucket. Then program and exporter are started anew, later the
program alone, and no rate is negative or out of proportion.

   check_scrape.py BUILD
"""
import json
import math
import os
import sys
import time

sys.dont_write_bytecode = True

from check_stack import CLASSIC, Failed, Stack, check_metrics, check_scrapes, get, start_servers

SHOP = ["--load", "300", "--import-every", "2000", "--import-rows", "1000"]
SECONDS = float(os.environ.get("SCRAPE_SECONDS", "60"))
MOST_PER_SECOND = 300 * 20 + 1000  # of any counter of messages
QUANTILES = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))


def ladder(value):
    """Index of the bucket of the series 1, 2, 5, 10 that holds the value; the first is 1 us."""
    value = max(value, 1e-6)
    exponent = math.floor(math.log10(value) + 1e-9)
    digit = value / 10 ** exponent
    return 3 * exponent + sum(digit > bound * (1 + 1e-9) for bound in (1, 2, 5))


def is_classic(server, metric):
    return server.histograms == CLASSIC or not metric.endswith("_seconds")


def near(server, metric, mine, theirs):
    if is_classic(server, metric):
        return abs(ladder(mine) - ladder(theirs)) <= 1
    return abs(math.log2(mine / theirs)) <= 2 / 8


def selector(metric, labels, server):
    where = "".join(f',{k}="{v}"' for k, v in labels.items())
    kind = CLASSIC if is_classic(server, metric) else server.histograms
    return f'{{__name__=~"{metric}|{metric}_bucket",le=~"{kind}"{where}}}'


def count_of(server, metric, labels):
    where = ",".join(f'{k}="{v}"' for k, v in labels.items())
    return server.value(f"{metric}_count{{{where}}} or histogram_count({metric}{{{where}}})")


def check_series(server, row, complain):
    metric, labels = row["metric"], row["labels"]
    what = f"{metric}{labels} in {server.histograms}"
    count = count_of(server, metric, labels)
    if count != row["count"]:
        complain(f"{what}: Prometheus counts {count}, hist {row['count']}")
    for q, name in QUANTILES:
        theirs = server.value(f"histogram_quantile({q}, {selector(metric, labels, server)})")
        if theirs is None or not near(server, metric, row[name], theirs):
            complain(f"{what}: {name} is {theirs} in Prometheus and {row[name]} in hist")


def check_against_hist(stack, servers, complain):
    """After the program's end, when nothing changes any more."""
    lines = get(f"http://{stack.exporter}/api/v1/snapshot").decode().splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("count") and "buckets" in row]
    if len(rows) < 10:
        complain(f"hist knows only {len(rows)} histograms")
    for server in servers:
        server.wait_until("scrape of the end", "actorprobe_attached == bool 0")
        for row in rows:
            check_series(server, row, complain)
    return len(rows)


def end(stack, name):
    process = dict(stack.processes)[name]
    process.terminate()
    process.wait(20)


def check_rates(server, complain):
    for name in server.counters():
        rates = server.values(f"min(rate({name}[4s]))")
        if not rates or min(rates) < 0:
            complain(f"the rate of {name} is negative, or there is none")
    fastest = max(server.values("sum(rate(actor_messages_delivered_total[4s]))"))
    if not 0 < fastest < MOST_PER_SECOND:
        complain(f"{fastest} messages per second are more than there were")


def wait_for_shop(stack, servers, name):
    pid = dict(stack.processes)[name].pid
    for server in servers:
        server.wait_until(name, f'actorprobe_target_info{{pid="{pid}"}}')
    time.sleep(10)


def check_restarts(stack, servers, complain):
    """Another exporter at the same address begins to count anew; another shop goes on with what the
    one before it had counted, as they have one name."""
    port = stack.exporter.rsplit(":", 1)[1]
    end(stack, "actorprobe")
    stack.start_shop(SHOP, "shop-2")
    shop = os.path.join(stack.build, "examples", "shop")
    stack.start_exporter(["--exe", shop], "actorprobe-2", port)
    wait_for_shop(stack, servers, "shop-2")
    for server in servers:
        check_rates(server, complain)
        server.began = time.time()
    end(stack, "shop-2")
    stack.start_shop(SHOP, "shop-3")
    wait_for_shop(stack, servers, "shop-3")
    for server in servers:
        check_rates(server, complain)
        check_scrapes(server, complain)


def run(build, said):
    with Stack(build, (0, 0, 0)) as stack:
        stack.start_shop(SHOP)
        stack.start_exporter()
        stack.start_alertmanager()
        servers = start_servers(stack)
        time.sleep(SECONDS)
        check_metrics(stack, said.append)
        for server in servers:
            check_scrapes(server, said.append)
        end(stack, "shop")
        rows = check_against_hist(stack, servers, said.append)
        check_restarts(stack, servers, said.append)
        return f"{rows} histograms of {len(servers)} Prometheus are those of hist"


def main():
    said = []
    try:
        done = run(sys.argv[1], said)
    except Failed as failure:
        said.append(str(failure))
    print("\n".join(f"check_scrape: {text}" for text in said) or f"check_scrape: {done}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
