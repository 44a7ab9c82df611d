/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the guest to its host: four streams of bytes. Where there are virtio-console ports of their
 * names each has its own, as it is. Else they share one way, a virtio-serial port of the name
 * "ringside" or the second serial line (0x2f8, IRQ 3, raw), in frames. Little-endian. A frame is
 *
 *	0  u8[2] 'R' 0xb5
 *	2  u8    stream, one of CHANNEL_STREAM_*
 *	3  u8    flags, 0
 *	4  u32   payload length, at most CHANNEL_PAYLOAD_MAX bytes
 *	8  u32   CRC-32 (IEEE 802.3, as zlib's) of bytes 0 to 7 and the payload
 *	12       payload
 *
 * Each stream is a sequence of bytes: a frame may end in the middle of a line. A reader that finds
 * no frame where one should start looks for the next magic.
 */
#ifndef ABI_CHANNEL_H
#define ABI_CHANNEL_H

#define CHANNEL_PORT_NAME      "ringside"
#define CHANNEL_PORT_CONSOLE   "ringside.console" /* hvc0, where the kernel was told of it */
#define CHANNEL_PORT_RESULTS   "ringside.results"
#define CHANNEL_PORT_STDOUT    "ringside.stdout"
#define CHANNEL_PORT_STDERR    "ringside.stderr"
#define CHANNEL_PORT_LOG       "ringside.control"
#define CHANNEL_SERIAL_INDEX   1 /* ttyS1 */

#define CHANNEL_MAGIC_0        'R'
#define CHANNEL_MAGIC_1        0xb5
#define CHANNEL_HEADER_BYTES   12
#define CHANNEL_CRC_OFFSET     8
#define CHANNEL_PAYLOAD_MAX    4096
#define CHANNEL_FRAME_MAX      (CHANNEL_HEADER_BYTES + CHANNEL_PAYLOAD_MAX)

#define CHANNEL_STREAM_RESULTS 1 /* NDJSON */
#define CHANNEL_STREAM_STDOUT  2
#define CHANNEL_STREAM_STDERR  3
#define CHANNEL_STREAM_LOG     4 /* text of the agent, for people */
#define CHANNEL_STREAM_LAST    4

#endif
