/* SPDX-License-Identifier: MIT */
/* Probes of the test kit: actors that keep what they are told. */
#ifndef ACTOR_KITPROBE_H
#define ACTOR_KITPROBE_H

#include "kit.h"

struct actor__kit_item {
	struct actor__kit_item *next;
	struct actor__envelope envelope;
};

/* A FIFO of messages, each the list's own. */
struct actor__kit_items {
	struct actor__kit_item *first;
	struct actor__kit_item **last;
	size_t count;
};

struct actor_test_probe {
	struct actor_test *kit;
	struct actor_test_probe *next;
	struct actor__loop *loop;
	actor_ref ref;
	bool stopped;
	struct actor__kit_items queue; /* not expected yet */
	struct actor__kit_items given; /* by the last expectation; the last one may be answered */
	bool answered;
};

/* Moves the oldest message to those that are given, and shows it (`message` may be NULL). */
void actor__kit_probe_give(struct actor_test_probe *probe, struct actor_message *message);

/* Shows the oldest message. */
void actor__kit_probe_look(struct actor_test_probe *probe, struct actor_message *message);

/* Destroys what the last expectation gave. */
void actor__kit_probe_forget(struct actor_test_probe *probe);

void actor__kit_probes_free(struct actor_test *kit);

#endif
