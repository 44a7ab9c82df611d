/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an exit asks for. Accesses go to a bus; ends of the machine are told to it; what KVM says of
 * its own failures is put into words. Runs on the vCPU's thread, and allocates nothing.
 */
#include "vmm/gdb_priv.h"
#include "vmm/vmm_priv.h"

#include <stdio.h>
#include <string.h>

#include "arch/x86/regs_text.h"

static struct exit_counter *port_access(struct vcpu *v)
{
	struct kvm_run *run = v->kvm.run;
	const uint16_t port = run->io.port;
	const unsigned int size = run->io.size;
	char *data = (char *)run + run->io.data_offset;
	bool out = run->io.direction == KVM_EXIT_IO_OUT;

	/* More than one: a string instruction, whose elements follow each other in the page. */
	for (uint32_t i = 0; i < run->io.count; i++, data += size) {
		uint64_t value = 0;

		if (out) {
			memcpy(&value, data, size);
			bus_write(&v->m->pio, port, size, value);
		} else {
			value = bus_read(&v->m->pio, port, size);
			memcpy(data, &value, size);
		}
	}
	return exits_row(&v->exits, out ? EXIT_OUT : EXIT_IN, port);
}

static struct exit_counter *mmio_access(struct vcpu *v)
{
	struct kvm_run *run = v->kvm.run;
	const uint64_t address = run->mmio.phys_addr;
	const unsigned int size = run->mmio.len;
	uint64_t value = 0;

	if (size == 0 || size > sizeof(value)) {
		return NULL;
	}
	if (run->mmio.is_write) {
		memcpy(&value, run->mmio.data, size);
		bus_write(&v->m->mmio, address, size, value);
	} else {
		value = bus_read(&v->m->mmio, address, size);
		memcpy(run->mmio.data, &value, size);
	}
	return exits_row(&v->exits, run->mmio.is_write ? EXIT_WRITE : EXIT_READ, address);
}

static void fail(struct vcpu *v, const char *text)
{
	machine_finish(v->m, v->index, MACHINE_END_KVM_ERROR, 0, text);
}

static const char *suberror_name(uint32_t suberror)
{
	switch (suberror) {
	case KVM_INTERNAL_ERROR_EMULATION:
		return "cannot emulate an instruction";
	case KVM_INTERNAL_ERROR_SIMUL_EX:
		return "simultaneous exceptions";
	case KVM_INTERNAL_ERROR_DELIVERY_EV:
		return "an exit while an event was delivered";
	case KVM_INTERNAL_ERROR_UNEXPECTED_EXIT_REASON:
		return "an exit of the processor that KVM does not know";
	default:
		return "no name for it";
	}
}

static void internal_error(struct vcpu *v)
{
	const struct kvm_run *run = v->kvm.run;
	char text[MACHINE_RESULT_TEXT];
	uint32_t ndata = run->internal.ndata;
	int n = snprintf(text, sizeof(text), "KVM internal error on vCPU %u, suberror %u (%s)",
			 v->index, run->internal.suberror, suberror_name(run->internal.suberror));
	size_t used = (size_t)n;

	if (run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION && ndata >= 3 &&
	    run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES) {
		size_t bytes = run->emulation_failure.insn_size;

		if (bytes > sizeof(run->emulation_failure.insn_bytes)) {
			bytes = sizeof(run->emulation_failure.insn_bytes);
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", instruction bytes ");
		x86_bytes_text(run->emulation_failure.insn_bytes, bytes, text + used,
			       sizeof(text) - used);
		fail(v, text);
		return;
	}
	for (uint32_t i = 0; i < ndata && i < ARRAY_SIZE(run->internal.data); i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llx",
					 i ? " " : ", data ",
					 (unsigned long long)run->internal.data[i]);
	}
	fail(v, text);
}

static void system_event(struct vcpu *v)
{
	const struct kvm_run *run = v->kvm.run;
	char text[MACHINE_RESULT_TEXT];

	switch (run->system_event.type) {
	case KVM_SYSTEM_EVENT_SHUTDOWN:
		machine_finish(v->m, v->index, MACHINE_END_POWER_OFF, 0, "");
		break;
	case KVM_SYSTEM_EVENT_RESET:
		machine_finish(v->m, v->index, MACHINE_END_RESET, 0, "");
		break;
	default:
		snprintf(text, sizeof(text), "KVM system event %u on vCPU %u",
			 run->system_event.type, v->index);
		fail(v, text);
		break;
	}
}

static void failed_entry(struct vcpu *v)
{
	const struct kvm_run *run = v->kvm.run;
	char text[MACHINE_RESULT_TEXT];

	snprintf(text, sizeof(text),
		 "the processor refuses to enter the guest on vCPU %u, hardware reason 0x%llx",
		 v->index, (unsigned long long)run->fail_entry.hardware_entry_failure_reason);
	fail(v, text);
}

static void unexpected(struct vcpu *v)
{
	const struct kvm_run *run = v->kvm.run;
	char text[MACHINE_RESULT_TEXT];
	int n = snprintf(text, sizeof(text), "unexpected exit %u (%s) of vCPU %u", run->exit_reason,
			 kvm_exit_name(run->exit_reason), v->index);

	if (run->exit_reason == KVM_EXIT_UNKNOWN) {
		snprintf(text + n, sizeof(text) - (size_t)n, ", hardware reason 0x%llx",
			 (unsigned long long)run->hw.hardware_exit_reason);
	}
	fail(v, text);
}

/**
 * vcpu_dispatch() - deal with the exit in a vCPU's shared page
 * @v: a vCPU whose kvm_vcpu_run() returned 0
 *
 * Return: the counter of the port or address that was accessed, or NULL.
 * Context: the vCPU's thread.
 */
struct exit_counter *vcpu_dispatch(struct vcpu *v)
{
	switch (v->kvm.run->exit_reason) {
	case KVM_EXIT_IO:
		return port_access(v);
	case KVM_EXIT_MMIO:
		return mmio_access(v);
	case KVM_EXIT_DEBUG:
		if (!v->m->gdb) {
			unexpected(v);
			return NULL;
		}
		gdb_take_exit(v);
		return NULL;
	case KVM_EXIT_INTR:
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		return NULL;
	case KVM_EXIT_SHUTDOWN:
		machine_finish(v->m, v->index, MACHINE_END_TRIPLE_FAULT, 0, "");
		return NULL;
	case KVM_EXIT_SYSTEM_EVENT:
		system_event(v);
		return NULL;
	case KVM_EXIT_INTERNAL_ERROR:
		if (v->m->gdb && gdb_take_failure(v)) {
			return NULL;
		}
		internal_error(v);
		return NULL;
	case KVM_EXIT_FAIL_ENTRY:
		failed_entry(v);
		return NULL;
	default:
		/* Also HLT: with interrupt controllers in the kernel it never comes out to us. */
		unexpected(v);
		return NULL;
	}
}
