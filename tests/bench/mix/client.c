/* SPDX-License-Identifier: MIT */
/* A client in its own thread: one connection, one request at a time, and a pause after each answer.
 * What it measures is how long somebody waits who comes at any time. */
#define _GNU_SOURCE
#include "mix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void mix_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int client_connect(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	on = errno;
	if (fd >= 0)
		close(fd);
	return -on;
}

/* One request and its answer, whose body is "{}\n". */
static int client_ask(int fd)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char answer[1024];
	size_t bytes = 0;

	if (write(fd, request, sizeof(request) - 1) != (ssize_t)sizeof(request) - 1)
		return -EIO;
	while (bytes < 3 || memcmp(answer + bytes - 3, "{}\n", 3) != 0) {
		ssize_t n = read(fd, answer + bytes, sizeof(answer) - bytes);

		if (n <= 0)
			return -EIO;
		bytes += (size_t)n;
	}
	return 0;
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void client_run(void *data)
{
	struct client *client = data;
	uint64_t end_ns = uv_hrtime() + client->duration_ms * 1000000;
	int fd = client_connect(client->port);
	unsigned int seed = 1;

	mix_pin(0);
	client->failed = fd < 0 ? fd : 0;
	while (!client->failed && client->count < CLIENT_REQUESTS && uv_hrtime() < end_ns) {
		uint64_t sent_ns = uv_hrtime();

		client->failed = client_ask(fd);
		client->latencies_us[client->count++] = (double)(uv_hrtime() - sent_ns) * 1e-3;
		/* By chance, or it would keep step with the turns of the load. */
		usleep((useconds_t)(rand_r(&seed) % (2 * client->pause_us)));
	}
	if (fd >= 0)
		close(fd);
	qsort(client->latencies_us, client->count, sizeof(double), order);
	uv_async_send(client->ended);
}

int client_start(struct client *client, uv_thread_t *thread)
{
	client->latencies_us = calloc(CLIENT_REQUESTS, sizeof(double));
	return client->latencies_us ? uv_thread_create(thread, client_run, client) : UV_ENOMEM;
}

double client_percentile(const struct client *client, double percent)
{
	uint64_t at = (uint64_t)((double)client->count * percent / 100);

	if (!client->count)
		return 0;
	return client->latencies_us[at < client->count ? at : client->count - 1];
}
