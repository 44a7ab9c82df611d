# SPDX-License-Identifier: GPL-2.0-or-later
"""What guest-kernel-config/check-series finds in a series of patches."""
import pytest
from mini import Kernel, patch_of

KCONFIG = "config OWN_X\n\tbool\nconfig OWN_Y\n\tbool\n"
# Code that is only there with an option on.
CLEAN = "int b = 1;\n#ifdef CONFIG_OWN_X\nint x;\n#endif\n"


@pytest.fixture
def kernel(tmp_path):
    k = Kernel(tmp_path)
    k.patch({"b.c": CLEAN, "Kconfig": KCONFIG})
    return k


def test_a_series_that_keeps_its_promises_passes(kernel):
    said = kernel.check()
    assert "FAILED" not in said
    for variant in ("every option on", "OWN_X off", "OWN_Y off", "every option off"):
        assert f"no new warning with W=1, {variant}\n" in said
    assert "with every option off 1 touched files compile to the base's code" in said


def test_code_that_differs_with_every_option_off_is_named(kernel):
    kernel.patch({"b.c": CLEAN.replace("= 1", "= 2"), "Kconfig": KCONFIG})
    said = kernel.check(status=1)
    assert "FAILED: with every option off 0 touched files" in said and "\n    b.c\n" in said
    kernel.write("series.accepted", "code b.c differs -- it is meant to\n")
    kernel.check()


@pytest.mark.parametrize("when, variants", [
    ("defined(CONFIG_OWN_X)", ["every option on", "OWN_Y off"]),
    ("defined(CONFIG_OWN_X) && !defined(CONFIG_OWN_Y)", ["OWN_Y off"]),
    ("!defined(CONFIG_OWN_X) && !defined(CONFIG_OWN_Y)", ["every option off"]),
])
def test_a_warning_is_new_in_the_settings_that_show_it(kernel, when, variants):
    kernel.patch({"b.c": CLEAN + f"#if {when}\nstatic int unused;\n#endif\n", "Kconfig": KCONFIG})
    said = kernel.check(status=1)
    for variant in ("every option on", "OWN_X off", "OWN_Y off", "every option off"):
        verdict = "FAILED" if variant in variants else "ok"
        assert f"{verdict}: the files that the series touches have no new warning with W=1, {variant}\n" in said
    warning = "b.c 'unused' defined but not used [-Wunused-variable]"
    assert said.count(f"\n    {warning}\n") == len(variants)
    kernel.write("series.accepted", f"warning {warning} -- it is there to be seen\n")
    kernel.check()


def test_a_file_of_the_base_that_is_of_another_configuration_is_left_out(kernel):
    kernel.patch({"b.c": CLEAN, "Kconfig": KCONFIG, "elsewhere.c": "#error of another machine, still\n"})
    said = kernel.check()
    assert "not of this configuration: elsewhere.c" in said and "off 1 touched files compile" in said


def test_a_file_that_does_not_compile_is_told_in_the_compilers_words(kernel):
    kernel.patch({"b.c": "#ifdef CONFIG_OWN_X\nint b = oops;\n#endif\n", "Kconfig": KCONFIG})
    assert "b.c:2:9: error:" in kernel.check(status=1)


def test_a_complaint_of_checkpatch_needs_a_reason_and_its_count(kernel):
    kernel.patch({"b.c": CLEAN + "/* complain LONG_LINE */\n", "Kconfig": KCONFIG})
    assert "1.patch" in kernel.check(status=1)
    kernel.write("series.accepted", "checkpatch 1.patch LONG_LINE 1 -- told to\n")
    kernel.check()
    kernel.patch({"b.c": CLEAN + "/* complain LONG_LINE */\n/* complain LONG_LINE */\n", "Kconfig": KCONFIG})
    said = kernel.check(status=1)
    assert said.count("LONG_LINE: told to") == 2 and "FAILED: every line of series.accepted is needed" in said


def test_a_patch_of_another_image_is_read_by_checkpatch_and_compiled_by_nobody(kernel):
    kernel.write("patches/more.patch", patch_of({"b.c": "int b = oops; /* complain LONG_LINE */\n"}))
    said = kernel.check(status=1)
    assert "more.patch" in said and said.count("LONG_LINE: told to") == 1 and said.count("FAILED") == 1


def test_an_exception_that_no_longer_occurs_is_an_error(kernel):
    kernel.write("series.accepted", "# comment\n\ncheckpatch 1.patch LONG_LINE 1 -- gone since\n")
    said = kernel.check(status=1)
    assert "FAILED: every line of series.accepted is needed\n    line 3: checkpatch 1.patch" in said


@pytest.mark.parametrize("line", ["checkpatch 1.patch LONG_LINE 1", "checkpatch 1.patch LONG_LINE 1 -- ", "x -- y"])
def test_an_exception_without_a_reason_is_refused(kernel, line):
    kernel.write("series.accepted", line + "\n")
    assert "series.accepted:1: expected 'KIND FILE WHAT -- REASON'" in kernel.check(status=4)


def test_the_result_is_kept_until_a_patch_changes(kernel):
    kernel.check()
    (kept,) = (kernel.cache / "checks").iterdir()
    kernel.hold.touch()  # a compiler would now wait for ever
    kernel.check()
    kernel.hold.unlink()
    kernel.patch({"b.c": CLEAN + "\n", "Kconfig": KCONFIG})
    kernel.check()
    (other,) = (kernel.cache / "checks").iterdir()
    assert other != kept
