# SPDX-License-Identifier: MIT
# Each tests/test_*.c is a cmocka program of its own. Those that include tests/lab.h, or what builds
# on it, test the runtime alone; all others may use everything: the collector's archive, the runtime,
# helpers.

TEST_SOURCES    := $(sort $(wildcard tests/test_*.c))
TEST_OF_RUNTIME := $(shell grep -lE '"tests/(lab|misused|workload|court|family|crowd|pender|failing|configured|watching)\.h"' $(TEST_SOURCES) /dev/null)
TEST_OF_PROBE   := $(filter-out $(TEST_OF_RUNTIME),$(TEST_SOURCES))
TEST_HEADERS    := $(wildcard tests/*.h)
TEST_HELPERS    := $(patsubst %.c,$(B)/%.o,$(filter-out tests/lab.c tests/workload.c tests/court.c tests/family.c tests/crowd.c \
	tests/crowd_deeds.c tests/fake_target.c \
	tests/load.c tests/load_open.c tests/load_boxes.c tests/load_lives.c tests/test_% tests/fuzz_%,$(wildcard tests/*.c)))
TEST_PROGRAMS   := $(B)/tests/fake_target $(B)/tests/load $(B)/tests/load_open \
	$(B)/tests/load_boxes $(B)/tests/load_lives
TEST_FUZZERS    := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz_*.c))
TEST_OPTIONS    := -Wno-missing-prototypes -Wno-missing-field-initializers -DACTORPROBE_VERSION='"$(VERSION)"'

RUNTIME_TESTS := $(TEST_OF_RUNTIME:%.c=$(B)/%) $(B)/tests/test_header
PROBE_TESTS   := $(TEST_OF_PROBE:%.c=$(B)/%)
LONG_TESTS    := tests/test_empty.sh tests/test_types.sh tests/test_scrape.sh
SCRIPT_TESTS  := $(filter-out $(LONG_TESTS),$(sort $(wildcard tests/test_*.sh)))

# What a test may want to know of its build; the rest a sanitizer should do.
TEST_ENVIRONMENT := B='$(B)' CC='$(CC)' SAN='$(SAN)' CLANG='$(CLANG)' FAKE_TARGET='$(B)/tests/fake_target' \
	ASAN_OPTIONS='detect_leaks=1:abort_on_error=0' UBSAN_OPTIONS='print_stacktrace=1' \
	TSAN_OPTIONS='halt_on_error=0:exitcode=66:second_deadlock_stack=1:suppressions=$(CURDIR)/tests/thread.supp:print_suppressions=0'

.PHONY: test-everything test-build test-runtime test-run

$(B)/tests/%.o: tests/%.c $(TEST_HEADERS) $(RUNTIME_HEADERS) tests/rules.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_OPTIONS) -c -o $@ $<

$(TEST_OF_PROBE:%.c=$(B)/%.o): $(PROBE_HEADERS)
# A helper of theirs that knows the bounds.
$(B)/tests/collected.o: $(B)/bpf/bounds.h

$(TEST_OF_RUNTIME:%.c=$(B)/%): $(B)/tests/%: $(B)/tests/%.o $(B)/tests/lab.o $(B)/tests/workload.o \
	$(B)/tests/court.o $(B)/tests/family.o $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(TEST_LIBS) \
		$(RUNTIME_LIBS)

$(B)/tests/test_everything $(B)/tests/test_scarce: $(B)/tests/crowd.o $(B)/tests/crowd_deeds.o
$(B)/tests/test_wrappers $(B)/tests/load: $(EXAMPLE_DISPATCHERS)
$(B)/tests/test_wrappers.o $(B)/tests/load.o: $(EXAMPLE_HEADERS)
$(B)/tests/test_wrappers.o $(B)/tests/load.o: ALL_CFLAGS += -I$(B)/include
$(B)/tests/test_health: TEST_LIBS := -ljansson

$(PROBE_TESTS): $(B)/tests/%: $(B)/tests/%.o $(TEST_HELPERS) $(PROBE_ARCHIVE) $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lcmocka $(PROBE_LIBS) $(RUNTIME_LIBS)

$(TEST_PROGRAMS): $(B)/tests/%: $(B)/tests/%.o $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(RUNTIME_LIBS)

# The public header in a C++ program.
$(B)/tests/test_header: tests/test_header.cc runtime/actor.h $(B)/libactor.a
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 -Wall -Wextra -Werror -I. -pthread $(SAN) -o $@ $< $(B)/libactor.a \
		-lcmocka $(RUNTIME_LIBS)

$(B)/tests/fuzz_%: tests/fuzz_%.c $(PROBE_HEADERS) $(PROBE_SOURCES) $(PROBE_WIRE)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -I. -I$(B) \
		-DACTORPROBE_VERSION='"$(VERSION)"' -o $@ $< \
		$(filter-out probe/main.c,$(PROBE_SOURCES)) $(PROBE_WIRE) $(PROBE_LIBS)

# What reads configuration files is of the runtime.
$(B)/tests/fuzz_config: tests/fuzz_config.c $(RUNTIME_HEADERS) $(RUNTIME_SOURCES)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -I. -o $@ $< \
		$(RUNTIME_SOURCES) $(RUNTIME_LIBS)

test-build: all $(TEST_PROGRAMS) $(RUNTIME_TESTS) $(PROBE_TESTS)

# All features at once, on three loops, by chance.
test-everything: $(B)/tests/test_everything
	$(Q)$(TEST_ENVIRONMENT) tests/run $<

test-run: test-build
	$(Q)$(TEST_ENVIRONMENT) tests/run $(RUNTIME_TESTS) $(PROBE_TESTS) $(SCRIPT_TESTS)

# The runtime's tests only, for builds with sanitizers:
#   make B=build/thread SAN=-fsanitize=thread test-runtime
test-runtime: $(RUNTIME_TESTS)
	$(Q)$(TEST_ENVIRONMENT) tests/run $(RUNTIME_TESTS)

# For builds with sanitizers: all programs, reduced where tests/sanitized.h is asked. Left out are the
# scripts, which build and start programs without a sanitizer.
UNIT_TESTS := $(RUNTIME_TESTS) $(PROBE_TESTS)
.PHONY: test-unit
test-unit: $(B)/actorprobe $(B)/libactor.so.0 $(B)/examples/shop $(TEST_PROGRAMS) $(UNIT_TESTS)
	$(Q)$(TEST_ENVIRONMENT) tests/run $(UNIT_TESTS)

# Packages first, then a make that finds them.
test: deps stack-tools
	$(Q)$(MAKE) --no-print-directory test-run

# Each fuzzer for a few seconds.
.PHONY: fuzz-short
fuzz-short: $(TEST_FUZZERS)
	$(Q)for f in $(TEST_FUZZERS); do echo "  RUN      $$f"; \
		$$f -max_total_time=$${FUZZ_SECONDS:-10} -verbosity=0 -close_fd_mask=3 || exit 1; done

# Longer: the seeded stress for minutes, 2000 attaches, the two commands on empty machines, each
# fuzzer for one minute; STRESS_SEED repeats a run.
test-long: deps stack-tools
	$(Q)$(MAKE) --no-print-directory test-build $(TEST_FUZZERS)
	$(Q)$(TEST_ENVIRONMENT) STRESS_SECONDS=$${STRESS_SECONDS:-300} TEST_SECONDS=900 \
		tests/run $(B)/tests/test_stress
	$(Q)for how in address,undefined thread; do \
		$(MAKE) --no-print-directory B=build/$${how%%,*} SAN="-fsanitize=$$how" \
			EVERYTHING_SECONDS=$${EVERYTHING_SECONDS:-600} TEST_SECONDS=900 \
			test-everything || exit 1; done
	$(Q)$(TEST_ENVIRONMENT) LEAVE_FACTOR=$${LEAVE_FACTOR:-10} TEST_SECONDS=900 \
		tests/run $(B)/tests/test_leave
	$(Q)$(TEST_ENVIRONMENT) AWAY_SECONDS=60 tests/run $(B)/tests/test_push
	$(Q)$(TEST_ENVIRONMENT) NOTES_OF_ALL=1 TEST_SECONDS=2400 tests/run $(LONG_TESTS) \
		tests/test_probe_notes.sh
	$(Q)for f in $(TEST_FUZZERS); do echo "  RUN      $$f"; \
		$$f -max_total_time=$${FUZZ_SECONDS:-60} -verbosity=0 || exit 1; done

include tests/bench/rules.mk

# Causes of waiting and what looks like them, diagnosed: prints the confusion matrix.
#   make scenarios SCENARIOS='--only flood,unfair --seeds 1'
SCENARIO_OBJECTS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/scenarios/*.c))

$(SCENARIO_OBJECTS): $(B)/%.o: %.c $(wildcard tests/scenarios/*.h) runtime/actor.h tests/rules.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_OPTIONS) -c -o $@ $<

$(B)/tests/scenario: $(SCENARIO_OBJECTS) $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(RUNTIME_LIBS)

test-build: $(B)/tests/scenario

.PHONY: scenarios
scenarios: $(B)/tests/scenario $(B)/actorprobe
	$(Q)python3 tests/scenarios/run.py $(B) $(SCENARIOS)
