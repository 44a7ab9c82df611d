/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block requests as a driver cuts them, good and bad: virtio 1.2, 5.2.6. */
#include "support.h"

#include "temp_file.h"
#include "virtio_driver.h"

#include <linux/virtio_ids.h>

#include "base/rng.h"
#include "devices/virtio/blk.h"

#define S         DISK_SECTOR_BYTES
#define SECTORS   64
#define HEADER    VRING_HEAP
#define DATA      (VRING_HEAP + 0x1000)
#define STATUS    (VRING_HEAP + 0x800)
#define NO_STATUS 0x55
#define W         VRING_DESC_F_WRITE
#define NEXT      VRING_DESC_F_NEXT
#define FLUSHES   (DRIVER_V1 | UINT64_C(1) << VIRTIO_BLK_F_FLUSH)

static struct temp_file file;
static struct disk disk;
static struct virtio_driver drv;
static struct virtio_blk blk;

static void make(bool read_only)
{
	const struct disk_config cfg = {.path = file.path, .read_only = read_only};
	struct virtio_place place = driver_place(&drv);
	struct err e = ERR_INIT;

	assert_int_equal(disk_open(&disk, &cfg, &e), 0);
	assert_int_equal(virtio_blk_init(&blk, &place, &disk, "a name of more than 20 bytes"), 0);
	driver_start(&drv, &blk.v, 1, FLUSHES);
}

static void unmake(void)
{
	virtio_blk_fini(&blk);
	disk_close(&disk);
}

static int setup(void **state)
{
	uint8_t sector[S];

	temp_file_init(&file, SECTORS * S);
	for (int i = 0; i < SECTORS; i++) {
		memset(sector, i, S);
		assert_int_equal(pwrite(file.fd, sector, S, i * S), S);
	}
	driver_init(&drv);
	make(false);
	return 0;
}

static int teardown(void **state)
{
	unmake();
	driver_fini(&drv);
	temp_file_fini(&file);
	return 0;
}

static void put_header(uint32_t type, uint64_t sector)
{
	const struct virtio_blk_outhdr h = {.type = type, .sector = sector};

	memcpy(drv.ram.bytes + HEADER, &h, sizeof(h));
	drv.ram.bytes[STATUS] = NO_STATUS;
}

/* Gives the chain at descriptor 0 to the device; what it wrote is checked, the status returned. */
static uint8_t submit(uint32_t expected_written)
{
	uint32_t head = ~0u, written = ~0u;

	vring_offer(&drv.queue[0], 0);
	driver_notify(&drv, 0);
	assert_true(vring_take_used(&drv.queue[0], &head, &written));
	assert_int_equal(head, 0);
	assert_int_equal(written, expected_written);
	return drv.ram.bytes[STATUS];
}

/* A request as Linux makes it: header, data, status. */
static uint8_t request(uint32_t type, uint64_t sector, uint32_t bytes, bool to_guest,
		       uint32_t expected_written)
{
	struct vring_driver *q = &drv.queue[0];

	put_header(type, sector);
	vring_desc(q, 0, HEADER, 16, NEXT, bytes ? 1 : 2);
	vring_desc(q, 1, DATA, bytes, NEXT | (to_guest ? W : 0), 2);
	vring_desc(q, 2, STATUS, 1, W, 0);
	return submit(expected_written);
}

static void assert_image(uint64_t sector, uint8_t byte)
{
	uint8_t found[S];

	assert_int_equal(pread(file.fd, found, S, (off_t)(sector * S)), S);
	for (int i = 0; i < S; i++) {
		assert_int_equal(found[i], byte);
	}
}

static void it_says_what_it_is(void **state)
{
	uint64_t f = driver_offered(&drv);

	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_BLOCK);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG), SECTORS);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG + 4), 0);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG + 20), S);
	assert_false(f & (1u << VIRTIO_BLK_F_RO));
	assert_true(f & (1u << VIRTIO_BLK_F_DISCARD));
	unmake();
	make(true);
	f = driver_offered(&drv);
	assert_true(f & (1u << VIRTIO_BLK_F_RO));
	assert_false(f & (1u << VIRTIO_BLK_F_DISCARD));
}

static void sectors_are_read_and_written(void **state)
{
	assert_int_equal(request(VIRTIO_BLK_T_IN, 7, 2 * S, true, 2 * S + 1), VIRTIO_BLK_S_OK);
	assert_int_equal(drv.ram.bytes[DATA + S - 1], 7);
	assert_int_equal(drv.ram.bytes[DATA + S], 8);
	assert_int_equal(drv.ram.bytes[DATA + 2 * S], 0);
	memset(drv.ram.bytes + DATA, 0xaa, 2 * S);
	assert_int_equal(request(VIRTIO_BLK_T_OUT, 62, 2 * S, false, 1), VIRTIO_BLK_S_OK);
	assert_image(61, 61);
	assert_image(62, 0xaa);
	assert_image(63, 0xaa);
	assert_int_equal(request(VIRTIO_BLK_T_FLUSH, 0, 0, false, 1), VIRTIO_BLK_S_OK);
	assert_int_equal(driver_interrupts(&drv), 3);
}

static void past_the_end_and_parts_of_sectors_are_errors(void **state)
{
	static const struct {
		uint64_t sector;
		uint32_t bytes;
	} rows[] = {
		{SECTORS, S},    {SECTORS - 1, 2 * S},
		{UINT64_MAX, S}, {UINT64_MAX / S + 1, S},
		{0, S - 1},      {0, 1},
		{1, S + 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(request(VIRTIO_BLK_T_IN, rows[i].sector, rows[i].bytes, true, 0),
				 VIRTIO_BLK_S_IOERR);
		assert_int_equal(request(VIRTIO_BLK_T_OUT, rows[i].sector, rows[i].bytes, false, 1),
				 VIRTIO_BLK_S_IOERR);
	}
	for (unsigned int i = 0; i < SECTORS; i++) {
		assert_image(i, (uint8_t)i);
	}
}

static void reading_only_is_enforced_whatever_was_negotiated(void **state)
{
	unmake();
	make(true); /* driver_start() did not take VIRTIO_BLK_F_RO */
	assert_int_equal(request(VIRTIO_BLK_T_OUT, 1, S, false, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(VIRTIO_BLK_T_DISCARD, 0, 16, false, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(VIRTIO_BLK_T_WRITE_ZEROES, 0, 16, false, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(VIRTIO_BLK_T_FLUSH, 0, 0, false, 1), VIRTIO_BLK_S_OK);
	assert_int_equal(request(VIRTIO_BLK_T_IN, 1, S, true, S + 1), VIRTIO_BLK_S_OK);
	assert_image(1, 1);
}

static void the_id_is_twenty_bytes(void **state)
{
	assert_int_equal(request(VIRTIO_BLK_T_GET_ID, 0, 20, true, 21), VIRTIO_BLK_S_OK);
	assert_memory_equal(drv.ram.bytes + DATA, "a name of more than ", 20);
	assert_int_equal(request(VIRTIO_BLK_T_GET_ID, 0, 19, true, 0), VIRTIO_BLK_S_IOERR);
}

static uint8_t ranges(uint32_t type, const struct virtio_blk_discard_write_zeroes *r,
		      unsigned int count)
{
	memcpy(drv.ram.bytes + DATA, r, count * sizeof(*r));
	return request(type, 0, count * (uint32_t)sizeof(*r), false, 1);
}

static void ranges_are_zeroed_and_discarded(void **state)
{
	const struct virtio_blk_discard_write_zeroes two[] = {{5, 1, 0}, {8, 2, 1}};
	const struct virtio_blk_discard_write_zeroes good = {16, 8, 0};

	assert_int_equal(ranges(VIRTIO_BLK_T_WRITE_ZEROES, two, 2), VIRTIO_BLK_S_OK);
	assert_image(4, 4);
	assert_image(5, 0);
	assert_image(6, 6);
	assert_image(8, 0);
	assert_image(9, 0);
	assert_image(10, 10);
	assert_int_equal(ranges(VIRTIO_BLK_T_DISCARD, &good, 1), VIRTIO_BLK_S_OK);
	assert_image(15, 15);
	assert_image(24, 24);
}

static void bad_ranges_are_refused(void **state)
{
	static const struct {
		uint32_t type;
		struct virtio_blk_discard_write_zeroes range;
		uint8_t status;
	} rows[] = {
		{VIRTIO_BLK_T_DISCARD, {0, 1, 1}, VIRTIO_BLK_S_UNSUPP},
		{VIRTIO_BLK_T_DISCARD, {0, 1, 2}, VIRTIO_BLK_S_UNSUPP},
		{VIRTIO_BLK_T_WRITE_ZEROES, {0, 1, 4}, VIRTIO_BLK_S_UNSUPP},
		{VIRTIO_BLK_T_DISCARD, {SECTORS, 1, 0}, VIRTIO_BLK_S_IOERR},
		{VIRTIO_BLK_T_WRITE_ZEROES, {SECTORS - 1, 2, 0}, VIRTIO_BLK_S_IOERR},
		{VIRTIO_BLK_T_WRITE_ZEROES, {UINT64_MAX, 2, 0}, VIRTIO_BLK_S_IOERR},
		{VIRTIO_BLK_T_DISCARD, {0, VIRTIO_BLK_RANGE_MAX + 1, 0}, VIRTIO_BLK_S_IOERR},
		{VIRTIO_BLK_T_WRITE_ZEROES, {0, UINT32_MAX, 1}, VIRTIO_BLK_S_IOERR},
	};
	struct virtio_blk_discard_write_zeroes many[VIRTIO_BLK_RANGES_MAX + 1] = {{0}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(ranges(rows[i].type, &rows[i].range, 1), rows[i].status);
	}
	assert_int_equal(ranges(VIRTIO_BLK_T_DISCARD, many, VIRTIO_BLK_RANGES_MAX),
			 VIRTIO_BLK_S_OK);
	assert_int_equal(ranges(VIRTIO_BLK_T_DISCARD, many, VIRTIO_BLK_RANGES_MAX + 1),
			 VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(VIRTIO_BLK_T_DISCARD, 0, 15, false, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(VIRTIO_BLK_T_DISCARD, 0, 0, false, 1), VIRTIO_BLK_S_IOERR);
	for (unsigned int i = 0; i < SECTORS; i++) {
		assert_image(i, (uint8_t)i);
	}
}

static void an_unknown_request_is_unsupported(void **state)
{
	assert_int_equal(request(2, 0, 0, false, 1), VIRTIO_BLK_S_UNSUPP);
	assert_int_equal(request(UINT32_MAX, 0, S, true, 0), VIRTIO_BLK_S_UNSUPP);
}

static void header_data_and_status_may_be_cut_anywhere(void **state)
{
	struct vring_driver *q = &drv.queue[0];

	put_header(VIRTIO_BLK_T_IN, 9);
	vring_desc(q, 0, HEADER, 5, NEXT, 1);
	vring_desc(q, 1, HEADER + 5, 11, NEXT, 2);
	vring_desc(q, 2, DATA, 100, NEXT | W, 3);
	vring_desc(q, 3, DATA + 100, 412, NEXT | W, 4);
	vring_desc(q, 4, STATUS, 1, W, 0);
	assert_int_equal(submit(S + 1), VIRTIO_BLK_S_OK);
	assert_int_equal(drv.ram.bytes[DATA], 9);
	assert_int_equal(drv.ram.bytes[DATA + 511], 9);
	/* The status in one buffer with the data. */
	put_header(VIRTIO_BLK_T_IN, 11);
	vring_desc(q, 0, HEADER, 16, NEXT, 1);
	vring_desc(q, 1, STATUS - S, S + 1, W, 0);
	assert_int_equal(submit(S + 1), VIRTIO_BLK_S_OK);
	assert_int_equal(drv.ram.bytes[STATUS - 1], 11);
	/* Header and data in one. */
	put_header(VIRTIO_BLK_T_OUT, 13);
	memset(drv.ram.bytes + HEADER + 16, 0x77, S);
	vring_desc(q, 0, HEADER, 16 + S, NEXT, 1);
	vring_desc(q, 1, STATUS, 1, W, 0);
	assert_int_equal(submit(1), VIRTIO_BLK_S_OK);
	assert_image(13, 0x77);
}

static void requests_that_lack_a_part_fail_alone(void **state)
{
	struct vring_driver *q = &drv.queue[0];

	/* A header only: there is no place for an answer. */
	put_header(VIRTIO_BLK_T_OUT, 0);
	vring_desc(q, 0, HEADER, 16, 0, 0);
	assert_int_equal(submit(0), NO_STATUS);
	/* Half a header. */
	put_header(VIRTIO_BLK_T_IN, 0);
	vring_desc(q, 0, HEADER, 15, NEXT, 1);
	vring_desc(q, 1, STATUS, 1, W, 0);
	assert_int_equal(submit(1), VIRTIO_BLK_S_IOERR);
	/* No header. */
	put_header(VIRTIO_BLK_T_IN, 0);
	vring_desc(q, 0, STATUS, 1, W, 0);
	assert_int_equal(submit(1), VIRTIO_BLK_S_IOERR);
	/* Write-only where data to read is due: nothing is written to the disk. */
	assert_int_equal(request(VIRTIO_BLK_T_OUT, 3, S, true, 0), VIRTIO_BLK_S_OK);
	assert_image(3, 3);
	/* And the other way round. */
	assert_int_equal(request(VIRTIO_BLK_T_IN, 3, S, false, 1), VIRTIO_BLK_S_OK);
	/* A chain that is broken in itself. */
	vring_desc(q, 0, HEADER, 16, NEXT, 0);
	drv.ram.bytes[STATUS] = NO_STATUS;
	assert_int_equal(submit(0), NO_STATUS);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 15);
	assert_int_equal(request(VIRTIO_BLK_T_IN, 3, S, true, S + 1), VIRTIO_BLK_S_OK);
}

/* Random chains over random memory, as a driver gone mad would make them. */
static void a_mad_driver_hurts_nobody_but_itself(void **state)
{
	struct vring_driver *q = &drv.queue[0];
	uint32_t head, written;
	struct rng rng;

	rng_init(&rng, 99);
	for (unsigned int i = 0; i < 20000; i++) {
		put_header((uint32_t)rng_below(&rng, 15), rng_below(&rng, SECTORS + 2));
		for (unsigned int d = 0; d < DRIVER_SIZE; d++) {
			vring_desc(q, d, rng_below(&rng, 4) ? HEADER : rng_below(&rng, 0x50000),
				   (uint32_t)rng_below(&rng, 3 * S), (uint16_t)rng_below(&rng, 4),
				   (uint16_t)rng_below(&rng, DRIVER_SIZE + 1));
		}
		vring_offer(q, (uint16_t)rng_below(&rng, DRIVER_SIZE));
		driver_notify(&drv, 0);
		/* It may have written over its own rings: then it starts again. */
		if (!vring_take_used(q, &head, &written) ||
		    driver_get(&drv, VIRTIO_MMIO_STATUS) != 15) {
			driver_start(&drv, &blk.v, 1, FLUSHES);
		}
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_says_what_it_is),
		T(sectors_are_read_and_written),
		T(past_the_end_and_parts_of_sectors_are_errors),
		T(reading_only_is_enforced_whatever_was_negotiated),
		T(the_id_is_twenty_bytes),
		T(ranges_are_zeroed_and_discarded),
		T(bad_ranges_are_refused),
		T(an_unknown_request_is_unsupported),
		T(header_data_and_status_may_be_cut_anywhere),
		T(requests_that_lack_a_part_fail_alone),
		T(a_mad_driver_hurts_nobody_but_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
