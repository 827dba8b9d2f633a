# SPDX-License-Identifier: MIT
"""Suite `collector`: what actorprobe itself takes, at rates, at full speed, stopped, and scraped."""
import os
import re
import signal
import socket
import subprocess
import time

from measure import Failed, Gate, OTHER, median, path, wait_until
from tracer import scratch

RATES = [10_000, 100_000, 1_000_000]
SERIES = [10, 1000, 10000]


class Exporter:
    """`actorprobe export` on a port that the kernel chose."""

    def __init__(self, gate, *options):
        self.gate, self.err = gate, scratch()
        began = time.monotonic()
        self.process = subprocess.Popen(
            ["taskset", "-c", OTHER, path("prefix/bin/actorprobe"), "export", "-p", str(gate.pid),
             "--listen", "127.0.0.1:0", *options], stdin=subprocess.DEVNULL, stderr=self.err)
        self.pid = self.process.pid
        wait_until(self.ready, 20, "actorprobe export")
        self.start_seconds = time.monotonic() - began
        self.before = gate.delivered()

    def ready(self):
        self.err.seek(0)
        text = self.err.read().decode(errors="replace")
        if self.process.poll() is not None:
            raise Failed(text.strip())
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", text)
        self.port = int(found.group(1)) if found else 0
        return bool(found)

    def scrape(self):
        """(seconds, page)"""
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.port)) as peer:
            peer.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
            parts = []
            while part := peer.recv(1 << 20):
                parts.append(part)
        seconds = time.monotonic() - began
        page = b"".join(parts).decode(errors="replace")
        if " 200 " not in page.split("\r\n")[0]:
            raise Failed("scrape: " + page.split("\r\n")[0])
        return seconds, page.split("\r\n\r\n", 1)[1]

    def cpu_seconds(self):
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            try:
                total += int(open(f"/proc/{self.pid}/task/{task}/schedstat").read().split()[0])
            except OSError:
                pass
        return total * 1e-9

    def most_resident_bytes(self):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise Failed("no VmHWM")

    def check(self):
        """The page's count must be what the program has delivered since the attach."""
        expected, seen = self.gate.delivered() - self.before, -1
        end = time.monotonic() + 30
        while seen != expected and time.monotonic() < end:
            page = self.scrape()[1]
            seen = metric(page, "actor_messages_delivered_total")
            time.sleep(0.02)
        if seen != expected or metric(page, "actorprobe_lost_total"):
            raise Failed(f"collector counted {seen} of {expected}, "
                         f"lost {metric(page, 'actorprobe_lost_total')}")
        return page

    def close(self):
        """Seconds until it has detached and ended."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return time.monotonic() - began


def metric(page, family):
    """Sum over the samples of a family."""
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines()
                   if re.match(family + r"[ {]", line)))


def samples(page):
    return sum(1 for line in page.splitlines() if line and not line.startswith("#"))


def loads(results, exporter, gate):
    """CPU and memory while messages come at a rate, then as fast as they can."""
    seconds = 1 if results.quick else 3
    for rate in RATES[-1:] if results.quick else RATES:
        load(results, exporter, f"{rate}/s",
             lambda: gate.run("paced", rate=rate, total=rate * seconds // 2, repetitions=1))
    load(results, exporter, "full speed", lambda: gate.run(
        "tell_flood", total=1000000, repetitions=5 if results.quick else 30))
    exporter.check()
    results.add("collector", "resident", "libactor",
                [exporter.most_resident_bytes() / (1 << 20)], "MiB")


def load(results, exporter, name, work):
    began, cpu, before = time.monotonic(), exporter.cpu_seconds(), exporter.gate.delivered()
    work()
    elapsed = time.monotonic() - began
    share = (exporter.cpu_seconds() - cpu) / elapsed * 100
    rate = (exporter.gate.delivered() - before) / elapsed
    results.add("collector", name + "/cpu", "libactor", [share], "% of a core")
    results.add("collector", name + "/rate", "libactor", [rate], "messages/s")


def folding(results, exporter, gate, plain):
    """With the collector stopped, the ring fills up and the kernel side adds records up itself.

    Told apart: what that adds to a message that is not observed, and what to one in a ledger that
    is read (few enough of these in a row to fit the ring)."""
    reader = Gate("ledger")
    try:
        read = Exporter(reader)
        exporter.process.send_signal(signal.SIGSTOP)
        gate.run("tell_flood", total=1000000, repetitions=1)  # fills the ring
        over_off, over_ledger = [], []
        for _ in range(3 if results.quick else 9):
            folded = gate.run("tell_flood", total=200000, repetitions=1)[0]
            over_off.append(folded - plain.run("tell_flood", total=200000, repetitions=1)[0])
            over_ledger.append(folded - reader.run(
                "tell_flood", warm_up=10000, total=100000, repetitions=1)[0])
        read.check()
        read.close()
    finally:
        exporter.process.send_signal(signal.SIGCONT)
        reader.close()
    page = exporter.check()
    results.add("collector", "folding, over unobserved", "libactor", over_off, "ns")
    results.add("collector", "folding, over ledger", "libactor", over_ledger, "ns")
    results.add("collector", "folded", "libactor",
                [metric(page, "actorprobe_folded_records_total")], "records")


def attaching(results, gate):
    attach, start, detach = [], [], []
    for _ in range(2 if results.quick else 7):
        exporter = Exporter(gate)
        _, page = exporter.scrape()
        found = re.search(r"^actorprobe_attach_seconds ([0-9.e+-]+)", page, re.M)
        attach.append(float(found.group(1)) * 1e3)
        start.append(exporter.start_seconds * 1e3)
        detach.append(exporter.close() * 1e3)
    results.add("collector", "attach", "libactor", attach, "ms")
    results.add("collector", "start to serving", "libactor", start, "ms")
    results.add("collector", "detach and end", "libactor", detach, "ms")


def scrape_classes(results, name, gate, classes):
    """Scrapes after so many classes have had a message. Returns the number of samples."""
    exporter = Exporter(gate, "--max-series", "20000")
    try:
        if classes:
            gate.run("classes", total=classes, repetitions=0)
        _, page = exporter.scrape()
        times = [exporter.scrape()[0] * 1e3 for _ in range(3 if results.quick else 7)]
        if name:
            results.add("collector", f"scrape {name}", "libactor", times, "ms")
            results.add("collector", f"scrape {name}/samples", "libactor", [samples(page)],
                        "samples")
        return samples(page)
    finally:
        exporter.close()


def scraping(results):
    """A series is what Prometheus calls one: a name with its labels, one sample per scrape."""
    gates = []

    def fresh():
        gates.append(Gate("load"))
        return gates[-1]

    try:
        none = scrape_classes(results, "of no message", fresh(), 0)
        one = scrape_classes(results, None, fresh(), 10)
        two = scrape_classes(results, None, fresh(), 20)
        per_class = (two - one) / 10
        for wished in SERIES[:2] if results.quick else SERIES:
            classes = max(0, round((wished - one) / per_class + 10))
            scrape_classes(results, f"of {wished} series", fresh(), classes)
        if not results.quick:
            scrape_classes(results, "of 1000 classes", fresh(), 1000)
        return none
    finally:
        for gate in gates:
            gate.close()


def suite(results):
    gate, plain = Gate("load"), Gate("off")
    try:
        exporter = Exporter(gate)
        try:
            loads(results, exporter, gate)
            folding(results, exporter, gate, plain)
        finally:
            exporter.close()
        attaching(results, gate)
        scraping(results)
    except (OSError, subprocess.TimeoutExpired) as error:
        results.fail(f"collector: {error}")
    finally:
        gate.close()
        plain.close()
