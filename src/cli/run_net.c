/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_net.h. Pure; any thread. */
#include "cli/run_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "samples/record.h"

#define EXPECTED  "none, user, tap=NAME or fd=N"
#define PORT_MAX  65535
#define MAC_CHARS 17

/* What the guest of a user-mode network is: passt is told so, and QEMU has it built in. */
#define USER_ADDRESS "10.0.2.15/24"
#define USER_GATEWAY "10.0.2.2"
#define USER_DNS     "10.0.2.3"

/* "ADDRESS" or "ADDRESS/PREFIX", version 4. */
static bool is_address(const char *s, bool with_prefix)
{
	char text[INET_ADDRSTRLEN];
	const char *slash = strchr(s, '/');
	size_t len = slash ? (size_t)(slash - s) : strlen(s);
	struct in_addr a;
	uint64_t bits;

	if ((slash != NULL) != with_prefix || len >= sizeof(text)) {
		return false;
	}
	memcpy(text, s, len);
	text[len] = '\0';
	return inet_pton(AF_INET, text, &a) == 1 &&
	       (!slash || (text_parse_u64(slash + 1, &bits) == 0 && bits >= 1 && bits <= 32));
}

static int parse_mac(const char *s, uint8_t ret[6])
{
	unsigned int byte[6];
	int end = 0;

	if (sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3], &byte[4],
		   &byte[5], &end) != 6 ||
	    s[end] != '\0' || end != 17) {
		return -EINVAL;
	}
	for (unsigned int i = 0; i < 6; i++) {
		ret[i] = (uint8_t)byte[i];
	}
	/* One of a group is no station's. */
	return ret[0] & 1 ? -EINVAL : 0;
}

/* The same for the same value, and another for another: FNV-1a, locally administered. */
static void make_mac(const char *value, size_t number, uint8_t ret[6])
{
	uint32_t hash = 2166136261u;

	for (const char *p = value; *p; p++) {
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	}
	hash = (hash ^ (uint32_t)number) * 16777619u;
	ret[0] = 0x02;
	ret[1] = 'R';
	for (unsigned int i = 0; i < 4; i++) {
		ret[2 + i] = (uint8_t)(hash >> (8 * i));
	}
}

static int parse_forward(struct backend_net *n, const char *s)
{
	char *colon = strchr(s, ':');
	_cleanup_free_ char *host = strndup(s, colon ? (size_t)(colon - s) : strlen(s));
	uint64_t from, to;

	if (!host || n->forward_count == BACKEND_FORWARDS_MAX || text_parse_u64(host, &from) < 0 ||
	    from < 1 || from > PORT_MAX) {
		return -EINVAL;
	}
	to = from;
	if (colon && (text_parse_u64(colon + 1, &to) < 0 || to < 1 || to > PORT_MAX)) {
		return -EINVAL;
	}
	n->forwards[n->forward_count++] =
		(struct backend_forward){.host = (uint16_t)from, .guest = (uint16_t)to};
	return 0;
}

static int parse_kind(struct backend_net *n, char *word, const char *value, struct err *e)
{
	uint64_t fd;

	if (strcmp(word, "user") == 0) {
		n->kind = BACKEND_NET_USER;
		n->address = USER_ADDRESS;
		n->gateway = USER_GATEWAY;
		n->dns = USER_DNS;
		return 0;
	}
	if (text_starts_with(word, "tap=") && word[4]) {
		n->kind = BACKEND_NET_TAP;
		n->tap = word + 4;
		return 0;
	}
	if (text_starts_with(word, "fd=") && text_parse_u64(word + 3, &fd) == 0 && fd <= INT_MAX) {
		n->kind = BACKEND_NET_FD;
		n->fd = (int)fd;
		return 0;
	}
	return err_set(e, -EINVAL, "--net: expected " EXPECTED ", got '%s'", value);
}

static int parse_setting(struct backend_net *n, const char *word, struct err *e)
{
	const char *eq = strchr(word, '=');
	const char *is = eq ? eq + 1 : "";
	bool user = n->kind == BACKEND_NET_USER;

	if (text_starts_with(word, "mac=")) {
		return parse_mac(is, n->mac) < 0
			       ? err_set(e, -EINVAL,
					 "--net: mac: expected six bytes as 02:00:00:12:34:56, "
					 "got '%s'",
					 is)
			       : 0;
	}
	if (user && text_starts_with(word, "tcp=")) {
		return parse_forward(n, is) < 0
			       ? err_set(e, -EINVAL,
					 "--net: tcp: expected HOSTPORT[:GUESTPORT], at most %d "
					 "of them, got '%s'",
					 BACKEND_FORWARDS_MAX, is)
			       : 0;
	}
	if (!user && text_starts_with(word, "addr=") && is_address(is, true)) {
		n->address = is;
		return 0;
	}
	if (!user && text_starts_with(word, "gateway=") && is_address(is, false)) {
		n->gateway = is;
		return 0;
	}
	if (!user && text_starts_with(word, "dns=") && is_address(is, false)) {
		n->dns = is;
		return 0;
	}
	return err_set(e, -EINVAL, "--net: expected mac=MAC%s, got '%s'",
		       user ? " or tcp=HOSTPORT[:GUESTPORT]"
			    : ", addr=ADDRESS/PREFIX, gateway=ADDRESS or dns=ADDRESS",
		       word);
}

static int parse_net(struct run_nets *nets, const char *value, struct err *e)
{
	size_t number = nets->count;
	struct backend_net *n = &nets->net[number];
	char *rest, *word;
	int r;

	nets->text[number] = rest = strdup(value);
	if (!rest) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	nets->count++;
	*n = (struct backend_net){.fd = -1};
	make_mac(value, number, n->mac);
	word = strsep(&rest, ",");
	r = parse_kind(n, word, value, e);
	while (r == 0 && (word = strsep(&rest, ","))) {
		r = parse_setting(n, word, e);
	}
	if (r == 0 && !n->address && (n->gateway || n->dns)) {
		r = err_set(e, -EINVAL, "--net %s: gateway and dns need addr=ADDRESS/PREFIX",
			    value);
	}
	return r;
}

/**
 * run_nets_parse() - read the values of --net
 * @values: as they were given; "none" means none, and stands alone
 * @ret: set, also on failure; end it with run_nets_fini()
 * @e: set on failure
 *
 * Return: 0, -EINVAL for a value that cannot be, -E2BIG for too many, -ENOMEM.
 */
int run_nets_parse(const struct opt_list *values, struct run_nets *ret, struct err *e)
{
	int r = 0;

	*ret = (struct run_nets){.count = 0};
	if (values->count == 1 && strcmp(values->items[0], "none") == 0) {
		return 0;
	}
	if (values->count > BACKEND_NETS_MAX) {
		return err_set(e, -E2BIG, "--net: %zu networks, at most %d can be given",
			       values->count, BACKEND_NETS_MAX);
	}
	for (size_t i = 0; i < values->count && r == 0; i++) {
		r = parse_net(ret, values->items[i], e);
	}
	return r;
}

/**
 * run_nets_fini() - free what run_nets_parse() made
 * @n: set by it, or zeroed
 */
void run_nets_fini(struct run_nets *n)
{
	while (n->count > 0) {
		free(n->text[--n->count]);
	}
}

/**
 * run_nets_has_fd() - is one of them a descriptor that we were given
 * @n: the networks
 *
 * Return: true if so; only our own machine takes those.
 */
bool run_nets_has_fd(const struct run_nets *n)
{
	bool found = false;

	for (size_t i = 0; i < n->count; i++) {
		found |= n->net[i].kind == BACKEND_NET_FD;
	}
	return found;
}

static void mac_text(const uint8_t mac[6], char ret[MAC_CHARS + 1])
{
	snprintf(ret, MAC_CHARS + 1, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
}

/**
 * run_nets_job() - tell the guest's agent of the networks that it is to set up
 * @n: the networks; must outlive @job
 * @job: gets those with an address
 */
void run_nets_job(const struct run_nets *n, struct job *job)
{
	_Static_assert(BACKEND_NETS_MAX <= JOB_NETS_MAX, "room for each");

	job->net_count = 0;
	for (size_t i = 0; i < n->count; i++) {
		const struct backend_net *b = &n->net[i];
		struct job_net *to = &job->nets[job->net_count];

		if (!b->address) {
			continue;
		}
		*to = (struct job_net){.address = b->address, .gateway = b->gateway, .dns = b->dns};
		mac_text(b->mac, to->mac);
		job->net_count++;
	}
}

static json_t *net_to_json(const struct backend_net *n)
{
	static const char *const kinds[] = {
		[BACKEND_NET_USER] = "user", [BACKEND_NET_TAP] = "tap", [BACKEND_NET_FD] = "fd"};
	json_t *o, *forwards = json_array();
	char mac[MAC_CHARS + 1];

	for (size_t i = 0; i < n->forward_count; i++) {
		json_array_append_new(forwards, json_pack("{s:i, s:i}", "host", n->forwards[i].host,
							  "guest", n->forwards[i].guest));
	}
	mac_text(n->mac, mac);
	o = json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:o}", "kind", kinds[n->kind], "mac", mac,
		      "address", n->address, "gateway", n->gateway, "dns", n->dns, "tcp", forwards);
	if (n->kind == BACKEND_NET_TAP) {
		json_object_set_new(o, "tap", record_text_to_json(n->tap));
	}
	return o;
}

/**
 * run_nets_to_json() - what networks the guest had, for the record
 * @n: parsed
 *
 * Return: an array, the caller's; NULL when there is none, or no memory.
 */
json_t *run_nets_to_json(const struct run_nets *n)
{
	json_t *all = n->count > 0 ? json_array() : NULL;

	for (size_t i = 0; i < n->count; i++) {
		json_array_append_new(all, net_to_json(&n->net[i]));
	}
	return all;
}
