#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the README to the code: its probes, its metrics, its options. Programs: test_snippets.sh.
set -eu
cd "$(dirname "$0")/.."
bad=0
complain() {
	echo "test_readme: $*"
	bad=1
}

for probe in $(sed -n 's/^\tX(\([a-z_]*\), [0-9]).*/\1/p' runtime/abi.h); do
	grep -q "\`$probe\`" README.md || complain "it does not explain the probe $probe"
done
for family in $(grep -oE '"actor_[a-z_]+"' probe/metric.c | tr -d '"'); do
	grep -q "\`$family\`" README.md || complain "it does not name the metric $family"
done
for family in $(grep -oE '`actor_[a-z_]+`' README.md | tr -d '`' | sort -u); do
	grep -q "\"$family\"" probe/metric.c || complain "no metric is called $family"
done
for option in $(grep -oE 'actorprobe [^|#]*' README.md | grep -oE '(^| )--[a-z-]+' | sort -u); do
	grep -qF -- "${option#--}" probe/option.c || complain "actorprobe has no option $option"
done
for file in $(grep -oE '(runtime|probe|bpf|tests)/[a-z_./]+\.(c|h|1|sh)' README.md | sort -u); do
	[ -e "$file" ] || complain "there is no $file"
done
if [ $bad = 0 ]; then echo "test_readme: probes, metrics and options are those of the code"; fi
exit $bad
