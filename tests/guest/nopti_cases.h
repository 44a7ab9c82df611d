/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cases of the NOPTI suite, by file. */
#ifndef NOPTI_CASES_H
#define NOPTI_CASES_H

/* nopti_call.c: what the prctl answers. */
void case_answer_of_this_kernel(void);
void case_set_get_clear(void);
void case_eperm_without_rawio(void);
void case_clear_without_rawio(void);
void case_ebusy_with_a_thread(void);
void case_ebusy_with_a_shared_mm(void);
void case_einval(void);
void case_efault(void);
void case_enodev_with_pti_off(void);
void case_request_for_exec(void);
void case_set_and_clear_storm(void);

/* nopti_inherit.c: who has the flag. */
void case_threads_inherit(void);
void case_fork_clears(void);
void case_vfork(void);
void case_shared_mm_inherits(void);
void case_exec_clears(void);
void case_exec_of_a_thread_clears(void);
void case_request_survives_one_exec(void);
void case_request_is_not_inherited_by_fork(void);
void case_request_survives_a_failed_exec(void);
void case_request_is_taken_back(void);
void case_request_into_32_bit(void);
void case_no_setuid_exec(void);
void case_no_file_caps_exec(void);
void case_end_of_a_flagged_process(void);

/* nopti_run.c: code that runs with the flag. */
void case_user_code_runs(void);
void case_new_pgd_entries(void);
void case_page_faults(void);
void case_int80(void);
void case_ldt(void);
void case_vsyscall(void);

/* nopti_signal.c: ways into the kernel that user code does not choose. */
void case_signals(void);
void case_signal_storm(void);
void case_exceptions(void);
void case_single_step(void);
void case_ptrace_flagged(void);
void case_ptrace_by_flagged(void);
void case_breakpoint_in_the_kernel(void);
void case_perf_storm(void);
void case_nmi_storm(void);
void case_nmi_storm_from_another_cpu(void);

/* nopti_switch.c: more than one task, more than one CPU. */
void case_sibling_stays_isolated(void);
void case_switches_between_flagged_and_unflagged(void);
void case_threads_over_cpus(void);
void case_migration_storm(void);
void case_unmapping_reaches_all_cpus(void);
void case_clearing_after_all_cpus(void);

#endif
