/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running a payload to its end, on the calling thread. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "vmm/payload.h"
#include "vmm/payload_priv.h"

#define TIMEOUT_SIGNAL SIGALRM

/* The shared page of the vCPU that this thread runs, for the signal handler; NULL between runs. */
static _Thread_local struct kvm_run *running;

/* immediate_exit closes the gap between this signal and the next KVM_RUN (api.rst, 5). */
static void on_timeout(int signal)
{
	if (running) {
		*(volatile uint8_t *)&running->immediate_exit = 1;
	}
}

struct watchdog {
	timer_t timer;
	struct sigaction before;
};

/* The signal goes to this thread and to no other. */
static int watchdog_start(struct watchdog *w, uint64_t ns, struct kvm_run *run)
{
	struct sigaction act = {.sa_handler = on_timeout};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMEOUT_SIGNAL};
	struct itimerspec when = {
		.it_value = {(time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC)},
	};
	int r;

	ev._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigemptyset(&act.sa_mask);
	if (timer_create(CLOCK_MONOTONIC, &ev, &w->timer) < 0) {
		return -errno;
	}
	running = run;
	sigaction(TIMEOUT_SIGNAL, &act, &w->before);
	if (timer_settime(w->timer, 0, &when, NULL) < 0) {
		r = -errno;
		timer_delete(w->timer);
		sigaction(TIMEOUT_SIGNAL, &w->before, NULL);
		running = NULL;
		return r;
	}
	return 0;
}

static void watchdog_stop(struct watchdog *w)
{
	timer_delete(w->timer);
	sigaction(TIMEOUT_SIGNAL, &w->before, NULL);
	running = NULL;
}

static void do_port(struct payload_vm *vm, struct kvm_run *run)
{
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	for (uint32_t i = 0; i < run->io.count && !vm->exited; i++, data += run->io.size) {
		uint64_t v = 0;

		if (run->io.direction == KVM_EXIT_IO_OUT) {
			memcpy(&v, data, run->io.size);
			bus_write(&vm->ports, run->io.port, run->io.size, v);
		} else {
			v = bus_read(&vm->ports, run->io.port, run->io.size);
			memcpy(data, &v, run->io.size);
		}
	}
}

static void do_mmio(struct payload_vm *vm, struct kvm_run *run)
{
	uint64_t v = 0;

	if (run->mmio.is_write) {
		memcpy(&v, run->mmio.data, sizeof(v));
		bus_write(&vm->mmio, run->mmio.phys_addr, run->mmio.len, v);
	} else {
		v = bus_read(&vm->mmio, run->mmio.phys_addr, run->mmio.len);
		memcpy(run->mmio.data, &v, sizeof(v));
	}
}

static void describe_failure(struct payload_vm *vm, struct payload_outcome *ret)
{
	const struct kvm_run *run = vm->vcpu.run;
	struct kvm_regs regs = {0};
	char extra[80] = "";

	if (run->exit_reason == KVM_EXIT_INTERNAL_ERROR) {
		snprintf(extra, sizeof(extra), ", suberror %u", run->internal.suberror);
	}
	if (kvm_vcpu_get_regs(&vm->vcpu, &regs) < 0) {
		regs.rip = 0;
	}
	ret->end = PAYLOAD_END_FAILED;
	snprintf(ret->text, sizeof(ret->text), "KVM exit %s%s, rip 0x%llx",
		 kvm_exit_name(run->exit_reason), extra, (unsigned long long)regs.rip);
}

/* Return: 0 when ret->end is decided, -EAGAIN to run on, another -errno when KVM_RUN failed. */
static int run_once(struct payload_vm *vm, struct payload_outcome *ret)
{
	struct kvm_run *run = vm->vcpu.run;
	int r = kvm_vcpu_run(&vm->vcpu);

	if (r == -EINTR || r == -EAGAIN) {
		if (!*(volatile uint8_t *)&run->immediate_exit) {
			return -EAGAIN;
		}
		ret->end = PAYLOAD_END_TIMEOUT;
		return 0;
	}
	if (r < 0) {
		return r;
	}
	ret->user_exits++;
	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		do_port(vm, run);
		break;
	case KVM_EXIT_MMIO:
		do_mmio(vm, run);
		break;
	default:
		describe_failure(vm, ret);
		return 0;
	}
	if (vm->exited) {
		ret->end = PAYLOAD_END_EXIT;
		ret->status = vm->exit_status;
		return 0;
	}
	return -EAGAIN;
}

/**
 * payload_vm_run() - run a payload to its end
 * @vm: a VM that has not run yet
 * @timeout_ns: after which it is stopped, not 0
 * @ret: set on success, with a copy of the block as it was at the end
 * @e: gets one line on failure
 *
 * Takes SIGALRM for the time of the run: no other thread may use it meanwhile.
 *
 * Return: 0 whatever became of the payload; -errno when it could not be run at all.
 * Context: the thread that made @vm.
 */
int payload_vm_run(struct payload_vm *vm, uint64_t timeout_ns, struct payload_outcome *ret,
		   struct err *e)
{
	struct payload_outcome out = {.end = PAYLOAD_END_FAILED};
	struct watchdog dog;
	int r;

	r = watchdog_start(&dog, timeout_ns, vm->vcpu.run);
	if (r < 0) {
		return err_errno(e, r, "cannot set a timer");
	}
	do {
		r = run_once(vm, &out);
	} while (r == -EAGAIN);
	watchdog_stop(&dog);
	if (r < 0) {
		return err_errno(e, r, "KVM does not run the vCPU");
	}
	if (out.end == PAYLOAD_END_TIMEOUT) {
		struct kvm_regs regs = {0};

		if (kvm_vcpu_get_regs(&vm->vcpu, &regs) < 0) {
			regs.rip = 0;
		}
		snprintf(out.text, sizeof(out.text), "no end within %llu ms, rip 0x%llx",
			 (unsigned long long)(timeout_ns / NS_PER_MSEC),
			 (unsigned long long)regs.rip);
	}
	r = gmem_read(&vm->memory, PAYLOAD_BLOCK_GPA, &out.block, sizeof(out.block));
	if (r < 0) {
		return err_errno(e, r, "the payload's block");
	}
	*ret = out;
	return 0;
}
