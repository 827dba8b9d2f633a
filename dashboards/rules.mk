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

# Prometheus, Alertmanager, an exporter and the demo shop on loopback, until ctrl-C.
# LOAD="--load 3000 --price-us 200" tries another load.
.PHONY: stack
stack: stack-tools
	$(Q)$(MAKE) --no-print-directory all
	$(Q)python3 dashboards/stack.py $(B) $(LOAD)
