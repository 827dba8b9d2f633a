#!/bin/sh
# SPDX-License-Identifier: MIT
# `make deps` on machines that lack packages, played by a PATH of a few commands.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	cat "$dir/out" "$dir/err" >&2
	echo "test_deps: $*" >&2
	exit 1
}

# No compiler, no dpkg-query: each package is missing.
for tool in sh make grep; do
	ln -s "$(command -v $tool)" "$dir/$tool"
done

# With these arguments of make; what it prints goes to files.
deps() {
	env -i PATH="$dir" make --no-print-directory deps "$@" >"$dir/out" 2>"$dir/err"
}

stub() { # name, what it does
	rm -f "$dir/$1"
	printf '#!%s\n%s\n' "$dir/sh" "$2" >"$dir/$1"
	chmod +x "$dir/$1"
}

# One sentence, and what make itself says when a recipe fails.
one_sentence() { # what it holds
	[ "$(grep -vc '^make: \*\*\* ' "$dir/err")" -eq 1 ] || fail 'not one sentence'
	grep -qF "$1" "$dir/err" || fail "it does not say: $1"
	[ ! -s "$dir/out" ] || fail 'it says something else, too'
}

deps && fail 'without apt-get it ends with 0'
one_sentence 'no apt-get here'

stub apt-get "echo \"\$*\" >>$dir/asked"
stub id 'echo 1000'
deps && fail 'not root, it ends with 0'
one_sentence 'run `make deps` as root, or apt-get install gcc '
[ ! -e "$dir/asked" ] || fail 'apt-get was asked by somebody who is not root'

stub id 'echo 0'
deps PACKAGES='one two' || fail "as root it ends with $?"
[ ! -s "$dir/err" ] || fail 'as root it complains'
grep -q ' update$' "$dir/asked" || fail 'the lists were not fetched'
grep -q ' install .* one two$' "$dir/asked" || fail 'the packages were not installed'

stub apt-get 'exit 100'
deps PACKAGES='one two' && fail 'apt-get fails, and it ends with 0'
grep -q 'by hand: one two$' "$dir/err" || fail 'it does not say what to do by hand'

stub dpkg-query 'echo install ok installed'
deps || fail "with all packages it ends with $?"
grep -q 'nothing missing' "$dir/out" || fail 'it installs what is there'
echo 'test_deps: fine'
