/* SPDX-License-Identifier: MIT */
/* Parsers of what an operator types: whole numbers, seconds, listen addresses. */
#include "probe/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#define SECOND_NS   1000000000ull
#define LONGEST_NS  (366ull * 86400 * SECOND_NS)
#define SHORTEST_NS 10000000ull

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits up to the first other character; saturates, so that the caller sees a range error.
 */
static const char *read_digits(const char *text, uint64_t *value)
{
	*value = 0;
	for (; is_digit(*text); text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		*value = *value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *value * 10 + digit;
	}
	return text;
}

int number_parse_whole(const char *text, uint64_t first, uint64_t last, uint64_t *value)
{
	uint64_t read;

	if (!is_digit(text[0]) || *read_digits(text, &read))
		return -EINVAL;
	if (read < first || read > last)
		return -ERANGE;
	*value = read;
	return 0;
}

int number_parse_bytes(const char *text, uint64_t first, uint64_t last, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit, *rest;
	uint64_t read;
	unsigned int shift = 0;

	if (!is_digit(text[0]))
		return -EINVAL;
	rest = read_digits(text, &read);
	if (*rest) {
		unit = strchr(units, *rest);
		if (!unit || rest[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (read > UINT64_MAX >> shift || read << shift < first || read << shift > last)
		return -ERANGE;
	*bytes = read << shift;
	return 0;
}

int number_parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t unit = SECOND_NS;
	uint64_t total;

	if (!is_digit(text[0]))
		return -EINVAL;
	text = read_digits(text, &total);
	if (total > LONGEST_NS / SECOND_NS)
		total = LONGEST_NS / SECOND_NS + 1;
	total *= SECOND_NS;
	if (*text == '.') {
		if (!is_digit(*++text))
			return -EINVAL;
		for (; is_digit(*text) && unit > 1; text++) {
			unit /= 10;
			total += (uint64_t)(*text - '0') * unit;
		}
	}
	if (*text)
		return -EINVAL;
	if (total < SHORTEST_NS || total > LONGEST_NS)
		return -ERANGE;
	*ns = total;
	return 0;
}

/* Splits host and port; brackets hold an IPv6 host, a bare one has two colons or more. */
static int split(const char *text, char *host, size_t size, const char **port)
{
	const char *end = strrchr(text, ':');

	*port = NULL;
	if (text[0] == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		*port = end[1] ? end + 2 : NULL;
	} else if (!end || strchr(text, ':') != end) {
		end = text + strlen(text);
	} else {
		*port = end + 1;
	}
	if ((size_t)(end - text) >= size)
		return -EINVAL;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	return 0;
}

static int parse_path(const char *path, struct number_address *address)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&address->socket;

	if (!*path || strlen(path) >= sizeof(un->sun_path))
		return -EINVAL;
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	address->bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
	return 0;
}

int number_parse_address(const char *text, struct number_address *address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address->socket;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->socket;
	uint64_t port = NUMBER_DEFAULT_PORT;
	const char *port_text;
	char host[INET6_ADDRSTRLEN];

	memset(address, 0, sizeof(*address));
	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(text + 5, address);
	if (!text[0] || split(text, host, sizeof(host), &port_text))
		return -EINVAL;
	if (port_text && number_parse_whole(port_text, 0, UINT16_MAX, &port))
		return -EINVAL;
	if ((!host[0] && text[0] == ':') || strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (text[0] != '[' && inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		address->bytes = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
		return -EINVAL;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	address->bytes = sizeof(*v6);
	return 0;
}
