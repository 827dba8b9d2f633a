#!/bin/sh
# SPDX-License-Identifier: MIT
# On an empty machine `make demo` and `make test` each work as the first command.
#
#   test_empty.sh [TARGET...]   for each target a minimal Debian 12 with nothing but make, git and
#                               ca-certificates, in which it is made first; default: demo test
#   TMPDIR=/var/tmp             where they are built; 3 GB, on a file system with device nodes
#
# All mounts live in a mount namespace of their own and go with its last process, however it ends.
set -eu

case $0 in
/*) self=$0 ;;
*) self=$PWD/$0 ;;
esac
suite=bookworm
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
	echo "test_empty: $*" >&2
	exit 1
}

# Lines of sources.list: this machine's for the suite, or else the usual ones.
sources() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v suite=$suite '$2 ~ "^" suite "(-updates|-security)?$" && $3 == "main"' |
		sort -u >"$1/sources"
	if ! grep -q " $suite main" "$1/sources"; then
		printf '%s main\n' "http://deb.debian.org/debian $suite" \
			"http://deb.debian.org/debian $suite-updates" \
			"http://deb.debian.org/debian-security $suite-security" >"$1/sources"
	fi
}

# Role: a machine on which nothing was done yet, but the sources are there.
build() { # directory
	sources "$1"
	mirror=$(awk -v suite=$suite '$2 == suite { print $1; exit }' "$1/sources")
	debootstrap --variant=minbase --include=make,git,ca-certificates $suite "$1/base" "$mirror" \
		>"$1/log" 2>&1 || { tail -5 "$1/log" >&2; fail 'debootstrap failed'; }
	sed 's/^/deb /' "$1/sources" >"$1/base/etc/apt/sources.list"
	apt-config dump | grep -iE '^Acquire::(https?::|Check-|Retries)' \
		>"$1/base/etc/apt/apt.conf.d/90host" || true
	[ ! -e "$1/base/usr/bin/gcc" ] || fail 'the empty machine has a compiler'
	mkdir "$1/base/root/actorprobe"
	tar -c --exclude=./.git --exclude=./build . | tar -x --no-same-owner -C "$1/base/root/actorprobe"
}

# Role: the machine's root becomes this namespace's, and its first command runs.
enter() { # directory, target
	cp -a "$1/base" "$1/$2"
	mount --bind "$1/$2" "$1/$2"
	cd "$1/$2"
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	mount -t tracefs tracefs sys/kernel/tracing
	mount -t bpf bpf sys/fs/bpf
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
	mount -t tmpfs tmpfs dev/shm
	pivot_root . mnt
	cd /root/actorprobe
	umount -l /mnt
	exec env -i PATH=$path HOME=/root TERM=dumb ${http_proxy:+http_proxy="$http_proxy"} make "$2"
}

case ${1-} in
--build)
	build "$2"
	exit
	;;
--enter)
	enter "$2" "$3"
	;;
esac

cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
	echo 'SKIP an empty machine needs root, to mount and to change the root'
	exit 77
fi
if ! make --no-print-directory deps PACKAGES=debootstrap; then
	echo 'SKIP an empty machine needs debootstrap, which cannot be installed'
	exit 77
fi

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/empty.XXXXXX")
here=$(readlink /proc/self/ns/mnt)
child=

# Runs a role of this script in a mount namespace, which descriptor 9 keeps: its name stays its own.
apart() { # role, arguments...
	unshare --mount --propagation private sh "$self" "$@" &
	child=$!
	until [ "$(readlink /proc/$child/ns/mnt)" != "$here" ]; do
		sleep 0.1
	done
	command exec 9</proc/$child/ns/mnt || fail 'it ended before it began'
	wait $child
}

# Ends one after another what lives in that namespace, until nothing does: its mounts go with it.
end_apart() {
	there=$(readlink /proc/$$/fd/9 || echo none)
	[ "$there" != "$here" ] || fail 'this is no namespace of its own'
	found=yes
	while [ $found = yes ]; do
		found=no
		for link in /proc/[0-9]*/ns/mnt; do
			[ "$(readlink "$link" 2>/dev/null)" = "$there" ] || continue
			found=yes
			pid=${link#/proc/}
			kill -KILL "${pid%%/*}" 2>/dev/null || true
		done
	done
	wait $child 2>/dev/null || true
	child=
	exec 9<&-
}

finish() {
	[ -z "$child" ] || end_apart
	if grep -qF "$dir" /proc/self/mountinfo; then
		echo "test_empty: $dir holds mounts, so it stays" >&2
	else
		rm -rf --one-file-system "$dir"
	fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

apart --build "$dir" || fail 'there is no empty machine'
end_apart

[ $# -gt 0 ] || set -- demo test
for target; do
	began=$(date +%s)
	apart --enter "$dir" "$target" >"$dir/log" 2>&1 ||
		{ tail -40 "$dir/log" >&2; fail "make $target failed"; }
	end_apart
	grep -q '^  DEPS     installing gcc ' "$dir/log" || fail "make $target installed no compiler"
	if grep -E 'not found|No such file' "$dir/log" >&2; then
		fail "make $target misses something"
	fi
	case $target in
	demo) grep -q '^== what that means' "$dir/log" || fail 'make demo says nothing' ;;
	test) tail -1 "$dir/log" | grep -q ' passed, 0 failed, 0 skipped$' ||
		{ grep -E 'SKIP|passed' "$dir/log" >&2; fail 'make test skipped something'; } ;;
	esac
	echo "test_empty: make $target worked as the first command, in $(($(date +%s) - began)) s"
	rm -rf --one-file-system "${dir:?}/$target"
done
