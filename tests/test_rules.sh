#!/bin/sh
# SPDX-License-Identifier: MIT
# Each alert fires when it should and only then; Prometheus and Alertmanager take their files.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/${B:-build}/stack/bin:$PATH

if ! command -v promtool >/dev/null || ! command -v amtool >/dev/null; then
	echo 'SKIP no promtool and amtool: `make test` fetches them, or install prometheus and' \
		'prometheus-alertmanager'
	exit 77
fi
promtool check config dashboards/prometheus.yml
promtool test rules tests/rules_test.yml
amtool check-config dashboards/alertmanager.yml
