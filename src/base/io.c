/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See io.h. Any thread. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/**
 * io_pread_exact() - read exactly so many bytes at an offset
 * @fd: an open file
 * @buf: room for @len bytes
 * @len: how many, bytes
 * @offset: where, bytes from the file's start
 *
 * Return: 0, -EIO when the file ends before that (it is shorter than it was said to be, or is
 * shrinking), or the errno of pread(2).
 * Context: any thread.
 */
int io_pread_exact(int fd, void *buf, size_t len, uint64_t offset)
{
	char *p = buf;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -EIO;
		}
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/**
 * io_write_all() - write every byte, waiting where the descriptor is non-blocking and full
 * @fd: an open descriptor
 * @buf: the bytes
 * @len: how many, bytes
 *
 * Return: 0, or the errno of write(2), -EPIPE and -ENOSPC among them.
 * Context: a thread that may block.
 */
int io_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = {.fd = fd, .events = POLLOUT};

			poll(&pfd, 1, -1);
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/**
 * io_read_file() - read a whole small file
 * @path: its path; it need not have a size (as in /proc)
 * @max: the largest length that is accepted, bytes
 * @ret_data: set on success, a NUL is put behind the last byte; the caller frees it
 * @ret_len: set on success, bytes; may be NULL
 * @e: set on failure, names the file
 *
 * Return: 0, -EFBIG for a file longer than @max, -ENOMEM, or the errno of open(2) or read(2).
 * Context: a thread that may block.
 */
int io_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *data = NULL;
	size_t room = 0;
	size_t len = 0;

	if (fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	for (;;) {
		ssize_t n;

		if (room - len < 2) {
			char *more;

			room = room ? room * 2 : 4096;
			more = realloc(data, room);
			if (!more) {
				return err_errno(e, -ENOMEM, "%s", path);
			}
			data = more;
		}
		n = read(fd, data + len, room - len - 1);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return err_errno(e, -errno, "%s", path);
		}
		if (n == 0) {
			break;
		}
		len += (size_t)n;
		if (len > max) {
			return err_set(e, -EFBIG, "%s: longer than the %zu bytes accepted here",
				       path, max);
		}
	}
	data[len] = '\0';
	*ret_data = TAKE_PTR(data);
	if (ret_len) {
		*ret_len = len;
	}
	return 0;
}
