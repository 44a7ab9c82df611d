/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "guest/closure.h"

/* A file tree of objects that have headers and nothing else. */
static char root[] = "/tmp/test-closure-XXXXXX";

struct object {
	const char *interp, *soname, *rpath, *runpath;
	const char *needed[6]; /* NULL-terminated */
	uint64_t flags_1;
	uint16_t machine; /* 0: x86-64 */
};

static const char *below(const char *path)
{
	static char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static void make_parents(const char *path)
{
	char command[300];

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", below(path));
	assert_int_equal(system(command), 0);
}

static void write_bytes(const char *path, const void *data, size_t len)
{
	_cleanup_close_ int fd = open(below(path), O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0) {
		make_parents(path);
		fd = open(below(path), O_WRONLY | O_CREAT | O_TRUNC, 0755);
	}
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, len), 0);
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[3];
	Elf64_Dyn dyn[16];
	char interp[64];
	char strings[512];
};

static void add_dyn(struct image *im, size_t *n, size_t *used, int64_t tag, const char *text)
{
	if (text) {
		im->dyn[(*n)++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = *used};
		*used += (size_t)sprintf(im->strings + *used, "%s", text) + 1;
	}
}

static struct image build(const struct object *o)
{
	struct image im = {
		.header = {.e_type = ET_DYN,
			   .e_machine = o->machine ? o->machine : EM_X86_64,
			   .e_phoff = offsetof(struct image, phdrs),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = o->interp ? 3 : 2},
		.phdrs = {{.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof(im)},
			  {.p_type = PT_DYNAMIC,
			   .p_offset = offsetof(struct image, dyn),
			   .p_filesz = sizeof(im.dyn)},
			  {.p_type = PT_INTERP, .p_offset = offsetof(struct image, interp)}},
	};
	size_t n = 0, used = 1;

	memcpy(im.header.e_ident, ELFMAG, SELFMAG);
	im.header.e_ident[EI_CLASS] = ELFCLASS64;
	add_dyn(&im, &n, &used, DT_SONAME, o->soname);
	add_dyn(&im, &n, &used, DT_RPATH, o->rpath);
	add_dyn(&im, &n, &used, DT_RUNPATH, o->runpath);
	for (size_t i = 0; o->needed[i]; i++) {
		add_dyn(&im, &n, &used, DT_NEEDED, o->needed[i]);
	}
	im.dyn[n++] = (Elf64_Dyn){.d_tag = DT_FLAGS_1, .d_un.d_val = o->flags_1};
	im.dyn[n++] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = used};
	im.dyn[n++] = (Elf64_Dyn){.d_tag = DT_STRTAB,
				  .d_un.d_ptr = 0x1000 + offsetof(struct image, strings)};
	if (o->interp) {
		strcpy(im.interp, o->interp);
		im.phdrs[2].p_filesz = strlen(o->interp) + 1;
	}
	return im;
}

static void put(const char *path, struct object o)
{
	struct image im = build(&o);

	write_bytes(path, &im, sizeof(im));
}

static void put_link(const char *path, const char *target)
{
	make_parents(path);
	assert_int_equal(symlink(target, below(path)), 0);
}

static struct closure *closure(void)
{
	struct closure *c = NULL;

	assert_int_equal(closure_create(root, &c), 0);
	return c;
}

/* "name", or "name -> target" for a link, each on a line, in order. */
static const char *list(const struct closure *c)
{
	static char text[4096];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < closure_count(c); i++) {
		const struct closure_entry *en = closure_at(c, i);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s\n", en->name,
				      en->target ? " -> " : "", en->target ? en->target : "");
	}
	return text;
}

static void expect(const char *program, const char *name, const char *expected)
{
	_cleanup_(closure_destroy_p) struct closure *c = closure();
	struct err e = ERR_INIT;
	int r = closure_add(c, program, name, &e);

	if (r < 0) {
		print_error("%s\n", e.text);
	}
	assert_int_equal(r, 0);
	assert_string_equal(list(c), expected);
}

static void expect_error(const char *program, int code, const char *text)
{
	_cleanup_(closure_destroy_p) struct closure *c = closure();
	struct err e = ERR_INIT;

	assert_int_equal(closure_add(c, program, NULL, &e), code);
	assert_non_null(strstr(e.text, text));
}

static void a_static_program_is_alone(void **state)
{
	put("/bin/static", (struct object){0});
	expect("/bin/static", NULL, "/bin/static\n");
	expect("/bin/static", "/ringside/tool", "/ringside/tool\n");
}

static void the_interpreter_and_what_is_needed_come_once_each(void **state)
{
	put("/lib64/ld.so", (struct object){.soname = "ld.so"});
	put("/usr/lib/liba.so.1", (struct object){.needed = {"libc.so", "libb.so.1"}});
	put("/lib/libb.so.1", (struct object){.needed = {"libc.so", "liba.so.1"}});
	put("/lib/x86_64-linux-gnu/libc.so", (struct object){.needed = {"ld.so"}});
	put("/bin/a", (struct object){.interp = "/lib64/ld.so", .needed = {"liba.so.1"}});
	expect("/bin/a", NULL,
	       "/bin/a\n/lib64/ld.so\n/usr/lib/liba.so.1\n/lib/x86_64-linux-gnu/libc.so\n"
	       "/lib/libb.so.1\n");
}

static void what_two_programs_share_comes_once(void **state)
{
	_cleanup_(closure_destroy_p) struct closure *c = closure();
	struct err e = ERR_INIT;

	put("/bin/a2", (struct object){.needed = {"libc.so"}});
	assert_int_equal(closure_add(c, "/bin/a", NULL, &e), 0);
	assert_int_equal(closure_add(c, "/bin/a2", NULL, &e), 0);
	assert_int_equal(closure_add(c, "/bin/a", NULL, &e), 0);
	assert_string_equal(list(c), "/bin/a\n/lib64/ld.so\n/usr/lib/liba.so.1\n"
				     "/lib/x86_64-linux-gnu/libc.so\n/lib/libb.so.1\n/bin/a2\n");
}

static void links_are_followed_and_kept(void **state)
{
	put("/opt/real/libl.so.1.2", (struct object){0});
	put_link("/usr/lib/libl.so.1", "../../opt/real/libl.so.1.2");
	put("/opt/real/prog", (struct object){.needed = {"libl.so.1"}});
	put_link("/usr/bin/prog", "../../opt/real/prog");
	expect("/usr/bin/prog", NULL,
	       "/opt/real/prog\n/usr/bin/prog -> /opt/real/prog\n"
	       "/opt/real/libl.so.1.2\n/usr/lib/libl.so.1 -> /opt/real/libl.so.1.2\n");
}

static void runpath_is_for_its_own_object_and_rpath_for_all_below_it(void **state)
{
	put("/x/lib1/lib1.so", (struct object){.needed = {"lib2.so"}});
	put("/x/lib1/lib2.so", (struct object){0});
	put("/x/bin/rpath",
	    (struct object){.rpath = "/nowhere:$ORIGIN/../lib1", .needed = {"lib1.so"}});
	put("/x/bin/runpath",
	    (struct object){.runpath = "${ORIGIN}/../lib1:", .needed = {"lib1.so"}});
	put("/x/bin/both",
	    (struct object){.rpath = "/x/lib1", .runpath = "/none", .needed = {"lib1.so"}});
	expect("/x/bin/rpath", NULL, "/x/bin/rpath\n/x/lib1/lib1.so\n/x/lib1/lib2.so\n");
	expect_error("/x/bin/runpath", -ENOENT,
		     "/x/bin/runpath: lib2.so, needed by lib1.so, is nowhere");
	expect_error("/x/bin/both", -ENOENT, "lib1.so, needed by /x/bin/both, is nowhere");
}

static void runpath_comes_before_the_default_directories_and_lib_is_debians(void **state)
{
	put("/usr/lib/libsame.so", (struct object){0});
	put("/y/lib/x86_64-linux-gnu/libsame.so", (struct object){0});
	put("/y/prog", (struct object){.runpath = "/y/$LIB", .needed = {"libsame.so"}});
	expect("/y/prog", NULL, "/y/prog\n/y/lib/x86_64-linux-gnu/libsame.so\n");
}

static void origin_moves_with_a_program_that_gets_another_name(void **state)
{
	put("/z/build/lib/libz.so", (struct object){0});
	put("/z/build/prog", (struct object){.runpath = "$ORIGIN/lib", .needed = {"libz.so"}});
	expect("/z/build/prog", "/ringside/prog", "/ringside/prog\n/ringside/lib/libz.so\n");
}

static void what_only_the_cache_finds_gets_a_default_name_too(void **state)
{
	static const char conf[] = "# comment\ninclude ld.so.conf.d/*.conf\n";
	static const char more[] = "  /usr/local/lib \n";

	write_bytes("/etc/ld.so.conf", conf, sizeof(conf) - 1);
	write_bytes("/etc/ld.so.conf.d/x.conf", more, sizeof(more) - 1);
	put("/usr/local/lib/libconf.so", (struct object){0});
	put("/bin/conf", (struct object){.needed = {"libconf.so"}});
	expect("/bin/conf", NULL,
	       "/bin/conf\n/usr/lib/libconf.so -> /usr/local/lib/libconf.so\n"
	       "/usr/local/lib/libconf.so\n");
}

static void an_object_for_another_machine_is_passed_over(void **state)
{
	put("/lib/x86_64-linux-gnu/libm.so", (struct object){.machine = EM_386});
	put("/usr/lib/libm.so", (struct object){0});
	put("/bin/m", (struct object){.needed = {"libm.so"}});
	expect("/bin/m", NULL, "/bin/m\n/usr/lib/libm.so\n");
}

static void an_object_may_forbid_the_default_directories(void **state)
{
	put("/bin/nodef", (struct object){.flags_1 = DF_1_NODEFLIB, .needed = {"libsame.so"}});
	expect_error("/bin/nodef", -ENOENT, "libsame.so, needed by /bin/nodef, is nowhere");
}

static void each_missing_or_broken_file_is_named(void **state)
{
	struct image im = build(&(struct object){.needed = {"libc.so"}});

	expect_error("/bin/absent", -ENOENT, "/bin/absent: No such file or directory");
	expect_error("bin/a", -EINVAL, "bin/a: expected an absolute path");
	write_bytes("/bin/script", "#!/bin/sh\n", 10);
	expect_error("/bin/script", -EBADMSG, "/bin/script: no ELF file");
	put("/bin/i386", (struct object){.machine = EM_386});
	expect_error("/bin/i386", -ENOEXEC, "expected 64-bit x86");
	put("/bin/noint", (struct object){.interp = "/lib64/none.so"});
	expect_error("/bin/noint", -ENOENT, "/lib64/none.so is not there");
	write_bytes("/bin/short", &im, offsetof(struct image, strings));
	expect_error("/bin/short", -EBADMSG, "/bin/short: cannot read the dynamic strings");
	im.dyn[0].d_un.d_val = 1000;
	write_bytes("/bin/wild", &im, sizeof(im));
	expect_error("/bin/wild", -EBADMSG, "/bin/wild: a dynamic string at 1000, there are 9");
	im.phdrs[0].p_filesz = offsetof(struct image, strings);
	write_bytes("/bin/out", &im, sizeof(im));
	expect_error("/bin/out", -EBADMSG, "are in no segment");
	im.header.e_phnum = 0;
	write_bytes("/bin/nohead", &im, sizeof(im));
	expect_error("/bin/nohead", -EBADMSG, "neither a program nor a shared object");
}

/* Only the dynamic part matters, so that a file cut behind it is whole. */
static void a_file_cut_anywhere_is_refused_without_harm(void **state)
{
	struct image im = build(
		&(struct object){.interp = "/lib64/ld.so", .soname = "x", .needed = {"libc.so"}});
	size_t whole = offsetof(struct image, strings) + 1 + sizeof("x") + sizeof("libc.so");

	for (size_t len = 0; len < whole; len++) {
		_cleanup_(closure_destroy_p) struct closure *c = closure();
		struct err e = ERR_INIT;

		write_bytes("/bin/cut", &im, len);
		assert_int_equal(closure_add(c, "/bin/cut", NULL, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "/bin/cut: "));
	}
	write_bytes("/bin/cut", &im, whole);
	expect("/bin/cut", NULL, "/bin/cut\n/lib64/ld.so\n/lib/x86_64-linux-gnu/libc.so\n");
}

static void two_files_of_one_name_are_refused(void **state)
{
	_cleanup_(closure_destroy_p) struct closure *c = closure();
	struct err e = ERR_INIT;

	assert_int_equal(closure_add(c, "/bin/a", "/t", &e), 0);
	assert_int_equal(closure_add(c, "/bin/a2", "/t", &e), -EEXIST);
	assert_non_null(strstr(e.text, "as its /t"));
}

static void the_archive_gets_files_and_links(void **state)
{
	_cleanup_(closure_destroy_p) struct closure *c = closure();
	_cleanup_(newc_destroy_p) struct newc *n = NULL;
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(closure_add(c, "/usr/bin/prog", NULL, &e), 0);
	assert_int_equal(newc_create(&n), 0);
	assert_int_equal(closure_write(c, n, &e), 0);
	assert_int_equal(newc_add_trailer(n, &e), 0);
	data = calloc(1, newc_bytes(n));
	assert_int_equal(newc_copy(n, data, &e), 0);
	assert_non_null(memmem(data, newc_bytes(n), "opt/real/prog", 14));
	assert_non_null(memmem(data, newc_bytes(n), "usr/bin/prog\0\0/opt/real/prog", 28));
}

/* The list that this machine's own dynamic linker gives for this very program. */
static void a_real_program_gets_what_its_own_ld_so_loads(void **state)
{
	_cleanup_(closure_destroy_p) struct closure *c = NULL;
	struct err e = ERR_INIT;
	char self[256] = "", line[512], command[300];
	int found = 0;
	FILE *f;

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(closure_create("", &c), 0);
	assert_int_equal(closure_add(c, self, NULL, &e), 0);
	snprintf(command, sizeof(command), "/lib64/ld-linux-x86-64.so.2 --list %s", self);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/');
		bool have = false;

		if (!path) {
			continue; /* the vDSO */
		}
		path[strcspn(path, " ")] = '\0';
		for (size_t i = 0; i < closure_count(c); i++) {
			have |= strcmp(closure_at(c, i)->name, path) == 0;
		}
		if (!have) {
			print_error("%s is missing\n", path);
		}
		assert_true(have);
		found++;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(found >= 2);
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_static_program_is_alone),
		cmocka_unit_test(the_interpreter_and_what_is_needed_come_once_each),
		cmocka_unit_test(what_two_programs_share_comes_once),
		cmocka_unit_test(links_are_followed_and_kept),
		cmocka_unit_test(runpath_is_for_its_own_object_and_rpath_for_all_below_it),
		cmocka_unit_test(runpath_comes_before_the_default_directories_and_lib_is_debians),
		cmocka_unit_test(origin_moves_with_a_program_that_gets_another_name),
		cmocka_unit_test(what_only_the_cache_finds_gets_a_default_name_too),
		cmocka_unit_test(an_object_for_another_machine_is_passed_over),
		cmocka_unit_test(an_object_may_forbid_the_default_directories),
		cmocka_unit_test(each_missing_or_broken_file_is_named),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_without_harm),
		cmocka_unit_test(two_files_of_one_name_are_refused),
		cmocka_unit_test(the_archive_gets_files_and_links),
		cmocka_unit_test(a_real_program_gets_what_its_own_ld_so_loads),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
