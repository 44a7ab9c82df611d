/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The virtiofsd of this machine, driven by requests that no kernel would make. */
#include "virtio_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/virtio/fs.h"
#include "vmm/virtiofsd.h"

#define IN         VRING_HEAP
#define OUT        (VRING_HEAP + 0x8000)
#define OUT_BYTES  0x2000
#define REQUESTS   1 /* the queue */
#define ANSWER_MS  20000
#define ROOT_INODE 1

struct fixture {
	char dir[64], file[96];
	struct virtio_driver d;
	unsigned char *calloced;
	int memory;
	struct virtio_fs fs;
	struct virtiofsd daemon;
	uint64_t unique;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	assert_non_null(f);
	strcpy(f->dir, "/tmp/ringside-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->file, sizeof(f->file), "%s/file", f->dir);
	fd = open(f->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "content", 7), 7);
	close(fd);
	/* Memory in a file, which the other process can map. */
	driver_init(&f->d);
	f->memory = memfd_create("memory", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f->memory, VRING_RAM_BYTES), 0);
	f->calloced = f->d.ram.bytes;
	f->d.ram.bytes =
		mmap(NULL, VRING_RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->memory, 0);
	assert_ptr_not_equal(f->d.ram.bytes, MAP_FAILED);
	f->d.ram.mem.regions[0].host = f->d.ram.bytes;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	munmap(f->d.ram.bytes, VRING_RAM_BYTES);
	f->d.ram.bytes = f->calloced;
	close(f->memory);
	driver_fini(&f->d);
	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void start_driver(struct fixture *f)
{
	driver_start(&f->d, &f->fs.v, VIRTIO_FS_QUEUES, driver_offered(&f->d));
	while (driver_rung(&f->d)) {
		driver_turn(&f->d);
	}
	assert_false(driver_get(&f->d, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
}

static int make(struct fixture *f, const char *path, bool read_only)
{
	const struct vhost_user_region memory = {.bytes = VRING_RAM_BYTES, .fd = f->memory};
	struct virtio_place place = driver_place(&f->d);
	struct err e = ERR_INIT;
	int fd, r = virtiofsd_start(&f->daemon, path, read_only, &fd, &e);

	f->d.dev = &f->fs.v;
	assert_int_equal(r, 0);
	return virtio_fs_init(&f->fs, &place, fd, &memory, 1, "share0");
}

static void end(struct fixture *f)
{
	virtio_fs_fini(&f->fs);
	virtiofsd_stop(&f->daemon);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Returns what the file system said, 0 or −errno; what came behind that is at OUT. */
static int request(struct fixture *f, uint32_t opcode, uint64_t node, const void *arg, size_t bytes)
{
	struct fuse_in_header in = {.len = (uint32_t)(sizeof(in) + bytes),
				    .opcode = opcode,
				    .unique = ++f->unique,
				    .nodeid = node};
	struct vring_driver *q = &f->d.queue[REQUESTS];
	struct pollfd p = {.fd = f->d.irq_fd, .events = POLLIN};
	struct fuse_out_header out;
	uint32_t head, used;

	memcpy(f->d.ram.bytes + IN, &in, sizeof(in));
	memcpy(f->d.ram.bytes + IN + sizeof(in), arg, bytes);
	memset(f->d.ram.bytes + OUT, 0, OUT_BYTES);
	vring_desc(q, 0, IN, in.len, VRING_DESC_F_NEXT, 1);
	vring_desc(q, 1, OUT, OUT_BYTES, VRING_DESC_F_WRITE, 0);
	vring_set_used_event(q, q->seen_used);
	vring_offer(q, 0);
	assert_int_equal(eventfd_write(f->d.kick_fd[REQUESTS], 1), 0);
	while (!vring_take_used(q, &head, &used)) {
		if (poll(&p, 1, ANSWER_MS) != 1) {
			char words[VIRTIOFSD_WORDS_MAX];

			virtiofsd_words(&f->daemon, words, sizeof(words));
			fail_msg("no answer to request %u; virtiofsd: %s", opcode, words);
		}
		driver_interrupts(&f->d);
	}
	memcpy(&out, f->d.ram.bytes + OUT, sizeof(out));
	assert_int_equal(out.unique, f->unique);
	return out.error;
}

static const void *answer(struct fixture *f)
{
	return f->d.ram.bytes + OUT + sizeof(struct fuse_out_header);
}

static void hello(struct fixture *f)
{
	const struct fuse_init_in init = {.major = FUSE_KERNEL_VERSION,
					  .minor = FUSE_KERNEL_MINOR_VERSION,
					  .max_readahead = 4096};

	assert_int_equal(request(f, FUSE_INIT, 0, &init, sizeof(init)), 0);
}

static uint64_t look_up(struct fixture *f, const char *name)
{
	struct fuse_entry_out entry;

	assert_int_equal(request(f, FUSE_LOOKUP, ROOT_INODE, name, strlen(name) + 1), 0);
	memcpy(&entry, answer(f), sizeof(entry));
	return entry.nodeid;
}

static int open_file(struct fixture *f, uint64_t node, uint32_t flags, uint64_t *ret_fh)
{
	const struct fuse_open_in in = {.flags = flags};
	struct fuse_open_out out;
	int r = request(f, FUSE_OPEN, node, &in, sizeof(in));

	memcpy(&out, answer(f), sizeof(out));
	*ret_fh = out.fh;
	return r;
}

static int create_file(struct fixture *f, const char *name, uint64_t *ret_fh)
{
	struct {
		struct fuse_create_in in;
		char name[16];
	} arg = {.in = {.flags = O_RDWR | O_CREAT, .mode = S_IFREG | 0644}};
	struct fuse_open_out out;
	int r;

	strcpy(arg.name, name);
	r = request(f, FUSE_CREATE, ROOT_INODE, &arg, sizeof(arg.in) + strlen(name) + 1);
	memcpy(&out, (const char *)answer(f) + sizeof(struct fuse_entry_out), sizeof(out));
	*ret_fh = out.fh;
	return r;
}

static int write_file(struct fixture *f, uint64_t node, uint64_t fh, const char *text)
{
	struct {
		struct fuse_write_in in;
		char text[32];
	} arg = {.in = {.fh = fh, .size = (uint32_t)strlen(text)}};

	strcpy(arg.text, text);
	return request(f, FUSE_WRITE, node, &arg, sizeof(arg.in) + strlen(text));
}

static void assert_content(const char *path, const char *expected)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(expected));
	assert_string_equal(text, expected);
	close(fd);
}

static void a_file_is_read(void **state)
{
	struct fixture *f = *state;
	struct fuse_read_in in = {.size = 4096};
	uint64_t node;

	assert_int_equal(make(f, f->dir, true), 0);
	start_driver(f);
	hello(f);
	node = look_up(f, "file");
	assert_int_equal(open_file(f, node, O_RDONLY, &in.fh), 0);
	assert_int_equal(request(f, FUSE_READ, node, &in, sizeof(in)), 0);
	assert_memory_equal(answer(f), "content", 8);
	end(f);
}

/* Each way to change something, by a guest that does not keep to its own read-only mount. */
static void nothing_can_be_changed_where_the_guest_is_only_to_read(void **state)
{
	static const struct {
		struct fuse_rename_in in;
		char names[16];
	} renaming = {{ROOT_INODE}, "file\0other"};
	struct {
		struct fuse_link_in in;
		char name[8];
	} linking = {.name = "link"};
	static const struct {
		struct fuse_setxattr_in in;
		char text[16];
	} xattr = {{.size = 1}, "user.a\0x"};
	const struct fuse_setattr_in chmod_in = {.valid = FATTR_MODE, .mode = 0777};
	const struct fuse_setattr_in cut_in = {.valid = FATTR_SIZE};
	const struct fuse_fallocate_in fallocate_in = {.length = 4096};
	struct {
		struct fuse_mkdir_in in;
		char name[8];
	} making = {{.mode = 0755}, "d"};
	struct {
		struct fuse_mknod_in in;
		char name[8];
	} node_in = {{.mode = S_IFREG | 0644}, "n"};
	struct fixture *f = *state;
	struct stat st;
	uint64_t node, fh;

	assert_int_equal(make(f, f->dir, true), 0);
	start_driver(f);
	hello(f);
	node = look_up(f, "file");
	assert_int_equal(open_file(f, node, O_WRONLY, &fh), -EROFS);
	assert_int_equal(open_file(f, node, O_RDWR, &fh), -EROFS);
	assert_int_equal(open_file(f, node, O_RDONLY | O_TRUNC, &fh), -EROFS);
	assert_int_equal(create_file(f, "new", &fh), -EROFS);
	assert_int_equal(request(f, FUSE_MKDIR, ROOT_INODE, &making, sizeof(making.in) + 2),
			 -EROFS);
	assert_int_equal(request(f, FUSE_MKNOD, ROOT_INODE, &node_in, sizeof(node_in.in) + 2),
			 -EROFS);
	assert_int_equal(request(f, FUSE_SYMLINK, ROOT_INODE, "s\0file", 7), -EROFS);
	assert_int_equal(request(f, FUSE_UNLINK, ROOT_INODE, "file", 5), -EROFS);
	assert_int_equal(request(f, FUSE_RENAME, ROOT_INODE, &renaming, sizeof(renaming.in) + 11),
			 -EROFS);
	linking.in.oldnodeid = node;
	assert_int_equal(request(f, FUSE_LINK, ROOT_INODE, &linking, sizeof(linking.in) + 5),
			 -EROFS);
	assert_int_equal(request(f, FUSE_SETATTR, node, &chmod_in, sizeof(chmod_in)), -EROFS);
	assert_true(request(f, FUSE_SETATTR, node, &cut_in, sizeof(cut_in)) < 0);
	assert_true(request(f, FUSE_SETXATTR, node, &xattr, 8 + 9) < 0);
	assert_int_equal(open_file(f, node, O_RDONLY, &fh), 0);
	assert_true(write_file(f, node, fh, "changed") < 0);
	assert_true(request(f, FUSE_FALLOCATE, node, &fallocate_in, sizeof(fallocate_in)) < 0);
	end(f);
	assert_content(f->file, "content");
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void what_the_guest_writes_is_in_the_directory(void **state)
{
	struct fixture *f = *state;
	char path[96];
	uint64_t fh;

	assert_int_equal(make(f, f->dir, false), 0);
	start_driver(f);
	hello(f);
	assert_int_equal(create_file(f, "new", &fh), 0);
	assert_int_equal(write_file(f, look_up(f, "new"), fh, "by the guest"), 0);
	end(f);
	snprintf(path, sizeof(path), "%s/new", f->dir);
	assert_content(path, "by the guest");
}

static void the_directory_is_not_left(void **state)
{
	static const char *const names[] = {"..", "../", "../../etc/passwd", "/etc/passwd", "."};
	struct fixture *f = *state;
	struct fuse_entry_out entry;
	struct stat st;

	assert_int_equal(stat(f->dir, &st), 0);
	assert_int_equal(make(f, f->dir, true), 0);
	start_driver(f);
	hello(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (request(f, FUSE_LOOKUP, ROOT_INODE, names[i], strlen(names[i]) + 1) == 0) {
			memcpy(&entry, answer(f), sizeof(entry));
			assert_int_equal(entry.attr.ino, st.st_ino);
		}
	}
	end(f);
}

static void a_second_driver_starts_after_a_reset(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f, f->dir, true), 0);
	for (int i = 0; i < 3; i++) {
		const struct fuse_in_header none = {0};

		start_driver(f);
		hello(f);
		look_up(f, "file");
		assert_int_equal(request(f, FUSE_DESTROY, 0, &none, 0), 0);
	}
	end(f);
}

static void the_end_of_virtiofsd_is_seen(void **state)
{
	struct fixture *f = *state;
	struct pollfd p;

	assert_int_equal(make(f, f->dir, true), 0);
	start_driver(f);
	hello(f);
	p = (struct pollfd){.fd = virtio_fs_fd(&f->fs), .events = POLLRDHUP};
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(kill(f->daemon.pid, SIGKILL), 0);
	assert_int_equal(poll(&p, 1, ANSWER_MS), 1);
	virtio_fs_lost(&f->fs);
	assert_true(driver_get(&f->d, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
	end(f);
}

static void why_it_does_not_serve_is_told(void **state)
{
	struct fixture *f = *state;
	char words[VIRTIOFSD_WORDS_MAX];

	assert_int_equal(make(f, "/nowhere/at/all", true), -EPIPE);
	virtiofsd_words(&f->daemon, words, sizeof(words));
	assert_string_equal(words, "its copy of the directory's mounts: No such file or directory");
	virtiofsd_stop(&f->daemon);
}

/* The last of many words, and no more of them than there is room for. */
static void of_what_it_said_the_last_line_is_kept(void **state)
{
	struct virtiofsd d = VIRTIOFSD_INIT;
	char line[64], words[24];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	d.errors_fd = fds[0];
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(line, sizeof(line), "line %d of a good many \033[m\n", i);

		assert_int_equal(write(fds[1], line, (size_t)n), n);
	}
	virtiofsd_words(&d, words, sizeof(words));
	assert_string_equal(words, "line 999 of a good many");
	virtiofsd_words(&d, words, sizeof(words));
	assert_string_equal(words, "");
	close(fds[1]);
	virtiofsd_stop(&d);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_file_is_read),
		T(nothing_can_be_changed_where_the_guest_is_only_to_read),
		T(what_the_guest_writes_is_in_the_directory),
		T(the_directory_is_not_left),
		T(a_second_driver_starts_after_a_reset),
		T(the_end_of_virtiofsd_is_seen),
		T(why_it_does_not_serve_is_told),
		cmocka_unit_test(of_what_it_said_the_last_line_is_kept),
	};
	struct virtiofsd d;
	struct err e = ERR_INIT;
	int fd, r = virtiofsd_start(&d, "/", true, &fd, &e);

	if (r < 0) {
		printf("%s\n", e.text);
		return 77;
	}
	close(fd);
	virtiofsd_stop(&d);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
