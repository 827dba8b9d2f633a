#!/bin/sh
# SPDX-License-Identifier: MIT
# Other tools see the probes: gdb, perf and bpftrace each list all of them.
set -eu
cd "$(dirname "$0")/.."
B=${B:-build}
library=$B/libactor.so.0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

sed -n 's/^\tX(\([a-z_]*\), [0-9]).*/\1/p' runtime/abi.h | sort >"$dir/wanted"
[ "$(wc -l <"$dir/wanted")" -ge 12 ] || { echo 'test_tools: no list of probes' >&2; exit 1; }

# What the tool printed, reduced by a sed script, is the names of the probes.
lists() { # tool, sed script
	sed -n "$2" "$dir/printed" | sort -u >"$dir/found"
	if ! diff "$dir/wanted" "$dir/found" >"$dir/difference"; then
		echo "test_tools: $1 does not list the probes of runtime/abi.h:" >&2
		cat "$dir/difference" "$dir/errors" >&2
		bad=1
	fi
}

gdb -nx -batch -ex 'info probes stap actor' "$library" >"$dir/printed" 2>"$dir/errors" || true
lists gdb 's/^stap  *actor  *\([a-z_]*\) .*/\1/p'

# perf lists what is in a cache: in one of its own here, not in the user's.
{
	perf --buildid-dir "$dir/perf" buildid-cache --add "$library" &&
		perf --buildid-dir "$dir/perf" list sdt
} >"$dir/printed" 2>"$dir/errors" || true
lists perf 's/^ *sdt_actor:\([a-z_]*\) .*/\1/p'

if [ "$(id -u)" = 0 ]; then
	bpftrace -l "usdt:$library:*" >"$dir/printed" 2>"$dir/errors" || true
	lists bpftrace 's/^usdt:.*:actor:\([a-z_]*\)$/\1/p'
elif [ $bad = 0 ]; then
	echo 'SKIP bpftrace lists probes for root only; gdb and perf list all of them'
	exit 77
fi
exit $bad
