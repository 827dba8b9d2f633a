#!/bin/sh
# SPDX-License-Identifier: MIT
# Reads the probes' notes in every kind of build: one site each, arguments in the C argument
# registers, one one-byte nop, a semaphore each, and the note of the root.
set -eu
cd "$(dirname "$0")/.."
B=${B:-build}
dir=$B/notes
mkdir -p "$dir"
rm -f "$dir/bad" "$dir/checked"
number=0

# Fires each probe a few times from several places, with arguments a compiler would like to fold.
cat > "$dir/main.c" <<'C'
#include "runtime/probes.h"
#include "runtime/root.h"
int main(int argc, char **argv)
{
	(void)argv;
	actor__root_init();
	for (uint64_t i = 0; i < 3; i++) {
		ACTOR__FIRE(turn_end, i, 2, (uint64_t)(uintptr_t)&argc, 4, 5, (uint64_t)argc);
		ACTOR__FIRE(enqueue, i, 2, 3, 4, 5, 6);
		ACTOR__FIRE(stop, i, (uint64_t)-1, 3);
	}
	ACTOR__FIRE(turn_end, 1, 2, 3, 4, 5, 6);
	return actor__probes_any();
}
C
sources="runtime/probes.c runtime/root.c runtime/clock.c"

# The list of probes with their argument counts comes from the contract itself.
sed -n '/define ACTOR_ABI_PROBES/,/^$/p' runtime/abi.h |
	sed -n 's/.*X(\([a-z_]*\), \([0-9]\)).*/\1 \2/p' | sort > "$dir/expected"
[ "$(wc -l < "$dir/expected")" -ge 12 ] || { echo "test_probe_notes: no probe list"; exit 1; }

registers="8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9"

check() { # file, what
	readelf -nW "$1" > "$1.notes" 2>/dev/null
	awk -v registers="$registers" '
		/Provider: actor/ { getline; name = $2; getline; where = $0; getline
			arguments = $0; sub(/^ *Arguments: */, "", arguments); n = split(arguments, a, " ")
			split(registers, r, " ")
			for (i = 1; i <= n; i++) if (a[i] != r[i]) print "BAD operand of " name ": " a[i]
			if (where ~ /Semaphore: 0x0+$/) print "BAD no semaphore: " name
			print name, n }' "$1.notes" | sort > "$1.found"
	if ! cmp -s "$dir/expected" "$1.found"; then
		echo "test_probe_notes: $2: the notes differ from runtime/abi.h"
		diff "$dir/expected" "$1.found" || true
		: > "$dir/bad"
	fi
	grep -q '\.note\.actor' "$1.notes" || { echo "test_probe_notes: $2: no root note"; : > "$dir/bad"; }
	# Every site is one nop of one byte.
	for address in $(awk '/Provider: actor/ { getline; getline; sub(",", "", $2); print $2 }' "$1.notes"); do
		end=$(printf '0x%x' $((address + 1)))
		objdump -d --start-address="$address" --stop-address="$end" "$1" |
			grep -qE ':[[:space:]]+90[[:space:]]+nop' ||
			{ echo "test_probe_notes: $2: no one-byte nop at $address"; : > "$dir/bad"; }
	done
	echo "$2" >> "$dir/checked"
}

build_one() { # file, what, compiler, flags...
	file=$1 what=$2
	shift 2
	if ! "$@" -std=gnu11 -w -I. -fvisibility=hidden "$dir/main.c" $sources -o "$file" \
		-luv -pthread 2> "$file.log"; then
		echo "test_probe_notes: $what does not build"
		cat "$file.log"
		: > "$dir/bad"
		return
	fi
	check "$file" "$what"
	timeout 60 "$file" || { echo "test_probe_notes: $what does not run"; : > "$dir/bad"; }
}

# Two at a time.
build() { # what, compiler, flags...
	number=$((number + 1))
	build_one "$dir/program$number" "$@" &
	[ $((number % 2)) = 1 ] || wait
}

for cc in gcc clang; do
	for o in -O0 -O1 -O2 -O3; do
		build "$cc $o" $cc $o
	done
	build "$cc PIC shared" $cc -O2 -fPIC -fpie -pie
	build "$cc no-pie" $cc -O2 -no-pie
	build "$cc gc-sections" $cc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
done
build "gcc lto" gcc -O3 -flto=2
if [ -n "${NOTES_OF_ALL:-}" ]; then # half a minute
	few=$sources
	sources=$(ls runtime/*.c)
	build "gcc lto of all" gcc -O2 -flto=2
	sources=$few
fi
build "clang lto" clang -O3 -flto -fuse-ld=lld
build "clang lld gc-sections" clang -O2 -fuse-ld=lld -ffunction-sections -Wl,--gc-sections
build "gcc asan" gcc -O1 -fsanitize=address
build "gcc tsan" gcc -O1 -fsanitize=thread
build "clang asan" clang -O1 -fsanitize=address
build "clang tsan" clang -O1 -fsanitize=thread
wait
cp "$B/libactor.so.0" "$dir/whole.so"
check "$dir/whole.so" "libactor.so"
cp "$B/libactor.so.0" "$dir/stripped.so"
strip "$dir/stripped.so"
check "$dir/stripped.so" "libactor.so stripped"

if [ "$(wc -l < "$dir/checked")" != $((number + 2)) ]; then
	echo "test_probe_notes: not all builds were looked at"
	: > "$dir/bad"
fi
[ ! -e "$dir/bad" ] || exit 1
echo "test_probe_notes: $((number + 2)) builds, $(wc -l < "$dir/expected") probes each"
