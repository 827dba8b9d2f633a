# SPDX-License-Identifier: MIT
# The table of bounds, the BPF programs and their skeleton.

# Asked when it is needed: the first make on a machine may find no compiler.
BPF_ARCH = $(if $(filter aarch64%,$(shell $(CC) -dumpmachine)),arm64,x86)
BPF_SYSTEM_INCLUDE = /usr/include/$(shell $(CC) -print-multiarch)
BPF_HEADERS := $(wildcard bpf/*.h) runtime/abi.h $(B)/bpf/bounds.h
BPF_SKELETON := $(B)/bpf/actorprobe.skel.h $(B)/bpf/schedule.skel.h

.PRECIOUS: $(B)/bpf/%.bpf.o

$(B)/bpf/bounds_gen: bpf/bounds_gen.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -o $@ $<

$(B)/bpf/bounds.h: $(B)/bpf/bounds_gen
	$(call say,GEN,$@)
	$(Q)$< > $@.new && mv $@.new $@

# -mcpu=v3: atomic compare and exchange.
$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(BPF_HEADERS)
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -ffreestanding -std=gnu11 -Wall -Wextra $(WERROR) \
		-D__TARGET_ARCH_$(BPF_ARCH) -I. -I$(B) -idirafter $(BPF_SYSTEM_INCLUDE) -c -o $@ $<

# The structure of the scheduler's programs must not be called as the module that loads them.
$(B)/bpf/schedule.skel.h: SKELETON_NAME = schedule_bpf
SKELETON_NAME = $*

$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(SKELETON_NAME) > $@.new && mv $@.new $@
