#!/bin/sh
# SPDX-License-Identifier: MIT
# The dashboards are what their generator writes; they, the rules and the documentation obey the rules
# for dashboards and name only metrics and knobs that there are.
set -eu
cd "$(dirname "$0")/.."
python3 dashboards/generate.py --check
python3 tests/check_dashboards.py
