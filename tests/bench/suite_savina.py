# SPDX-License-Identifier: MIT
"""Suite `savina`: the runtime half of the Savina suite, on one loop and on two, beside its peers.

Each program gets the same sizes and what must come out, and fails if anything else does. On two
loops libactor's actors stay where they were placed, by turns; CAF and Erlang move theirs.
"""
import subprocess

from measure import BENCH, BOTH, Failed, ONE, built, path, run

# {play: n}: about a hundred thousand operations, tens of thousands where one is an actor or a meal
SIZES = {"ping_pong": 50000, "counting": 200000, "fork_join_throughput": 2000,
         "fork_join_create": 10000, "thread_ring": 100000, "chameneos": 25000, "big": 500,
         "bounded_buffer": 600, "philosophers": 1000, "banking": 25000, "sieve": 10000,
         "fibonacci": 20, "nqueens": 10}
QUICK = [("ping_pong", 1), ("banking", 1), ("chameneos", 2)]
ROUNDS = 3
PEERS = {"erlang": ("savina.beam", "erlang-base and erlang-dev"),
         "caf": ("savina_caf", "libcaf-dev")}


def expected(play):
    """[result, operations], as the play finds them without any actor"""
    done = subprocess.run([path("savina"), "expect", play, f"n={SIZES[play]}"], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=60)
    return done.stdout.split()[1:]


def contestants(play, loops, quick):
    """[(system, command)]; libactor repeats more, as it needs less time for it"""
    few, many = ("1", "3") if quick else ("2", "8")
    them = [("libactor", [path("savina"), play, f"n={SIZES[play]}", f"loops={loops}",
                          f"repetitions={many}"])]
    peer = [play, str(loops), str(SIZES[play]), few] + expected(play)
    if built("savina.beam"):
        them.append(("erlang", ["erl", "+S", f"{loops}:{loops}"]
                     + (["+sbt", "db"] if loops > 1 else [])
                     + ["-noinput", "-pa", BENCH, "-run", "savina", "main"] + peer))
    if built("savina_caf"):
        them.append(("caf", [path("savina_caf")] + peer))
    return them


def measure(results, play, loops):
    """One round after another, so that what happens on the machine meanwhile hits all of them."""
    values = {}
    for _ in range(1 if results.quick else ROUNDS):
        for system, command in contestants(play, loops, results.quick):
            try:
                name, unit, found = run(ONE if loops == 1 else BOTH, command)[-1]
                values.setdefault((name, system, unit), []).extend(found)
            except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
                results.fail(f"savina {play}/{loops} {system}: {error}")
    for (name, system, unit), found in values.items():
        results.add("savina", name, system, found, unit)


def suite(results):
    for name, (program, package) in PEERS.items():
        if not built(program):
            results.skip(f"savina: {name}", f"{package} not installed")
    for play, loops in QUICK if results.quick else [(p, n) for p in SIZES for n in (1, 2)]:
        measure(results, play, loops)
