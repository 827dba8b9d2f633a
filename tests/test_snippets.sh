#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the programs in the text to runtime/examples, and runs the commands that the text shows.
#
# A "```c" block is the program NAME.c, without its first two lines, that was named last before it as
# "examples/NAME.c`"; a "```text" block is commands behind "$ " and what each of them prints.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
dir=$(mktemp -d)
servers=
finish() {
	[ -z "$servers" ] || kill $servers 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
bad=0
complain() {
	echo "test_snippets: $*" >&2
	bad=1
}

# Writes DIR/NAME.c and DIR/N.text.
blocks() {
	awk -v dir="$dir" '
		/^```c$/ { to = dir "/" name ".c"; next }
		/^```text$/ { to = sprintf("%s/%s.%02d.text", dir, prefix, ++texts); next }
		/^```/ { to = to ? "" : "/dev/null"; next }
		to { print > to; next }
		match($0, /examples\/[a-z_]+\.c`/) { name = substr($0, RSTART + 9, RLENGTH - 12) }
	' prefix="$1" "$2"
}
blocks 1 README.md
blocks 2 runtime/writing-actors.md
blocks 3 runtime/tuning.md

# What stands there before any program is named is a piece of one.
${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused-const-variable -Wno-unused-variable \
	-fsyntax-only -I runtime -include actor.h "$dir/.c" || complain 'tuning.md: does not compile'

for text in "$dir"/*.c; do
	program=runtime/examples/${text##*/}
	sed -n 2p "$program" | grep -q ' \*/$' || complain "$program: its purpose takes two lines"
	tail -n +3 "$program" | diff "$text" - || complain "$program and its text differ"
done

# A server gets a free port; the port of the text is replaced by it.
server_start() {
	: >"$dir/address" # not the one of the server before
	"$1" 0 >"$dir/address" 2>"$dir/errors" &
	servers="$servers $!"
	tries=100
	until port=$(sed -n 's|^http://127.0.0.1:||p' "$dir/address") && [ -n "$port" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { cat "$dir/errors" >&2; complain "$1 does not start"; return; }
		sleep 0.1
	done
}

run() {
	case $1 in
	build/examples/*' &')
		program=${1%% *}
		server_start "$build${program#build}"
		echo http://127.0.0.1:8080
		;;
	build/examples/*) timeout 60 "$build${1#build}" 2>/dev/null ;;
	*) timeout 60 sh -c "$(echo "$1" | sed "s/:8080/:$port/g")" ;;
	esac
}

commands=0
for text in "$dir"/*.text; do
	while IFS= read -r line; do
		echo "$line"
		case $line in
		'$ '*)
			commands=$((commands + 1))
			run "${line#\$ }" >&3 || complain "this fails: $line"
			;;
		esac
	done <"$text" 3>"$dir/printed" >/dev/null
	grep -v '^\$ ' "$text" | diff - "$dir/printed" ||
		complain "$(head -1 "$text") prints something else"
done

# Whoever is asked to end does, and says that all is well.
for server in $servers; do
	kill -TERM "$server"
	wait "$server" || complain 'a server does not end in order'
done
servers=

for program in $(sed -n 's/^\(HTTP_\)\{0,1\}SNIPPETS *:= //p' runtime/examples/rules.mk); do
	[ -e "$dir/$program.c" ] || complain "no text shows $program.c"
	cat "$dir"/*.text | grep -q "^\\$ build/examples/$program" ||
		complain "no text runs $program"
done
if [ $bad = 0 ]; then echo "test_snippets: $commands commands print what they should"; fi
exit $bad
