/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See disk.h. */
#include "devices/virtio/disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int lock(int fd, bool alone)
{
	struct flock whole = {.l_type = alone ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0) {
		return 0;
	}
	if (errno == EAGAIN || errno == EACCES) {
		return -EBUSY;
	}
	if (flock(fd, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
		return 0;
	}
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

static int measure(struct disk *d, const char *path, struct err *e)
{
	struct stat st;
	uint64_t bytes;

	if (fstat(d->fd, &st) < 0) {
		return err_errno(e, -errno, "disk %s", path);
	}
	d->block_device = S_ISBLK(st.st_mode);
	if (d->block_device) {
		if (ioctl(d->fd, BLKGETSIZE64, &bytes) < 0) {
			return err_errno(e, -errno, "disk %s: its size", path);
		}
	} else if (S_ISREG(st.st_mode)) {
		bytes = (uint64_t)st.st_size;
	} else {
		return err_set(e, -EINVAL, "disk %s: neither a file nor a block device", path);
	}
	d->sectors = bytes / DISK_SECTOR_BYTES;
	d->tail_bytes = bytes % DISK_SECTOR_BYTES;
	if (d->sectors == 0) {
		return err_set(e, -EINVAL, "disk %s: %llu bytes are less than one sector", path,
			       (unsigned long long)bytes);
	}
	return 0;
}

/* What a block device asks for, or the largest that any file system does. */
static int set_up_direct(struct disk *d, const char *path, struct err *e)
{
	int sector = 0;

	d->align = DISK_ALIGN_MAX;
	if (d->block_device && ioctl(d->fd, BLKSSZGET, &sector) == 0 && sector > 0 &&
	    sector <= DISK_ALIGN_MAX) {
		d->align = (uint32_t)sector;
	}
	if (d->tail_bytes || d->sectors * DISK_SECTOR_BYTES % d->align) {
		return err_set(e, -EINVAL,
			       "disk %s: direct I/O needs a size that is a multiple of %u bytes",
			       path, d->align);
	}
	d->bounce = aligned_alloc(DISK_ALIGN_MAX, DISK_BOUNCE_BYTES);
	return d->bounce ? 0 : err_set(e, -ENOMEM, "disk %s: out of memory", path);
}

/**
 * disk_open() - open an image, lock it, find its size
 * @d: the caller's memory
 * @cfg: which, and how
 * @e: gets one line that names the image
 *
 * Return: 0; -EBUSY when it is in use; -EINVAL when it is no disk or this file system has no direct
 * I/O; another −errno of opening or locking it. On failure nothing is left open.
 * Context: before any vCPU runs.
 */
int disk_open(struct disk *d, const struct disk_config *cfg, struct err *e)
{
	int flags = (cfg->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
		    (cfg->direct ? O_DIRECT : 0);
	int r;

	*d = (struct disk){.read_only = cfg->read_only, .fd = open(cfg->path, flags)};
	if (d->fd < 0) {
		return err_errno(e, -errno, "disk %s%s", cfg->path,
				 cfg->read_only || (errno != EACCES && errno != EROFS)
					 ? ""
					 : ": cannot be written (',ro' opens it for reading)");
	}
	r = measure(d, cfg->path, e);
	if (r == 0) {
		r = lock(d->fd, !cfg->read_only);
		if (r < 0) {
			r = r == -EBUSY
				    ? err_set(e, r, "disk %s: in use by another machine", cfg->path)
				    : err_errno(e, r, "disk %s: it cannot be locked", cfg->path);
		}
	}
	if (r == 0 && cfg->direct) {
		r = set_up_direct(d, cfg->path, e);
	}
	if (r < 0) {
		disk_close(d);
	}
	return r;
}

/**
 * disk_close() - let go of the image
 * @d: opened, or a failed one
 *
 * Context: after the last request.
 */
void disk_close(struct disk *d)
{
	free(d->bounce);
	d->bounce = NULL;
	if (d->fd >= 0) {
		close(d->fd);
		d->fd = -1;
	}
}

/* Drop the bytes of iov that are done. */
static void advance(struct iovec **iov, unsigned int *count, size_t done)
{
	while (*count > 0 && done >= (*iov)->iov_len) {
		done -= (*iov)->iov_len;
		(*iov)++;
		(*count)--;
	}
	if (*count > 0) {
		(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + done;
		(*iov)->iov_len -= done;
	}
}

static int transfer_all(struct disk *d, bool write, uint64_t at, struct iovec *iov,
			unsigned int count)
{
	while (count > 0) {
		ssize_t n = write ? pwritev(d->fd, iov, (int)count, (off_t)at)
				  : preadv(d->fd, iov, (int)count, (off_t)at);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -EIO; /* the file has shrunk under us */
		}
		at += (uint64_t)n;
		advance(&iov, &count, (size_t)n);
	}
	return 0;
}

static bool is_aligned(const struct disk *d, uint64_t at, const struct iovec *iov,
		       unsigned int count)
{
	uint64_t bits = at;

	for (unsigned int i = 0; i < count; i++) {
		bits |= (uintptr_t)iov[i].iov_base | iov[i].iov_len;
	}
	return bits % d->align == 0;
}

static void gather(struct iovec **iov, unsigned int *count, uint8_t *bounce, size_t bytes,
		   bool to_bounce)
{
	while (bytes > 0) {
		size_t n = (*iov)->iov_len < bytes ? (*iov)->iov_len : bytes;

		if (to_bounce) {
			memcpy(bounce, (*iov)->iov_base, n);
		} else {
			memcpy((*iov)->iov_base, bounce, n);
		}
		bounce += n;
		bytes -= n;
		advance(iov, count, n);
	}
}

static size_t total_of(const struct iovec *iov, unsigned int count)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		bytes += iov[i].iov_len;
	}
	return bytes;
}

/*
 * Direct I/O to buffers that are not aligned for it: piece by piece through one that is. At the
 * ends of a piece there may be sectors that a larger block of the host holds together with others,
 * so what is read is a whole number of blocks, and a write reads them first.
 */
static int bounce_all(struct disk *d, bool write, uint64_t at, struct iovec *iov,
		      unsigned int count)
{
	size_t left = total_of(iov, count);
	int r = 0;

	while (left > 0 && r == 0) {
		size_t skip = at % d->align;
		size_t n = left < DISK_BOUNCE_BYTES - skip ? left : DISK_BOUNCE_BYTES - skip;
		size_t whole = (skip + n + d->align - 1) / d->align * d->align;
		struct iovec piece = {.iov_base = d->bounce, .iov_len = whole};
		uint64_t base = at - skip;
		ssize_t got;

		if (!write || skip || whole != skip + n) {
			got = preadv(d->fd, &piece, 1, (off_t)base);
			if (got < 0 || (size_t)got < whole) {
				return got < 0 ? -errno : -EIO;
			}
		}
		if (!write) {
			gather(&iov, &count, d->bounce + skip, n, false);
		} else {
			gather(&iov, &count, d->bounce + skip, n, true);
			piece = (struct iovec){.iov_base = d->bounce, .iov_len = whole};
			r = transfer_all(d, true, base, &piece, 1);
		}
		at += n;
		left -= n;
	}
	return r;
}

static int transfer(struct disk *d, bool write, uint64_t sector, struct iovec *iov,
		    unsigned int count)
{
	uint64_t at = sector * DISK_SECTOR_BYTES;

	if (d->align && !is_aligned(d, at, iov, count)) {
		return bounce_all(d, write, at, iov, count);
	}
	return transfer_all(d, write, at, iov, count);
}

static int check_range(const struct disk *d, uint64_t sector, uint64_t sectors)
{
	return sector > d->sectors || sectors > d->sectors - sector ? -ENOSPC : 0;
}

/**
 * disk_read() - read sectors
 * @d: an open disk
 * @sector: the first
 * @iov: where to; a whole number of sectors in all; used up
 * @count: how many
 *
 * Return: 0; -ENOSPC past the end; -EINVAL for a part of a sector; -EIO or another −errno of the
 * host. Context: the event loop, which waits for the host.
 */
int disk_read(struct disk *d, uint64_t sector, struct iovec *iov, unsigned int count)
{
	size_t bytes = total_of(iov, count);
	int r = bytes % DISK_SECTOR_BYTES ? -EINVAL
					  : check_range(d, sector, bytes / DISK_SECTOR_BYTES);

	return r < 0 ? r : transfer(d, false, sector, iov, count);
}

/**
 * disk_write() - write sectors
 * @d: an open disk
 * @sector: the first
 * @iov: where from; a whole number of sectors in all; used up
 * @count: how many
 *
 * Return: as disk_read(), and -EROFS.
 * Context: the event loop, which waits for the host.
 */
int disk_write(struct disk *d, uint64_t sector, struct iovec *iov, unsigned int count)
{
	size_t bytes = total_of(iov, count);
	int r = bytes % DISK_SECTOR_BYTES ? -EINVAL
					  : check_range(d, sector, bytes / DISK_SECTOR_BYTES);

	if (d->read_only) {
		return -EROFS;
	}
	return r < 0 ? r : transfer(d, true, sector, iov, count);
}

/**
 * disk_flush() - wait until what was written is on the medium
 * @d: an open disk; a read-only one has nothing to wait for
 *
 * Return: 0 or the −errno of fdatasync(2).
 * Context: the event loop, which waits for the host.
 */
int disk_flush(struct disk *d)
{
	if (d->read_only) {
		return 0;
	}
	return fdatasync(d->fd) < 0 ? -errno : 0;
}

static bool is_refusal(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS || error == ENOTTY || error == EINVAL;
}

/**
 * disk_discard() - the guest has no use for these sectors any more
 * @d: an open disk
 * @sector: the first
 * @sectors: how many
 *
 * A host that cannot free them keeps them, which is as good.
 *
 * Return: 0, -EROFS, -ENOSPC past the end, another −errno.
 * Context: the event loop.
 */
int disk_discard(struct disk *d, uint64_t sector, uint64_t sectors)
{
	uint64_t range[2] = {sector * DISK_SECTOR_BYTES, sectors * DISK_SECTOR_BYTES};
	int r = d->read_only ? -EROFS : check_range(d, sector, sectors);

	if (r < 0 || sectors == 0) {
		return r;
	}
	r = d->block_device ? ioctl(d->fd, BLKDISCARD, range)
			    : fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)range[0], (off_t)range[1]);
	return r == 0 || is_refusal(errno) ? 0 : -errno;
}

static int write_zeros(struct disk *d, uint64_t sector, uint64_t sectors)
{
	/* Never written to, and not const, which would be 64 KiB of the program's file. */
	static uint8_t zeros[DISK_BOUNCE_BYTES] __attribute__((aligned(DISK_ALIGN_MAX)));
	const uint64_t most = sizeof(zeros) / DISK_SECTOR_BYTES;
	int r = 0;

	while (sectors > 0 && r == 0) {
		uint64_t n = sectors < most ? sectors : most;
		struct iovec iov = {zeros, n * DISK_SECTOR_BYTES};

		r = transfer(d, true, sector, &iov, 1);
		sector += n;
		sectors -= n;
	}
	return r;
}

/**
 * disk_zero() - make sectors read as zeros
 * @d: an open disk
 * @sector: the first
 * @sectors: how many; bounded by the caller, as a host that cannot do it at once writes them
 * @unmap: the host may free them
 *
 * Return: 0, -EROFS, -ENOSPC past the end, another −errno.
 * Context: the event loop, which waits for the host.
 */
int disk_zero(struct disk *d, uint64_t sector, uint64_t sectors, bool unmap)
{
	uint64_t range[2] = {sector * DISK_SECTOR_BYTES, sectors * DISK_SECTOR_BYTES};
	int how = (unmap ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE) | FALLOC_FL_KEEP_SIZE;
	int r = d->read_only ? -EROFS : check_range(d, sector, sectors);

	if (r < 0 || sectors == 0) {
		return r;
	}
	r = d->block_device ? ioctl(d->fd, BLKZEROOUT, range)
			    : fallocate(d->fd, how, (off_t)range[0], (off_t)range[1]);
	if (r == 0) {
		return 0;
	}
	return is_refusal(errno) ? write_zeros(d, sector, sectors) : -errno;
}
