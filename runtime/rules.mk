# SPDX-License-Identifier: MIT
# libactor, static and shared, and the example programs.

RUNTIME_SOURCES := $(sort $(wildcard runtime/*.c))
RUNTIME_HEADERS := $(wildcard runtime/*.h)
RUNTIME_LIBS    := -luv -pthread
RUNTIME_STATIC  := $(RUNTIME_SOURCES:%.c=$(B)/%.o)
RUNTIME_SHARED  := $(RUNTIME_SOURCES:%.c=$(B)/%.pic.o)

TARGETS += $(B)/libactor.a $(B)/libactor.so

$(B)/runtime/%.o: runtime/%.c $(RUNTIME_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fvisibility=hidden -c -o $@ $<

$(B)/runtime/%.pic.o: runtime/%.c $(RUNTIME_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fvisibility=hidden -fPIC -c -o $@ $<

$(B)/libactor.a: $(RUNTIME_STATIC)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/libactor.so.0: $(RUNTIME_SHARED)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libactor.so.0 -o $@ $^ $(RUNTIME_LIBS)

$(B)/libactor.so: $(B)/libactor.so.0
	$(Q)ln -sf libactor.so.0 $@

include runtime/examples/rules.mk
