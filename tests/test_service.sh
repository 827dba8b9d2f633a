#!/bin/sh
# SPDX-License-Identifier: MIT
# The unit for systemd is one, the three capabilities that it and the manifest give are enough for
# another user than root, and what they start is a command line that there is.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
unit=probe/service/actorprobe.service
manifest=probe/service/daemonset.yaml
dir=$(mktemp -d)
export= shop=
finish() {
	for pid in $export $shop; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$dir"
}
trap finish EXIT
fail() {
	echo "test_service: $*" >&2
	[ ! -e "$dir/err" ] || cat "$dir/err" >&2
	exit 1
}
field() {
	sed -n "s/^$1=//p" "$unit"
}

# The same capabilities everywhere.
wanted='CAP_BPF CAP_PERFMON CAP_SYS_PTRACE'
[ "$(field AmbientCapabilities)" = "$wanted" ] || fail 'the unit gives other capabilities'
[ "$(field CapabilityBoundingSet)" = "$wanted" ] || fail 'the unit allows other capabilities'
given=$(sed -n '/ add:$/,/seccompProfile/s/^ *- \([A-Z_]*\) # .*/CAP_\1/p' "$manifest" | sort | tr '\n' ' ')
[ "$given" = "$wanted " ] || fail "the manifest gives $given"
for capability in $wanted; do
	grep -q "| \`$capability\` |" README.md || fail "README gives no reason for $capability"
done

# The manifest starts what the unit starts, at another address.
arguments=$(field ExecStart | sed 's,^[^ ]* ,,; s, --listen .*,,')
listed=$(sed -n 's/^ *args: \[\(.*\)\]/\1/p' "$manifest" | tr -d '",' | sed 's, --listen .*,,')
[ "$arguments" = "$listed" ] || fail "the unit says '$arguments' and the manifest '$listed'"

if [ "$(id -u)" != 0 ]; then
	echo 'SKIP not root: the service needs its capabilities'
	exit 77
fi

if command -v systemd-analyze >/dev/null; then
	sed "s,^ExecStart=[^ ]*,ExecStart=$PWD/$build/actorprobe," "$unit" >"$dir/actorprobe.service"
	systemd-analyze verify --man=no "$dir/actorprobe.service" >"$dir/err" 2>&1 ||
		fail 'systemd does not take the unit'
	[ ! -s "$dir/err" ] || fail 'systemd warns of the unit'
	for call in bpf perf_event_open; do
		field SystemCallFilter | head -1 | grep -qw "$call" || fail "the unit forbids $call"
	done
fi

# Another user, with these capabilities and no way to others.
"$build/examples/shop" --load 50 >"$dir/shop" 2>&1 &
shop=$!
caps=-all$(for capability in $wanted; do
	printf ',+%s' "$(echo "${capability#CAP_}" | tr '[:upper:]' '[:lower:]')"
done)
# shellcheck disable=SC2086
setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --bounding-set "$caps" \
	--inh-caps "$caps" --ambient-caps "$caps" \
	"$build/actorprobe" $arguments --listen 127.0.0.1:0 2>"$dir/err" &
export=$!
tries=100
until address=$(sed -n 's,.* on \(http://.*/metrics\)$,\1,p' "$dir/err") && [ -n "$address" ]; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] && kill -0 $export 2>/dev/null || fail 'it does not start'
	sleep 0.1
done
tries=100
until curl -s "$address" >"$dir/metrics" &&
	grep -q '^actor_messages_delivered_total{[^}]*class="pricing"} [1-9]' "$dir/metrics"; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || fail 'it does not see the shop'
	sleep 0.1
done
echo 'test_service: three capabilities are enough'
