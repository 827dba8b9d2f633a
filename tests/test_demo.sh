#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo, shortened: three histograms, sentences that differ with the load, nothing left behind.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
if [ "$(id -u)" != 0 ]; then
	echo 'SKIP not root: the demo needs to attach'
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	cat "$dir/out" >&2
	echo "test_demo: $*" >&2
	exit 1
}

TMPDIR=$dir SECONDS_OBSERVED=1 runtime/examples/demo.sh "$build" >"$dir/out" 2>&1 ||
	fail "it ended with $?"
for title in 'mailbox wait' 'handler time' 'dispatcher queue delay'; do
	[ "$(grep -c "^$title$" "$dir/out")" -eq 2 ] || fail "not two histograms of $title"
done
grep -A1 'what that means' "$dir/out" | grep -v -e '^--' -e means >"$dir/sentences"
[ "$(sort -u "$dir/sentences" | wc -l)" -ge 2 ] || fail 'another load gives the same sentence'

# Interrupted in the midst: nothing it started lives on, and no file stays.
TMPDIR=$dir SECONDS_OBSERVED=60 runtime/examples/demo.sh "$build" >"$dir/out" 2>&1 &
demo=$!
tries=100
until grep -q 'hist -p' "$dir/out"; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || fail 'it does not get to observing'
	sleep 0.1
done
shop=$(sed -n 's/.*hist -p \([0-9]*\).*/\1/p' "$dir/out")
kill -TERM $demo
wait $demo && fail 'it was interrupted and ended with 0'
kill -0 "$shop" 2>/dev/null && fail 'the shop lives on'
[ -z "$(find "$dir" -mindepth 1 -type d)" ] || fail 'its files are still there'
echo 'test_demo: fine'
