/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What arch_prctl(ARCH_SET_NOPTI) and its reader answer, without regard to what it does. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

/* A thread that was joined is still there for a moment. */
#define EXIT_PATIENCE_MS 5000
#define STORM_ROUNDS     1000

static void expect_set(unsigned long value, int expected)
{
	int r = nopti_set(value);

	ktap_check(r == expected, "ARCH_SET_NOPTI 0x%lx: %d (%s), expected %d (%s)", value, r,
		   strerror(-r), expected, strerror(-expected));
}

/* Set the flag as soon as those who just ended are gone. */
static void on_after_exit(void)
{
	long long end = guest_now_ms() + EXIT_PATIENCE_MS;
	int r;

	do {
		r = nopti_set(NOPTI_SET_ON);
		usleep(1000);
	} while (r == -EBUSY && guest_now_ms() < end);
	ktap_check(r == 0, "ARCH_SET_NOPTI 1 with one thread again: %s", strerror(-r));
}

void case_answer_of_this_kernel(void)
{
	static const int expected[] = {
		[NOPTI_NONE] = -EINVAL, [NOPTI_OFF] = -ENODEV, [NOPTI_ON] = 0};
	unsigned long bits = 0x5555;
	int get = nopti_get(&bits);

	/* Without isolation the answer to GET may be that nothing is set, too. */
	if (nopti_expected == NOPTI_OFF && get == 0) {
		ktap_check(bits == 0, "bits are 0x%lx with page table isolation off", bits);
	} else {
		ktap_check(get == expected[nopti_expected], "ARCH_GET_NOPTI: %d (%s)", get,
			   strerror(-get));
	}
	ktap_check(get < 0 ? bits == 0x5555 : bits == 0, "bits are 0x%lx at the start", bits);
	expect_set(NOPTI_SET_ON, expected[nopti_expected]);
	expect_set(NOPTI_SET_EXEC, expected[nopti_expected]);
}

void case_set_get_clear(void)
{
	nopti_need();
	ktap_check(nopti_bits() == 0, "bits are 0x%lx at the start", nopti_bits());
	nopti_off(); /* what is clear can be cleared */
	nopti_on();
	nopti_on(); /* and what is set can be set */
	nopti_off();
}

void case_eperm_without_rawio(void)
{
	nopti_need();
	guest_drop_rawio();
	expect_set(NOPTI_SET_ON, -EPERM);
	expect_set(NOPTI_SET_EXEC, -EPERM);
	ktap_check(nopti_bits() == 0, "bits are 0x%lx after EPERM", nopti_bits());
	expect_set(NOPTI_SET_OFF, 0);
}

void case_clear_without_rawio(void)
{
	nopti_need();
	nopti_on();
	guest_drop_rawio();
	/* What it has, it keeps; and giving it up needs no right. */
	expect_set(NOPTI_SET_EXEC, -EPERM);
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after EPERM", nopti_bits());
	nopti_off();
	expect_set(NOPTI_SET_ON, -EPERM);
}

static sem_t may_end;

static void *wait_for_end(void *arg)
{
	sem_wait(&may_end);
	return NULL;
}

void case_ebusy_with_a_thread(void)
{
	pthread_t thread;

	nopti_need();
	sem_init(&may_end, 0, 0);
	ktap_check(pthread_create(&thread, NULL, wait_for_end, NULL) == 0, "pthread_create");
	expect_set(NOPTI_SET_ON, -EBUSY);
	ktap_check(nopti_bits() == 0, "bits are 0x%lx after EBUSY", nopti_bits());
	sem_post(&may_end);
	pthread_join(thread, NULL);
	on_after_exit();
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after setting", nopti_bits());

	/* And as little can it be cleared. */
	ktap_check(pthread_create(&thread, NULL, wait_for_end, NULL) == 0, "pthread_create");
	expect_set(NOPTI_SET_OFF, -EBUSY);
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after EBUSY", nopti_bits());
	sem_post(&may_end);
	pthread_join(thread, NULL);
}

static int wait_for_end_process(void *arg)
{
	sem_wait(&may_end);
	return 0;
}

void case_ebusy_with_a_shared_mm(void)
{
	int pid;

	nopti_need();
	sem_init(&may_end, 0, 0);
	pid = guest_spawn_vm(wait_for_end_process, NULL, 0);
	expect_set(NOPTI_SET_ON, -EBUSY);
	ktap_check(nopti_bits() == 0, "bits are 0x%lx after EBUSY", nopti_bits());
	sem_post(&may_end);
	ktap_reap(pid, "the process in the same address space");
	on_after_exit();
}

void case_einval(void)
{
	static const unsigned long bad[] = {3,   4, 0xff, 1UL << 31, 1UL << 32, (1UL << 32) | 1,
					    ~0UL};

	nopti_need();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_set(bad[i], -EINVAL);
	}
	ktap_check(nopti_bits() == 0, "bits are 0x%lx after EINVAL", nopti_bits());
	nopti_on();
	expect_set(3, -EINVAL);
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after EINVAL", nopti_bits());
}

void case_efault(void)
{
	/* Nothing is mapped there; a kernel address; one that is no address. */
	static const unsigned long bad[] = {8, 0xffffffff81000000UL, 0xffff888000000000UL,
					    0x8000000000000000UL};

	nopti_need();
	for (int flagged = 0; flagged < 2; flagged++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			int r = nopti_get((unsigned long *)bad[i]);

			ktap_check(r == -EFAULT, "ARCH_GET_NOPTI to 0x%lx: %d, flag %d", bad[i], r,
				   flagged);
		}
		nopti_on();
	}
}

void case_enodev_with_pti_off(void)
{
	if (nopti_expected == NOPTI_NONE) {
		ktap_skip("this kernel has no NOPTI");
	}
	if (nopti_expected == NOPTI_ON) {
		ktap_skip("page table isolation is on");
	}
	expect_set(NOPTI_SET_ON, -ENODEV);
	expect_set(NOPTI_SET_EXEC, -ENODEV);
}

void case_request_for_exec(void)
{
	nopti_need();
	expect_set(NOPTI_SET_EXEC, 0);
	ktap_check(nopti_bits() == NOPTI_GET_EXEC, "bits are 0x%lx after the request",
		   nopti_bits());
}

void case_set_and_clear_storm(void)
{
	void *code = guest_code(0, 77);

	nopti_need();
	for (int i = 0; i < STORM_ROUNDS; i++) {
		nopti_on();
		guest_call(code, 77);
		nopti_off();
		guest_call(code, 77);
	}
}
