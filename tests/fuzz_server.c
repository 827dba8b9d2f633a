/* SPDX-License-Identifier: MIT */
/* libFuzzer target: whatever bytes a client sends, over a socket of the file system.
 *
 * Each input is one connection. What comes back, if anything, is an HTTP answer; the memory of the
 * server and its routes are watched by the sanitizers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/server.h"

#define DEADLINE_MS 8 /* of who sends half a request and waits */

static struct number_address address;
static char where[64];

static void remove_socket(void)
{
	unlink(where + 5);
}

static int page(void *context, const struct server_request *request, struct server_answer *answer,
	struct error *error)
{
	if (request->accept && strstr(request->accept, "error"))
		return error_set(error, EXIT_TARGET, "the target is gone");
	text_add(&answer->body, "page for %s and %s\n", request->accept ? request->accept : "any",
		request->accept_encoding ? request->accept_encoding : "any");
	return 0;
}

static const struct server_route routes[] = {{"/metrics", page}, {"/-/healthy", page}};

static void begin(void)
{
	struct error error = {0};
	struct server *server;

	snprintf(where, sizeof(where), "unix:/tmp/fuzz_server.%d", getpid());
	if (number_parse_address(where, &address) || server_open(&server, &address, &error))
		abort();
	server_set_deadline(server, DEADLINE_MS);
	if (server_start(server, routes, 2, NULL, &error))
		abort();
	atexit(remove_socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char answer[4096];
	size_t used = 0;
	ssize_t count;
	int fd;

	if (!address.bytes)
		begin();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (const struct sockaddr *)&address.socket, address.bytes))
		abort();
	for (size_t sent = 0; sent < size; sent += (size_t)count) {
		count = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
		if (count <= 0)
			break;
	}
	shutdown(fd, SHUT_WR);
	while ((count = recv(fd, answer + used, sizeof(answer) - used, 0)) > 0)
		if (used < 16)
			used += (size_t)count < 16 - used ? (size_t)count : 16 - used;
	if (used >= 7 && memcmp(answer, "HTTP/1.", 7))
		abort();
	close(fd);
	return 0;
}
