#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every query of every panel, variable, alert and recording rule against a real Prometheus
that scrapes a real exporter of a real program, and sees an alert fire in Alertmanager while the
program starves, and end after that. Minutes of the rules are half seconds here, and scrapes come
each second.

   check_stack.py BUILD
"""
import json
import math
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True

import boards

sys.path.insert(0, os.path.join(boards.ROOT, "dashboards"))

from stack import Failed, Stack

SHOP = ["--load", "200", "--import-us", "20", "--importer-throughput", "4096"]
ROWS = b"20000"
RATE = "4s"
CLASSIC, NATIVE = ".+", "()"

# What has no data here, and why. The names are those that a failure prints.
EMPTY = {
    "overview.json: panel 'Restarts, drops, dead letters' B": "no mailbox of the shop is bounded",
    "actors.json: panel 'Drops and dead letters' A": "the same",
    "rule ActorMessagesDropped": "the same",
}


def get(url, data=None):
    with urllib.request.urlopen(url, data, timeout=10) as answer:
        return answer.read()


def quick(text):
    """The same rules and configurations, with half a second for a minute, but 4 s at least."""
    text = re.sub(r"\[(\d+)m\]", lambda m: f"[{max(4, int(m[1]) // 2)}s]", text)
    text = re.sub(r"offset (\d+)m", lambda m: f"offset {max(4, int(m[1]) // 2)}s", text)
    text = re.sub(r"\bfor: \d+m", "for: 1s", text)
    text = re.sub(r"_interval: 5s", "_interval: 1s", text)
    return text.replace("group_wait: 10s", "group_wait: 0s").replace(
        "group_interval: 1m", "group_interval: 1s")


class Server:
    """One Prometheus, asked as Grafana asks it."""

    def __init__(self, address, histograms):
        self.address = address
        self.histograms = histograms
        self.began = time.time()

    def ask(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?" + urllib.parse.urlencode(parameters, True)
        try:
            return json.loads(get(url))["data"]
        except urllib.error.HTTPError as error:
            raise Failed(f"{parameters}: {error.read().decode(errors='replace')}") from error

    def filled(self, text):
        """Grafana's variables, all of them chosen."""
        for name, value in (("$__rate_interval", RATE), ("$__range", "20s"),
                            ("$histograms", self.histograms)):
            text = text.replace(name, value)
        return re.sub(r"\$\w+", ".*", text)

    def has_data(self, query):
        labels = re.fullmatch(r"label_values\((.*), (\w+)\)", query)
        if labels:
            return any(self.ask(f"label/{labels[2]}/values", **{"match[]": labels[1]}))
        now = time.time()
        series = self.ask("query_range", query=query, start=self.began, end=now, step="0.5")
        return any("histograms" in s or any(not math.isnan(float(v)) for _, v in s["values"])
                   for s in series["result"])

    def values(self, query):
        """Every value since the beginning, of all series."""
        series = self.ask("query_range", query=query, start=self.began, end=time.time(), step="0.5")
        return [float(v) for s in series["result"] for _, v in s["values"]]

    def counters(self):
        """Names of all series that only ever grow."""
        return [name for name in self.ask("label/__name__/values")
                if re.fullmatch(r"actor.+_(total|bucket|count|sum)", name)]

    def value(self, query):
        result = self.ask("query", query=query)["result"]
        return float(result[0]["value"][1]) if result else None

    def wait_until(self, what, query, seconds=20):
        until = time.monotonic() + seconds
        while not self.value(query):
            if time.monotonic() > until:
                raise Failed(f"no {what} within {seconds} s: {query}")
            time.sleep(0.2)


def queries():
    """(name, query), of everything that asks a Prometheus."""
    for file, board in boards.dashboards().items():
        for where, expr in boards.expressions(board):
            yield f"{file}: {where}", expr
    for rule in boards.rules():
        name = rule.get("alert") or rule["record"]
        yield f"rule {name}", quick(bare(rule["expr"]) if "alert" in rule else rule["expr"])


def bare(expr):
    """What an alert looks at, without what it compares that with."""
    return re.sub(r"\s(>=|==|>)\s[\d.]+$", "", expr.replace(" > 2 * ", " and "))


def check_queries(server, complain):
    asked = 0
    for name, query in queries():
        try:
            found = server.has_data(server.filled(query))
        except Failed as failure:
            complain(f"{name} is refused: {failure}")
            continue
        asked += 1
        if not found and name not in EMPTY:
            complain(f"{name} has no data: {server.filled(query)}")
    for name in set(EMPTY) - {name for name, _ in queries()}:
        complain(f"the list of expected empty queries names {name}, which is not there")
    return asked


def check_rules(server, complain):
    """Prometheus itself has no complaint, and as many rules as are written."""
    rules = [r for g in server.ask("rules")["groups"] for r in g["rules"]]
    for rule in rules:
        if rule["health"] != "ok":
            complain(f"rule {rule['name']}: {rule['health']} {rule.get('lastError', '')}")
    if len(rules) != len(boards.rules()):
        complain(f"Prometheus has {len(rules)} rules of {len(boards.rules())}")


def check_scrapes(server, complain):
    """No counter went back, and the messages add up in each scrape. On a machine that is very busy
    one may take longer than the second it has."""
    up = server.values("up")
    if sum(up) < 0.8 * len(up):
        complain(f"only {sum(up)} of {len(up)} scrapes worked")
    for name in server.counters():
        if any(server.values(f"max(resets({name}[{RATE}]))")):
            complain(f"the counter {name} went back")
    for name, (kind, _, _) in boards.metric_table().items():
        if kind == "histogram" and any(server.values(
                f"max(resets(histogram_count({name})[{RATE}:1s]))")):
            complain(f"the histogram {name} went back")
    apart = server.values("sum(actor_messages_delivered_total) - sum(actorprobe_records_total) - "
                          "sum(actorprobe_unstamped_total) - sum(actorprobe_lost_total)")
    if not apart or any(apart):
        complain(f"delivered is not recorded + unstamped + lost, but more by {set(apart)}")


def check_metrics(stack, complain):
    """promtool has no complaint about names, types, help texts."""
    page = get(f"http://{stack.exporter}/metrics")
    said = subprocess.run([stack.tool("promtool"), "check", "metrics"], input=page,
                          capture_output=True, check=False)
    if said.returncode or said.stdout or said.stderr:
        complain(f"promtool complains: {(said.stdout + said.stderr).decode()}")


class Importer(threading.Thread):
    """Keeps the shop importing, so that everything else in it starves, until it is told to end."""

    def __init__(self, shop):
        super().__init__(daemon=True)
        self.shop = shop
        self.enough = threading.Event()

    def run(self):
        while not self.enough.wait(0.3):
            try:
                get(f"http://{self.shop}/import", ROWS)
            except OSError:
                pass  # too many rows wait, or it is too busy to answer

    def end(self):
        self.enough.set()
        self.join(15)


def alerts(stack, name):
    url = f"http://{stack.alertmanager}/api/v2/alerts?filter=" + urllib.parse.quote(
        f'alertname="{name}"')
    return json.loads(get(url))


def wait_for_alert(stack, name, there, seconds):
    until = time.monotonic() + seconds
    while bool(alerts(stack, name)) != there:
        if time.monotonic() > until:
            state = "not" if there else "still"
            raise Failed(f"{name} is {state} in Alertmanager after {seconds} s")
        time.sleep(0.2)


def check_alert(stack, server, importer, complain):
    """Fires while the shop starves, names the class that is the cause, and ends."""
    name = "ActorDispatcherDelayHigh"
    wait_for_alert(stack, name, True, 30)
    alert = alerts(stack, name)[0]
    wanted = {"dispatcher": "hybrid", "process": "shop", "severity": "page"}
    if wanted.items() - alert["labels"].items():
        complain(f"{name} is of {alert['labels']}")
    if "importer" not in alert["annotations"]["description"]:
        complain(f"{name} does not name the cause: {alert['annotations']['description']}")
    if "`class.NAME.throughput`" not in alert["annotations"]["runbook"]:
        complain(f"{name} has no knob: {alert['annotations']['runbook']}")
    check_queries_late(server)
    importer.end()
    wait_for_alert(stack, name, False, 60)


def check_queries_late(server):
    """Rules compare with what was some seconds before: there must be so much of it."""
    server.wait_until("data of before", "count(class:actor_mailbox_depth:p99_5m offset 6s)", 30)


def start_servers(stack):
    """One Prometheus for classic buckets, one for native histograms."""
    native = ["--enable-feature=native-histograms"]
    return [Server(stack.start_prometheus(change=quick), CLASSIC),
            Server(stack.start_prometheus(native, quick, "native"), NATIVE)]


def run(build, said):
    with Stack(build, (0, 0, 0)) as stack:
        stack.start_shop(SHOP)
        pid = dict(stack.processes)["shop"].pid
        stack.start_exporter(["-p", str(pid), "--process-label", "command"])
        stack.start_alertmanager(quick)
        servers = start_servers(stack)
        importer = Importer(stack.shop)
        importer.start()
        for server in servers:
            server.wait_until("scrape", "up")
        check_alert(stack, servers[0], importer, said.append)
        asked = 0
        for server in servers:
            asked += check_queries(server, said.append)
            check_rules(server, said.append)
            check_scrapes(server, said.append)
        check_metrics(stack, said.append)
        return f"{asked} queries of {len(servers)} Prometheus, one alert that fired and ended"


def main():
    said = []
    try:
        done = run(sys.argv[1], said)
    except Failed as failure:
        said.append(str(failure))
    print("\n".join(f"check_stack: {text}" for text in said) or f"check_stack: {done}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
