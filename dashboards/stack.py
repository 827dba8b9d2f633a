#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts the demo shop under load, an exporter of all processes, Prometheus and Alertmanager, all on loopback, and
ends them with ctrl-C.

   stack.py BUILD [SHOP OPTION...]
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOAD = ["--load", "400", "--import-every", "8000", "--import-rows", "30000",
        "--importer-throughput", "4096"]
PR_SET_PDEATHSIG = 1


class Failed(Exception):
    pass


def free_address(port):
    """127.0.0.1 with this port if nobody has it, else with any other one."""
    for wanted in (port, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return "127.0.0.1:%d" % probe.getsockname()[1]
    raise Failed("no free port on 127.0.0.1")


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Stack:
    """Processes with their files in one directory; close() ends and removes all of them."""

    def __init__(self, build, ports=(9090, 9093, 9464)):
        self.build = os.path.abspath(build)
        self.ports = ports
        self.dir = tempfile.mkdtemp(prefix="actorprobe-stack.")
        self.processes = []  # (name, Popen), oldest first
        self.prometheus = self.alertmanager = self.exporter = self.shop = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for _, process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
        shutil.rmtree(self.dir, ignore_errors=True)

    def log(self, name):
        with open(os.path.join(self.dir, name + ".log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def start(self, name, command):
        with open(os.path.join(self.dir, name + ".log"), "w", encoding="utf-8") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       cwd=self.dir, start_new_session=True,
                                       preexec_fn=die_with_parent)
        self.processes.append((name, process))
        return process

    def wait_for(self, name, pattern, seconds=20):
        """Until the program's output has it; returns the match."""
        process = dict(self.processes)[name]
        until = time.monotonic() + seconds
        while True:
            ended = process.poll() is not None
            found = re.search(pattern, self.log(name))
            if found:
                return found
            if ended or time.monotonic() > until:
                raise Failed(f"{name} {'ended' if ended else 'does not start'}:\n"
                             f"{self.log(name)[-2000:]}")
            time.sleep(0.05)

    def tool(self, name):
        for path in (os.path.join(self.build, "stack", "bin", name), shutil.which(name) or ""):
            if os.access(path, os.X_OK):
                return path
        raise Failed(f"there is no {name}: `make stack-tools` fetches it, or install the Debian "
                     "packages prometheus and prometheus-alertmanager")

    # ---- what is started ----

    def start_shop(self, options, name="shop"):
        process = self.start(name, [os.path.join(self.build, "examples", "shop"), *options])
        address = self.wait_for(name, r"http://(\S+), process (\d+)")
        self.shop = address[1]
        return process

    def start_exporter(self, options=(), name="actorprobe", port=None):
        address = free_address(self.ports[2]) if port is None else f"127.0.0.1:{port}"
        what = options or ["-p", str(dict(self.processes)["shop"].pid)]
        process = self.start(name, [os.path.join(self.build, "actorprobe"), "export", *what,
                                    "--listen", address])
        self.exporter = self.wait_for(name, r"serving .* on http://(\S+)/metrics")[1]
        return process

    def start_alertmanager(self, change=lambda text: text):
        self.alertmanager = free_address(self.ports[1])
        self.copy("alertmanager.yml", change)
        process = self.start("alertmanager", [
            self.tool("alertmanager"), "--config.file=alertmanager.yml", "--storage.path=alerts",
            "--web.listen-address=" + self.alertmanager, "--cluster.listen-address="])
        self.wait_for("alertmanager", r"Listening on|listening on|Listening")
        return process

    def start_prometheus(self, options=(), change=lambda text: text, name="prometheus"):
        """Returns its address."""
        address = free_address(self.ports[0])
        self.copy("rules.yml", change)
        self.copy("prometheus.yml", lambda text: change(self.addressed(text)))
        self.start(name, [
            self.tool("prometheus"), "--config.file=prometheus.yml",
            "--storage.tsdb.path=data-" + name, "--storage.tsdb.retention.time=1d",
            "--web.listen-address=" + address, *options])
        self.wait_for(name, r"Server is ready")
        self.prometheus = self.prometheus or address
        return address

    def copy(self, name, change):
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as out:
            out.write(change(text))

    def addressed(self, text):
        """The configuration as it is, with where the servers really are."""
        for written, real in (("127.0.0.1:9464", self.exporter),
                              ("127.0.0.1:9093", self.alertmanager)):
            if written not in text:
                raise Failed(f"prometheus.yml does not name {written}")
            text = text.replace(written, real)
        return text

    def watch(self):
        """Returns with a sentence when one of the processes has ended."""
        while True:
            for name, process in self.processes:
                if process.poll() is not None:
                    return f"{name} has ended with {process.returncode}:\n{self.log(name)[-2000:]}"
            time.sleep(0.5)


def explain(stack):
    print(f"""
  the shop        http://{stack.shop}/product/7
  actorprobe      http://{stack.exporter}/metrics
  Prometheus      http://{stack.prometheus}/classic/alerts
  Alertmanager    http://{stack.alertmanager}/api/v2/alerts (Debian's has no pages)

Grafana, which Debian does not have, shows the dashboards like this:
  1. Connections, Data sources, Add, Prometheus, with the URL http://{stack.prometheus}
     and, under Interval behaviour, a scrape interval of 5s.
  2. Dashboards, New, Import: each file of {HERE}/grafana, untouched.
  Or at its start: {HERE}/provisioning holds the files for /etc/grafana/provisioning.

The shop imports 30 000 rows every 8 seconds in turns of 4 096 messages, and its requests starve
meanwhile: ActorDispatcherDelayHigh is pending at once and fires after five minutes. ctrl-C ends
everything.""", flush=True)


def interrupted(number, frame):
    raise KeyboardInterrupt


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: stack.py BUILD [SHOP OPTION...]")
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    with Stack(sys.argv[1]) as stack:
        try:
            stack.start_shop(sys.argv[2:] or LOAD)
            stack.start_exporter(["--all"])
            stack.start_alertmanager()
            stack.start_prometheus()
            explain(stack)
            sys.exit("stack: " + stack.watch())
        except Failed as failure:
            sys.exit(f"stack: {failure}")
        except KeyboardInterrupt:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # one is enough
            print("\nstack: ended, nothing is left")


if __name__ == "__main__":
    main()
