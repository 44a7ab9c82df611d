/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link to the host: a virtio-console port for each stream, else one with the channel's name for
 * frames of all, else frames over the second serial line, raw. See agent.h and abi/channel.h.
 */
#include "guest/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/channel.h"

/* A port gets its name by a control message that may come a little after the device. */
#define WAIT_STEPS   5000
#define WAIT_STEP_NS 1000000

/*
 * Frames that may be under way in a virtio queue (QEMU's have 128 entries), and how many bytes can
 * have been sent before any of them has to wait there for the host's reader.
 */
#define PORT_QUEUE       128
#define PORT_NEVER_WAITS 65536

/* Ports that have a stream to themselves. */
static const char *const own_ports[CHANNEL_STREAM_LAST + 1] = {
	[CHANNEL_STREAM_RESULTS] = CHANNEL_PORT_RESULTS,
	[CHANNEL_STREAM_STDOUT] = CHANNEL_PORT_STDOUT,
	[CHANNEL_STREAM_STDERR] = CHANNEL_PORT_STDERR,
	[CHANNEL_STREAM_LOG] = CHANNEL_PORT_LOG,
};

/* Returns the descriptor, or -errno. */
static int open_device(const char *device)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", device);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A port is opened for what its name says, unless that is open already. */
static void open_by_name(struct link *l, const char *device, const char *name)
{
	if (l->fd < 0 && strcmp(name, CHANNEL_PORT_NAME) == 0) {
		l->fd = open_device(device);
	}
	for (unsigned int i = CHANNEL_STREAM_RESULTS; i <= CHANNEL_STREAM_LAST; i++) {
		if (l->own[i] < 0 && strcmp(name, own_ports[i]) == 0) {
			l->own[i] = open_device(device);
		}
	}
}

/* What has come up of the ports so far. True when there is a way for every stream. */
static bool open_ports(struct link *l)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char path[320], *name = NULL;

		if (d->d_name[0] == '.') {
			continue;
		}
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", d->d_name);
		if (io_read_file(path, 256, &name, NULL, NULL) == 0) {
			name[strcspn(name, "\n")] = '\0';
			open_by_name(l, d->d_name, name);
			free(name);
		}
	}
	if (dir) {
		closedir(dir);
	}
	l->apart = true;
	for (unsigned int i = CHANNEL_STREAM_RESULTS; i <= CHANNEL_STREAM_LAST; i++) {
		l->apart &= l->own[i] >= 0;
	}
	if (l->apart) {
		l->fd = l->own[CHANNEL_STREAM_RESULTS];
	}
	return l->fd >= 0;
}

/* Has the kernel taken a console device? Then ports come, if they are not there yet. */
static bool ports_are_coming(void)
{
	DIR *dir = opendir("/sys/bus/virtio/drivers/virtio_console");
	struct dirent *d;
	bool found = false;

	while (dir && (d = readdir(dir))) {
		found |= strncmp(d->d_name, "virtio", strlen("virtio")) == 0;
	}
	if (dir) {
		closedir(dir);
	}
	return found;
}

/* The kernel has nodes for lines without hardware too: only one with a known chip counts. */
static int open_serial(void)
{
	char path[32];
	_cleanup_close_ int fd = -1;
	struct serial_struct chip;
	struct termios t;

	snprintf(path, sizeof(path), "/dev/ttyS%d", CHANNEL_SERIAL_INDEX);
	fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TIOCGSERIAL, &chip) < 0 || chip.type == PORT_UNKNOWN ||
	    tcgetattr(fd, &t) < 0) {
		return -1;
	}
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	t.c_cflag &= ~(tcflag_t)(HUPCL | CRTSCTS);
	cfsetspeed(&t, B115200);
	if (tcsetattr(fd, TCSANOW, &t) < 0 || fcntl(fd, F_SETFL, 0) < 0) {
		return -1;
	}
	/* Ours for good: a program that opened it could else become the one whose terminal it is,
	 * and the line would be hung up when that program ends. */
	setsid();
	if (ioctl(fd, TIOCSCTTY, 0) < 0) {
		return -1;
	}
	return TAKE_FD(fd);
}

/**
 * link_open() - find the way to the host
 * @l: the link; its fd is -1 on failure
 * @e: set on failure
 *
 * Return: 0 or -ENODEV.
 * Context: the agent, once; sysfs and /dev are mounted.
 */
int link_open(struct link *l, struct err *e)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
	bool found;

	l->fd = -1;
	l->sent = 0;
	l->serial = l->apart = false;
	memset(l->own, -1, sizeof(l->own));
	found = open_ports(l);
	for (int i = 0; !found && i < WAIT_STEPS && ports_are_coming(); i++) {
		nanosleep(&step, NULL);
		found = open_ports(l);
	}
	if (!found) {
		l->fd = open_serial();
		l->serial = l->fd >= 0;
	}
	if (l->fd < 0) {
		return err_set(e, -ENODEV,
			       "agent: no way to the host: neither a virtio-serial port named '%s' "
			       "nor a serial line ttyS%d",
			       CHANNEL_PORT_NAME, CHANNEL_SERIAL_INDEX);
	}
	return 0;
}

/**
 * link_send() - send bytes of one stream
 * @l: an open link
 * @stream: CHANNEL_STREAM_*
 * @data: the bytes
 * @len: how many; any number
 *
 * Return: 0 or the errno of write(2).
 * Context: the agent; waits for the host's reader.
 */
int link_send(struct link *l, uint8_t stream, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (l->apart) {
		return io_write_all(l->own[stream], data, len);
	}
	while (len > 0) {
		size_t fill = 0;
		int r;

		for (int i = 0; i < LINK_FRAMES && len > 0; i++) {
			size_t n = len < CHANNEL_PAYLOAD_MAX ? len : CHANNEL_PAYLOAD_MAX;

			fill += channel_encode(l->buf + fill, stream, p, n);
			p += n;
			len -= n;
		}
		r = io_write_all(l->fd, l->buf, fill);
		if (r < 0) {
			return r;
		}
		l->sent += fill;
	}
	return 0;
}

/**
 * link_send_line() - send a line of results
 * @l: an open link
 * @o: the line; freed here; NULL: out of memory
 *
 * Return: 0, -ENOMEM, or the errno of write(2).
 * Context: the agent.
 */
int link_send_line(struct link *l, json_t *o)
{
	size_t len = o ? json_dumpb(o, NULL, 0, JSON_COMPACT) : 0;
	_cleanup_free_ char *line = malloc(len + 1);
	int r = -ENOMEM;

	if (line && len > 0) {
		json_dumpb(o, line, len, JSON_COMPACT);
		line[len] = '\n';
		r = link_send(l, CHANNEL_STREAM_RESULTS, line, len + 1);
	}
	json_decref(o);
	return r;
}

/**
 * link_log() - a line for people
 * @l: a link, open or not: then the console has it alone
 * @fmt: the text, without a newline
 *
 * Return: 0 or the errno of write(2).
 * Context: the agent.
 */
int link_log(struct link *l, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX + 64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	if (n < 0) {
		return -EINVAL;
	}
	if ((size_t)n > sizeof(text) - 2) {
		n = (int)sizeof(text) - 2;
	}
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)n) < 0 && l->fd < 0) {
		return -errno;
	}
	return l->fd < 0 ? 0 : link_send(l, CHANNEL_STREAM_LOG, text, (size_t)n);
}

/**
 * link_drain() - wait until the host has everything
 * @l: an open link
 *
 * A serial line can be asked. A virtio port cannot. A host that has a port for each stream takes
 * what is in their queues when the VM ends. One with a single port may lose what it was slow to
 * read: as many empty frames as the queue has places push that out.
 *
 * Return: 0, or the errno of tcdrain(3) or write(2).
 * Context: the agent.
 */
int link_drain(struct link *l)
{
	uint8_t empty[CHANNEL_HEADER_BYTES];
	size_t len = channel_encode(empty, CHANNEL_STREAM_LOG, empty + CHANNEL_HEADER_BYTES, 0);
	int r = 0;

	if (l->serial) {
		return tcdrain(l->fd) < 0 ? -errno : 0;
	}
	for (int i = 0; r == 0 && !l->apart && l->sent > PORT_NEVER_WAITS && i < PORT_QUEUE; i++) {
		r = io_write_all(l->fd, empty, len);
	}
	return r;
}
