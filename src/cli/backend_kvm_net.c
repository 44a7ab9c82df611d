/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See backend_kvm_net.h. Runs on the main thread. */
#include "cli/backend_kvm_net.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"

_Static_assert(BACKEND_NETS_MAX == MACHINE_NETS_MAX, "as many as the machine takes");

/**
 * kvm_nets_open() - start what the networks need
 * @n: the caller's memory; set, also on failure; end it with kvm_nets_close()
 * @cfg: what is to run
 * @e: set on failure
 *
 * Return: 0 or what passt_start() gave.
 */
int kvm_nets_open(struct kvm_nets *n, const struct backend_config *cfg, struct err *e)
{
	int r = 0;

	*n = (struct kvm_nets){.count = cfg->net_count};
	for (size_t i = 0; i < cfg->net_count; i++) {
		n->passt[i] = (struct passt)PASST_INIT;
	}
	for (size_t i = 0; i < cfg->net_count && r == 0; i++) {
		const struct backend_net *from = &cfg->nets[i];
		struct machine_net *to = &n->net[i];

		n->kind[i] = from->kind;
		if (from->kind == BACKEND_NET_USER) {
			r = passt_start(&n->passt[i], from, e);
		}
		*to = (struct machine_net){
			.tap = from->kind == BACKEND_NET_TAP ? from->tap : NULL,
			.fd = from->kind == BACKEND_NET_USER ? n->passt[i].fd : from->fd,
		};
		memcpy(to->mac, from->mac, sizeof(to->mac));
	}
	return r;
}

/**
 * kvm_nets_built() - the machine has descriptors of its own by now
 * @n: opened
 */
void kvm_nets_built(struct kvm_nets *n)
{
	for (size_t i = 0; i < n->count; i++) {
		if (n->passt[i].fd >= 0) {
			close(n->passt[i].fd);
			n->passt[i].fd = -1;
		}
	}
}

/**
 * kvm_nets_tell_gone() - say what has become of a network
 * @n: opened
 * @net: number of the network whose peer is gone
 */
void kvm_nets_tell_gone(const struct kvm_nets *n, unsigned int net)
{
	static const char *const what[] = {
		[BACKEND_NET_USER] = "passt has ended, or said what is no frame",
		[BACKEND_NET_TAP] = "the interface was deleted",
		[BACKEND_NET_FD] = "the other end was closed, or said what is no frame",
	};
	char said[256];

	passt_said(&n->passt[net], said, sizeof(said));
	log_warn("network %u: %s%s%s: the guest's link is down", net, what[n->kind[net]],
		 said[0] ? ": " : "", said);
}

/**
 * kvm_nets_close() - end what was started
 * @n: opened, or zeroed
 */
void kvm_nets_close(struct kvm_nets *n)
{
	for (size_t i = 0; i < n->count; i++) {
		passt_end(&n->passt[i]);
	}
	n->count = 0;
}
