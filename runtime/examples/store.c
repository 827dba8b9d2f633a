/* SPDX-License-Identifier: MIT */
/* The shop's actors.
 *
 *   HTTP -> request -> stock    how many are there?
 *                   -> pricing  what does it cost?      heavy: --price-us of work for each quote
 *        <- both answers are here
 *
 *   HTTP -> request -> importer one message per row     --import-us of work for each row
 *                      importer -> stock
 */
#include "store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS    2000   /* how long a request waits for stock and pricing */
#define WAITING_MOST 100000 /* rows that may wait for the importer */

enum { OK = 200, ACCEPTED = 202, NOT_FOUND = 404, NOT_ALLOWED = 405, BAD = 400, BUSY = 429 };
enum { FAILED = 500, UNAVAILABLE = 503, TOO_LATE = 504 };

struct row {
	uint32_t product;
	uint32_t pieces;
};

static struct actor_type get_product = ACTOR_TYPE("get_product");
static struct actor_type import = ACTOR_TYPE("import");
static struct actor_type count = ACTOR_TYPE("count");	  /* uint32_t product */
static struct actor_type counted = ACTOR_TYPE("counted"); /* struct row */
static struct actor_type quote = ACTOR_TYPE("quote");	  /* uint32_t product */
static struct actor_type quoted = ACTOR_TYPE("quoted");	  /* uint32_t cents */
static struct actor_type row = ACTOR_TYPE("row");	  /* struct row */
static struct actor_type restock = ACTOR_TYPE("restock"); /* struct row */

/* Keeps the processor busy, as real work would; the result depends on the product only. */
static uint32_t work(uint32_t product, int64_t us)
{
	uint64_t end = uv_hrtime() + (uint64_t)us * 1000u;
	volatile uint32_t sum = product;

	while (us && uv_hrtime() < end)
		for (uint32_t i = 0; i < 64; i++)
			sum = sum * 31u + i;
	return 99 + product * 7919u % 9900u;
}

/* ---- stock: how many pieces there are of each product ---- */

struct stock {
	uint32_t pieces[STORE_PRODUCTS];
};

static int stock_start(struct actor_ctx *ctx)
{
	struct stock *stock = actor_state(ctx);

	for (uint32_t i = 0; i < STORE_PRODUCTS; i++)
		stock->pieces[i] = i % 50;
	return 0;
}

static int stock_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct stock *stock = actor_state(ctx);
	struct row answer;

	if (message->type == &restock) {
		const struct row *news = message->payload;

		stock->pieces[news->product] += news->pieces;
		return 0;
	}
	answer.product = *(const uint32_t *)message->payload;
	answer.pieces = stock->pieces[answer.product];
	return actor_reply(ctx, &counted, &answer, sizeof(answer));
}

static struct actor_class stock_class = {
	.size = sizeof(stock_class),
	.name = "stock",
	.state_bytes = sizeof(struct stock),
	.on_start = stock_start,
	.on_message = stock_message,
};

/* ---- pricing: what a product costs; heavy ---- */

static int pricing_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct store *store = *(struct store **)actor_state(ctx);
	uint32_t cents = work(*(const uint32_t *)message->payload, store->options->pricing_us);

	return actor_reply(ctx, &quoted, &cents, sizeof(cents));
}

static struct actor_class pricing_class = {
	.size = sizeof(pricing_class),
	.name = "pricing",
	.state_bytes = sizeof(struct store *),
	.on_message = pricing_message,
};

/* ---- importer: a batch of rows, one message each ---- */

static int importer_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct store *store = *(struct store **)actor_state(ctx);
	const struct row *news = message->payload;

	work(news->product, store->options->import_us);
	store->rows_waiting--;
	return actor_tell(ctx, store->stock, &restock, news, sizeof(*news));
}

static struct actor_class importer_class = {
	.size = sizeof(importer_class),
	.name = "importer",
	.state_bytes = sizeof(struct store *),
	.on_message = importer_message,
};

/* ---- request: answers one HTTP request, then stops ---- */

struct request {
	struct store *store;
	uint64_t ticket; /* 0: nobody waits */
	uint32_t product;
	uint32_t rows;
	uint32_t pieces;
	uint32_t cents;
	bool has_pieces;
	bool has_cents;
};

static void request_answer(struct actor_ctx *ctx, int status, const char *text)
{
	struct request *request = actor_state(ctx);

	http_answer(request->store->http, request->ticket, status, text);
	request->ticket = 0;
	actor_stop_self(ctx);
}

static void request_answer_product(struct actor_ctx *ctx)
{
	const struct request *request = actor_state(ctx);
	char text[HTTP_TEXT_BYTES + 1];

	if (!request->has_pieces || !request->has_cents)
		return;
	snprintf(text, sizeof(text), "{\"product\":%u,\"cents\":%u,\"pieces\":%u}\n",
		request->product, request->cents, request->pieces);
	request_answer(ctx, OK, text);
}

static int on_counted(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	struct request *request = actor_state(ctx);

	if (status) {
		request_answer(ctx, TOO_LATE, "{\"error\":\"stock does not answer\"}\n");
		return 0;
	}
	request->pieces = ((const struct row *)reply->payload)->pieces;
	request->has_pieces = true;
	request_answer_product(ctx);
	return 0;
}

static int on_quoted(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	struct request *request = actor_state(ctx);

	if (status) {
		request_answer(ctx, TOO_LATE, "{\"error\":\"pricing does not answer\"}\n");
		return 0;
	}
	request->cents = *(const uint32_t *)reply->payload;
	request->has_cents = true;
	request_answer_product(ctx);
	return 0;
}

static int request_product(struct actor_ctx *ctx)
{
	const struct request *request = actor_state(ctx);
	uint32_t product = request->product;
	int rc = actor_ask(ctx, request->store->stock, &count, &product, sizeof(product), ANSWER_MS,
		on_counted, NULL);

	if (!rc)
		rc = actor_ask(ctx, request->store->pricing, &quote, &product, sizeof(product),
			ANSWER_MS, on_quoted, NULL);
	return rc;
}

static int request_import(struct actor_ctx *ctx)
{
	const struct request *request = actor_state(ctx);
	struct store *store = request->store;
	char text[HTTP_TEXT_BYTES + 1];

	if (store->rows_waiting + request->rows > WAITING_MOST) {
		request_answer(ctx, BUSY, "{\"error\":\"too many rows are waiting\"}\n");
		return 0;
	}
	for (uint32_t i = 0; i < request->rows; i++) {
		struct row news = {.product = i % STORE_PRODUCTS, .pieces = 1};
		int rc = actor_tell(ctx, store->importer, &row, &news, sizeof(news));

		if (rc)
			return rc;
		store->rows_waiting++;
	}
	snprintf(text, sizeof(text), "{\"rows\":%u}\n", request->rows);
	request_answer(ctx, ACCEPTED, text);
	return 0;
}

static int request_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return message->type == &import ? request_import(ctx) : request_product(ctx);
}

/* Nobody is left without an answer: after a failure, or when the shop closes. */
static void request_stop(struct actor_ctx *ctx)
{
	struct request *request = actor_state(ctx);

	http_answer(request->store->http, request->ticket, UNAVAILABLE,
		"{\"error\":\"the request was given up\"}\n");
}

static struct actor_class request_class = {
	.size = sizeof(request_class),
	.name = "request",
	.state_bytes = sizeof(struct request),
	.on_message = request_message,
	.on_stop = request_stop,
};

static void request_begin(const struct request *request, struct actor_type *type)
{
	/* A new instance would wait for a message that will not come again. */
	static const struct actor_strategy stop = {
		.size = sizeof(stop), .directive = ACTOR_DIRECTIVE_STOP};
	struct store *store = request->store;
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = request, .loop = 1, .strategy = &stop};
	actor_ref ref;
	int rc = actor_system_spawn(store->system, &request_class, &options, &ref);

	if (!rc)
		rc = actor_system_tell(store->system, ref, type, NULL, 0);
	if (rc)
		http_answer(store->http, request->ticket, FAILED,
			"{\"error\":\"no actor for this request\"}\n");
}

/* ---- what a request asks for ---- */

/* A whole number below `limit`, and nothing else. */
static bool number_read(const char *text, uint32_t limit, uint32_t *number)
{
	unsigned long value = 0;

	if (!*text || strlen(text) > 9)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (unsigned long)(*text - '0');
	}
	*number = (uint32_t)value;
	return value < limit;
}

static void store_refuse(struct store *store, uint64_t ticket, int status, const char *why)
{
	char text[HTTP_TEXT_BYTES + 1];

	snprintf(text, sizeof(text), "{\"error\":\"%s\"}\n", why);
	http_answer(store->http, ticket, status, text);
}

/* 200 or 503, with what each check says. */
static void store_health(
	struct store *store, const struct http_request *http, enum actor_health_kind kind)
{
	char text[HTTP_TEXT_BYTES + 1];
	size_t bytes = HTTP_TEXT_BYTES;
	int up = actor_health(store->system, kind, text, &bytes);

	if (up < 0)
		store_refuse(store, http->ticket, FAILED, actor_strerror(up));
	else
		http_answer(store->http, http->ticket, up ? OK : UNAVAILABLE, strcat(text, "\n"));
}

static void store_post(struct store *store, const struct http_request *http)
{
	struct request request = {.store = store,
		.ticket = http->ticket,
		.rows = (uint32_t)store->options->import_rows};

	if (*http->body &&
		(!number_read(http->body, WAITING_MOST + 1, &request.rows) || request.rows == 0))
		store_refuse(store, http->ticket, BAD, "the body is a number of rows, or empty");
	else
		request_begin(&request, &import);
}

void store_request(struct store *store, const struct http_request *http)
{
	static const char product[] = "/product/";
	struct request request = {.store = store, .ticket = http->ticket};
	bool get = strcmp(http->method, "GET") == 0;

	if (strncmp(http->path, product, sizeof(product) - 1) == 0) {
		if (!get)
			store_refuse(store, http->ticket, NOT_ALLOWED, "GET a product");
		else if (!number_read(http->path + sizeof(product) - 1, STORE_PRODUCTS,
				 &request.product))
			store_refuse(store, http->ticket, NOT_FOUND, "no such product");
		else
			request_begin(&request, &get_product);
	} else if (strcmp(http->path, "/import") == 0) {
		if (strcmp(http->method, "POST") != 0)
			store_refuse(store, http->ticket, NOT_ALLOWED, "POST an import");
		else
			store_post(store, http);
	} else if (get && strcmp(http->path, "/health") == 0) {
		store_health(store, http, ACTOR_LIVENESS);
	} else if (get && strcmp(http->path, "/ready") == 0) {
		store_health(store, http, ACTOR_READINESS);
	} else {
		store_refuse(store, http->ticket, NOT_FOUND,
			"there are /product/0 to /product/999, /import, /health and /ready");
	}
}

void store_import(struct store *store)
{
	struct request request = {.store = store, .rows = (uint32_t)store->options->import_rows};

	request_begin(&request, &import);
}

int store_open(struct store *store, const struct actor_dispatcher_spec *pricing)
{
	const struct options *options = store->options;
	struct actor_spawn_options spawn = {.size = sizeof(spawn), .name = "stock", .loop = 1};
	int rc = actor_system_spawn(store->system, &stock_class, &spawn, &store->stock);

	spawn.init = &store;
	spawn.name = "importer";
	spawn.throughput = options->importer_throughput;
	if (!rc)
		rc = actor_system_spawn(store->system, &importer_class, &spawn, &store->importer);
	spawn.name = "pricing";
	spawn.throughput = options->pricing_throughput;
	spawn.dispatcher = pricing;
	spawn.loop = options->pricing_loop ? 2 : 1;
	if (!rc)
		rc = actor_system_spawn(store->system, &pricing_class, &spawn, &store->pricing);
	return rc;
}
