# SPDX-License-Identifier: MIT
# Dashboards, rules, and the servers that show them.

STACK := $(B)/stack

.PHONY: dashboards stack-tools

# Writes the JSON anew after a change of what generates it.
dashboards:
	$(Q)python3 dashboards/generate.py

# Tests that need these say why they are skipped when there are none.
stack-tools: deps
	$(Q)sh dashboards/fetch.sh $(STACK) || true
