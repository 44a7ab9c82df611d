/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See qemu_memory_priv.h. Any thread. */
#include "engine/qemu_memory_priv.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"

/* Where microvm puts memory that does not fit below its hole (QEMU 7.2 hw/i386/microvm.c). */
#define LOW_MEMORY_END    UINT64_C(0xc0000000)
#define HIGH_MEMORY_START UINT64_C(0x100000000)

/**
 * qemu_memory_pieces() - what of the file is where in guest memory
 * @fd: the file
 * @bytes: size of guest memory
 * @pieces: filled in, by address
 * @max: room in it; QEMU_MEMORY_PIECES is always enough
 *
 * Return: how many were filled in.
 */
size_t qemu_memory_pieces(int fd, uint64_t bytes, struct backend_memory *pieces, size_t max)
{
	uint64_t low = bytes < LOW_MEMORY_END ? bytes : LOW_MEMORY_END;
	const struct backend_memory all[QEMU_MEMORY_PIECES] = {
		{fd, 0, 0, low},
		{fd, low, HIGH_MEMORY_START, bytes - low},
	};
	size_t n = bytes > low ? 2 : 1;

	n = n < max ? n : max;
	memcpy(pieces, all, n * sizeof(*pieces));
	return n;
}

/**
 * qemu_memory_read() - copy guest memory
 * @fd: the file
 * @bytes: size of guest memory
 * @gpa: guest-physical address, any
 * @buf: gets the bytes
 * @len: how many
 *
 * Return: 0, or -EFAULT when that is not all RAM of one piece.
 */
int qemu_memory_read(int fd, uint64_t bytes, uint64_t gpa, void *buf, size_t len)
{
	struct backend_memory pieces[QEMU_MEMORY_PIECES];
	size_t n = qemu_memory_pieces(fd, bytes, pieces, ARRAY_SIZE(pieces));

	for (size_t i = 0; i < n; i++) {
		const struct backend_memory *m = &pieces[i];
		uint64_t at = gpa - m->gpa;

		if (at < m->bytes && len <= m->bytes - at) {
			return io_pread_exact(fd, buf, len, m->offset + at) < 0 ? -EFAULT : 0;
		}
	}
	return -EFAULT;
}
