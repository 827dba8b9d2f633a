#!/bin/sh
# SPDX-License-Identifier: MIT
# A few of the scenarios, diagnosed: the rest is `make scenarios`.
set -eu
cd "$(dirname "$0")/.."
exec python3 tests/scenarios/run.py "${B:-build}" --lenient --strengths 2 --seeds 1 --seconds 2 \
	--least 1 --only healthy-light,block-sleep,stuck-read,budget-high
