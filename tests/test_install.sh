#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty directory and uses what is there, as another project would.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "test_install: $*" >&2
	exit 1
}

make --no-print-directory B="$build" DESTDIR="$dir" PREFIX=/opt/actor install >/dev/null
root=$dir/opt/actor

# Exactly these files; the layout of records stays inside.
(cd "$root" && find . ! -type d | sort) >"$dir/files"
cat >"$dir/wanted" <<'END'
./bin/actorprobe
./include/actor.h
./include/actor_test.h
./lib/libactor.a
./lib/libactor.so
./lib/libactor.so.0
./lib/pkgconfig/libactor.pc
./share/man/man1/actorprobe.1
./share/man/man3/libactor-test.3
./share/man/man3/libactor.3
END
diff "$dir/wanted" "$dir/files" >&2 || fail 'the installed files are not the wanted ones'
grep -q "$dir" "$root/lib/pkgconfig/libactor.pc" && fail 'libactor.pc names the staging directory'

# Only the public names are visible, and every function and variable of the headers is there.
nm -D --defined-only "$root/lib/libactor.so" | awk '{print $3}' | sort >"$dir/exported"
grep -v '^actor_[a-z]' "$dir/exported" >&2 && fail 'the shared library exports other names'
grep -q '^actor__' "$dir/exported" && fail 'the shared library exports private names'
# header, page: the manual page names all of the header's, and nothing else.
check_page() {
	grep -v '^#' "$root/include/$1" | tr '\n' ' ' | grep -oE 'ACTOR_EXPORT [^;]*;' |
		sed -E 's/^[^(]*[ *](actor_[a-z_]+)\(.*/\1/; s/^[^(]*[ *](actor_[a-z_]+);/\1/' |
		sort -u >"$dir/declared"
	[ -s "$dir/declared" ] || fail "found no function in $1"
	comm -23 "$dir/declared" "$dir/exported" >"$dir/absent"
	[ ! -s "$dir/absent" ] || fail "declared, but not exported: $(tr '\n' ' ' <"$dir/absent")"
	sed -nE 's/^\.BR? (actor_[a-z_]+).*/\1/p' "$root/share/man/man3/$2.3" |
		{ grep -vxE "$3" || true; } | sort -u >"$dir/described"
	comm -23 "$dir/declared" "$dir/described" >"$dir/absent"
	[ ! -s "$dir/absent" ] || fail "$2(3) does not name: $(tr '\n' ' ' <"$dir/absent")"
	comm -13 "$dir/declared" "$dir/described" >"$dir/absent"
	[ ! -s "$dir/absent" ] || fail "$2(3) names what there is not: $(tr '\n' ' ' <"$dir/absent")"
}
check_page actor.h libactor actor_ref
check_page actor_test.h libactor-test 'actor_system_tell'

# pkg-config as a user calls it, plus the staging directory in front.
export PKG_CONFIG_PATH="$root/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir"
cflags=$(pkg-config --cflags libactor)
libs=$(pkg-config --libs libactor)
static=$(pkg-config --static --libs libactor)
cp runtime/examples/hello.c "$dir/hello.c"
cd "$dir"
# shellcheck disable=SC2086
{
	gcc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror $cflags hello.c -o shared $libs
	gcc -std=gnu11 $cflags hello.c -o static "$root/lib/libactor.a" \
		$(printf '%s' "$static" | sed 's/-lactor//')
	printf '#include <actor.h>\nint main() { return actor_version()[0] != 48; }\n' >version.cc
	g++ -std=c++17 -Wall -Wextra -Werror $cflags version.cc -o plusplus $libs
	sed -n '/^#include <actor_test.h>$/,/^\.fi$/p' "$root/share/man/man3/libactor-test.3" |
		sed '/^\.fi$/d; s/\\-/-/g' >page.c
	gcc -std=gnu11 -Wall -Wextra -Werror $cflags page.c -o page $libs
}
for program in shared static; do
	[ "$(LD_LIBRARY_PATH=$root/lib ./$program)" = 'hello, world' ] || fail "$program hello"
done
LD_LIBRARY_PATH=$root/lib ./page || fail 'the example of libactor-test(3)'
LD_LIBRARY_PATH=$root/lib ./plusplus || fail 'the C++ program'
ldd ./static | grep -q libactor && fail 'the static program asks for the shared library'
"$root/bin/actorprobe" --version >/dev/null || fail 'actorprobe --version'

cd - >/dev/null
make --no-print-directory B="$build" DESTDIR="$dir" PREFIX=/opt/actor uninstall >/dev/null
[ -z "$(find "$root" ! -type d)" ] || fail 'uninstall leaves files behind'
