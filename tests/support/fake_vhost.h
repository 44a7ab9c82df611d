/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The back end of vhost-user, for tests: a thread that answers as it should, writes down what it
 * was told, and at one request lies in a chosen way.
 */
#ifndef TESTS_FAKE_VHOST_H
#define TESTS_FAKE_VHOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_VHOST_LOG    64
#define FAKE_VHOST_QUEUES 2

enum fake_vhost_lie {
	FAKE_HONEST,
	FAKE_OTHER_REQUEST, /* the answer names another request */
	FAKE_TOO_LONG,
	FAKE_TOO_SHORT,
	FAKE_HUGE,        /* a length of 4 GiB less one */
	FAKE_NO_REPLY,    /* the answer does not say that it is one */
	FAKE_VERSION,     /* of another version */
	FAKE_HANGS_UP,    /* instead of answering */
	FAKE_HALF,        /* hangs up in the middle of an answer */
	FAKE_WITH_FILE,   /* a descriptor comes along, which nobody asked for: no lie */
	FAKE_REFUSES,     /* confirms with a failure */
	FAKE_OTHER_QUEUE, /* answers for another queue */
	FAKE_LIES,
};

struct fake_vhost {
	int fd; /* the other end, for the device */
	/* Set before fake_vhost_start(). */
	uint64_t features, protocol;
	uint32_t lie_at; /* number of a request */
	enum fake_vhost_lie lie;

	/* What it was told; to be read after fake_vhost_stop(), or when it has answered. */
	unsigned int count;
	uint32_t log[FAKE_VHOST_LOG];
	uint64_t accepted, regions, gpa, bytes, user_address;
	int memory_fd;
	struct {
		uint32_t num;
		uint64_t desc, avail, used;
		int kick_fd, call_fd;
		bool enabled;
	} queue[FAKE_VHOST_QUEUES];

	int own_fd;
	pthread_t thread;
};

void fake_vhost_init(struct fake_vhost *f);
void fake_vhost_start(struct fake_vhost *f);
void fake_vhost_stop(struct fake_vhost *f);
unsigned int fake_vhost_times(const struct fake_vhost *f, uint32_t request);

#endif
