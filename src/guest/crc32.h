/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32 of IEEE 802.3, the same as zlib's, shared by the host and the static guest programs. */
#ifndef GUEST_CRC32_H
#define GUEST_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_update(uint32_t crc, const void *data, size_t len);

#endif
