#!/bin/sh
# SPDX-License-Identifier: MIT
# Real Prometheus servers have what `actorprobe hist` prints: see check_quantiles.py.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
PATH=$PWD/$build/stack/bin:$PATH
if [ "$(id -u)" != 0 ]; then
	echo 'SKIP not root: the exporter needs to attach'
	exit 77
fi
if ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; then
	echo 'SKIP no Prometheus and Alertmanager: `make test` fetches them'
	exit 77
fi
exec python3 tests/check_quantiles.py "$build"
