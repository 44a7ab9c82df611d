/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look into a kernel's file before it is booted: what it is, its version, its notes, the
 * configuration inside it, and what a guest would lack for that configuration. Files may be
 * anything: what is wrong with one is said, and bounds its cost to the file's own size and what it
 * claims to unpack to, at most INSPECT_BYTES_MAX.
 */
#ifndef LOADER_INSPECT_H
#define LOADER_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "loader/loader.h"

#define INSPECT_BYTES_MAX  (UINT64_C(1) << 30)
#define INSPECT_CONFIG_MAX (UINT64_C(4) << 20)

struct inspection {
	struct load_image image;
	char version[LOAD_VERSION_MAX]; /* empty: there is none */
	char banner[256];               /* "Linux version ...", empty likewise */
	char packed[16];                /* "gzip", ..., or "none" */
	uint64_t payload_bytes;         /* packed; of an ELF file all of it */
	uint64_t unpacked_bytes;        /* 0: could not be unpacked */
	char unreadable[ERR_TEXT_MAX];  /* why; empty when it could */
	bool has_pvh;
	uint64_t pvh_entry; /* gpa */
	char *config;       /* NUL-terminated text, or NULL; owned */
	size_t config_bytes;
	char no_config[ERR_TEXT_MAX]; /* why there is none */
};

enum inspect_need {
	INSPECT_NEEDED, /* without it there is no guest, or not what it was started for */
	INSPECT_USEFUL, /* it is slower, or lacks something that not all use */
};

struct inspect_option {
	const char *name; /* without CONFIG_ */
	enum inspect_need need;
	const char *area;    /* what is missing: "console", "disk", ... */
	const char *without; /* what happens */
	const char *unless;  /* an option that does as well when it is built in, or NULL */
};

enum inspect_value {
	INSPECT_NO,
	INSPECT_MODULE,
	INSPECT_YES, /* also a number or a text */
};

/* Whether a kernel reads ACPI tables. */
enum inspect_acpi {
	INSPECT_ACPI_UNKNOWN, /* it could not be unpacked */
	INSPECT_ACPI_NONE,
	INSPECT_ACPI_THERE,
};

int inspect_acpi(const char *path, enum inspect_acpi *ret, struct err *e) __must_check;
int inspect_open(const char *path, struct inspection *ret, struct err *e) __must_check;
int inspect_read(int fd, struct inspection *ret, struct err *e) __must_check;
void inspect_close(struct inspection *in);
int inspect_use_config(struct inspection *in, const char *path, struct err *e) __must_check;
const struct inspect_option *inspect_options(size_t *ret_count);
bool inspect_lacks(const char *config, const struct inspect_option *option);
enum inspect_value inspect_value(const char *config, const char *name);

#endif
