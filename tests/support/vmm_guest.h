/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine on a fake KVM, for the tests of src/vmm: a kernel of four bytes, a loop, what the
 * events said, and the exits that scripts are made from. Each test begins and ends with vmm_setup()
 * and vmm_teardown(), which checks that nothing is left open.
 */
#ifndef TESTS_VMM_GUEST_H
#define TESTS_VMM_GUEST_H

#include "support.h"

#include "abi/marks.h"
#include "fake_kvm.h"
#include "vmm/vmm.h"

#define VMM_KERNEL_GPA UINT64_C(0x100000)

struct vmm_seen {
	char output[MACHINE_LINES][256];
	size_t output_bytes[MACHINE_LINES];
	struct machine_mark marks[8];
	unsigned int marks_seen;
	unsigned int stopped;
	size_t output_at_stop;
};

extern struct fake_kvm fake;
extern struct evloop *loop;
extern struct machine *machine;
extern struct vmm_seen seen;
extern const struct machine_callbacks vmm_events;

int vmm_group_setup(void **state);
int vmm_setup(void **state);
int vmm_teardown(void **state);

struct machine_config vmm_config(void);
void vmm_build(const struct machine_config *cfg);
void vmm_start(unsigned int cpus);
const struct machine_result *vmm_run_to_end(fake_run_fn script, unsigned int cpus);

int script_spin(struct kvm_run *run);
int script_port(struct kvm_run *run, bool out, uint16_t number, uint8_t size, const void *data,
		uint32_t count);
int script_out_byte(struct kvm_run *run, uint16_t number, uint8_t value);
int script_exit(struct kvm_run *run, uint32_t value);

/* Writes "hello" by one string instruction and "!" to COM1, "x" to COM2, and ends with 0. */
int script_output(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run);

#define VMM_TEST(name) cmocka_unit_test_setup_teardown(name, vmm_setup, vmm_teardown)

#endif
