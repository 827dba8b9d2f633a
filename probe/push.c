/* SPDX-License-Identifier: MIT */
/* Pushes the metrics to a receiver of OTLP over HTTP, again and again, on a thread of its own. */
#include "probe/push.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/beat.h"
#include "probe/gzip.h"
#include "probe/otlp.h"

#define SECOND_NS	  1000000000ull
#define BACKOFF_LAST	  6 /* doublings: 64 s, cut to a minute */
#define BACKOFF_MAX_NS	  (60 * SECOND_NS)
#define ASKED_MAX_SECONDS 300u
#define REQUEST_MS	  10000L
#define LAST_REQUEST_MS	  2000L
#define ANSWER_BYTES_MAX  65536u
#define DEFAULT_PATH	  "/v1/metrics"

struct push {
	CURL *curl; /* of whoever pushes: the beat, and push_close() after it */
	struct curl_slist *headers;
	char *url;
	uint64_t every_ns;
	push_render *render;
	void *context;
	struct beat *beat;
	atomic_bool stopping; /* a request under way is given up */
	bool last;	      /* set after the beat has ended */
	unsigned int failures;
	bool refusing; /* points were refused, and that was told */
	struct text body, packed, answer;
	char why[CURL_ERROR_SIZE];
};

uint64_t push_backoff_ns(unsigned int failures, uint64_t asked_seconds, uint32_t chance)
{
	unsigned int doublings = failures > BACKOFF_LAST ? BACKOFF_LAST : failures;
	uint64_t ns = SECOND_NS << (doublings ? doublings - 1 : 0);

	if (failures >= BACKOFF_LAST + 1)
		ns = BACKOFF_MAX_NS;
	ns += ns / 5 * (chance % 1024) / 1024;
	if (asked_seconds > ASKED_MAX_SECONDS)
		asked_seconds = ASKED_MAX_SECONDS;
	return ns < asked_seconds * SECOND_NS ? asked_seconds * SECOND_NS : ns;
}

/* ---- addresses ---- */

/* The parts of an address that can be pushed to, else NULL. */
static CURLU *url_parse(const char *url)
{
	CURLU *parts = curl_url();
	char *scheme = NULL;
	bool fine = parts && !curl_url_set(parts, CURLUPART_URL, url, 0) &&
		    !curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
		    (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	curl_free(scheme);
	if (fine)
		return parts;
	curl_url_cleanup(parts);
	return NULL;
}

bool push_is_url(const char *url)
{
	CURLU *parts = url_parse(url);

	curl_url_cleanup(parts);
	return parts != NULL;
}

static char *url_complete(const char *url)
{
	CURLU *parts = url_parse(url);
	char *path = NULL, *whole = NULL, *copy = NULL;

	if (parts && !curl_url_get(parts, CURLUPART_PATH, &path, 0) && !strcmp(path, "/"))
		curl_url_set(parts, CURLUPART_PATH, DEFAULT_PATH, 0);
	if (parts && !curl_url_get(parts, CURLUPART_URL, &whole, 0))
		copy = strdup(whole);
	curl_free(path);
	curl_free(whole);
	curl_url_cleanup(parts);
	return copy;
}

/* ---- one request ---- */

/* An answer that is longer than any should be is read no further. */
static size_t on_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct push *p = context;

	if (p->answer.used + count > ANSWER_BYTES_MAX)
		return 0;
	text_add_bytes(&p->answer, bytes, count);
	return count;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct push *p = context;

	return atomic_load(&p->stopping) && !p->last;
}

enum outcome {
	TAKEN,
	LATER,	 /* may be taken when it is asked again */
	REFUSED, /* will not be taken, however often */
};

static enum outcome judge(struct push *p, CURLcode code, long status)
{
	if (code != CURLE_OK) {
		if (!p->why[0])
			snprintf(p->why, sizeof(p->why), "%s", curl_easy_strerror(code));
		return LATER;
	}
	if (status >= 200 && status < 300)
		return TAKEN;
	snprintf(p->why, sizeof(p->why), "status %ld", status);
	return status == 429 || status == 502 || status == 503 || status == 504 ? LATER : REFUSED;
}

static enum outcome ask(struct push *p, uint64_t *asked_seconds)
{
	long status = 0;
	curl_off_t seconds = 0;
	CURLcode code;

	p->why[0] = '\0';
	text_clear(&p->answer);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, p->packed.bytes);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->packed.used);
	curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, p->last ? LAST_REQUEST_MS : REQUEST_MS);
	code = curl_easy_perform(p->curl);
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &seconds);
	*asked_seconds = seconds > 0 ? (uint64_t)seconds : 0;
	return judge(p, code, status);
}

/* ---- what is told of it ---- */

/* Once per time of trouble, and once at its end. */
static void tell(struct push *p, enum outcome outcome)
{
	char why[256];
	int64_t refused = 0;

	if (outcome != TAKEN) {
		if (p->failures++ == 0)
			fprintf(stderr,
				"actorprobe: %s does not take the metrics (%s); %s, nothing is "
				"lost\n",
				p->url, p->why,
				outcome == LATER ? "it is asked again until it does"
						 : "look at its log and at the address");
		return;
	}
	if (p->failures)
		fprintf(stderr, "actorprobe: %s takes the metrics again, after %u failures\n",
			p->url, p->failures);
	p->failures = 0;
	refused = otlp_refused(&p->answer, why, sizeof(why));
	if (refused > 0 && !p->refusing)
		fprintf(stderr, "actorprobe: %s refuses %lld points (%s); look at its log\n",
			p->url, (long long)refused, why);
	p->refusing = refused > 0;
}

static uint32_t chance(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)t.tv_nsec / 1000;
}

static uint64_t push_once(void *context)
{
	struct push *p = context;
	struct error error = {0};
	uint64_t asked_seconds = 0;
	enum outcome outcome;

	text_clear(&p->body);
	text_clear(&p->packed);
	/* Without memory now, there may be some the next time. */
	p->body.failed = p->packed.failed = p->answer.failed = false;
	if (p->render(p->context, &p->body, &error) || gzip_add(&p->packed, &p->body)) {
		snprintf(p->why, sizeof(p->why), "%.200s",
			error.exit ? error.text : "out of memory");
		outcome = LATER;
	} else {
		outcome = ask(p, &asked_seconds);
	}
	/* Given up on purpose: push_close() makes another one. */
	if (outcome == LATER && atomic_load(&p->stopping) && !p->last)
		return SECOND_NS;
	tell(p, outcome);
	if (outcome == LATER)
		return push_backoff_ns(p->failures, asked_seconds, chance());
	return p->every_ns;
}

/* ---- beginning and end ---- */

static int prepare(struct push *p)
{
	static const char *const lines[] = {
		"Content-Type: application/x-protobuf", "Content-Encoding: gzip", "Expect:"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct curl_slist *more = curl_slist_append(p->headers, lines[i]);

		if (!more)
			return -1;
		p->headers = more;
	}
	p->curl = curl_easy_init();
	if (!p->curl || !p->url)
		return -1;
	curl_easy_setopt(p->curl, CURLOPT_URL, p->url);
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, p->headers);
	curl_easy_setopt(p->curl, CURLOPT_USERAGENT, "actorprobe/" ACTORPROBE_VERSION);
	curl_easy_setopt(p->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(p->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(p->curl, CURLOPT_CONNECTTIMEOUT_MS, REQUEST_MS / 2);
	curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, p->why);
	curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
	curl_easy_setopt(p->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(p->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(p->curl, CURLOPT_XFERINFODATA, p);
	return 0;
}

static void push_free(struct push *p)
{
	curl_easy_cleanup(p->curl);
	curl_slist_free_all(p->headers);
	text_fini(&p->body);
	text_fini(&p->packed);
	text_fini(&p->answer);
	free(p->url);
	free(p);
}

int push_open(struct push **out, const char *url, uint64_t every_ns, push_render *render,
	void *context, struct error *error)
{
	struct push *p = calloc(1, sizeof(*p));
	int code = 0;

	*out = NULL;
	if (!p || curl_global_init(CURL_GLOBAL_DEFAULT)) {
		free(p);
		return error_set(error, EXIT_KERNEL, "out of memory; free some");
	}
	p->url = url_complete(url);
	p->every_ns = every_ns;
	p->render = render;
	p->context = context;
	if (prepare(p))
		code = error_set(error, EXIT_KERNEL, "out of memory; free some");
	if (!code)
		code = beat_open(&p->beat, push_once, p, 0, error);
	if (code)
		push_free(p);
	else
		*out = p;
	return code;
}

void push_close(struct push *p)
{
	if (!p)
		return;
	atomic_store(&p->stopping, true);
	beat_close(p->beat);
	p->last = true;
	push_once(p);
	push_free(p);
}
