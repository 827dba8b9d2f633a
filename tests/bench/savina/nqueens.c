/* SPDX-License-Identifier: MIT */
/* N-queens: a master hands boards of n columns to 20 workers by turns. A worker places the next
 * queen and sends each board back; the last three queens it places alone and tells of each
 * solution. Operation: a message: a board to a worker, from a worker, a board done, a solution.
 */
#include "savina.h"

#define WORKERS	    20u
#define COLUMNS_MAX 24u
#define ALONE	    3u

struct board {
	uint64_t placed;
	uint8_t rows[COLUMNS_MAX];
};

struct worker {
	uint64_t n;
	actor_ref master;
};

struct master {
	struct stage stage;
	actor_ref workers[WORKERS];
	uint64_t sent, came; /* boards */
	uint64_t done;
	uint64_t solutions;
};

static struct actor_type board_type = ACTOR_TYPE("board");
static struct actor_type done_type = ACTOR_TYPE("done");
static struct actor_type solution_type = ACTOR_TYPE("solution");

/* May a queen stand in this row of the next column? */
static bool board_allows(const struct board *b, uint8_t row)
{
	for (uint64_t i = 0; i < b->placed; i++) {
		uint64_t distance = b->placed - i;

		if (b->rows[i] == row || b->rows[i] + distance == row ||
			row + distance == b->rows[i])
			return false;
	}
	return true;
}

static bool board_place(struct board *to, const struct board *b, uint8_t row)
{
	if (!board_allows(b, row))
		return false;
	*to = *b;
	to->rows[to->placed++] = row;
	return true;
}

/* Finds all solutions from this board on. */
static int worker_alone(struct actor_ctx *ctx, const struct worker *s, const struct board *b)
{
	struct board next;
	int rc = 0;

	if (b->placed == s->n)
		return actor_tell(ctx, s->master, &solution_type, NULL, 0);
	for (uint8_t row = 0; row < s->n && !rc; row++)
		if (board_place(&next, b, row))
			rc = worker_alone(ctx, s, &next);
	return rc;
}

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct worker *s = actor_state(ctx);
	struct board b, next;
	int rc = 0;

	memcpy(&b, m->payload, sizeof(b));
	if (b.placed + ALONE >= s->n)
		rc = worker_alone(ctx, s, &b);
	else
		for (uint8_t row = 0; row < s->n && !rc; row++)
			if (board_place(&next, &b, row))
				rc = actor_reply(ctx, &board_type, &next, sizeof(next));
	return rc ? rc : actor_reply(ctx, &done_type, NULL, 0);
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(struct worker),
	.on_message = worker_message};

static int master_send(struct actor_ctx *ctx, struct master *s, const void *board)
{
	return actor_tell(
		ctx, s->workers[s->sent++ % WORKERS], &board_type, board, sizeof(struct board));
}

static int master_start(struct actor_ctx *ctx)
{
	struct master *s = actor_state(ctx);
	struct worker init = {s->stage.n, actor_self(ctx)};
	struct board empty = {0};
	int rc = 0;

	if (s->stage.n > COLUMNS_MAX)
		return play_fail("columns", s->stage.n, COLUMNS_MAX);
	for (uint32_t i = 0; i < WORKERS && !rc; i++)
		rc = stage_spawn(ctx, &s->stage, &worker_class, &init, &s->workers[i]);
	return rc ? rc : master_send(ctx, s, &empty);
}

static int master_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct master *s = actor_state(ctx);

	if (m->type == &board_type) {
		s->came++;
		return master_send(ctx, s, m->payload);
	}
	if (m->type == &solution_type) {
		s->solutions++;
		return 0;
	}
	if (++s->done < s->sent)
		return 0;
	return stage_report(ctx, s->solutions, s->sent + s->came + s->done + s->solutions);
}

static struct actor_class master_class = {.size = sizeof(struct actor_class),
	.name = "master",
	.state_bytes = sizeof(struct master),
	.on_start = master_start,
	.on_message = master_message,
	.on_stop = stage_end};

/* Three messages for each board that is sent, but the first one comes from nobody. */
static void boards_count(const struct board *b, uint64_t n, struct report *r)
{
	struct board next;

	if (b->placed + ALONE <= n || b->placed == 0)
		r->operations += 3;
	if (b->placed == n) {
		r->result++;
		r->operations++;
		return;
	}
	for (uint8_t row = 0; row < n; row++)
		if (board_place(&next, b, row))
			boards_count(&next, n, r);
}

static struct report nqueens_expect(uint64_t n)
{
	struct board empty = {0};
	struct report r = {0, 0};

	boards_count(&empty, n <= COLUMNS_MAX ? n : 0, &r);
	r.operations--;
	return r;
}

const struct play play_nqueens = {"nqueens", &master_class, nqueens_expect};
