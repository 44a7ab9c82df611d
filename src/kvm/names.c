/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of KVM's numbers, for people and records. */
#include "kvm/kvm.h"

static const char *const exit_names[] = {
	[KVM_EXIT_UNKNOWN] = "unknown",
	[KVM_EXIT_EXCEPTION] = "exception",
	[KVM_EXIT_IO] = "io",
	[KVM_EXIT_HYPERCALL] = "hypercall",
	[KVM_EXIT_DEBUG] = "debug",
	[KVM_EXIT_HLT] = "hlt",
	[KVM_EXIT_MMIO] = "mmio",
	[KVM_EXIT_IRQ_WINDOW_OPEN] = "irq-window-open",
	[KVM_EXIT_SHUTDOWN] = "shutdown",
	[KVM_EXIT_FAIL_ENTRY] = "fail-entry",
	[KVM_EXIT_INTR] = "intr",
	[KVM_EXIT_SET_TPR] = "set-tpr",
	[KVM_EXIT_TPR_ACCESS] = "tpr-access",
	[KVM_EXIT_NMI] = "nmi",
	[KVM_EXIT_INTERNAL_ERROR] = "internal-error",
	[KVM_EXIT_SYSTEM_EVENT] = "system-event",
	[KVM_EXIT_IOAPIC_EOI] = "ioapic-eoi",
	[KVM_EXIT_HYPERV] = "hyperv",
	[KVM_EXIT_X86_RDMSR] = "rdmsr",
	[KVM_EXIT_X86_WRMSR] = "wrmsr",
	[KVM_EXIT_DIRTY_RING_FULL] = "dirty-ring-full",
	[KVM_EXIT_X86_BUS_LOCK] = "bus-lock",
	[KVM_EXIT_XEN] = "xen",
	[KVM_EXIT_NOTIFY] = "notify",
};

static const char *const mp_state_names[] = {
	[KVM_MP_STATE_RUNNABLE] = "runnable",
	[KVM_MP_STATE_UNINITIALIZED] = "not started",
	[KVM_MP_STATE_INIT_RECEIVED] = "waits for start-up",
	[KVM_MP_STATE_HALTED] = "halted",
	[KVM_MP_STATE_SIPI_RECEIVED] = "starts up",
};

/**
 * kvm_exit_name() - name of an exit reason
 * @reason: KVM_EXIT_*, or any number
 *
 * Return: lower-case name, never NULL ("other" for a number without one).
 * Context: any thread.
 */
const char *kvm_exit_name(uint32_t reason)
{
	const char *name = reason < ARRAY_SIZE(exit_names) ? exit_names[reason] : NULL;

	return name ? name : "other";
}

/**
 * kvm_mp_state_name() - name of a vCPU's state
 * @state: KVM_MP_STATE_*, or any number
 *
 * Return: the name, never NULL.
 * Context: any thread.
 */
const char *kvm_mp_state_name(uint32_t state)
{
	return state < ARRAY_SIZE(mp_state_names) ? mp_state_names[state] : "unknown state";
}
