/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "hw/gmem.h"

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(dir)) {
		count++;
	}
	closedir(dir);
	return count;
}

static void every_step_may_fail_and_nothing_is_left(void **state)
{
	const struct machine_disk disk = {.path = "/proc/self/exe", .read_only = true};
	struct machine_config cfg = vmm_config();
	unsigned int fds = open_fds();
	unsigned int total;
	unsigned int refused = 0;

	cfg.cpus = 2;
	cfg.disks = &disk;
	cfg.disk_count = 1;
	cfg.rng = true;
	cfg.channel = true;
	vmm_build(&cfg);
	machine_destroy(machine);
	total = fake.calls;
	assert_true(total > 40);
	for (unsigned int n = 1; n <= total; n++) {
		struct err e = ERR_INIT;
		int r;

		fake.calls = 0;
		fake.fail_at = n;
		fake.fail_errno = EMFILE;
		machine = NULL;
		r = machine_build(&cfg, &machine, &e);
		if (r == 0) {
			/* Only what it can do without: a capability that is a bonus. */
			assert_true(fake.failed_request == KVM_CHECK_EXTENSION);
		} else {
			refused++;
			assert_null(machine);
			assert_int_equal(r, fake.failed_request == KVM_CHECK_EXTENSION ? -ENOTSUP
										       : -EMFILE);
			assert_true(strlen(e.text) > 10);
		}
		machine_destroy(machine);
		machine = NULL;
		assert_int_equal(fake.fds_open, 0);
		assert_int_equal(fake.maps_open, 0);
		assert_int_equal(open_fds(), fds);
	}
	/* Two bonuses, and the question whether counters can be switched off. */
	assert_true(refused >= total - 3);
	fake.fail_at = 0;
}

static const struct kvm_cpuid_entry2 *told(unsigned int vcpu, uint32_t function)
{
	const struct kvm_cpuid_table *t = &fake.vcpus[vcpu].cpuid;

	for (uint32_t i = 0; i < t->head.nent; i++) {
		if (t->entries[i].function == function) {
			return &t->entries[i];
		}
	}
	fail_msg("no leaf 0x%x", function);
	return NULL;
}

static void all_vcpus_are_told_what_the_specification_leaves(void **state)
{
	struct machine_config cfg = vmm_config();
	struct x86_cpu_spec spec;
	struct err e = ERR_INIT;
	uint64_t before;

	cfg.cpus = 2;
	vmm_build(&cfg);
	assert_true(told(1, 7)->ebx & 1);
	assert_int_equal(told(1, 0xa)->eax, 0);
	assert_true(fake.pmu_disabled);
	before = machine_cpu_print(machine);
	machine_destroy(machine);
	assert_int_equal(x86_cpu_spec_parse("host,-fsgsbase,-avx,-arch-capabilities", &spec, &e),
			 0);
	cfg.cpu = &spec;
	vmm_build(&cfg);
	for (unsigned int i = 0; i < 2; i++) {
		const struct kvm_msr_table *msrs = &fake.vcpus[i].msrs;

		assert_int_equal(told(i, 7)->ebx, 0);
		assert_int_equal(told(i, 1)->ecx & 1u << 28, 0);
		assert_int_equal(told(i, 0xd)->eax, 3);
		assert_int_equal(msrs->entries[msrs->head.nmsrs - 1].index, 0x10a);
		assert_int_equal(msrs->entries[msrs->head.nmsrs - 1].data, 0);
	}
	assert_true(machine_cpu_print(machine) != before);
	machine_destroy(machine);
	machine = NULL;
	fake.pmu_disabled = false;
	assert_int_equal(x86_cpu_spec_parse("host,+pmu", &spec, &e), 0);
	vmm_build(&cfg);
	assert_int_equal(told(0, 0xa)->eax, 0x08300402);
	assert_false(fake.pmu_disabled);
	machine_destroy(machine);
	machine = NULL;
	assert_int_equal(x86_cpu_spec_parse("host,+pcid", &spec, &e), 0);
	assert_int_equal(machine_build(&cfg, &machine, &e), -ENOTSUP);
	assert_string_equal(e.text, "--cpu: this machine's KVM does not offer pcid");
}

static void refused_with(const struct machine_config *cfg, int code, const char *text)
{
	struct err e = ERR_INIT;

	assert_int_equal(machine_build(cfg, &machine, &e), code);
	if (!strstr(e.text, text)) {
		fail_msg("\"%s\" lacks \"%s\"", e.text, text);
	}
}

static void a_configuration_that_cannot_be_is_refused_with_the_limit(void **state)
{
	struct machine_config cfg = vmm_config();

	cfg.cpus = 0;
	refused_with(&cfg, -EINVAL,
		     "0 vCPUs: expected 1 to 254, the processors that APIC ids of 8 bits can name");
	cfg.cpus = MACHINE_VCPUS_MAX + 1;
	refused_with(
		&cfg, -EINVAL,
		"255 vCPUs: expected 1 to 254, the processors that APIC ids of 8 bits can name");
	cfg.cpus = FAKE_VCPUS + 1;
	refused_with(&cfg, -EINVAL, "5 vCPUs: this host's KVM allows 4");
	cfg = vmm_config();
	cfg.memory_bytes = 0;
	refused_with(&cfg, -EINVAL, "guest memory of 0 bytes");
	cfg.memory_bytes = (UINT64_C(16) << 20) + 1;
	refused_with(&cfg, -EINVAL, "expected a multiple of 4096");
	cfg.memory_bytes = GMEM_BYTES_MAX;
	refused_with(&cfg, -ENOMEM, "is more than this host has");
	cfg.memory_bytes = UINT64_MAX & ~(GMEM_PAGE_BYTES - 1);
	refused_with(&cfg, -E2BIG, "guest memory of");
	cfg = vmm_config();
	cfg.kernel_path = NULL;
	refused_with(&cfg, -EINVAL, "no kernel");
	cfg.kernel_path = "/no/such/kernel";
	refused_with(&cfg, -ENOENT, "/no/such/kernel");
}

static void no_kvm_is_told_with_the_check_of_doctor(void **state)
{
	struct machine_config cfg = vmm_config();

	cfg.kvm_path = "/dev/no-kvm";
	refused_with(&cfg, -ENOENT, "kvm-device: /dev/no-kvm");
	cfg = vmm_config();
	fake.missing_cap = KVM_CAP_IRQFD;
	refused_with(&cfg, -ENOTSUP, "kvm-cap-irqfd: ");
}

static void memory_above_the_hole_gets_a_slot_of_its_own(void **state)
{
	struct machine_config cfg = vmm_config();

	cfg.memory_bytes = GMEM_HOLE;
	vmm_build(&cfg);
	assert_int_equal(fake.slots, 1);
	machine_destroy(machine);
	fake.slots = 0;
	fake.slot_bytes = 0;
	cfg.memory_bytes = GMEM_HOLE + GMEM_PAGE_BYTES;
	vmm_build(&cfg);
	assert_int_equal(fake.slots, 2);
	assert_true(fake.slot_bytes == cfg.memory_bytes);
}

static void the_boot_cpu_starts_at_the_kernels_entry(void **state)
{
	struct machine_config cfg = vmm_config();
	unsigned char code[4];

	vmm_build(&cfg);
	assert_true(fake.irqchip && fake.pit);
	assert_true(fake.vcpus[0].regs.rip == VMM_KERNEL_GPA);
	assert_true(fake.vcpus[0].sregs.cr3 != 0);
	assert_int_equal(fake.vcpus[0].msrs.head.nmsrs, 2);
	assert_int_equal(machine_read_gpa(machine, VMM_KERNEL_GPA, code, 4), 0);
	assert_memory_equal(code, "\xf4\xeb\xfd\x90", 4);
	assert_int_equal(machine_read_gpa(machine, cfg.memory_bytes - 1, code, 2), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(every_step_may_fail_and_nothing_is_left),
		VMM_TEST(all_vcpus_are_told_what_the_specification_leaves),
		VMM_TEST(a_configuration_that_cannot_be_is_refused_with_the_limit),
		VMM_TEST(no_kvm_is_told_with_the_check_of_doctor),
		VMM_TEST(memory_above_the_hole_gets_a_slot_of_its_own),
		VMM_TEST(the_boot_cpu_starts_at_the_kernels_entry),
	};

	return cmocka_run_group_tests_name("vmm_machine", tests, vmm_group_setup, NULL);
}
