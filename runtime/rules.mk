# SPDX-License-Identifier: MIT
# libactor, static and shared, and the example programs.

RUNTIME_SOURCES := $(sort $(wildcard runtime/*.c))
RUNTIME_HEADERS := $(wildcard runtime/*.h)
# Hot functions and loops at cache lines: the same speed whatever is linked before them.
RUNTIME_CFLAGS  := -fvisibility=hidden -falign-functions=64 -falign-loops=32 -fno-tree-slp-vectorize
# `make LIBCONFIG=` builds without configuration files.
LIBCONFIG       := $(shell pkg-config --exists libconfig 2>/dev/null && echo libconfig)
RUNTIME_LIBS    := $(if $(LIBCONFIG),$(shell pkg-config --libs libconfig)) -luv -pthread
RUNTIME_CFLAGS  += $(if $(LIBCONFIG),,-DACTOR_NO_LIBCONFIG)
RUNTIME_NAMES   := -Wl,--version-script=runtime/libactor.map
RUNTIME_STATIC  := $(RUNTIME_SOURCES:%.c=$(B)/%.o)
RUNTIME_SHARED  := $(RUNTIME_SOURCES:%.c=$(B)/%.pic.o)

TARGETS += $(B)/libactor.a $(B)/libactor.so

$(B)/runtime/%.o: runtime/%.c $(RUNTIME_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(RUNTIME_CFLAGS) -c -o $@ $<

$(B)/runtime/%.pic.o: runtime/%.c $(RUNTIME_HEADERS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(RUNTIME_CFLAGS) -fPIC -c -o $@ $<

$(B)/libactor.a: $(RUNTIME_STATIC)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/libactor.so.0: $(RUNTIME_SHARED) runtime/libactor.map
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libactor.so.0 $(RUNTIME_NAMES) -o $@ $(RUNTIME_SHARED) $(RUNTIME_LIBS)

$(B)/libactor.so: $(B)/libactor.so.0
	$(Q)ln -sf libactor.so.0 $@

include runtime/examples/rules.mk

# What a program needs to use libactor, and an operator to look into it. abi.h stays inside.
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR     ?= $(PREFIX)/bin
MANDIR     ?= $(PREFIX)/share/man
INSTALLED = $(LIBDIR)/libactor.a $(LIBDIR)/libactor.so.0 $(LIBDIR)/libactor.so \
	$(LIBDIR)/pkgconfig/libactor.pc $(INCLUDEDIR)/actor.h \
	$(INCLUDEDIR)/actor_test.h $(BINDIR)/actorprobe \
	$(MANDIR)/man1/actorprobe.1 $(MANDIR)/man3/libactor.3 \
	$(MANDIR)/man3/libactor-test.3

.PHONY: install uninstall

# Written anew each time: what it says depends on the command line.
define LIBACTOR_PC
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCLUDEDIR)

Name: libactor
Description: Actors on libuv, observable from outside without cost
Version: $(VERSION)
Requires: libuv
Requires.private: $(LIBCONFIG)
Libs: -L$${libdir} -lactor
Libs.private: -pthread
Cflags: -I$${includedir} -pthread
endef
export LIBACTOR_PC

install: $(B)/libactor.a $(B)/libactor.so.0 $(B)/actorprobe
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	$(Q)install -m 644 $(B)/libactor.a $(DESTDIR)$(LIBDIR)
	$(Q)install -m 755 $(B)/libactor.so.0 $(DESTDIR)$(LIBDIR)
	$(Q)ln -sf libactor.so.0 $(DESTDIR)$(LIBDIR)/libactor.so
	$(Q)printf '%s\n' "$$LIBACTOR_PC" > $(DESTDIR)$(LIBDIR)/pkgconfig/libactor.pc
	$(Q)chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/libactor.pc
	$(Q)install -m 644 runtime/actor.h runtime/actor_test.h $(DESTDIR)$(INCLUDEDIR)
	$(Q)install -m 755 $(B)/actorprobe $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 probe/actorprobe.1 $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 644 runtime/libactor.3 runtime/libactor-test.3 $(DESTDIR)$(MANDIR)/man3
	$(Q)if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)rm -f $(addprefix $(DESTDIR),$(INSTALLED))
