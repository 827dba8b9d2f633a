# SPDX-License-Identifier: MIT
# The collector: all but main in an archive, which the tests link too, and the program.

PROBE_SOURCES := $(sort $(wildcard probe/*.c))
PROBE_PROTOS  := $(sort $(wildcard probe/*.proto))
PROBE_WIRE    := $(PROBE_PROTOS:%.proto=$(B)/%.pb-c.c)
PROBE_HEADERS := $(wildcard probe/*.h) runtime/abi.h $(B)/bpf/bounds.h $(PROBE_WIRE:%.c=%.h)
PROBE_OBJECTS := $(PROBE_SOURCES:%.c=$(B)/%.o) $(PROBE_WIRE:%.c=%.o)
PROBE_ARCHIVE := $(B)/probe/libprobe.a
PROBE_LIBS    := -lbpf -lelf -lz -lzstd -lmicrohttpd -lprotobuf-c -lcurl -ljansson -lm -pthread

TARGETS += $(B)/actorprobe

$(B)/probe/%.o: probe/%.c $(PROBE_HEADERS) probe/rules.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DACTORPROBE_VERSION='"$(VERSION)"' -c -o $@ $<

# Messages of foreign formats, by field number.
.PRECIOUS: $(B)/probe/%.pb-c.c $(B)/probe/%.pb-c.h
$(B)/probe/%.pb-c.c $(B)/probe/%.pb-c.h: probe/%.proto
	$(call say,PROTO,$@)
	@mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(B) $<

$(B)/probe/%.pb-c.o: $(B)/probe/%.pb-c.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -w -c -o $@ $<

# Only who loads the programs waits for the skeleton.
PROBE_LOADERS := $(shell grep -l 'skel\.h"' $(PROBE_SOURCES) /dev/null)
$(PROBE_LOADERS:%.c=$(B)/%.o): $(BPF_SKELETON)

$(PROBE_ARCHIVE): $(filter-out $(B)/probe/main.o,$(PROBE_OBJECTS))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/actorprobe: $(B)/probe/main.o $(PROBE_ARCHIVE)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PROBE_LIBS)
