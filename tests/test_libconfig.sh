#!/bin/sh
# SPDX-License-Identifier: MIT
# A libactor that was built without libconfig: works, and refuses configuration files in one sentence.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
cc=${CC:-gcc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "test_libconfig: $*" >&2
	exit 1
}

# The object that calls it, once more and without; it comes before the archive's.
"$cc" -std=gnu11 -Wall -Wextra -Werror -pthread -I. -DACTOR_NO_LIBCONFIG -c \
	-o "$dir/configtree.o" runtime/configtree.c
cat >"$dir/main.c" <<'END'
#include <actor.h>
#include <stdio.h>
int main(void)
{
	struct actor_system_options options = {.size = sizeof(options), .loops = 1};
	struct actor_system *system;
	int rc = actor_system_open(&system, &options);

	printf("%d\n", rc);
	return rc ? 0 : actor_system_close_wait(system);
}
END
"$cc" -std=gnu11 -pthread -I"$build/include" -o "$dir/main" "$dir/main.c" "$dir/configtree.o" \
	"$build/libactor.a" -luv ||
	fail 'does not link without libconfig'
[ "$("$dir/main")" = 0 ] || fail 'does not work without a file'
echo 'actor = { throughput = 5; };' >"$dir/actor.conf"
[ "$(ACTOR_CONFIG=$dir/actor.conf "$dir/main" 2>"$dir/said")" = -5012 ] || fail 'takes a file'
[ "$(wc -l <"$dir/said")" = 1 ] || fail "says: $(cat "$dir/said")"
grep -q " $dir/actor.conf: cannot be read: this libactor was built without libconfig\$" \
	"$dir/said" || fail "says: $(cat "$dir/said")"

# And with it, from the environment of a program that knows nothing of it.
if ! nm -u "$build/runtime/configtree.o" | grep -q config_read_string; then
	echo 'SKIP libconfig is not there: make deps installs it'
	exit 77
fi
echo 'actor = { throughput = 0; };' >"$dir/actor.conf"
ACTOR_CONFIG=$dir/actor.conf "$build/examples/hello" >"$dir/out" 2>"$dir/said" && fail 'takes a wrong file'
grep -q " $dir/actor.conf:1: actor.throughput = 0 is not allowed: a whole number" \
	"$dir/said" || fail "hello says: $(cat "$dir/said")"
echo 'actor = { throughput = 1; };' >"$dir/actor.conf"
[ "$(ACTOR_CONFIG=$dir/actor.conf "$build/examples/hello")" = 'hello, world' ] || fail 'hello'
