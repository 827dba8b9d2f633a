#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make stack` runs comes up, says where it is, and leaves no process and no file after ctrl-C.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
PATH=$PWD/$build/stack/bin:$PATH
if [ "$(id -u)" != 0 ]; then
	echo 'SKIP not root: the exporter needs to attach'
	exit 77
fi
if ! command -v prometheus >/dev/null || ! "$build/stack/bin/alertmanager" --version >/dev/null 2>&1; then
	echo 'SKIP no Prometheus and Alertmanager: `make test` fetches them'
	exit 77
fi
dir=$(mktemp -d)
stack=
trap '[ -z "$stack" ] || kill -TERM "$stack" 2>/dev/null || true; rm -rf "$dir"' EXIT
fail() {
	cat "$dir/out" >&2
	echo "test_make_stack: $*" >&2
	exit 1
}

# A shell ignores SIGINT in what it starts in the background; Python does not then hear of ctrl-C.
TMPDIR=$dir env --default-signal=INT python3 dashboards/stack.py "$build" >"$dir/out" 2>&1 &
stack=$!
tries=300
until grep -q 'ctrl-C ends' "$dir/out"; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] && kill -0 $stack 2>/dev/null || fail 'it does not come up'
	sleep 0.1
done
children=$(cat "/proc/$stack/task/$stack/children")
[ "$(echo "$children" | wc -w)" -eq 4 ] || fail "it has the children $children"
answered=0
for address in $(grep -oE 'http://127[^ ]*/(product/7|metrics|alerts)' "$dir/out"); do
	answered=$((answered + 1))
	curl -sf "$address" >/dev/null || fail "nobody answers at $address"
done
[ $answered -eq 4 ] || fail "it gives $answered addresses"
metrics=$(grep -o 'http://127[^ ]*/metrics' "$dir/out")
tries=100
until curl -s "$metrics" | grep -q '^actorprobe_attached{process="shop"} 1'; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || fail 'the exporter does not find the shop'
	sleep 0.1
done
grep -q 'Import: each file of .*/dashboards/grafana' "$dir/out" || fail 'it does not say how to import'

kill -INT $stack
wait $stack || fail "it ends with $?"
stack=
for child in $children; do
	[ ! -d "/proc/$child" ] || fail "process $child lives on"
done
[ -z "$(find "$dir" -mindepth 1 -type d)" ] || fail 'its files are still there'
echo 'test_make_stack: fine'
