# SPDX-License-Identifier: MIT
"""Runs programs, keeps what they measured, knows medians."""
import os
import signal
import subprocess
import sys
import time

BENCH = os.path.abspath(os.environ.get("BENCH", "build/bench"))
HERE = os.path.dirname(os.path.abspath(__file__))
CPUS = os.cpu_count()
ONE, BOTH, OTHER = ("1", "0,1", "0") if CPUS > 1 else ("0", "0", "0")


class Failed(Exception):
    """Something did not run, or a count was wrong."""


class Results:
    """Rows of the table, in order; what was skipped and what failed."""

    def __init__(self, quick):
        self.quick = quick
        self.rows, self.skips, self.failures = [], [], []

    def add(self, suite, workload, system, values, unit):
        values = sorted(values)
        self.rows.append(dict(suite=suite, workload=workload, system=system,
                              value=median(values), unit=unit, min=values[0], max=values[-1]))

    def get(self, suite, workload, system):
        for row in self.rows:
            if (row["suite"], row["workload"], row["system"]) == (suite, workload, system):
                return row["value"]
        return None

    def skip(self, what, reason):
        if (what, reason) not in self.skips:
            self.skips.append((what, reason))
            say(f"SKIP {what}: {reason}")

    def fail(self, text):
        self.failures.append(str(text))
        say(f"FAIL {text}")


def say(text):
    print(text, file=sys.stderr, flush=True)


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def built(name):
    return os.path.exists(os.path.join(BENCH, name))


def installed(program):
    return any(os.access(os.path.join(place, program), os.X_OK)
               for place in os.environ.get("PATH", "").split(":"))


def path(*names):
    return os.path.join(BENCH, *names)


def library(copy):
    """The environment that chooses one of the copies of libactor."""
    return dict(os.environ, LD_LIBRARY_PATH=path("lib", copy), LTTNG_UST_REGISTER_TIMEOUT="-1")


def parse(line):
    """"workload unit value value ..." -> (workload, unit, [values])"""
    words = line.split()
    if len(words) < 2 or words[0] == "FAIL":
        raise Failed(line.strip() or "no output")
    return words[0], words[1], [float(w) for w in words[2:]]


def run(cpus, command, env=None, timeout=60):
    """Runs to the end; all its lines of result, the workload's last."""
    done = subprocess.run(["taskset", "-c", cpus] + command, stdin=subprocess.DEVNULL, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    lines = done.stdout.decode(errors="replace").splitlines()
    bad = [line for line in lines if line.startswith("FAIL")]
    if done.returncode or bad or not lines:
        reason = bad or done.stderr.decode(errors="replace").splitlines()[-1:]
        raise Failed(f"{' '.join(command[:3])}: exit code {done.returncode}: {' '.join(reason)}")
    return [parse(line) for line in lines]


class Gate:
    """A benchmark program behind its gate: runs one workload after another on demand."""

    def __init__(self, copy, program="bench", cpus=ONE, env=None):
        self.copy = copy
        self.object = path("lib", copy, "libactor.so.0")
        self.process = subprocess.Popen(
            ["taskset", "-c", cpus, path(program), "gate"], env=dict(library(copy), **(env or {})),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        if self.process.stdout.readline().strip() != "ready":
            raise Failed(f"{program} does not start")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        workload, unit, values = parse(self.process.stdout.readline())
        return values

    def run(self, workload, **wish):
        return self.ask(" ".join([workload] + [f"{k}={v}" for k, v in wish.items()]))

    def delivered(self):
        """Once it rests: the driver answers before its turn has ended and been counted."""
        seen, now = -1, self.ask("delivered")[0]
        while now != seen:
            time.sleep(0.01)
            seen, now = now, self.ask("delivered")[0]
        return int(now)

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def semaphore_addresses(file, provider):
    """name -> address of the semaphore in the file, from the notes of its probes."""
    text = subprocess.run(["readelf", "-nW", file], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
    found, name, ours = {}, None, False
    for line in text.splitlines():
        line = line.strip()
        if "Provider:" in line:
            ours = line.split("Provider:")[1].strip() == provider
        elif line.startswith("Name:"):
            name = line.split()[1]
        elif "Semaphore:" in line and ours:
            found[name] = int(line.split("Semaphore:")[1], 16)
    return found


addresses = {}


def listened(pid, file, provider, probe):
    """Does anybody listen to this probe of this process?"""
    if (file, provider) not in addresses:
        addresses[file, provider] = semaphore_addresses(file, provider)
    address = addresses[file, provider][probe]
    for line in open(f"/proc/{pid}/maps"):
        if line.rstrip().endswith(os.path.basename(file)):
            base = int(line.split("-")[0], 16)
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(base + address)
                return memory.read(2) != b"\0\0"
    raise Failed(f"{file} is not mapped")


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(0.005)


def interrupt(process, seconds=20):
    process.send_signal(signal.SIGINT)
    return process.wait(seconds)
