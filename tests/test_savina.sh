#!/bin/sh
# SPDX-License-Identifier: MIT
# Every play of the Savina suite, short, on one loop and on two: it ends with the right result, and
# a wrong expectation makes it fail.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
fail() {
	echo "test_savina: $*" >&2
	exit 1
}

make --no-print-directory B="$build" "$build/bench/savina" >/dev/null
savina=$build/bench/savina

# play, n, result, found without the program; operations, 0: not known here
plays='ping_pong 500 500 1000
counting 2000 2001000 2000
fork_join_throughput 30 27900 1800
fork_join_create 200 20100 200
thread_ring 1010 50555 1010
chameneos 200 400 800
big 10 1200 2400
bounded_buffer 1 13781740 160
philosophers 20 400 400
banking 1 20122500 4
sieve 1000 168 0
fibonacci 12 144 287
nqueens 6 4 0'

# "PLAY/LOOPS ns VALUE VALUE" and exit code 0
plays_well() {
	timeout 60 "$savina" "$1" "n=$2" "loops=$3" repetitions=2 >"$build/bench/savina.out" ||
		fail "$1 on $3: $(cat "$build/bench/savina.out")"
	awk -v name="$1/$3" '$1 == name && $2 == "ns" && NF == 4 && $3 > 0 && $4 > 0 { found = 1 }
		END { exit !found || NR != 1 }' "$build/bench/savina.out" ||
		fail "$1 on $3 prints: $(cat "$build/bench/savina.out")"
}

# The same with an expectation that is one off: exit code 1 and a line that says so
notices() {
	rc=0
	timeout 60 "$savina" "$1" "n=$2" "loops=$3" repetitions=1 amiss=1 >"$build/bench/savina.out" ||
		rc=$?
	[ $rc -eq 1 ] || fail "$1 on $3 ends with $rc though the result is not what is expected"
	grep -q "^FAIL $1: $4 instead of $(($4 + 1))\$" "$build/bench/savina.out" ||
		fail "$1 on $3 says: $(cat "$build/bench/savina.out")"
}

ran=0
while read -r play n result operations; do
	grep -qF "\"$play\":" tests/bench/suite_savina.py || fail "the suite lacks $play"
	grep -qF "{\"$play\", give<$play>}" tests/bench/peers/caf/savina.cpp || fail "CAF lacks $play"
	grep -qF "play(\"$play\", N) ->" tests/bench/peers/erlang/savina.erl || fail "Erlang lacks $play"
	[ "$operations" -ne 0 ] || operations='[0-9]+'
	"$savina" expect "$play" "n=$n" | grep -qxE "$play $result $operations" ||
		fail "expects $("$savina" expect "$play" "n=$n") of n=$n"
	for loops in 1 2; do
		plays_well "$play" "$n" $loops
		notices "$play" "$n" $loops "$result"
		ran=$((ran + 1))
	done
done <<END
$plays
END

# Longer than what can be worked out by hand.
for loops in 1 2; do
	plays_well bounded_buffer 50 $loops
	plays_well banking 500 $loops
done
[ "$ran" -eq 26 ] || fail "only $ran plays"
! "$savina" ping_pong n=10 loops=3 2>/dev/null || fail 'three loops are not refused'
echo "test_savina: $ran plays, all results right, wrong expectations noticed"
