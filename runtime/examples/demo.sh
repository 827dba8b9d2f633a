#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts the shop under load, looks into it from outside, and says what the histograms mean.
#
#   demo.sh BUILD            two loads, one after the other, and the second one tuned
#   demo.sh BUILD OPTION...  one load: these options of the shop
#   SECONDS_OBSERVED=5       for how long each is looked at
set -u

build=${1:?usage: demo.sh BUILD [SHOP OPTION...]}
shift
seconds=${SECONDS_OBSERVED:-5}
dir=$(mktemp -d) || exit 1
shop=
text=
json=
histograms=yes

finish() {
	for pid in $text $json $shop; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	text= json= shop=
}

trap 'finish; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() {
	printf '\n== %s\n' "$*"
}

give_up() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

# The shop prints its address when it listens.
shop_start() {
	say "an unmodified program: shop $*"
	: >"$dir/shop"
	"$build/examples/shop" "$@" >"$dir/shop" 2>&1 &
	shop=$!
	tries=50
	until grep -q http:// "$dir/shop"; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ] || ! kill -0 "$shop" 2>/dev/null; then
			cat "$dir/shop" >&2
			give_up 'the shop did not start'
		fi
		sleep 0.1
	done
	cat "$dir/shop"
	sleep 0.5
}

# What actorprobe said on its way out stands above; it names the capability.
probe_failed() {
	cat "$dir/errors" >&2
	case $1 in
	3) give_up 'observing needs privileges that you do not have: run `make demo` as root' ;;
	*) give_up "actorprobe ended with status $1" ;;
	esac
}

# Two observers at once, of the same seconds: one for people, one for the sentence.
observe() {
	say "actorprobe hist -p $shop -d $seconds"
	"$build/actorprobe" hist -p "$shop" -d "$seconds" -j >"$dir/json" 2>/dev/null &
	json=$!
	"$build/actorprobe" hist -p "$shop" -d "$seconds" >"$dir/text" 2>"$dir/errors" &
	text=$!
	wait "$text" || probe_failed $?
	text=
	wait "$json" || give_up "actorprobe hist -j ended with status $?"
	json=
	[ "$histograms" = yes ] && cat "$dir/text"
	say 'what that means'
	"$build/examples/sentence" <"$dir/json" >"$dir/sentence" || exit 1
	fold -s -w 80 "$dir/sentence" | sed 's, $,,'
}

phase() {
	shop_start "$@"
	observe
	finish
}

if [ $# -gt 0 ]; then
	phase "$@"
else
	phase --load 1000
	set -- --load 200 --dispatcher immediate --import-every 500 --import-rows 5000 --import-us 1
	phase "$@" --importer-throughput 1
	histograms=no
	say 'and once more, with the advice taken'
	phase "$@" --importer-throughput 256
fi
say "done: the shop was neither changed, rebuilt nor restarted to be observed"
