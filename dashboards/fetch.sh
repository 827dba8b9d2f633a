#!/bin/sh
# SPDX-License-Identifier: MIT
# Unpacks Debian's Prometheus and Alertmanager into a directory of this build. Installed, they would
# start by themselves as services; unpacked, they run when they are told to.
#
#   fetch.sh DIRECTORY    afterwards DIRECTORY/bin has prometheus, promtool, alertmanager, amtool
set -eu
dir=${1:?usage: fetch.sh DIRECTORY}
programs='prometheus promtool alertmanager amtool'

complete() {
	for program in $programs; do
		"$dir/bin/$program" --version >/dev/null 2>&1 || return 1
	done
}

# What is installed already is taken as it is.
link_installed() {
	for program in $programs; do
		for name in "/usr/bin/prometheus-$program" "/usr/bin/$program"; do
			[ ! -x "$name" ] || ln -sf "$name" "$dir/bin/$program"
		done
	done
}

download() {
	(cd "$dir/packages" && apt-get -qq -o Acquire::Retries=3 download prometheus prometheus-alertmanager) \
		>"$dir/log" 2>&1
}

mkdir -p "$dir/bin" "$dir/packages"
complete && exit
link_installed
complete && exit
echo "  FETCH    prometheus prometheus-alertmanager"
download || { [ "$(id -u)" = 0 ] && apt-get -qq update >/dev/null 2>&1 && download; } ||
	{ echo "  FETCH    failed: install the Debian packages prometheus and prometheus-alertmanager" \
		"by hand" >&2; exit 1; }
for package in "$dir"/packages/*.deb; do
	dpkg -x "$package" "$dir/packages/root"
done
rm -f "$dir"/packages/*.deb
for program in $programs; do
	for name in "prometheus-$program" "$program"; do
		[ ! -x "$dir/packages/root/usr/bin/$name" ] ||
			ln -sf "../packages/root/usr/bin/$name" "$dir/bin/$program"
	done
done
complete || { echo "  FETCH    failed: what was unpacked into $dir does not run here" >&2; exit 1; }
