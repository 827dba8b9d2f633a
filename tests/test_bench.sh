#!/bin/sh
# SPDX-License-Identifier: MIT
# Every workload of the benchmark, short: each verifies that what it sent was handled.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
fail() {
	echo "test_bench: $*" >&2
	exit 1
}

make --no-print-directory B="$build" "$build/bench/bench" "$build/bench/mix" >/dev/null
bench=$build/bench/bench
ran=0
run() {
	line=$(timeout 60 "$bench" "$@") || fail "$*: $line"
	case $line in
	"$1 "*) ran=$((ran + 1)) ;;
	*) fail "$*: $line" ;;
	esac
}

for workload in tell_flood volley ask ring100 fanout spawn idle_mem idle_mem_used queued_mem \
	queued_mem_block cross_flood cross_volley; do
	run $workload total=10000 repetitions=2
done
run wake total=10 repetitions=1
run paced total=300 rate=10000 repetitions=1
run classes total=50 repetitions=1
for dispatcher in hybrid-64 hybrid-1000 microtask immediate throughput-16 throughput-200; do
	for workload in tell_flood volley fanout; do
		run $workload dispatcher=$dispatcher throughput=1 total=10000 repetitions=1
	done
done

# HTTP beside actors; what was told has to be handled, and the client answered.
for wish in messages=0 loop=2 dispatcher=microtask dispatcher=synchronous 'burst_ms=20 handler_ns=0'; do
	timeout 60 "$build/bench/mix" duration_ms=50 messages=20 $wish >"$build/bench/answers" 2>&1 ||
		fail "mix $wish: $(tail -1 "$build/bench/answers")"
	awk '$1 == "p50" && $3 > 0 { found = 1 } END { exit !found }' "$build/bench/answers" ||
		fail "mix $wish: nobody was answered"
	ran=$((ran + 1))
done

# Behind a gate one after another runs; what was delivered grows by what was sent.
printf 'tell_flood total=10000 repetitions=1\nvolley total=100 repetitions=1\n' >"$build/bench/wishes"
(while read -r wish; do echo "$wish" && sleep 1; done <"$build/bench/wishes" && echo delivered &&
	sleep 1) | timeout 60 "$bench" gate >"$build/bench/answers" || fail 'gate'
awk '$1 == "delivered" && $3 >= 20200 { found = 1 } END { exit !found }' "$build/bench/answers" ||
	fail "gate: $(cat "$build/bench/answers")"
echo "test_bench: $ran runs, all counts right"
