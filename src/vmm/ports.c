/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's virtio console: one port for each stream of the agent's, and hvc0 when the kernel's
 * command line names it as a console. Runs on the owner's thread.
 */
#include "vmm/virtio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/channel.h"
#include "devices/virtio/console.h"
#include "vmm/vmm_priv.h"

#define HVC_WORD "console=hvc"

/* Port n is line MACHINE_HVC0 + n. */
static const struct virtio_console_kind kinds[] = {
	{CHANNEL_PORT_CONSOLE, true}, {CHANNEL_PORT_RESULTS, false}, {CHANNEL_PORT_STDOUT, false},
	{CHANNEL_PORT_STDERR, false}, {CHANNEL_PORT_LOG, false},
};
_Static_assert(ARRAY_SIZE(kinds) == MACHINE_LINES - MACHINE_HVC0, "a port for each line");
_Static_assert(MACHINE_RESULTS == MACHINE_HVC0 + CHANNEL_STREAM_RESULTS &&
		       MACHINE_CONTROL == MACHINE_HVC0 + CHANNEL_STREAM_LOG,
	       "lines are in the order of the channel's streams");

static bool wants_hvc(const struct machine_config *cfg)
{
	return cfg->cmdline && strstr(cfg->cmdline, HVC_WORD);
}

/* Of several consoles the last is the one that programs open. */
static bool hvc_is_last(const struct machine_config *cfg)
{
	const char *last = NULL;

	for (const char *p = cfg->cmdline; (p = strstr(p, "console=")); p++) {
		last = p;
	}
	return last && strncmp(last, HVC_WORD, strlen(HVC_WORD)) == 0;
}

/**
 * ports_wanted() - is there to be a console device
 * @cfg: what the machine is to be
 *
 * Return: true when the agent's streams are asked for, or the command line has hvc0.
 * Context: any thread.
 */
bool ports_wanted(const struct machine_config *cfg)
{
	return cfg->channel || wants_hvc(cfg);
}

static void on_output(void *ctx, unsigned int port, const void *data, size_t bytes)
{
	struct machine *m = ctx;

	if (m->events) {
		m->events->output(m->events_ctx, MACHINE_HVC0 + port, data, bytes);
	}
}

static void on_room(void *ctx, unsigned int port)
{
	struct machine *m = ctx;

	if (m->events && m->events->input_room) {
		m->events->input_room(m->events_ctx, MACHINE_HVC0 + port);
	}
}

static const struct virtio_console_events events = {.output = on_output, .room = on_room};

static void fini_ports(struct virtio_slot *slot)
{
	virtio_console_fini((struct virtio_console *)slot->device);
	free(slot->device);
}

/**
 * ports_make() - make the console device
 * @m: a machine
 * @cfg: what it is to be
 * @number: 0, there is one
 * @place: where the device goes
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0, −ENOMEM, or the −errno of virtio_console_init().
 * Context: the owner, before any vCPU runs.
 */
int ports_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	struct virtio_console_kind mine[ARRAY_SIZE(kinds)];
	struct virtio_console *c = malloc(sizeof(*c));
	int r = -ENOMEM;

	memcpy(mine, kinds, sizeof(mine));
	if (!wants_hvc(cfg)) {
		mine[0] = (struct virtio_console_kind){.name = NULL};
	}
	if (c) {
		r = virtio_console_init(c, place, mine, cfg->channel ? ARRAY_SIZE(mine) : 1,
					&events, m);
	}
	if (r < 0) {
		free(c);
		return err_errno(e, r, "cannot make the console device");
	}
	*ret = (struct virtio_slot){.device = &c->v, .fini = fini_ports};
	m->virtio.console = c;
	m->virtio.hvc_is_console = hvc_is_last(cfg);
	return 0;
}

/**
 * machine_console() - the line that what is typed goes to
 * @m: a machine
 *
 * Return: hvc0 when it is the last console of the kernel's command line, else COM1.
 * Context: any thread.
 */
enum machine_line machine_console(const struct machine *m)
{
	return m->virtio.hvc_is_console ? MACHINE_HVC0 : MACHINE_COM1;
}

static unsigned int port_of(enum machine_line line)
{
	return (unsigned int)line - MACHINE_HVC0;
}

/**
 * ports_input() - hand bytes to the guest
 * @m: a machine
 * @line: MACHINE_HVC0 or behind it
 * @data: the bytes
 * @bytes: how many
 *
 * Return: how many were taken; if fewer, input_room follows. Without such a line all are dropped.
 * Context: the owner.
 */
size_t ports_input(struct machine *m, enum machine_line line, const void *data, size_t bytes)
{
	struct virtio_console *c = m->virtio.console;

	return c && port_of(line) < c->port_count
		       ? virtio_console_input(c, port_of(line), data, bytes)
		       : bytes;
}

/**
 * ports_pause() - stop or go on taking what the guest writes
 * @m: a machine
 * @line: MACHINE_HVC0 or behind it; one that the machine does not have has nothing to stop
 * @on: stop
 *
 * Context: the owner.
 */
void ports_pause(struct machine *m, enum machine_line line, bool on)
{
	struct virtio_console *c = m->virtio.console;

	if (c && port_of(line) < c->port_count) {
		virtio_console_pause(c, port_of(line), on);
	}
}

/**
 * ports_deliver() - hand over what the guest has written and nobody took yet
 * @m: a machine whose vCPUs have ended
 *
 * Return: true when there is nothing more; false when a port is paused, or when it was a turn's
 * worth and the loop comes back to it.
 * Context: the owner.
 */
bool ports_deliver(struct machine *m)
{
	struct virtio_console *c = m->virtio.console;

	if (!c) {
		return true;
	}
	virtio_serve(&c->v);
	return !virtio_console_has_output(c);
}

/**
 * ports_deliver_all() - the same until the end, but for paused ports
 * @m: a machine whose vCPUs have ended
 *
 * Each write of the guest is bounded, and so is their number: it comes to an end.
 *
 * Context: the owner.
 */
void ports_deliver_all(struct machine *m)
{
	struct virtio_console *c = m->virtio.console;

	while (c && c->v.ops->serve(&c->v)) {
	}
}
