/* SPDX-License-Identifier: MIT */
/* A load generator. Requests are due at random times (a Poisson process), whether or not earlier
 * ones were answered; at most CLIENTS are under way, and what is due beyond is skipped. */
#include "load.h"

#include <http_parser.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define CLIENTS 128
#define TICK_MS 1

enum state {
	CLOSED,
	BUSY, /* from connecting to the end of the answer */
	IDLE,
	CLOSING,
};

struct client {
	struct load *load;
	enum state state;
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_write_t write;
	http_parser parser;
	char out[128];
	char in[1024];
};

struct load {
	uv_thread_t thread;
	uv_loop_t loop;
	uv_async_t stop;
	uv_timer_t tick;
	struct sockaddr_in address;
	double gap_ns; /* mean time between two requests */
	double due_ns;
	uint64_t random;
	uint32_t products;
	bool stopping;
	struct load_result result;
	struct client clients[CLIENTS];
};

static uint64_t random_next(struct load *load)
{
	load->random ^= load->random << 13;
	load->random ^= load->random >> 7;
	load->random ^= load->random << 17;
	return load->random;
}

static double random_gap_ns(struct load *load)
{
	double share = (double)((random_next(load) >> 11) + 1) / 9007199254740992.0;

	return -log(share) * load->gap_ns;
}

/* ---- one connection ---- */

static void on_closed(uv_handle_t *handle)
{
	struct client *client = handle->data;

	client->state = CLOSED;
}

static void client_close(struct client *client)
{
	if (client->state == CLOSING || client->state == CLOSED)
		return;
	if (client->state == BUSY && !client->load->stopping)
		client->load->result.failed++;
	client->state = CLOSING;
	uv_close((uv_handle_t *)&client->tcp, on_closed);
}

static int on_answer(http_parser *parser)
{
	struct client *client = parser->data;

	if (client->state != BUSY)
		return -1;
	if (parser->status_code == HTTP_STATUS_OK)
		client->load->result.answered++;
	else
		client->load->result.failed++;
	client->state = IDLE;
	return http_should_keep_alive(parser) ? 0 : -1;
}

static const http_parser_settings settings = {.on_message_complete = on_answer};

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct client *client = handle->data;

	*buffer = uv_buf_init(client->in, sizeof(client->in));
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
	struct client *client = stream->data;

	if (bytes < 0 || http_parser_execute(&client->parser, &settings, buffer->base,
				 (size_t)bytes) != (size_t)bytes)
		client_close(client);
}

static void on_written(uv_write_t *write, int status)
{
	if (status < 0)
		client_close(write->data);
}

static void client_send(struct client *client)
{
	int bytes = snprintf(client->out, sizeof(client->out),
		"GET /product/%u HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		(unsigned int)(random_next(client->load) % client->load->products));
	uv_buf_t buffer = uv_buf_init(client->out, (unsigned int)bytes);

	client->write.data = client;
	if (uv_write(&client->write, (uv_stream_t *)&client->tcp, &buffer, 1, on_written))
		client_close(client);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct client *client = connect->data;

	if (client->state != BUSY)
		return;
	if (status < 0 || uv_read_start((uv_stream_t *)&client->tcp, on_room, on_read))
		client_close(client);
	else
		client_send(client);
}

static void client_connect(struct client *client)
{
	uv_tcp_init(&client->load->loop, &client->tcp);
	uv_tcp_nodelay(&client->tcp, 1);
	client->tcp.data = client;
	client->connect.data = client;
	http_parser_init(&client->parser, HTTP_RESPONSE);
	client->parser.data = client;
	if (uv_tcp_connect(&client->connect, &client->tcp,
		    (const struct sockaddr *)&client->load->address, on_connected))
		client_close(client);
}

/* ---- all of them ---- */

static struct client *client_in(struct load *load, enum state state)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (load->clients[i].state == state)
			return &load->clients[i];
	return NULL;
}

static void request(struct load *load)
{
	struct client *client = client_in(load, IDLE);

	if (client) {
		client->state = BUSY;
		client_send(client);
		return;
	}
	client = client_in(load, CLOSED);
	if (!client) {
		load->result.skipped++;
		return;
	}
	client->state = BUSY;
	client_connect(client);
}

static void on_tick(uv_timer_t *tick)
{
	struct load *load = tick->data;
	double now_ns = (double)uv_hrtime();

	for (; load->due_ns <= now_ns; load->due_ns += random_gap_ns(load))
		request(load);
}

static void on_stop(uv_async_t *stop)
{
	struct load *load = stop->data;

	load->stopping = true;
	uv_close((uv_handle_t *)&load->stop, NULL);
	uv_close((uv_handle_t *)&load->tick, NULL);
	for (size_t i = 0; i < CLIENTS; i++)
		client_close(&load->clients[i]);
}

static void thread_main(void *data)
{
	struct load *load = data;

	load->due_ns = (double)uv_hrtime();
	uv_timer_start(&load->tick, on_tick, TICK_MS, TICK_MS);
	uv_run(&load->loop, UV_RUN_DEFAULT);
}

int load_open(struct load **out, int port, uint64_t rate, uint32_t products)
{
	struct load *load = calloc(1, sizeof(*load));
	int rc = load ? uv_loop_init(&load->loop) : UV_ENOMEM;

	if (rc) {
		free(load);
		return rc;
	}
	load->gap_ns = 1e9 / (double)rate;
	load->random = 88172645463325252u;
	load->products = products;
	uv_ip4_addr("127.0.0.1", port, &load->address);
	for (size_t i = 0; i < CLIENTS; i++)
		load->clients[i].load = load;
	rc = uv_async_init(&load->loop, &load->stop, on_stop);
	if (rc) {
		uv_loop_close(&load->loop);
		free(load);
		return rc;
	}
	uv_timer_init(&load->loop, &load->tick);
	load->stop.data = load;
	load->tick.data = load;
	rc = uv_thread_create(&load->thread, thread_main, load);
	if (rc) {
		on_stop(&load->stop);
		uv_run(&load->loop, UV_RUN_DEFAULT);
		uv_loop_close(&load->loop);
		free(load);
		return rc;
	}
	*out = load;
	return 0;
}

void load_close(struct load *load, struct load_result *result)
{
	if (!load)
		return;
	uv_async_send(&load->stop);
	uv_thread_join(&load->thread);
	uv_loop_close(&load->loop);
	*result = load->result;
	free(load);
}
