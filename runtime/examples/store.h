/* SPDX-License-Identifier: MIT */
/* The shop's actors: one per request, and stock, pricing and importer. */
#ifndef SHOP_STORE_H
#define SHOP_STORE_H

#include "http.h"
#include "options.h"

#include <actor.h>

#define STORE_PRODUCTS 1000

/* Owned by the loop that serves HTTP; constant for all others once it is open. */
struct store {
	const struct options *options;
	struct actor_system *system;
	struct http_server *http;
	actor_ref stock;
	actor_ref pricing;
	actor_ref importer;
	int64_t rows_waiting; /* told to the importer, not yet imported */
};

/* Starts the lasting actors. 0, or an error of libactor. */
int store_open(struct store *store, const struct actor_dispatcher_spec *pricing);

/* Starts the actor that answers a request. */
void store_request(struct store *store, const struct http_request *request);

/* Starts an import of the default number of rows; nobody waits for the answer. */
void store_import(struct store *store);

#endif
