# SPDX-License-Identifier: MIT
# actorprobe: `make demo` and `make test` are the two commands; both install what they need.

B       ?= build
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool /usr/bin/bpftool) bpftool)
PREFIX  ?= /usr/local
VERSION := 0.1.0
SAN     ?=
WERROR  ?=

# CC is never empty, as make itself knows it as cc, which need not be there.
ifeq ($(origin CC),default)
CC := gcc
endif

OPT      ?= -O2 -g
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter $(WERROR)
CFLAGS   ?= $(OPT)
ALL_CFLAGS = -std=gnu11 $(WARNINGS) -I. -I$(B) -pthread $(SAN) $(CFLAGS)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

.DEFAULT_GOAL := all
.SUFFIXES:
.PHONY: all deps test test-long demo install clean

TARGETS :=
-include runtime/rules.mk bpf/rules.mk probe/rules.mk dashboards/rules.mk tests/rules.mk

all: $(TARGETS)

# Debian packages; each is asked for only when it is not there.
PACKAGES := gcc make clang llvm lld pkg-config binutils libuv1-dev libbpf-dev bpftool libcmocka-dev \
	systemtap-sdt-dev libelf-dev zlib1g-dev libconfig-dev libmicrohttpd-dev libjansson-dev libzstd-dev \
	protobuf-c-compiler libprotobuf-c-dev libcurl4-openssl-dev \
	libhttp-parser-dev bpftrace gdb linux-perf curl python3 libclang-rt-dev g++

deps:
	$(Q)missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || printf ' %s' $$p; done); \
	if [ -z "$$missing" ]; then echo "  DEPS     nothing missing"; \
	elif ! command -v apt-get >/dev/null; then \
		echo "  DEPS     no apt-get here: install what these Debian packages contain, then run" \
			"\`make all\` or \`make test-run\`:$$missing" >&2; exit 1; \
	elif [ "$$(id -u)" != 0 ]; then \
		echo "  DEPS     only root can install what is missing: run \`make deps\` as root, or" \
			"apt-get install$$missing" >&2; exit 1; \
	else echo "  DEPS     installing$$missing"; \
		{ apt-get -qq -o Acquire::Retries=3 update && DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 install -y \
			--no-install-recommends $$missing; } >/dev/null || \
		{ echo "  DEPS     failed: install these Debian packages by hand:$$missing" >&2; exit 1; }; fi

clean:
	$(Q)rm -rf $(B)
