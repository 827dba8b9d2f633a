#!/bin/sh
# SPDX-License-Identifier: MIT
# A minute of scrapes by a real Prometheus, see check_scrape.py.
set -eu
cd "$(dirname "$0")/.."
build=${B:-build}
PATH=$PWD/$build/stack/bin:$PATH
if [ "$(id -u)" != 0 ]; then
	echo 'SKIP not root: the exporter needs to attach'
	exit 77
fi
if ! command -v prometheus >/dev/null || ! "$build/stack/bin/alertmanager" --version >/dev/null 2>&1; then
	echo 'SKIP no Prometheus and Alertmanager: `make test-long` fetches them'
	exit 77
fi
exec python3 tests/check_scrape.py "$build"
