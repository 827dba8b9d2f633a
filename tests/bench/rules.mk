# SPDX-License-Identifier: MIT
# `make bench`: installs the peers, builds into $(B)/bench, runs all suites side by side.
# `make bench-quick`: a few of them, with what is there already.

BENCH        := $(B)/bench
BENCH_SOURCES := $(wildcard tests/bench/*.c)
BENCH_HEADERS := $(wildcard tests/bench/*.h tests/bench/peers/trace/*.h)
SAVINA_FILES := $(wildcard tests/bench/savina/*.[ch])
SAVINA_CAF   := $(wildcard tests/bench/peers/caf/savina/*.hpp)
BENCH_LIB    := $(BENCH)/prefix/lib/libactor.so.0
BENCH_NONE   := $(RUNTIME_SOURCES:%.c=$(BENCH)/none/%.pic.o)
BENCH_FLAGS   = -std=gnu11 -O2 -g $(WARNINGS) -I$(BENCH)/prefix/include -Itests/bench -pthread
BENCH_LINK    = -L$(BENCH)/prefix/lib -lactor -luv -pthread
BENCH_PACKAGES := g++ libcaf-dev erlang-base erlang-dev lttng-tools liblttng-ust-dev babeltrace \
	bpftrace valgrind systemtap-sdt-dev libuv1-dev python3-minimal util-linux

# Each observer gets a copy of the library of its own: traps belong to a file, and nobody shall pay
# for another one's.
BENCH_COPIES := off again ledger sampled trace bpftrace events lttng load
BENCH_ORDERS := 1 2 3
BENCH_LIBS   := $(BENCH_COPIES:%=$(BENCH)/lib/%/libactor.so.0) $(BENCH)/lib/none/libactor.so.0 \
	$(BENCH_ORDERS:%=$(BENCH)/lib/off-%/libactor.so.0) $(BENCH_ORDERS:%=$(BENCH)/lib/again-%/libactor.so.0) \
	$(BENCH_ORDERS:%=$(BENCH)/lib/none-%/libactor.so.0)

# Peers that can be built here; bench.py says which ones are missing.
BENCH_PEERS := $(BENCH)/limits $(BENCH)/uv_wake \
	$(if $(wildcard /usr/include/caf/all.hpp),$(BENCH)/bench_caf $(BENCH)/savina_caf) \
	$(if $(wildcard /usr/bin/erlc),$(BENCH)/peerbench.beam $(BENCH)/savina.beam) \
	$(if $(wildcard /usr/include/sys/sdt.h /usr/include/*/sys/sdt.h),$(BENCH)/bench_sdt) \
	$(if $(shell ls /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h 2>/dev/null),$(BENCH)/bench_lttng)

.PHONY: bench bench-quick bench-deps bench-build

$(BENCH_LIB): $(B)/libactor.a $(B)/libactor.so.0 $(B)/actorprobe runtime/actor.h
	$(Q)$(MAKE) --no-print-directory B=$(B) DESTDIR=$(abspath $(BENCH)/prefix) PREFIX= install
	$(Q)touch $@

$(BENCH)/none/%.pic.o: %.c $(RUNTIME_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DACTOR_NO_PROBES -Wno-unused-function $(RUNTIME_CFLAGS) -fPIC -c -o $@ $<

# Objects in the n-th order: sorted, backwards, odd ones first.
bench_order = $(if $(filter 2,$(1)),$(shell printf '%s\n' $(2) | tac),$(if $(filter 3,$(1)),\
	$(shell printf '%s\n' $(2) | awk 'NR % 2 {print; next} {rest = rest " " $$0} END {print rest}'),$(2)))
bench_shared = $(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libactor.so.0 $(RUNTIME_NAMES) -o $(1) $(2) $(RUNTIME_LIBS)

$(BENCH)/lib/none/libactor.so.0: $(BENCH_NONE)
	@mkdir -p $(@D)
	$(Q)$(call bench_shared,$@,$^)

$(BENCH_COPIES:%=$(BENCH)/lib/%/libactor.so.0): $(BENCH_LIB)
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BENCH_ORDERS:%=$(BENCH)/lib/off-%/libactor.so.0): $(RUNTIME_SHARED)
	@mkdir -p $(@D)
	$(Q)$(call bench_shared,$@,$(call bench_order,$(patsubst $(BENCH)/lib/off-%/libactor.so.0,%,$@),$^))

$(BENCH)/lib/again-%/libactor.so.0: $(BENCH)/lib/off-%/libactor.so.0
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BENCH_ORDERS:%=$(BENCH)/lib/none-%/libactor.so.0): $(BENCH_NONE)
	@mkdir -p $(@D)
	$(Q)$(call bench_shared,$@,$(call bench_order,$(patsubst $(BENCH)/lib/none-%/libactor.so.0,%,$@),$^))

$(BENCH)/bench: $(BENCH_SOURCES) $(BENCH_HEADERS) $(BENCH_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(BENCH_FLAGS) -Wl,-rpath,'$$ORIGIN/prefix/lib' -o $@ $(BENCH_SOURCES) $(BENCH_LINK)

$(BENCH)/savina: $(SAVINA_FILES) $(BENCH_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(BENCH_FLAGS) -Wl,-rpath,'$$ORIGIN/prefix/lib' -o $@ $(filter %.c,$(SAVINA_FILES)) \
		$(BENCH_LINK)

# With the examples' HTTP server.
$(BENCH)/mix: $(wildcard tests/bench/mix/*.[ch] runtime/examples/http.[ch]) runtime/examples/connection.c \
		runtime/examples/connection.h $(BENCH_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(BENCH_FLAGS) -I. -Wl,-rpath,'$$ORIGIN/prefix/lib' -o $@ $(filter %.c,$^) $(BENCH_LINK) \
		-lhttp_parser

$(BENCH)/bench_sdt: $(BENCH_SOURCES) $(BENCH_HEADERS) $(BENCH_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(BENCH_FLAGS) -DEVENTS_SDT -o $@ $(BENCH_SOURCES) $(BENCH_LINK)

$(BENCH)/bench_lttng: $(BENCH_SOURCES) $(BENCH_HEADERS) $(BENCH_LIB) tests/bench/peers/trace/peer_tp.c
	$(call say,LD,$@)
	$(Q)$(CC) $(BENCH_FLAGS) -Itests/bench/peers/trace -DEVENTS_LTTNG -o $@ $(BENCH_SOURCES) \
		tests/bench/peers/trace/peer_tp.c $(BENCH_LINK) -llttng-ust -ldl

$(BENCH)/limits: tests/bench/peers/limits/limits.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -o $@ $< -pthread

$(BENCH)/uv_wake: tests/bench/peers/uv/wake.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -o $@ $< -luv -pthread

$(BENCH)/bench_caf: tests/bench/peers/caf/bench_caf.cpp
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -Wall -Wextra -DNDEBUG -o $@ $< -lcaf_core -pthread

$(BENCH)/savina_caf: tests/bench/peers/caf/savina.cpp $(SAVINA_CAF)
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -Wall -Wextra -DNDEBUG -o $@ $< -lcaf_core -pthread

$(BENCH)/%.beam: tests/bench/peers/erlang/%.erl
	$(call say,ERLC,$@)
	@mkdir -p $(@D)
	$(Q)erlc -Wall -o $(@D) $<

bench-deps: deps
	$(Q)$(MAKE) --no-print-directory deps PACKAGES='$(BENCH_PACKAGES)'

bench-build: $(BENCH)/bench $(BENCH)/savina $(BENCH)/mix $(BENCH_LIBS) $(BENCH_PEERS)

# Packages first, then a make that finds them.
bench: bench-deps
	$(Q)$(MAKE) --no-print-directory bench-build
	$(Q)BENCH='$(BENCH)' /usr/bin/python3 -B tests/bench/bench.py $(SUITES)

bench-quick: bench-build
	$(Q)BENCH='$(BENCH)' /usr/bin/python3 -B tests/bench/bench.py --quick $(SUITES)
