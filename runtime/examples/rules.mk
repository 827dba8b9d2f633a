# SPDX-License-Identifier: MIT
# The examples. They see of libactor what an installed program sees: <actor.h> and <actor_test.h>.

SHOP_OBJECTS := $(addprefix $(B)/examples/,shop.o options.o store.o http.o \
	connection.o load.o)
EXAMPLE_HEADERS := $(wildcard runtime/examples/*.h) $(B)/include/actor.h $(B)/include/actor_test.h

TARGETS += $(B)/examples/hello $(B)/examples/shop

$(B)/include/actor.h $(B)/include/actor_test.h: $(B)/include/%.h: runtime/%.h
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/examples/%.o: runtime/examples/%.c $(EXAMPLE_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -pthread $(SAN) $(CFLAGS) -I$(B)/include -c -o $@ $<

$(B)/examples/hello: $(B)/examples/hello.o $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(RUNTIME_LIBS)

$(B)/examples/shop: $(SHOP_OBJECTS) $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lhttp_parser -lm $(RUNTIME_LIBS)

# The programs of ../writing-actors.md.
SNIPPETS      := pipeline supervision ask timers dispatcher testing
HTTP_SNIPPETS := server heavy

TARGETS += $(addprefix $(B)/examples/,$(SNIPPETS) $(HTTP_SNIPPETS))

$(SNIPPETS:%=$(B)/examples/%): %: %.o $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(RUNTIME_LIBS)

$(HTTP_SNIPPETS:%=$(B)/examples/%): %: %.o $(addprefix $(B)/examples/,http.o connection.o) $(B)/libactor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lhttp_parser $(RUNTIME_LIBS)

# Dispatchers to take over or to learn from; tests/test_wrappers.c uses them.
EXAMPLE_DISPATCHERS := $(addprefix $(B)/examples/,tracing.o metering.o fastlane.o)

TARGETS += $(EXAMPLE_DISPATCHERS)

# The demonstration, see demo.sh. LOAD="--load 3000 --price-us 200" tries another load.
TARGETS += $(B)/examples/sentence
LOAD ?=

$(B)/examples/sentence: $(B)/examples/sentence.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -ljansson

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)sh runtime/examples/demo.sh $(B) $(LOAD)
