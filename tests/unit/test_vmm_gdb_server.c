/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A debugger's connection to a machine on the fake KVM: what it makes of exits, and what it leaves.
 */
#include "vmm_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "vmm/gdb_packet.h"

#define PATH   "/tmp/ringside-test-gdb.sock"
#define BREAK  "101000"
#define BREAKN 0x101000

static struct {
	unsigned int stands, goes_on, killed;
} told;

static int client;
static struct evloop_source *timer;
/* What the next entries into the guest do: one exit each, then it spins. */
static struct {
	_Atomic unsigned int vcpu; /* whose turn: index + 1; 0: nobody's */
	uint32_t exception;
	uint64_t pc, dr6;
	_Atomic int exit_port; /* −1: none */
} next;

static void on_standing(void *ctx, bool on)
{
	told.stands += on;
	told.goes_on += !on;
}

static void on_killed(void *ctx)
{
	told.killed++;
}

static struct machine_callbacks events;

static int script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	while (!__atomic_load_n(&run->immediate_exit, __ATOMIC_SEQ_CST)) {
		if (next.exit_port >= 0) {
			return script_exit(run, (uint32_t)next.exit_port);
		}
		if (next.vcpu == vcpu + 1) {
			next.vcpu = 0;
			run->exit_reason = KVM_EXIT_DEBUG;
			run->debug.arch = (struct kvm_debug_exit_arch){
				.exception = next.exception, .pc = next.pc, .dr6 = next.dr6};
			return 0;
		}
		usleep(100);
	}
	return -EINTR;
}

static void turn(unsigned int ms)
{
	assert_int_equal(
		evloop_arm_timer(timer, clock_now_ns(&clock_monotonic) + ms * NS_PER_MSEC, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
}

/* Let the loop run until something is so; a loaded machine takes its time. */
#define until(condition)                                         \
	do {                                                     \
		for (int i = 0; i < 2500 && !(condition); i++) { \
			turn(2);                                 \
		}                                                \
		assert_true(condition);                          \
	} while (0)

static int attach(void)
{
	const struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = PATH};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void put(const char *data)
{
	char frame[GDB_FRAME_MAX];
	size_t n = gdb_frame(data, strlen(data), frame);

	assert_int_equal(send(client, frame, n, MSG_NOSIGNAL), n);
}

/* The data of the next packet; acknowledgements are left out. */
static const char *get(void)
{
	static struct gdb_parser p;
	enum gdb_event e = GDB_NOTHING;
	uint8_t byte;

	for (int i = 0; i < 2000 && e != GDB_PACKET; i++) {
		while (e != GDB_PACKET && recv(client, &byte, 1, 0) == 1) {
			e = gdb_parser_feed(&p, byte);
			assert_int_not_equal(e, GDB_BAD);
		}
		if (e != GDB_PACKET) {
			turn(2);
		}
	}
	assert_int_equal(e, GDB_PACKET);
	return (const char *)p.data;
}

static void asks(const char *packet, const char *answer)
{
	put(packet);
	assert_string_equal(get(), answer);
}

static void start(unsigned int cpus, bool nowait)
{
	struct machine_config cfg = vmm_config();
	struct err e = ERR_INIT;

	memset(&told, 0, sizeof(told));
	memset(&next, 0, sizeof(next));
	next.exit_port = -1;
	events = vmm_events;
	events.standing = on_standing;
	events.killed = on_killed;
	fake.run = script;
	cfg.cpus = cpus;
	cfg.gdb = PATH;
	cfg.gdb_nowait = nowait;
	vmm_build(&cfg);
	assert_string_equal(machine_gdb_address(machine), PATH);
	assert_int_equal(evloop_add_timer(loop, (evloop_timer_fn)evloop_stop, loop, &timer), 0);
	assert_int_equal(machine_start(machine, loop, &events, NULL, &e), 0);
	client = attach();
}

static void end(void)
{
	close(client);
	machine_destroy(machine);
	machine = NULL;
	assert_int_equal(access(PATH, F_OK), -1);
}

static void the_guest_waits_for_its_debugger(void **state)
{
	start(2, false);
	until(told.stands == 1);
	assert_int_equal(machine_liveness(machine), MACHINE_ALIVE);
	asks("?", "T05thread:1;");
	asks("qfThreadInfo", "m1,2");
	put("c");
	until(told.goes_on == 1);
	assert_false(machine_is_held(machine));
	end();
}

static void a_breakpoint_is_put_hidden_hit_and_taken_out(void **state)
{
	unsigned char byte;
	uint8_t before;

	start(2, false);
	assert_int_equal(machine_read_gpa(machine, BREAKN, &before, 1), 0);
	put("qSupported:swbreak+;hwbreak+");
	get();
	asks("Z0," BREAK ",1", "OK");
	assert_int_equal(machine_read_gpa(machine, BREAKN, &byte, 1), 0);
	assert_int_equal(byte, 0xcc);
	asks("m" BREAK ",1", "00");
	/* What is written under it comes out when it goes. */
	asks("M" BREAK ",2:9091", "OK");
	assert_int_equal(machine_read_gpa(machine, BREAKN, &byte, 1), 0);
	assert_int_equal(byte, 0xcc);
	next.exception = 3;
	next.pc = BREAKN;
	next.vcpu = 2;
	asks("vCont;c", "T05thread:2;swbreak:;");
	assert_true(machine_stands(machine));
	assert_int_equal(fake.vcpus[0].debug.control, KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP);
	asks("z0," BREAK ",1", "OK");
	assert_int_equal(machine_read_gpa(machine, BREAKN, &byte, 1), 0);
	assert_int_equal(byte, 0x90);
	end();
}

static bool injected(void)
{
	bool yes;

	pthread_mutex_lock(&fake.lock);
	yes = fake.vcpus[0].events.exception.injected;
	pthread_mutex_unlock(&fake.lock);
	return yes;
}

static void an_int3_of_the_guests_own_is_given_to_it(void **state)
{
	start(1, false);
	asks("Z0," BREAK ",1", "OK");
	next.exception = 3;
	next.pc = BREAKN + 0x10;
	next.vcpu = 1;
	put("c");
	until(injected());
	machine_pause(machine, true);
	until(machine_stands(machine));
	assert_int_equal(fake.vcpus[0].events.exception.injected, 1);
	assert_int_equal(fake.vcpus[0].events.exception.nr, 3);
	machine_pause(machine, false);
	assert_false(machine_is_held(machine));
	end();
}

static void debug_registers_are_set_on_all_vcpus(void **state)
{
	start(2, false);
	asks("Z1,ffffffff81000010,1", "OK");
	asks("Z2,ffffffff82000008,8", "OK");
	asks("Z4,ffffffff82000004,4", "OK");
	asks("Z3,ffffffff82000004,4", "");
	asks("Z2,ffffffff82000001,4", "E0e");
	asks("Z2,ffffffff82000000,2", "OK");
	asks("Z1,1000,1", "E1c");
	put("c");
	until(told.goes_on == 1);
	for (unsigned int i = 0; i < 2; i++) {
		const struct kvm_guest_debug *d = &fake.vcpus[i].debug;
		unsigned int found = 0;

		assert_int_equal(d->control, KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP);
		/* Places are the server's to choose; each has its own bits of DR7. */
		for (unsigned int r = 0; r < 4; r++) {
			uint64_t bits = d->arch.debugreg[7] >> (16 + 4 * r) & 15;

			assert_true(d->arch.debugreg[7] & UINT64_C(2) << 2 * r);
			switch (d->arch.debugreg[r]) {
			case 0xffffffff81000010:
				assert_int_equal(bits, 0x0);
				break;
			case 0xffffffff82000008:
				assert_int_equal(bits, 0x9);
				break;
			case 0xffffffff82000004:
				assert_int_equal(bits, 0xf);
				break;
			case 0xffffffff82000000:
				assert_int_equal(bits, 0x5);
				break;
			default:
				fail_msg("DR%u is 0x%llx", r, d->arch.debugreg[r]);
			}
			found++;
		}
		assert_int_equal(found, 4);
	}
	end();
}

static void what_was_watched_is_told_with_its_address(void **state)
{
	start(2, false);
	asks("Z2,ffffffff82000008,8", "OK");
	next.exception = 1;
	next.dr6 = 0x8; /* the last place is taken first */
	next.vcpu = 1;
	asks("c", "T05thread:1;watch:ffffffff82000008;");
	end();
}

static void a_step_moves_one_vcpu_and_no_other(void **state)
{
	unsigned int runs;

	start(2, false);
	until(told.stands == 1);
	runs = fake.vcpus[1].runs;
	next.exception = 1;
	next.dr6 = 0x4000;
	next.vcpu = 1;
	asks("vCont;s:1", "T05thread:1;");
	assert_true(fake.vcpus[0].debug.control & KVM_GUESTDBG_SINGLESTEP);
	assert_false(fake.vcpus[1].debug.control & KVM_GUESTDBG_SINGLESTEP);
	assert_int_equal(fake.vcpus[1].runs, runs);
	assert_int_equal(told.stands, 1);
	end();
}

static void ctrl_c_stops_all(void **state)
{
	start(3, true);
	asks("?", "T05thread:1;");
	put("vCont;c");
	turn(20);
	assert_int_equal(send(client, "\003", 1, 0), 1);
	assert_string_equal(get(), "T02thread:1;");
	assert_true(machine_stands(machine));
	end();
}

static void a_pause_from_elsewhere_and_a_debugger_do_not_mix_up(void **state)
{
	start(2, true);
	asks("?", "T05thread:1;");
	machine_pause(machine, true);
	put("c");
	turn(20);
	assert_true(machine_stands(machine));
	machine_pause(machine, false);
	until(!machine_stands(machine));
	end();
}

static void who_goes_away_leaves_nothing_behind(void **state)
{
	unsigned char byte;

	for (unsigned int how = 0; how < 2; how++) {
		start(2, false);
		asks("Z0," BREAK ",1", "OK");
		asks("Z1,1000,1", "OK");
		if (how == 0) {
			put("c");
			turn(20);
			close(client);
		} else {
			asks("D", "OK");
		}
		until(!machine_is_held(machine));
		until(machine_read_gpa(machine, BREAKN, &byte, 1) == 0 && byte == 0);
		until(fake.vcpus[1].debug.control == 0);
		if (how == 0) {
			/* And another may come. */
			client = attach();
			asks("?", "T05thread:1;");
		}
		end();
		evloop_remove(timer);
	}
	assert_int_equal(evloop_add_timer(loop, (evloop_timer_fn)evloop_stop, loop, &timer), 0);
}

static void a_second_debugger_is_turned_away(void **state)
{
	int second;
	char c;

	start(1, false);
	asks("?", "T05thread:1;");
	second = attach();
	until(recv(second, &c, 1, 0) == 0);
	close(second);
	asks("?", "T05thread:1;");
	end();
}

static void the_end_of_the_guest_is_told_with_its_status(void **state)
{
	start(2, false);
	put("c");
	turn(20);
	next.exit_port = 7;
	assert_string_equal(get(), "W07");
	assert_int_equal(seen.stopped, 1);
	end();
}

static void kill_asks_for_the_end(void **state)
{
	start(1, false);
	asks("vKill;1", "OK");
	until(told.killed == 1);
	end();
}

static void a_halt_from_outside_is_told_as_a_signal(void **state)
{
	start(1, false);
	asks("?", "T05thread:1;");
	machine_halt(machine);
	assert_string_equal(get(), "X0f");
	end();
}

static void a_frame_is_sent_again_when_it_is_asked_for(void **state)
{
	start(1, false);
	asks("qC", "QC1");
	assert_int_equal(send(client, "-", 1, 0), 1);
	assert_string_equal(get(), "QC1");
	assert_int_equal(send(client, "$qC#00", 6, 0), 6);
	turn(20);
	asks("qAttached", "1");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(the_guest_waits_for_its_debugger),
		VMM_TEST(a_breakpoint_is_put_hidden_hit_and_taken_out),
		VMM_TEST(an_int3_of_the_guests_own_is_given_to_it),
		VMM_TEST(debug_registers_are_set_on_all_vcpus),
		VMM_TEST(what_was_watched_is_told_with_its_address),
		VMM_TEST(a_step_moves_one_vcpu_and_no_other),
		VMM_TEST(ctrl_c_stops_all),
		VMM_TEST(a_pause_from_elsewhere_and_a_debugger_do_not_mix_up),
		VMM_TEST(who_goes_away_leaves_nothing_behind),
		VMM_TEST(a_second_debugger_is_turned_away),
		VMM_TEST(the_end_of_the_guest_is_told_with_its_status),
		VMM_TEST(kill_asks_for_the_end),
		VMM_TEST(a_halt_from_outside_is_told_as_a_signal),
		VMM_TEST(a_frame_is_sent_again_when_it_is_asked_for),
	};

	return cmocka_run_group_tests_name("vmm_gdb_server", tests, vmm_group_setup, NULL);
}
