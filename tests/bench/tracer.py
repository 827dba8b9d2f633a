# SPDX-License-Identifier: MIT
"""Tracers that are attached to a program behind its gate, each in a way of its own."""
import os
import re
import subprocess

from measure import Failed, HERE, OTHER, interrupt, listened, path, wait_until


def scratch():
    """A file that is gone when it is closed."""
    name = path(f"scratch-{os.getpid()}")
    file = open(name, "w+b")
    os.unlink(name)
    return file


class Tracer:
    """A process that observes another one; its output goes to files."""

    def __init__(self, command, env=None):
        self.out, self.err = scratch(), scratch()
        self.process = subprocess.Popen(["taskset", "-c", OTHER] + command, env=env,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)
        self.pid = self.process.pid

    def text(self, file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def await_probe(self, pid, file, provider, probe):
        def ready():
            if self.process.poll() is not None:
                lines = self.text(self.err).strip().splitlines() or ["no reason given"]
                raise Failed(lines[-1])
            return listened(pid, file, provider, probe)
        try:
            wait_until(ready, 20, f"{probe} to be listened to")
        except Failed:
            self.kill()
            raise

    def end(self):
        interrupt(self.process)
        return self.text(self.out)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Actorprobe(Tracer):
    def __init__(self, gate, mode, *options):
        self.sampled = "--sample" in options
        super().__init__([path("prefix/bin/actorprobe"), "hist", "-p", str(gate.pid), "--mode",
                          mode, "-j", *options])
        self.await_probe(gate.pid, gate.object, "actor",
                         "ledger" if mode == "ledger" else "dispatcher_yield")
        self.before = gate.delivered()

    def check(self, gate):
        """Ends it. What it counted must be what the program has delivered meanwhile."""
        expected = gate.delivered() - self.before
        account = [line for line in self.end().splitlines() if '"unstamped"' in line]
        if not account:
            raise Failed(f"actorprobe gave no account: {self.text(self.err).strip()}")
        number = {k: int(v) for k, v in re.findall(r'"(\w+)":\s*(\d+)', account[-1])}
        # A sample stands for what came before it; what came after the last one is not seen.
        missing = expected - number["delivered"]
        most = 16 * 1024 if self.sampled else 0
        if not 0 <= missing <= most or number["lost"]:
            raise Failed(f"actorprobe counted {number['delivered']} of {expected}, "
                         f"lost {number['lost']}")
        return number


class Bpftrace(Tracer):
    """`latency.bt` on three events per message, or `actor.bt` on libactor's own probes."""

    def __init__(self, gate, script):
        file, provider, last = ((gate.object, "actor", "turn_end") if script == "actor.bt" else
                                (path("bench_sdt"), "peer", "turn_end"))
        text = open(os.path.join(HERE, "peers/trace", script)).read()
        super().__init__(["bpftrace", "-p", str(gate.pid), "-e",
                          text.replace("LIBRARY", gate.object)],
                         dict(os.environ, BPFTRACE_MAP_KEYS_MAX="65536"))
        for probe in ("enqueue", "turn_start", last):
            self.await_probe(gate.pid, file, provider, probe)

    def check(self, histogram, expected):
        """Ends it. So many messages must be in that histogram."""
        total, name = 0, None
        for line in self.end().splitlines():
            if line.startswith("@"):
                name = line.split(":")[0]
            elif "|" in line and name == "@" + histogram:
                total += int(line.split("|")[0].split()[-1])
        if total != expected:
            raise Failed(f"bpftrace counted {total} of {expected}")


class Lttng:
    """A session with a flight recorder: nothing is written to disk while measuring."""

    def __init__(self):
        self.home = path(f"lttng-{os.getpid()}")
        os.makedirs(self.home, exist_ok=True)
        self.env = dict(os.environ, LTTNG_HOME=self.home)
        self.name, self.daemon = f"bench{os.getpid()}", None
        if self.command("list"):
            self.daemon = subprocess.Popen(
                ["taskset", "-c", OTHER, "lttng-sessiond", "--no-kernel"], env=self.env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.command("list") == 0, 10, "lttng-sessiond")
        for words in (["create", self.name, "--snapshot", f"--output={self.home}/snapshot"],
                      ["enable-channel", "--userspace", "--session", self.name, "channel"],
                      ["enable-event", "--userspace", "--session", self.name, "--channel",
                       "channel", "peer:*"],
                      ["start", self.name]):
            if self.command(*words):
                self.close()
                raise Failed("lttng " + words[0])

    def command(self, *words):
        return subprocess.run(["lttng", "--no-sessiond", *words], env=self.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def check(self, newest):
        """The newest message, by its id, must be in the recording."""
        self.command("snapshot", "record", "--session", self.name)
        self.command("stop", self.name)
        text = subprocess.run(["babeltrace", f"{self.home}/snapshot"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
        ids = re.findall(r"peer:turn_end.*\bid = (\d+)", text)
        if not ids or int(ids[-1]) != newest:
            raise Failed(f"lttng recorded {ids[-1:] or 'nothing'}, not {newest}")

    def close(self):
        self.command("destroy", self.name)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(20)
        subprocess.run(["rm", "-rf", self.home])
