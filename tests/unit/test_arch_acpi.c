/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables are walked as a kernel does it, and disassembled by Intel's tool (acpica-tools) where
 * it is. */
#include "guest_ram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/x86/acpi.h"

#define RAM_BYTES 0x100000

static struct guest_ram ram;

static const struct x86_acpi_isa isa[] = {
	{"COM1", "PNP0501", 0x3f8, 8, 4, 1},
	{"COM2", "PNP0501", 0x2f8, 8, 3, 2},
	{"RTC_", "PNP0B00", 0x70, 2, X86_ACPI_NO_IRQ, 0},
};

static const struct x86_acpi_virtio virtio[] = {
	{0xfeb00000, 0x1000, 5},
	{0xfeb01000, 0x1000, 9},
	{0xfeb02000, 0x1000, 16},
	{0xfeb03000, 0x1000, 23},
};

static struct x86_acpi machine(uint32_t cpus)
{
	return (struct x86_acpi){
		.cpus = cpus,
		.sleep_control_port = 0x600,
		.sleep_status_port = 0x601,
		.reset_port = 0x602,
		.reset_value = 1,
		.isa = isa,
		.isa_count = ARRAY_SIZE(isa),
		.virtio = virtio,
		.virtio_count = ARRAY_SIZE(virtio),
	};
}

static int setup(void **state)
{
	guest_ram_init(&ram, RAM_BYTES);
	return 0;
}

static int teardown(void **state)
{
	guest_ram_fini(&ram);
	return 0;
}

static unsigned int sum(const uint8_t *p, size_t n)
{
	unsigned int s = 0;

	while (n--) {
		s += *p++;
	}
	return s & 0xff;
}

static uint64_t number(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

/* A table whose header is as it must be. */
static const uint8_t *table(uint64_t gpa, const char *signature, size_t *ret_length)
{
	const uint8_t *t = ram.bytes + gpa;

	assert_in_range(gpa, X86_ACPI_RSDP + 36, X86_ACPI_END - 36);
	assert_memory_equal(t, signature, 4);
	*ret_length = number(t + 4, 4);
	assert_in_range(*ret_length, 36, X86_ACPI_END - gpa);
	assert_int_equal(sum(t, *ret_length), 0);
	return t;
}

static const uint8_t *find(const char *signature, size_t *ret_length)
{
	const uint8_t *rsdp = ram.bytes + X86_ACPI_RSDP;
	size_t length;
	const uint8_t *xsdt;

	assert_int_equal(X86_ACPI_RSDP % 16, 0);
	assert_memory_equal(rsdp, "RSD PTR ", 8);
	assert_int_equal(rsdp[15], 2);
	assert_int_equal(sum(rsdp, 20), 0);
	assert_int_equal(number(rsdp + 20, 4), 36);
	assert_int_equal(sum(rsdp, 36), 0);
	xsdt = table(number(rsdp + 24, 8), "XSDT", &length);
	assert_int_equal((length - 36) % 8, 0);
	for (size_t at = 36; at < length; at += 8) {
		uint64_t gpa = number(xsdt + at, 8);

		if (memcmp(ram.bytes + gpa, signature, 4) == 0) {
			return table(gpa, signature, ret_length);
		}
	}
	fail_msg("no %s", signature);
	return NULL;
}

static void the_fadt_is_that_of_hardware_reduced_acpi_with_ports_for_sleep_and_reset(void **state)
{
	const struct x86_acpi what = machine(2);
	const uint8_t *fadt;
	size_t length;

	assert_int_equal(x86_acpi_write(&ram.mem, &what), 0);
	fadt = find("FACP", &length);
	assert_int_equal(length, 276);
	assert_int_equal(fadt[8], 6);
	assert_int_equal(number(fadt + 112, 4), 0x101431);
	assert_int_equal(number(fadt + 40, 4), number(fadt + 140, 8));
	table(number(fadt + 140, 8), "DSDT", &length);
	assert_memory_equal(fadt + 116, "\x01\x08\x00\x01\x02\x06\x00\x00\x00\x00\x00\x00\x01", 13);
	assert_memory_equal(fadt + 244, "\x01\x08\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00", 12);
	assert_memory_equal(fadt + 256, "\x01\x08\x00\x01\x01\x06\x00\x00\x00\x00\x00\x00", 12);
	/* No other register: those are of the hardware that is not there. */
	for (size_t at = 46; at < 109; at++) {
		assert_int_equal(fadt[at], 0);
	}
	for (size_t at = 148; at < 244; at++) {
		assert_int_equal(fadt[at], 0);
	}
}

static void the_madt_names_each_cpu_the_io_apic_and_how_our_isa_lines_behave(void **state)
{
	static const uint32_t cpus[] = {1, 2, 16, 254};

	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		const struct x86_acpi what = machine(cpus[i]);
		unsigned int counts[256] = {0};
		const uint8_t *madt;
		size_t length;

		assert_int_equal(x86_acpi_write(&ram.mem, &what), 0);
		madt = find("APIC", &length);
		assert_int_equal(number(madt + 36, 4), 0xfee00000);
		for (size_t at = 44; at < length; at += madt[at + 1]) {
			const uint8_t *e = madt + at;

			assert_in_range(e[1], 2, length - at);
			switch (e[0]) {
			case 0:
				assert_int_equal(e[3], counts[0]);
				assert_int_equal(number(e + 4, 4), 1);
				break;
			case 1:
				assert_int_equal(e[2], cpus[i]);
				assert_int_equal(number(e + 4, 4), 0xfec00000);
				assert_int_equal(number(e + 8, 4), 0);
				break;
			case 2:
				assert_int_equal(e[3], virtio[counts[2]].gsi);
				assert_int_equal(number(e + 4, 4), e[3]);
				assert_int_equal(number(e + 8, 2), 5);
				break;
			default:
				assert_int_equal(e[0], 4);
				assert_int_equal(e[2], 255);
				assert_int_equal(e[5], 1);
			}
			counts[e[0]]++;
		}
		assert_int_equal(counts[0], cpus[i]);
		assert_int_equal(counts[1], 1);
		assert_int_equal(counts[2], 2);
		assert_int_equal(counts[4], 1);
	}
}

static void nothing_is_written_outside_of_the_place_for_tables(void **state)
{
	const struct x86_acpi what = machine(X86_ACPI_CPUS_MAX);

	assert_int_equal(x86_acpi_write(&ram.mem, &what), 0);
	for (size_t i = 0; i < X86_ACPI_RSDP; i++) {
		assert_int_equal(ram.bytes[i], 0);
	}
}

static void a_number_of_cpus_that_cannot_be_named_is_refused(void **state)
{
	struct x86_acpi what = machine(0);

	assert_int_equal(x86_acpi_write(&ram.mem, &what), -EINVAL);
	what.cpus = X86_ACPI_CPUS_MAX + 1;
	assert_int_equal(x86_acpi_write(&ram.mem, &what), -EINVAL);
}

static void more_devices_than_there_is_room_for_are_refused_at_every_count(void **state)
{
	static struct x86_acpi_virtio many[400];
	struct x86_acpi what = machine(X86_ACPI_CPUS_MAX);
	bool refused = false;

	what.virtio = many;
	for (what.virtio_count = 0; what.virtio_count < ARRAY_SIZE(many); what.virtio_count++) {
		int r = x86_acpi_write(&ram.mem, &what);

		assert_true(r == -ENOSPC || (r == 0 && !refused));
		refused = r == -ENOSPC;
	}
	assert_true(refused);
}

static void guest_memory_that_ends_below_the_tables_is_an_error(void **state)
{
	const struct x86_acpi what = machine(1);
	struct guest_ram small;

	guest_ram_init(&small, 0xe0000);
	assert_int_equal(x86_acpi_write(&small.mem, &what), -EFAULT);
	guest_ram_fini(&small);
}

static void save(const char *dir, const char *name, const uint8_t *bytes, size_t count)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.dat", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, count, f), count);
	assert_int_equal(fclose(f), 0);
}

/* All that a shell command says, on both streams. */
static int shell(const char *dir, const char *command, char *ret, size_t room)
{
	char line[512];
	size_t n;
	FILE *p;

	snprintf(line, sizeof(line), "cd %s && { %s; } 2>&1", dir, command);
	p = popen(line, "r");
	assert_non_null(p);
	n = fread(ret, 1, room - 1, p);
	ret[n] = '\0';
	return pclose(p);
}

static void intels_disassembler_takes_every_table_and_its_compiler_the_result(void **state)
{
	const struct x86_acpi what = machine(2);
	char dir[] = "/tmp/ringside-acpi-XXXXXX", text[16384];
	const uint8_t *fadt, *t;
	size_t length;

	assert_int_equal(x86_acpi_write(&ram.mem, &what), 0);
	assert_non_null(mkdtemp(dir));
	if (shell(dir, "iasl -v", text, sizeof(text)) != 0) {
		rmdir(dir);
		print_message("iasl is not here: install acpica-tools\n");
		skip();
	}
	fadt = find("FACP", &length);
	save(dir, "facp", fadt, length);
	t = find("APIC", &length);
	save(dir, "apic", t, length);
	t = table(number(fadt + 140, 8), "DSDT", &length);
	save(dir, "dsdt", t, length);
	t = table(number(ram.bytes + X86_ACPI_RSDP + 24, 8), "XSDT", &length);
	save(dir, "xsdt", t, length);
	assert_int_equal(shell(dir, "iasl -d *.dat", text, sizeof(text)), 0);
	assert_null(strcasestr(text, "error"));
	assert_null(strcasestr(text, "warning"));
	assert_null(strcasestr(text, "incorrect"));
	assert_int_equal(shell(dir, "iasl -f dsdt.dsl", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "0 Errors, 0 Warnings, 0 Remarks"));
	assert_int_equal(shell(dir, "cat dsdt.dsl", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "Name (_HID, \"LNRO0005\")"));
	assert_non_null(strstr(text, "Name (_HID, EisaId (\"PNP0501\")"));
	assert_non_null(strstr(text, "Interrupt (ResourceConsumer, Edge, ActiveHigh, Exclusive"));
	assert_int_equal(shell(dir, "rm -f *.dat *.dsl *.aml", text, sizeof(text)), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_fadt_is_that_of_hardware_reduced_acpi_with_ports_for_sleep_and_reset,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_madt_names_each_cpu_the_io_apic_and_how_our_isa_lines_behave, setup,
			teardown),
		cmocka_unit_test_setup_teardown(nothing_is_written_outside_of_the_place_for_tables,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_of_cpus_that_cannot_be_named_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			more_devices_than_there_is_room_for_are_refused_at_every_count, setup,
			teardown),
		cmocka_unit_test_setup_teardown(guest_memory_that_ends_below_the_tables_is_an_error,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			intels_disassembler_takes_every_table_and_its_compiler_the_result, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
