/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static int spin_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_spin(run);
}

static struct {
	unsigned int stands, goes_on;
} told;

static void on_standing(void *ctx, bool on)
{
	told.stands += on;
	told.goes_on += !on;
	evloop_stop(loop);
}

static struct machine_callbacks events;

static void start(fake_run_fn script, unsigned int cpus)
{
	struct machine_config cfg = vmm_config();
	struct err e = ERR_INIT;

	memset(&told, 0, sizeof(told));
	events = vmm_events;
	events.standing = on_standing;
	fake.run = script;
	cfg.cpus = cpus;
	vmm_build(&cfg);
	assert_int_equal(machine_start(machine, loop, &events, NULL, &e), 0);
}

static unsigned int all_runs(void)
{
	unsigned int sum = 0;

	pthread_mutex_lock(&fake.lock);
	for (unsigned int i = 0; i < FAKE_VCPUS; i++) {
		sum += fake.vcpus[i].runs;
	}
	pthread_mutex_unlock(&fake.lock);
	return sum;
}

static void all_vcpus_stand_and_go_on(void **state)
{
	char text[MACHINE_VCPU_TEXT];
	unsigned int runs;

	start(spin_script, 3);
	for (unsigned int i = 1; i <= 50; i++) {
		machine_pause(machine, true);
		assert_int_equal(evloop_run(loop), 0);
		assert_int_equal(told.stands, i);
		assert_true(machine_stands(machine));
		runs = all_runs();
		usleep(i == 1 ? 20000 : 0);
		assert_int_equal(all_runs(), runs);
		/* Registers are there without disturbing anybody. */
		for (unsigned int v = 0; v < 3; v++) {
			assert_int_equal(machine_vcpu_text(machine, v, NULL, text, sizeof(text)),
					 0);
		}
		assert_int_equal(all_runs(), runs);
		machine_pause(machine, false);
		assert_int_equal(evloop_run(loop), 0);
		assert_int_equal(told.goes_on, i);
		assert_false(machine_stands(machine));
	}
	assert_int_equal(fake.clock_ctrls, 3 * 50);
}

static void pausing_twice_and_taking_it_back_at_once_loses_nothing(void **state)
{
	start(spin_script, 2);
	for (unsigned int i = 0; i < 200; i++) {
		machine_pause(machine, true);
		machine_pause(machine, true);
		machine_pause(machine, false);
	}
	machine_pause(machine, true);
	while (!machine_stands(machine)) {
		assert_int_equal(evloop_run(loop), 0);
	}
	machine_pause(machine, false);
	assert_false(machine_is_held(machine));
}

static unsigned int runs_of(unsigned int vcpu)
{
	unsigned int runs;

	pthread_mutex_lock(&fake.lock);
	runs = fake.vcpus[vcpu].runs;
	pthread_mutex_unlock(&fake.lock);
	return runs;
}

/* Fills the ring that nobody empties. */
static int flood_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_out_byte(run, 0x3f8, 0x61);
}

static void a_vcpu_that_waits_for_its_reader_is_not_waited_for(void **state)
{
	uint64_t before;

	start(flood_script, 1);
	machine_pause_output(machine, MACHINE_COM1, true);
	before = clock_now_ns(&clock_monotonic);
	machine_pause(machine, true);
	assert_true(clock_now_ns(&clock_monotonic) - before < 30 * NS_PER_SEC);
	machine_halt(machine);
	assert_int_equal(machine_result(machine)->end, MACHINE_END_NONE);
}

static void a_machine_that_stands_can_be_halted(void **state)
{
	start(spin_script, 4);
	machine_pause(machine, true);
	assert_int_equal(evloop_run(loop), 0);
	machine_halt(machine);
	assert_false(machine_stands(machine));
	assert_int_equal(seen.stopped, 0);
}

static int end_when_asked_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	if (vcpu == 0) {
		return script_spin(run);
	}
	script_spin(run);
	return script_exit(run, 7);
}

static void a_guest_that_ends_while_it_is_paused_has_ended(void **state)
{
	start(end_when_asked_script, 2);
	while (runs_of(1) == 0) {
		usleep(1000);
	}
	machine_pause(machine, true);
	while (!seen.stopped) {
		assert_int_equal(evloop_run(loop), 0);
	}
	assert_int_equal(machine_result(machine)->end, MACHINE_END_EXIT_PORT);
	assert_int_equal(machine_result(machine)->value, 7);
}

static void a_pause_is_no_hang(void **state)
{
	start(spin_script, 1);
	fake.vcpus[0].mp_state = KVM_MP_STATE_HALTED;
	fake.vcpus[0].regs.rflags = 2;
	fake.vcpus[0].stats[FAKE_BLOCKING] = 1;
	assert_int_equal(machine_liveness(machine), MACHINE_ALIVE);
	machine_pause(machine, true);
	assert_int_equal(evloop_run(loop), 0);
	usleep(1100000);
	assert_int_equal(machine_liveness(machine), MACHINE_ALIVE);
	machine_pause(machine, false);
	assert_int_equal(evloop_run(loop), 0);
	/* The second in which nothing happens begins anew. */
	assert_int_equal(machine_liveness(machine), MACHINE_ALIVE);
	usleep(1100000);
	assert_int_equal(machine_liveness(machine), MACHINE_HALTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(all_vcpus_stand_and_go_on),
		VMM_TEST(pausing_twice_and_taking_it_back_at_once_loses_nothing),
		VMM_TEST(a_vcpu_that_waits_for_its_reader_is_not_waited_for),
		VMM_TEST(a_machine_that_stands_can_be_halted),
		VMM_TEST(a_guest_that_ends_while_it_is_paused_has_ended),
		VMM_TEST(a_pause_is_no_hang),
	};

	return cmocka_run_group_tests_name("vmm_pause", tests, vmm_group_setup, NULL);
}
