/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NOPTI suite: usage: test_nopti none|off|on, what this kernel is expected to have; with "get"
 * it tells its own bits by its status.
 */
#include <stdio.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

static const struct ktap_case cases[] = {
	{"the prctl answers as this kernel should", case_answer_of_this_kernel},
	{"set, get and clear", case_set_get_clear},
	{"EPERM without CAP_SYS_RAWIO", case_eperm_without_rawio},
	{"clearing needs no capability", case_clear_without_rawio},
	{"EBUSY with a thread", case_ebusy_with_a_thread},
	{"EBUSY with a process in the same address space", case_ebusy_with_a_shared_mm},
	{"EINVAL for other values", case_einval},
	{"EFAULT for a bad address", case_efault},
	{"ENODEV with page table isolation off", case_enodev_with_pti_off},
	{"a request for the next exec is no flag", case_request_for_exec},
	{"set and clear a thousand times", case_set_and_clear_storm},

	{"threads inherit the flag", case_threads_inherit},
	{"fork clears it in the child", case_fork_clears},
	{"vfork shares it until the exec", case_vfork},
	{"a process in the same address space has it", case_shared_mm_inherits},
	{"exec clears it", case_exec_clears},
	{"exec of a second thread clears it", case_exec_of_a_thread_clears},
	{"a request survives exactly one exec", case_request_survives_one_exec},
	{"a request is not inherited by fork", case_request_is_not_inherited_by_fork},
	{"a request survives an exec that fails", case_request_survives_a_failed_exec},
	{"a request can be taken back", case_request_is_taken_back},
	{"a 32-bit program, and a request that reaches it", case_request_into_32_bit},
	{"never across an exec that changes the user", case_no_setuid_exec},
	{"never across an exec of a file with capabilities", case_no_file_caps_exec},
	{"flagged processes end in every way", case_end_of_a_flagged_process},

	{"user code runs after setting and after clearing", case_user_code_runs},
	{"page faults on new PGD entries", case_new_pgd_entries},
	{"page faults of every kind", case_page_faults},
	{"32-bit system calls by int80", case_int80},
	{"a local descriptor table", case_ldt},
	{"the vsyscall page", case_vsyscall},

	{"signals", case_signals},
	{"a storm of timer signals", case_signal_storm},
	{"exceptions", case_exceptions},
	{"single steps over system calls", case_single_step},
	{"ptrace of a flagged task", case_ptrace_flagged},
	{"ptrace by a flagged task", case_ptrace_by_flagged},
	{"a breakpoint that the kernel runs into", case_breakpoint_in_the_kernel},
	{"a storm of perf samples", case_perf_storm},
	{"a storm of NMIs in user code", case_nmi_storm},
	{"a storm of NMIs from another CPU", case_nmi_storm_from_another_cpu},

	{"a sibling stays isolated", case_sibling_stays_isolated},
	{"switches between flagged and unflagged", case_switches_between_flagged_and_unflagged},
	{"flagged threads on every CPU", case_threads_over_cpus},
	{"a storm of migrations", case_migration_storm},
	{"unmapping reaches flagged threads on all CPUs", case_unmapping_reaches_all_cpus},
	{"clearing after a run on all CPUs", case_clearing_after_all_cpus},
};

int main(int argc, char **argv)
{
	if (!nopti_arguments(argc, argv)) {
		fprintf(stderr, "usage: %s none|off|on, or get\n", argv[0]);
		return 2;
	}
	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));
}
