/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "cli/run_net.h"

static struct run_nets nets;

static int parse(const char *value, struct err *e)
{
	const char *items[] = {value, NULL};
	struct opt_list list = {.items[0] = items[0], .count = 1};

	return run_nets_parse(&list, &nets, e);
}

static void assert_refused(const char *value, const char *text)
{
	struct err e = ERR_INIT;

	assert_int_equal(parse(value, &e), -EINVAL);
	assert_string_equal(e.text, text);
	run_nets_fini(&nets);
}

static void each_kind_is_read_with_its_settings(void **state)
{
	static const uint8_t mac[] = {2, 0xaa, 0, 0x12, 0x34, 0x56};
	struct err e = ERR_INIT;

	assert_int_equal(parse("none", &e), 0);
	assert_int_equal(nets.count, 0);
	assert_int_equal(parse("user,mac=02:aa:00:12:34:56,tcp=8080:80,tcp=22", &e), 0);
	assert_int_equal(nets.net[0].kind, BACKEND_NET_USER);
	assert_memory_equal(nets.net[0].mac, mac, 6);
	assert_string_equal(nets.net[0].address, "10.0.2.15/24");
	assert_string_equal(nets.net[0].gateway, "10.0.2.2");
	assert_string_equal(nets.net[0].dns, "10.0.2.3");
	assert_int_equal(nets.net[0].forward_count, 2);
	assert_int_equal(nets.net[0].forwards[0].host, 8080);
	assert_int_equal(nets.net[0].forwards[0].guest, 80);
	assert_int_equal(nets.net[0].forwards[1].host, 22);
	assert_int_equal(nets.net[0].forwards[1].guest, 22);
	run_nets_fini(&nets);
	assert_int_equal(parse("tap=tap0,addr=192.0.2.2/24,gateway=192.0.2.1,dns=192.0.2.3", &e),
			 0);
	assert_int_equal(nets.net[0].kind, BACKEND_NET_TAP);
	assert_string_equal(nets.net[0].tap, "tap0");
	assert_string_equal(nets.net[0].address, "192.0.2.2/24");
	assert_string_equal(nets.net[0].gateway, "192.0.2.1");
	assert_string_equal(nets.net[0].dns, "192.0.2.3");
	run_nets_fini(&nets);
	assert_int_equal(parse("fd=7", &e), 0);
	assert_int_equal(nets.net[0].kind, BACKEND_NET_FD);
	assert_int_equal(nets.net[0].fd, 7);
	assert_null(nets.net[0].address);
	run_nets_fini(&nets);
}

static void a_made_address_is_the_same_each_time_and_one_for_each(void **state)
{
	struct opt_list list = {.items = {"tap=a", "tap=b", "user", "user"}, .count = 4};
	struct run_nets again;
	struct err e = ERR_INIT;

	assert_int_equal(run_nets_parse(&list, &nets, &e), 0);
	assert_int_equal(run_nets_parse(&list, &again, &e), 0);
	for (unsigned int i = 0; i < 4; i++) {
		/* Locally administered, and of one station. */
		assert_int_equal(nets.net[i].mac[0] & 3, 2);
		assert_memory_equal(nets.net[i].mac, again.net[i].mac, 6);
		for (unsigned int k = 0; k < i; k++) {
			assert_memory_not_equal(nets.net[i].mac, nets.net[k].mac, 6);
		}
	}
	run_nets_fini(&nets);
	run_nets_fini(&again);
}

static void what_cannot_be_is_named(void **state)
{
#define KINDS "--net: expected none, user, tap=NAME or fd=N, got "
#define MAC   "--net: mac: expected six bytes as 02:00:00:12:34:56, got "
#define TCP   "--net: tcp: expected HOSTPORT[:GUESTPORT], at most 16 of them, got "
#define TAP   "--net: expected mac=MAC, addr=ADDRESS/PREFIX, gateway=ADDRESS or dns=ADDRESS, got "
	static const char *const rows[][2] = {
		{"", KINDS "''"},
		{"tap=", KINDS "'tap='"},
		{"fd=x", KINDS "'fd=x'"},
		{"fd=4294967296", KINDS "'fd=4294967296'"},
		{"bridge", KINDS "'bridge'"},
		{"user,mac=02:00:00:12:34", MAC "'02:00:00:12:34'"},
		{"user,mac=02:00:00:12:34:56:78", MAC "'02:00:00:12:34:56:78'"},
		{"user,mac=2:0:0:12:34:56", MAC "'2:0:0:12:34:56'"},
		{"user,mac=01:00:00:12:34:56", MAC "'01:00:00:12:34:56'"},
		{"user,tcp=0", TCP "'0'"},
		{"user,tcp=65536:1", TCP "'65536:1'"},
		{"user,tcp=80:", TCP "'80:'"},
		{"user,addr=10.0.0.1/8", "--net: expected mac=MAC or tcp=HOSTPORT[:GUESTPORT], got "
					 "'addr=10.0.0.1/8'"},
		{"tap=t,addr=10.0.0.1", TAP "'addr=10.0.0.1'"},
		{"tap=t,addr=10.0.0.1/33", TAP "'addr=10.0.0.1/33'"},
		{"tap=t,addr=10.0.0.256/8", TAP "'addr=10.0.0.256/8'"},
		{"tap=t,tcp=80", TAP "'tcp=80'"},
		{"tap=t,gateway=10.0.0.1",
		 "--net tap=t,gateway=10.0.0.1: gateway and dns need addr=ADDRESS/PREFIX"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_refused(rows[i][0], rows[i][1]);
	}
}

static void more_networks_than_there_is_room_for_are_refused(void **state)
{
	struct opt_list list = {.items = {"user", "user", "user", "user", "user"}, .count = 5};
	struct err e = ERR_INIT;

	assert_int_equal(run_nets_parse(&list, &nets, &e), -E2BIG);
	assert_string_equal(e.text, "--net: 5 networks, at most 4 can be given");
}

static void the_agent_is_told_of_networks_with_an_address(void **state)
{
	struct opt_list list = {.items = {"tap=a", "user,mac=02:00:00:00:00:0f"}, .count = 2};
	struct job job = {.net_count = 9};
	struct err e = ERR_INIT;

	assert_int_equal(run_nets_parse(&list, &nets, &e), 0);
	run_nets_job(&nets, &job);
	assert_int_equal(job.net_count, 1);
	assert_string_equal(job.nets[0].mac, "02:00:00:00:00:0f");
	assert_string_equal(job.nets[0].address, "10.0.2.15/24");
	run_nets_fini(&nets);
}

static void assert_told(const char *value, const char *text)
{
	struct err e = ERR_INIT;
	json_t *o;
	char *found;

	assert_int_equal(parse(value, &e), 0);
	o = run_nets_to_json(&nets);
	found = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_string_equal(found, text);
	free(found);
	json_decref(o);
	run_nets_fini(&nets);
}

static void the_record_says_what_networks_there_were(void **state)
{
	struct err e = ERR_INIT;

	assert_told("user,mac=02:aa:00:12:34:56,tcp=8080:80",
		    "[{\"kind\":\"user\",\"mac\":\"02:aa:00:12:34:56\","
		    "\"address\":\"10.0.2.15/24\",\"gateway\":\"10.0.2.2\","
		    "\"dns\":\"10.0.2.3\",\"tcp\":[{\"host\":8080,\"guest\":80}]}]");
	assert_told("tap=t0,mac=02:aa:00:12:34:56",
		    "[{\"kind\":\"tap\",\"mac\":\"02:aa:00:12:34:56\",\"address\":null,"
		    "\"gateway\":null,\"dns\":null,\"tcp\":[],\"tap\":\"t0\"}]");
	assert_int_equal(parse("none", &e), 0);
	assert_null(run_nets_to_json(&nets));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_read_with_its_settings),
		cmocka_unit_test(a_made_address_is_the_same_each_time_and_one_for_each),
		cmocka_unit_test(what_cannot_be_is_named),
		cmocka_unit_test(more_networks_than_there_is_room_for_are_refused),
		cmocka_unit_test(the_agent_is_told_of_networks_with_an_address),
		cmocka_unit_test(the_record_says_what_networks_there_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
