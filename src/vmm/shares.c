/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's shared directories: virtio file system devices, each with a virtiofsd of its own.
 * Runs on the owner's thread.
 */
#include "vmm/virtio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virtio/fs.h"
#include "vmm/virtiofsd.h"
#include "vmm/vmm_priv.h"

struct share {
	struct virtio_fs fs; /* first: the slot's device */
	struct virtiofsd daemon;
	struct evloop_source *source;
	char path[MACHINE_RESULT_TEXT / 2]; /* for messages; may be cut */
};

static struct share *to_share(const struct virtio_slot *slot)
{
	return (struct share *)slot->device;
}

static void fini_share(struct virtio_slot *slot)
{
	struct share *s = to_share(slot);

	virtio_fs_fini(&s->fs);
	virtiofsd_stop(&s->daemon);
	free(s);
}

/* Requests that it had taken are never answered: a guest that waits for one waits for good. */
static void on_lost(void *ctx, int fd, uint32_t events)
{
	struct virtio_slot *slot = ctx;
	struct share *s = to_share(slot);
	char words[VIRTIOFSD_WORDS_MAX], text[MACHINE_RESULT_TEXT];

	evloop_remove(s->source);
	s->source = NULL;
	virtio_fs_lost(&s->fs);
	virtiofsd_words(&s->daemon, words, sizeof(words));
	snprintf(text, sizeof(text), "share %s: its virtiofsd is gone%s%s", s->path,
		 *words ? ", and said last: " : "", words);
	machine_finish(slot->m, 0, MACHINE_END_HELPER_LOST, 0, text);
	machine_check_stopped(slot->m);
}

static int watch_share(struct virtio_slot *slot)
{
	struct share *s = to_share(slot);

	/* Its end alone: answers are read by who asks. */
	return evloop_add_fd(slot->m->loop, virtio_fs_fd(&s->fs), EPOLLRDHUP, on_lost, slot,
			     &s->source);
}

static void unwatch_share(struct virtio_slot *slot)
{
	struct share *s = to_share(slot);

	evloop_remove(s->source);
	s->source = NULL;
}

static int connect_device(struct share *s, const struct machine *m,
			  const struct virtio_place *place, int fd, unsigned int number)
{
	struct vhost_user_region memory[GMEM_LAYOUT_REGIONS];
	char tag[24];

	for (unsigned int i = 0; i < m->ram.count; i++) {
		const struct ram_slot *slot = &m->ram.slots[i];

		memory[i] = (struct vhost_user_region){
			.gpa = slot->gpa, .bytes = slot->bytes, .fd = slot->fd};
	}
	snprintf(tag, sizeof(tag), MACHINE_SHARE_TAG_FORMAT, number);
	return virtio_fs_init(&s->fs, place, fd, memory, m->ram.count, tag);
}

/**
 * share_make() - start a virtiofsd and make a device of it
 * @m: a machine with its memory, all of it in files
 * @cfg: what it is to be
 * @number: which of its shares
 * @place: where the device goes
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0, what virtiofsd_start() or virtio_fs_init() said, or another −errno.
 * Context: the owner, before any vCPU runs and while there is no other thread.
 */
int share_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	const struct machine_share *share = &cfg->shares[number];
	struct share *s = calloc(1, sizeof(*s));
	char words[VIRTIOFSD_WORDS_MAX];
	int fd, r;

	if (!s) {
		return err_set(e, -ENOMEM, "share %s: out of memory", share->path);
	}
	snprintf(s->path, sizeof(s->path), "%s", share->path);
	r = virtiofsd_start(&s->daemon, share->path, share->read_only, &fd, e);
	if (r == 0) {
		r = connect_device(s, m, place, fd, number);
		if (r < 0) {
			virtiofsd_words(&s->daemon, words, sizeof(words));
			err_errno(e, r, "virtiofsd%s%s", *words ? ": " : "", words);
		}
	}
	if (r < 0) {
		virtiofsd_stop(&s->daemon);
		free(s);
		return err_prefix(e, "share %s", share->path);
	}
	*ret = (struct virtio_slot){.device = &s->fs.v,
				    .fini = fini_share,
				    .watch = watch_share,
				    .unwatch = unwatch_share};
	return 0;
}
