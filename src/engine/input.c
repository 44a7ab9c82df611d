/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See input.h. Runs on the event loop's thread. */
#include "engine/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/term.h"

#define BACKGROUND_RETRY_NS (NS_PER_SEC / 2)

static void on_readable(void *ctx, int fd, uint32_t events);

static void stop_reading(struct input *in)
{
	evloop_remove(in->source);
	in->source = NULL;
}

static void input_end(struct input *in)
{
	stop_reading(in);
	in->ended = true;
}

static void read_on(struct input *in)
{
	if (!in->ended && !in->source &&
	    evloop_add_fd(in->loop, in->fd, EPOLLIN, on_readable, in, &in->source) < 0) {
		in->ended = true;
	}
}

/*
 * While bytes wait, nothing is read, and the source is taken out of the loop for that time: one
 * that merely asks for no events is still called, without end, once a pipe's other end is closed.
 */
static void push(struct input *in)
{
	size_t n = in->send(in->ctx, in->waiting, in->waiting_len);

	in->waiting_len -= n;
	memmove(in->waiting, in->waiting + n, in->waiting_len);
	if (in->waiting_len) {
		stop_reading(in);
	} else {
		read_on(in);
	}
}

/* Returns false when the user asked for the end. */
static bool take(struct input *in, const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (in->terminal && !in->escaped && data[i] == INPUT_ESCAPE) {
			in->escaped = true;
			continue;
		}
		if (in->escaped && (data[i] == 'x' || data[i] == 'X')) {
			return false;
		}
		in->escaped = false;
		in->waiting[in->waiting_len++] = data[i];
	}
	return true;
}

/* In the background, with SIGTTIN ignored, read(2) gives EIO for as long as there is input. */
static void pause_in_background(struct input *in)
{
	if (!isatty(in->fd) || evloop_set_events(in->source, 0) < 0 ||
	    evloop_arm_timer(in->retry, clock_now_ns(&clock_monotonic) + BACKGROUND_RETRY_NS,
			     BACKGROUND_RETRY_NS) < 0) {
		input_end(in);
	}
}

static void on_readable(void *ctx, int fd, uint32_t events)
{
	struct input *in = ctx;
	unsigned char buf[sizeof(in->waiting)];
	ssize_t n = read(fd, buf, sizeof(buf) - in->waiting_len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n < 0 && errno == EIO && !term_is_foreground(fd)) {
		pause_in_background(in);
		return;
	}
	if (n <= 0) {
		input_end(in);
		return;
	}
	if (!take(in, buf, (size_t)n)) {
		in->quit(in->ctx);
		return;
	}
	push(in);
}

static void on_retry(void *ctx)
{
	struct input *in = ctx;

	if (term_is_foreground(in->fd)) {
		input_continued(in);
	}
}

/**
 * input_init() - start to read
 * @in: the caller's memory; end it with input_fini()
 * @loop: where it waits
 * @fd: stdin; stays the caller's. A terminal is made raw
 * @send: takes bytes for the guest, maybe fewer than given: then input_room() says when to go on
 * @quit: called when the user types Ctrl-A x
 * @ctx: handed to both
 *
 * Return: 0, -ENOMEM, or the errno of what could not be set up.
 */
int input_init(struct input *in, struct evloop *loop, int fd,
	       size_t (*send)(void *ctx, const void *data, size_t len), void (*quit)(void *ctx),
	       void *ctx)
{
	int r;

	*in = (struct input){.loop = loop,
			     .fd = fd,
			     .terminal = isatty(fd),
			     .send = send,
			     .quit = quit,
			     .ctx = ctx};
	r = evloop_add_timer(loop, on_retry, in, &in->retry);
	if (r < 0) {
		return r;
	}
	r = evloop_add_fd(loop, fd, EPOLLIN, on_readable, in, &in->source);
	return r < 0 ? r : term_set_raw(fd);
}

/**
 * input_fini() - stop reading and give the terminal back
 * @in: an initialised input, or zeroed memory
 */
void input_fini(struct input *in)
{
	evloop_remove(in->retry);
	in->retry = NULL;
	input_end(in);
	term_restore();
}

/**
 * input_room() - the guest takes bytes again
 * @in: an initialised input
 */
void input_room(struct input *in)
{
	if (in->waiting_len) {
		push(in);
	}
}

/**
 * input_continued() - the program came back from the background, or was continued after a stop
 * @in: an initialised input
 */
void input_continued(struct input *in)
{
	/* A failure leaves the terminal as it is: typing still works, line by line. */
	(void)!term_set_raw(in->fd);
	if (in->source && !in->waiting_len &&
	    (evloop_arm_timer(in->retry, 0, 0) < 0 || evloop_set_events(in->source, EPOLLIN) < 0)) {
		input_end(in);
	}
}
