#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the includes to the layers: who may see what, and no cycle inside a layer.
set -eu
cd "$(dirname "$0")/.."
edges=$(mktemp)
trap 'rm -f "$edges"' EXIT
bad=0

# from, to, file:line of every include of a project header. A module is a .c with its .h.
grep -n '^#include "' runtime/*.[ch] runtime/examples/*.[ch] bpf/*.[ch] probe/*.[ch] 2>/dev/null |
awk -F'[:"]' '{
	dir = $1; sub("/[^/]*$", "", dir)
	to = $4
	if (to !~ "/") to = dir "/" to
	from = $1
	sub("\\.bpf\\.c$", "", from); sub("\\.[ch]$", "", from); sub("\\.h$", "", to)
	if (from != to) print from, to, $1 ":" $2
}' > "$edges"
[ -s "$edges" ] || { echo "test_layers: found no include at all" >&2; exit 1; }

# layer of the includer -> what it may include outside its own folder
allowed() {
	case "$1>$2" in
	runtime\>*|bpf\>runtime/abi|bpf\>bpf/*) [ "$1" = bpf ] ;;
	probe\>runtime/abi|probe\>bpf/*) true ;;
	runtime/examples\>runtime/actor) true ;;
	*) false ;;
	esac
}
while read -r from to where; do
	layer=${from%/*}
	[ "$layer" = "${to%/*}" ] && continue
	if ! allowed "$layer" "$to"; then
		echo "test_layers: $where includes $to.h, which its layer may not see"
		bad=1
	fi
done < "$edges"

# Rendering knows no libbpf.
for file in $(grep -lE '#include <bpf/' probe/*.[ch] || true); do
	case "$file" in
	probe/*text*|probe/*json*|probe/*view*|probe/exposition*|probe/snapshot*|probe/server*|probe/grouping*|probe/histogram*)
		echo "test_layers: $file renders and may not include libbpf"
		bad=1 ;;
	esac
done

if ! awk '{ print $2, $1 }' "$edges" | tsort > /dev/null 2> "$edges.cycle"; then
	echo "test_layers: includes run in a cycle:"
	sed 's/^tsort: //' "$edges.cycle"
	bad=1
fi
rm -f "$edges.cycle"
if [ $bad = 0 ]; then echo "test_layers: $(wc -l < "$edges") includes, all downward"; fi
exit $bad
