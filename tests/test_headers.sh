#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone, without a warning: as C11 and C++17, by gcc and clang. So do its
# macros and a use of its structures. -std=c11 hides what libuv's header needs of POSIX.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

cat >"$dir/use" <<'END'
#include "HEADER"
static struct actor_type type = ACTOR_TYPE("type");
static const int codes[] = {
#define CODE(code, name, text) name,
	ACTOR_ERRORS(CODE)
#undef CODE
};
static const char *const phases[] = {
#define PHASE(phase, text) text,
	ACTOR_SHUTDOWN_PHASES(PHASE)
#undef PHASE
};
int use(struct actor_ctx *ctx);
int use(struct actor_ctx *ctx)
{
	actor_ref ref = ACTOR_NONE;
	int rank_last = ACTOR_RANK_LAST > ACTOR_HIGH_WATER;
	return codes[0] + (phases[0] != 0) + rank_last + actor_tell(ctx, ref, &type, 0, 0);
}
END

checks=0
for header in actor.h actor_test.h; do
	sed "s/HEADER/$header/" "$dir/use" >"$dir/use.c"
	cp "$dir/use.c" "$dir/use.cc"
	echo "#include \"$header\"" >"$dir/alone.c"
	cp "$dir/alone.c" "$dir/alone.cc"
	for compiler in gcc clang g++ clang++; do
		case $compiler in
		*++) standard='-std=c++17' suffix=cc ;;
		*) standard='-std=c11 -D_POSIX_C_SOURCE=200809L -Wstrict-prototypes' suffix=c ;;
		esac
		for program in alone use; do
			checks=$((checks + 1))
			# shellcheck disable=SC2086
			$compiler $standard -Wall -Wextra -Wpedantic -Werror -pthread -Iruntime \
				-fsyntax-only "$dir/$program.$suffix" && continue
			echo "test_headers: $compiler $standard: $program $header" >&2
			bad=1
		done
	done
done
if [ $bad = 0 ]; then echo "test_headers: $checks compile"; fi
exit $bad
