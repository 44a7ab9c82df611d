/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: test_vmm_payload FOLDER-OF-PAYLOADS */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/marks.h"
#include "base/clock.h"
#include "base/io.h"
#include "fake_kvm.h"
#include "vmm/payload.h"
#include "vmm/probe.h"

static char exit_path[512], timing_path[512];

static int play_exit_port(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_IO;
	run->io.direction = KVM_EXIT_IO_OUT;
	run->io.size = 4;
	run->io.port = EXIT_PORT;
	run->io.count = 1;
	run->io.data_offset = sizeof(*run);
	memcpy((char *)run + sizeof(*run), &(uint32_t){7}, 4);
	return 0;
}

static int play_internal_error(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_INTERNAL_ERROR;
	run->internal.suberror = 1;
	return 0;
}

static int play_endless_signals(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	usleep(1000);
	return -EINTR;
}

static int play_refusal(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return -EFAULT;
}

static void run_with(fake_run_fn fn, uint64_t timeout_ns, int want, struct payload_outcome *ret)
{
	struct payload_vm *vm;
	struct fake_kvm k;
	struct err e = ERR_INIT;

	fake_kvm_init(&k);
	k.run = fn;
	assert_int_equal(payload_vm_create(&k.ops, exit_path, 3, &vm, &e), 0);
	assert_int_equal(payload_vm_run(vm, timeout_ns, ret, &e), want);
	assert_int_equal(e.code, want);
	payload_vm_destroy(vm);
	assert_int_equal(k.fds_open, 0);
	assert_int_equal(k.maps_open, 0);
	fake_kvm_fini(&k);
}

static void the_exit_port_ends_the_run_with_its_value(void **state)
{
	struct payload_outcome out;

	run_with(play_exit_port, NS_PER_SEC, 0, &out);
	assert_int_equal(out.end, PAYLOAD_END_EXIT);
	assert_int_equal(out.status, 7);
	assert_int_equal(out.user_exits, 1);
	assert_int_equal(out.block.magic, PAYLOAD_MAGIC);
}

static void an_internal_error_is_named_with_its_suberror(void **state)
{
	struct payload_outcome out;

	run_with(play_internal_error, NS_PER_SEC, 0, &out);
	assert_int_equal(out.end, PAYLOAD_END_FAILED);
	assert_string_equal(out.text, "KVM exit internal-error, suberror 1, rip 0x101000");
}

static void time_runs_out_however_often_it_is_interrupted(void **state)
{
	struct payload_outcome out;

	run_with(play_endless_signals, 50 * NS_PER_MSEC, 0, &out);
	assert_int_equal(out.end, PAYLOAD_END_TIMEOUT);
	assert_string_equal(out.text, "no end within 50 ms, rip 0x101000");
}

static void a_vcpu_that_does_not_run_is_an_error(void **state)
{
	struct payload_outcome out = {.status = 42};

	run_with(play_refusal, NS_PER_SEC, -EFAULT, &out);
	assert_int_equal(out.status, 42);
}

static void ring_3_starts_with_user_segments_and_its_ports_open(void **state)
{
	struct payload_vm *vm;
	struct fake_kvm k;
	struct err e = ERR_INIT;

	for (unsigned int ring = 0; ring <= 3; ring += 3) {
		const struct fake_vcpu *v = &k.vcpus[0];

		fake_kvm_init(&k);
		assert_int_equal(payload_vm_create(&k.ops, exit_path, ring, &vm, &e), 0);
		assert_int_equal(v->sregs.cs.selector & 3, ring);
		assert_int_equal(v->sregs.cs.dpl, ring);
		assert_int_equal(v->sregs.cs.l, 1);
		assert_int_equal(v->sregs.ss.dpl, ring);
		assert_int_equal(v->regs.rflags >> 12 & 3, ring);
		assert_int_equal(v->regs.rip, 0x101000);
		payload_vm_destroy(vm);
		fake_kvm_fini(&k);
	}
}

static void each_failing_call_is_reported_and_leaks_nothing(void **state)
{
	struct payload_vm *vm = NULL;
	struct fake_kvm k;
	unsigned int n;

	for (n = 1;; n++) {
		struct err e = ERR_INIT;
		int r;

		fake_kvm_init(&k);
		k.fail_at = n;
		k.fail_errno = EMFILE;
		r = payload_vm_create(&k.ops, exit_path, 3, &vm, &e);
		if (r == 0) {
			payload_vm_destroy(vm);
			fake_kvm_fini(&k);
			break;
		}
		assert_true(r < 0);
		assert_int_equal(e.code, r);
		assert_true(e.text[0] != '\0');
		assert_null(vm);
		assert_int_equal(k.fds_open, 0);
		assert_int_equal(k.maps_open, 0);
		fake_kvm_fini(&k);
	}
	assert_true(n > 8);
}

/* What else can be wrong with a file is the loader's to find, and its tests'. */
static void what_is_no_payload_is_refused(void **state)
{
	char name[] = "/tmp/ringside-payload-XXXXXX";
	_cleanup_close_ int fd = mkstemp(name);
	_cleanup_free_ char *good = NULL;
	struct err e = ERR_INIT;
	struct payload_vm *vm = NULL;
	struct fake_kvm k;
	char want[256];
	size_t len;

	assert_true(fd >= 0);
	fake_kvm_init(&k);
	assert_int_equal(io_read_file(exit_path, 1 << 20, &good, &len, &e), 0);
	assert_int_equal(pwrite(fd, good, len, 0), len);
	/* The first segment, and the block in it, begin at the file's second page. */
	assert_int_equal(pwrite(fd, "", 1, 4096), 1);
	assert_int_equal(payload_vm_create(&k.ops, name, 3, &vm, &e), -ENOEXEC);
	snprintf(want, sizeof(want), "%s: no firmware payload (no magic at 0x100000)", name);
	assert_string_equal(e.text, want);

	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_true(payload_vm_create(&k.ops, name, 3, &vm, &e) < 0);
	assert_non_null(strstr(e.text, "not a kernel"));
	assert_int_equal(payload_vm_create(&k.ops, "/nonexistent.elf", 3, &vm, &e), -ENOENT);
	assert_null(vm);
	assert_int_equal(k.fds_open, 0);
	assert_int_equal(k.maps_open, 0);
	unlink(name);
	fake_kvm_fini(&k);
}

static void an_argument_past_the_block_is_refused(void **state)
{
	struct payload_vm *vm;
	struct fake_kvm k;
	struct err e = ERR_INIT;
	uint64_t v;

	fake_kvm_init(&k);
	assert_int_equal(payload_vm_create(&k.ops, exit_path, 3, &vm, &e), 0);
	assert_int_equal(payload_vm_set_arg(vm, PAYLOAD_ARG_COUNT - 1, 5), 0);
	assert_int_equal(gmem_read(payload_vm_memory(vm),
				   PAYLOAD_BLOCK_GPA + offsetof(struct payload_block, args[7]), &v,
				   sizeof(v)),
			 0);
	assert_int_equal(v, 5);
	assert_int_equal(payload_vm_set_arg(vm, PAYLOAD_ARG_COUNT, 5), -EINVAL);
	payload_vm_destroy(vm);
	fake_kvm_fini(&k);
}

static void the_probe_tells_a_failed_guest_from_a_failed_host(void **state)
{
	struct probe_rings rings;
	struct fake_kvm k;

	fake_kvm_init(&k);
	k.run = play_internal_error;
	probe_ring_timing(&k.ops, timing_path, &rings);
	assert_int_equal(rings.ring0.error, PROBE_GUEST_FAILED);
	assert_string_equal(rings.ring0.text, "KVM exit internal-error, suberror 1, rip 0x101000");
	/* It ended, but left no numbers: that guest did not run either. */
	k.run = play_exit_port;
	probe_ring_timing(&k.ops, timing_path, &rings);
	assert_int_equal(rings.ring3.error, PROBE_GUEST_FAILED);
	k.run = play_refusal;
	probe_ring_timing(&k.ops, timing_path, &rings);
	assert_int_equal(rings.ring0.error, -EFAULT);
	assert_int_equal(k.fds_open, 0);
	fake_kvm_fini(&k);
}

static void the_probe_lists_the_capabilities_or_says_why_not(void **state)
{
	struct probe_kvm kvm;
	struct fake_kvm k;

	fake_kvm_init(&k);
	probe_kvm(&k.ops, &kvm);
	assert_int_equal(kvm.error, 0);
	assert_int_equal(kvm.api_version, KVM_API_VERSION);
	assert_true(kvm.cap_count > 8);
	assert_int_equal(k.fds_open, 0);
	fake_kvm_fini(&k);

	fake_kvm_init(&k);
	k.fail_at = 1;
	k.fail_errno = ENOENT;
	probe_kvm(&k.ops, &kvm);
	assert_int_equal(kvm.error, -ENOENT);
	assert_int_equal(strncmp(kvm.text, "kvm-device: ", 12), 0);
	assert_int_equal(kvm.cap_count, 0);
	fake_kvm_fini(&k);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_port_ends_the_run_with_its_value),
		cmocka_unit_test(an_internal_error_is_named_with_its_suberror),
		cmocka_unit_test(time_runs_out_however_often_it_is_interrupted),
		cmocka_unit_test(a_vcpu_that_does_not_run_is_an_error),
		cmocka_unit_test(ring_3_starts_with_user_segments_and_its_ports_open),
		cmocka_unit_test(each_failing_call_is_reported_and_leaks_nothing),
		cmocka_unit_test(what_is_no_payload_is_refused),
		cmocka_unit_test(an_argument_past_the_block_is_refused),
		cmocka_unit_test(the_probe_tells_a_failed_guest_from_a_failed_host),
		cmocka_unit_test(the_probe_lists_the_capabilities_or_says_why_not),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER-OF-PAYLOADS\n", argv[0]);
		return 2;
	}
	snprintf(exit_path, sizeof(exit_path), "%s/exit.elf", argv[1]);
	snprintf(timing_path, sizeof(timing_path), "%s/ring_timing.elf", argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
