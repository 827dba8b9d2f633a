/* SPDX-License-Identifier: MIT */
/* Parsers of what an operator types: whole numbers, seconds, listen addresses. */
#ifndef PROBE_NUMBER_H
#define PROBE_NUMBER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

/* Digits only, no sign or space, first <= value <= last. 0 or -EINVAL; -ERANGE out of bounds. */
int number_parse_whole(const char *text, uint64_t first, uint64_t last, uint64_t *value);

/* Seconds as "5" or "0.25", in nanoseconds; from 10 ms to 366 days. Digits behind the ninth
 * decimal are refused. 0, -EINVAL, or -ERANGE out of bounds. */
int number_parse_seconds(const char *text, uint64_t *ns);

/* "1000", "64M": bytes, with K, M, G or T for powers of 1024. 0, -EINVAL, or -ERANGE out of bounds. */
int number_parse_bytes(const char *text, uint64_t first, uint64_t last, uint64_t *bytes);

struct number_address {
	struct sockaddr_storage socket;
	socklen_t bytes;
};

#define NUMBER_DEFAULT_PORT 9464

/* "127.0.0.1", "127.0.0.1:9464", "::1", "[::1]", "[::1]:9464", ":9464", "localhost[:PORT]"; numeric
 * addresses only, nothing is resolved. Port 0 lets the kernel choose. "unix:PATH" is a socket in the
 * file system. 0 or -EINVAL. */
int number_parse_address(const char *text, struct number_address *address);

#endif
