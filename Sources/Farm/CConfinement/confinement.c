#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers of calls that are newer than some headers. They are the same on every machine. */
enum {
    call_io_uring_setup = 425,
    call_openat2 = 437,
    call_landlock_create_ruleset = 444,
    call_landlock_add_rule = 445,
    call_landlock_restrict_self = 446,
};

enum { ask_version = 1, path_beneath = 1 };

/* As in linux/landlock.h and linux/openat2.h. */
struct rules { uint64_t handled_files; };
struct __attribute__((packed)) rule { uint64_t allowed; int32_t place; };
struct how { uint64_t flags, mode, resolve; };
enum { resolve_no_symlinks = 4 };

static int32_t result(long code) { return code < 0 ? -errno : (int32_t)code; }

int32_t confinement_version(void) { return result(syscall(call_landlock_create_ruleset, NULL, 0, ask_version)); }

int32_t confinement_make_rules(uint64_t handled) {
    const struct rules rules = {.handled_files = handled};
    return result(syscall(call_landlock_create_ruleset, &rules, sizeof rules, 0));
}

int32_t confinement_open(const char *path, int32_t follows_links) {
    const struct how how = {.flags = O_PATH | O_CLOEXEC, .resolve = follows_links ? 0 : resolve_no_symlinks};
    return result(syscall(call_openat2, AT_FDCWD, path, &how, sizeof how));
}

int32_t confinement_allow(int32_t rules, int32_t place, uint64_t rights) {
    const struct rule rule = {.allowed = rights, .place = place};
    return result(syscall(call_landlock_add_rule, rules, path_beneath, &rule, 0));
}

/* What is known while libraries are listed. */
struct libraries {
    int32_t rules, code;
    uint64_t rights;
    char last[PATH_MAX];
};

static int allow_library(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size;
    struct libraries *all = context;
    const char *end = library->dlpi_name ? strrchr(library->dlpi_name, '/') : NULL;
    const size_t length = end ? (size_t)(end - library->dlpi_name) : 0;
    if (length == 0 || length >= sizeof all->last) return 0;
    /* Most of them are in the same folder as the one before. A second rule for a folder does no harm. */
    if (strlen(all->last) == length && memcmp(all->last, library->dlpi_name, length) == 0) return 0;
    memcpy(all->last, library->dlpi_name, length);
    all->last[length] = 0;
    const int32_t place = confinement_open(all->last, 1);
    if (place < 0) return 0;
    all->code = confinement_allow(all->rules, place, all->rights);
    close(place);
    return all->code < 0;
}

int32_t confinement_allow_libraries(int32_t rules, uint64_t rights) {
    struct libraries all = {.rules = rules, .rights = rights};
    dl_iterate_phdr(allow_library, &all);
    return all.code;
}

int32_t confinement_enter(int32_t rules) {
    const int32_t code = result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    return code < 0 ? code : result(syscall(call_landlock_restrict_self, rules, 0));
}

int32_t confinement_hide_processes(void) {
    /* A set of rules must refuse something. Nobody misses this. Without a rule, it would also refuse to move files. */
    const int32_t rules = confinement_make_rules(CONFINEMENT_MAKE_BLOCK_DEVICE | CONFINEMENT_MOVE);
    if (rules < 0) return rules;
    const int32_t root = result(open("/", O_PATH | O_CLOEXEC));
    int32_t code = root < 0 ? root : confinement_allow(rules, root, CONFINEMENT_MOVE);
    if (code >= 0) code = confinement_enter(rules);
    if (root >= 0) close(root);
    close(rules);
    return code;
}

/* CAP_DAC_READ_SEARCH is not among them: it opens files by handles. CAP_DAC_OVERRIDE includes the rest of it. */
static const uint64_t kept_capabilities = 1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER |
                                          1ull << CAP_FSETID | 1ull << CAP_SYS_NICE | 1ull << CAP_SYS_RESOURCE;

int32_t confinement_drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    const int32_t code = result(syscall(SYS_capget, &header, data));
    if (code < 0) return code;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t kept = (uint32_t)(kept_capabilities >> (32 * i));
        data[i].effective &= kept;
        data[i].permitted &= kept;
        data[i].inheritable &= kept;
    }
    return result(syscall(SYS_capset, &header, data));
}

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
/* Calls from here on are those of another calling convention, with other numbers. */
#define LAST_CALL 0x3fffffff
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#define LAST_CALL 0xffffffff
#else
#error "the numbers of this machine's system calls are not known here"
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Each of these applies the next line only if its condition holds. */
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define IF_NOT(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0)
#define IF_ABOVE(value) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (value), 0, 1)
#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int32_t confinement_refuse_sockets(void) {
    struct sock_filter filter[] = {
        /* A 32-bit program has other numbers, so all of its calls are refused. */
        LOAD(arch), IF_NOT(MACHINE), REFUSE(ENOSYS),
        LOAD(nr), IF_ABOVE(LAST_CALL), REFUSE(ENOSYS),
        IF(SYS_socket), REFUSE(EACCES),
        /* It could open sockets without that call. */
        IF(call_io_uring_setup), REFUSE(ENOSYS),
        ALLOW,
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}
