#define _GNU_SOURCE
#include "system_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#error "the numbers of this machine's system calls are not known here"
#endif

struct call {
    int number;
    /* The error that it returns, or FATAL. */
    int error;
    const char *name;
};

enum { FATAL = 0 };

#define CALL(name, error) {SYS_##name, error, #name}
/* A call that is newer than some headers. Its number is the same on every machine. */
#define NEW_CALL(number, name, error) {number, error, #name}

/* The newest call that this list knows. Later ones do not exist for a worker, as on an older kernel. */
enum { NEWEST = 467 };

/* Where a library may try a call, it gets an error that it knows how to live with. */
static const struct call refused[] = {
    /* Other programs. */
    CALL(execve, FATAL), CALL(execveat, FATAL),
    /* Processes. The flags of clone3 are out of a filter's sight; the C library then uses clone. */
    CALL(clone3, ENOSYS), CALL(setpgid, EPERM), CALL(setsid, EPERM),
    /* The network and sockets of this machine. Descriptors that are open already can be read and written. */
    CALL(socket, EACCES), CALL(socketpair, EACCES), CALL(connect, EACCES), CALL(bind, EACCES), CALL(listen, EACCES),
    CALL(accept, EACCES), CALL(accept4, EACCES), CALL(sendto, EACCES), CALL(sendmsg, EACCES), CALL(sendmmsg, EACCES),
    CALL(setsockopt, EACCES), CALL(shutdown, EACCES),
    /* Memory, signals, limits and priorities of other processes. */
    CALL(ptrace, FATAL), CALL(process_vm_readv, FATAL), CALL(process_vm_writev, FATAL), CALL(kcmp, EPERM),
    CALL(tkill, EPERM), CALL(rt_sigqueueinfo, EPERM), CALL(rt_tgsigqueueinfo, EPERM),
    NEW_CALL(424, pidfd_send_signal, EPERM), NEW_CALL(434, pidfd_open, EPERM), NEW_CALL(438, pidfd_getfd, EPERM),
    NEW_CALL(440, process_madvise, EPERM), NEW_CALL(448, process_mrelease, EPERM),
    CALL(setpriority, EPERM), CALL(ioprio_set, EPERM), CALL(sched_setscheduler, EPERM), CALL(sched_setparam, EPERM),
    CALL(sched_setattr, EPERM), CALL(migrate_pages, EPERM), CALL(move_pages, EPERM), CALL(mbind, EPERM),
    CALL(set_mempolicy, EPERM), NEW_CALL(450, set_mempolicy_home_node, EPERM),
    /* Rights, owners, times and attributes of files that this process did not open, and watches on them. Landlock does not
       cover them. */
    CALL(truncate, EACCES), CALL(fchmodat, EPERM), NEW_CALL(452, fchmodat2, EPERM), CALL(fchownat, EPERM), CALL(fchown, EPERM),
    CALL(utimensat, EPERM), CALL(mknodat, EPERM),
    CALL(getxattr, ENOTSUP), CALL(lgetxattr, ENOTSUP), CALL(fgetxattr, ENOTSUP), NEW_CALL(464, getxattrat, ENOTSUP),
    CALL(listxattr, ENOTSUP), CALL(llistxattr, ENOTSUP), CALL(flistxattr, ENOTSUP), NEW_CALL(465, listxattrat, ENOTSUP),
    CALL(setxattr, EPERM), CALL(lsetxattr, EPERM), CALL(fsetxattr, EPERM), NEW_CALL(463, setxattrat, EPERM),
    CALL(removexattr, EPERM), CALL(lremovexattr, EPERM), CALL(fremovexattr, EPERM), NEW_CALL(466, removexattrat, EPERM),
    CALL(inotify_init1, EPERM), CALL(inotify_add_watch, EPERM), CALL(fanotify_init, EPERM), CALL(fanotify_mark, EPERM),
    /* A lock of a file that may only be read stops its writers: a database, for example. HDF5 knows systems without locks. */
    CALL(flock, ENOSYS),
    CALL(name_to_handle_at, EPERM), CALL(open_by_handle_at, EPERM), CALL(quotactl, EPERM), NEW_CALL(443, quotactl_fd, EPERM),
    /* Its flags are out of a filter's sight. */
    NEW_CALL(437, openat2, ENOSYS),
    /* Moves pages of files that may only be read. Errors of the kernel there have made such files writable. */
    CALL(splice, EINVAL), CALL(vmsplice, EINVAL), CALL(tee, EINVAL), CALL(sendfile, EINVAL),
    /* Mounts, roots and namespaces. */
    CALL(mount, FATAL), CALL(umount2, FATAL), CALL(pivot_root, FATAL), CALL(chroot, FATAL), CALL(setns, FATAL),
    CALL(unshare, EPERM), NEW_CALL(428, open_tree, EPERM), NEW_CALL(429, move_mount, EPERM), NEW_CALL(430, fsopen, EPERM),
    NEW_CALL(431, fsconfig, EPERM), NEW_CALL(432, fsmount, EPERM), NEW_CALL(433, fspick, EPERM),
    NEW_CALL(442, mount_setattr, EPERM), NEW_CALL(457, statmount, EPERM), NEW_CALL(458, listmount, EPERM),
    NEW_CALL(467, open_tree_attr, EPERM),
    /* Do the work of other calls, past this filter. */
    NEW_CALL(425, io_uring_setup, ENOSYS), NEW_CALL(426, io_uring_enter, ENOSYS), NEW_CALL(427, io_uring_register, ENOSYS),
    CALL(io_setup, ENOSYS), CALL(io_submit, ENOSYS), CALL(io_destroy, ENOSYS), CALL(io_getevents, ENOSYS),
    CALL(io_cancel, ENOSYS), CALL(io_pgetevents, ENOSYS),
    /* Parts of the kernel that have no use for pictures. */
    CALL(bpf, FATAL), CALL(perf_event_open, EPERM), CALL(userfaultfd, EPERM), NEW_CALL(447, memfd_secret, ENOSYS),
    CALL(add_key, EPERM), CALL(keyctl, EPERM), CALL(request_key, EPERM), CALL(personality, EPERM),
    CALL(init_module, FATAL), CALL(finit_module, FATAL), CALL(delete_module, FATAL), CALL(kexec_load, FATAL),
    CALL(reboot, FATAL), CALL(swapon, FATAL), CALL(swapoff, FATAL), CALL(acct, FATAL), CALL(sethostname, FATAL),
    CALL(setdomainname, FATAL), CALL(vhangup, EPERM), CALL(syslog, EPERM), CALL(settimeofday, EPERM),
    CALL(clock_settime, EPERM), CALL(clock_adjtime, EPERM), CALL(adjtimex, EPERM), CALL(nfsservctl, ENOSYS),
    NEW_CALL(459, lsm_get_self_attr, EPERM), NEW_CALL(460, lsm_set_self_attr, EPERM), NEW_CALL(461, lsm_list_modules, EPERM),
    /* Memory and queues that outlive this process, and that other processes may share. */
    CALL(shmget, EACCES), CALL(shmat, EACCES), CALL(shmctl, EACCES), CALL(msgget, EACCES), CALL(msgsnd, EACCES),
    CALL(msgrcv, EACCES), CALL(msgctl, EACCES), CALL(semget, EACCES), CALL(semop, EACCES), CALL(semtimedop, EACCES),
    CALL(semctl, EACCES), CALL(mq_open, EACCES), CALL(mq_unlink, EACCES), CALL(mq_notify, EACCES),
    CALL(mq_timedsend, EACCES), CALL(mq_timedreceive, EACCES), CALL(mq_getsetattr, EACCES),
    /* Users and capabilities. */
    CALL(setuid, EPERM), CALL(setgid, EPERM), CALL(setreuid, EPERM), CALL(setregid, EPERM), CALL(setresuid, EPERM),
    CALL(setresgid, EPERM), CALL(setgroups, EPERM), CALL(setfsuid, EPERM), CALL(setfsgid, EPERM), CALL(capset, EPERM),
#ifdef __x86_64__
    CALL(fork, EPERM), CALL(vfork, EPERM), CALL(chmod, EPERM), CALL(chown, EPERM), CALL(lchown, EPERM), CALL(utime, EPERM),
    CALL(utimes, EPERM), CALL(futimesat, EPERM), CALL(mknod, EPERM), CALL(inotify_init, EPERM),
    CALL(iopl, FATAL), CALL(ioperm, FATAL), CALL(modify_ldt, EPERM), CALL(uselib, FATAL), CALL(sysfs, EPERM),
    CALL(ustat, EPERM), CALL(_sysctl, ENOSYS), CALL(kexec_file_load, FATAL), CALL(lookup_dcookie, EPERM),
    CALL(create_module, ENOSYS), CALL(get_kernel_syms, ENOSYS), CALL(query_module, ENOSYS), CALL(getpmsg, ENOSYS),
    CALL(putpmsg, ENOSYS), CALL(afs_syscall, ENOSYS), CALL(tuxcall, ENOSYS), CALL(security, ENOSYS), CALL(vserver, ENOSYS),
    CALL(epoll_ctl_old, ENOSYS), CALL(epoll_wait_old, ENOSYS),
#endif
};

/* Create, rename, link or remove files, or change their modes: a file that was opened to be read is enough for that. */
static const struct call writing[] = {
    CALL(fchmod, EPERM),
    CALL(mkdirat, EACCES), CALL(unlinkat, EACCES), CALL(renameat2, EACCES), CALL(linkat, EACCES), CALL(symlinkat, EACCES),
    CALL(renameat, EACCES),
#ifdef __x86_64__
    CALL(mkdir, EACCES), CALL(rmdir, EACCES), CALL(unlink, EACCES), CALL(rename, EACCES), CALL(link, EACCES),
    CALL(symlink, EACCES), CALL(creat, EACCES),
#endif
};

/* Decided by their arguments. */
static const int judged[] = {
    SYS_clone, SYS_kill, SYS_tgkill, SYS_prlimit64, SYS_setrlimit, SYS_sched_setaffinity, SYS_ioctl, SYS_fcntl, SYS_prctl,
    SYS_openat,
#ifdef __x86_64__
    SYS_open,
#endif
};

enum { REFUSED = sizeof refused / sizeof *refused, WRITING = sizeof writing / sizeof *writing };

/* Questions about terminals, and flags of this process's own descriptors. */
static const unsigned allowed_ioctls[] = {TCGETS, TIOCGWINSZ, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD};
/* PR_SET_VMA (0x53564d41) names memory. */
static const unsigned allowed_prctls[] = {
    PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_PDEATHSIG, PR_CAPBSET_READ, PR_GET_SECCOMP, PR_SET_SECCOMP,
    PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, 0x53564d41,
};
/* By the owner of a descriptor the kernel sends signals to other processes. Leases and notifications watch files. Locks stop the
   writers of files. */
static const unsigned refused_fcntls[] = {
    F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW,
};

#define COUNT(list) ((int)(sizeof list / sizeof *list))

/* A program of the kernel's filter while it is written. */
struct program {
    struct sock_filter lines[1024];
    unsigned short count;
};

static void add(struct program *program, struct sock_filter line) {
    if (program->count < sizeof program->lines / sizeof *program->lines) program->lines[program->count++] = line;
}

static void load(struct program *program, size_t offset) {
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(struct program *program, unsigned verdict) {
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* Goes on `yes` lines later if the condition holds, otherwise `no` lines later. */
static void test(struct program *program, int condition, unsigned value, int yes, int no) {
    const struct sock_filter line =
        BPF_JUMP((unsigned short)(BPF_JMP | condition | BPF_K), value, (unsigned char)yes, (unsigned char)no);
    add(program, line);
}

static unsigned verdict_of(int error) {
    return error == FATAL ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | (unsigned)error;
}

#define NUMBER offsetof(struct seccomp_data, nr)
/* The lower half: both machines are little-endian, and the kernel reads no more of these arguments. */
#define ARGUMENT(index) (offsetof(struct seccomp_data, args) + 8u * (size_t)(index))

/* Begins a program. Calls of another machine's numbering end the process, and calls that are newer than the list fail. */
static void begin(struct program *program) {
    program->count = 0;
    load(program, offsetof(struct seccomp_data, arch));
    test(program, BPF_JEQ, MACHINE, 1, 0);
    answer(program, SECCOMP_RET_KILL_PROCESS);
    load(program, NUMBER);
    test(program, BPF_JGT, NEWEST, 0, 1);
    answer(program, SECCOMP_RET_ERRNO | ENOSYS);
}

/* The kernel runs a new program once for each number of a call. So the calls are in blocks of 32 numbers, and a number that is not in a
   block passes it by one line. This takes half the time of one long list. */
enum { BLOCK = 32 };

static void refuse(struct program *program, const struct call *calls, int count) {
    unsigned short ends[NEWEST / BLOCK + 1];
    int blocks = 0;
    for (int first = 0; first <= NEWEST; first += BLOCK) {
        const unsigned short start = program->count;
        test(program, BPF_JGE, (unsigned)(first + BLOCK), 0, 0);
        for (int index = 0; index < count; index++) {
            if (calls[index].number < first || calls[index].number >= first + BLOCK) continue;
            test(program, BPF_JEQ, (unsigned)calls[index].number, 0, 1);
            answer(program, verdict_of(calls[index].error));
        }
        if (program->count == start + 1) {
            program->count = start;
            continue;
        }
        ends[blocks++] = program->count;
        add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
        program->lines[start].jt = (unsigned char)(program->count - start - 1);
    }
    /* The end of each block leads behind the last one. */
    for (int block = 0; block < blocks; block++) program->lines[ends[block]].k = program->count - ends[block] - 1u;
}

/* The call fails unless the argument is one of the values. */
static void allow_only(struct program *program, int call, int argument, const unsigned *values, int count, int error) {
    test(program, BPF_JEQ, (unsigned)call, 0, count + 3);
    load(program, ARGUMENT(argument));
    for (int index = 0; index < count; index++) test(program, BPF_JEQ, values[index], count - index, 0);
    answer(program, SECCOMP_RET_ERRNO | (unsigned)error);
    answer(program, SECCOMP_RET_ALLOW);
}

/* The call fails if the argument is one of the values. */
static void allow_all_but(struct program *program, int call, int argument, const unsigned *values, int count, int error) {
    test(program, BPF_JEQ, (unsigned)call, 0, count + 3);
    load(program, ARGUMENT(argument));
    for (int index = 0; index < count; index++) test(program, BPF_JEQ, values[index], count - index, 0);
    answer(program, SECCOMP_RET_ALLOW);
    answer(program, SECCOMP_RET_ERRNO | (unsigned)error);
}

/* A terminal becomes its foreground processes' own by O_ASYNC: the kernel then sends them a signal, which ends them. */
static void refuse_signals_of_terminals(struct program *program) {
    test(program, BPF_JEQ, SYS_fcntl, 0, 6);
    load(program, ARGUMENT(1));
    test(program, BPF_JEQ, F_SETFL, 0, 3);
    load(program, ARGUMENT(2));
    test(program, BPF_JSET, O_ASYNC, 0, 1);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
    load(program, NUMBER);
}

/* The coordinator limits the memory and the files of this process. Other limits of this process may be changed, and all may be
   read. */
static void refuse_limits(struct program *program) {
    test(program, BPF_JEQ, SYS_prlimit64, 0, 11);
    load(program, ARGUMENT(0));
    test(program, BPF_JEQ, 0, 0, 8);
    load(program, ARGUMENT(1));
    test(program, BPF_JEQ, RLIMIT_DATA, 1, 0);
    test(program, BPF_JEQ, RLIMIT_FSIZE, 0, 4);
    /* Both halves of the address of the new limit: without one, the limit is only read. */
    load(program, ARGUMENT(2));
    test(program, BPF_JEQ, 0, 0, 3);
    load(program, ARGUMENT(2) + 4);
    test(program, BPF_JEQ, 0, 0, 1);
    answer(program, SECCOMP_RET_ALLOW);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
    test(program, BPF_JEQ, SYS_setrlimit, 0, 5);
    load(program, ARGUMENT(0));
    test(program, BPF_JEQ, RLIMIT_DATA, 2, 0);
    test(program, BPF_JEQ, RLIMIT_FSIZE, 1, 0);
    answer(program, SECCOMP_RET_ALLOW);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
}

enum {
    NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
};

/* Threads, and no processes or namespaces. */
static void allow_threads(struct program *program) {
    const unsigned namespaces = NAMESPACES;
    test(program, BPF_JEQ, SYS_clone, 0, 5);
    load(program, ARGUMENT(0));
    test(program, BPF_JSET, namespaces, 2, 0);
    test(program, BPF_JSET, CLONE_THREAD, 0, 1);
    answer(program, SECCOMP_RET_ALLOW);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
}

static int32_t result(long code) { return code < 0 ? -errno : (int32_t)code; }

static int32_t enter(const struct program *program) {
    const struct sock_fprog whole = {.len = program->count, .filter = (struct sock_filter *)program->lines};
    const int32_t code = result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    /* A filter above this process may know this call, and not seccomp(2). */
    return code < 0 ? code : result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0));
}

/* What depends on arguments, for workers and programs alike. */
static void refuse_by_arguments(struct program *program, unsigned process) {
    const unsigned own = 0;
    allow_only(program, SYS_tgkill, 0, &process, 1, EPERM);
    refuse_limits(program);
    allow_only(program, SYS_sched_setaffinity, 0, &own, 1, EPERM);
    allow_only(program, SYS_ioctl, 1, allowed_ioctls, COUNT(allowed_ioctls), ENOTTY);
    allow_only(program, SYS_prctl, 0, allowed_prctls, COUNT(allowed_prctls), EINVAL);
    refuse_signals_of_terminals(program);
    allow_all_but(program, SYS_fcntl, 1, refused_fcntls, COUNT(refused_fcntls), EPERM);
}

/* Landlock does not judge who opens a file neither to read nor to write it: by O_PATH, or by the mode of access that is no mode. By such a
   descriptor, a process outside of the sandbox that opens the worker's descriptors would read the file for it. */
static void refuse_opening_unread(struct program *program, int call, int argument) {
    test(program, BPF_JEQ, (unsigned)call, 0, 6);
    load(program, ARGUMENT(argument));
    test(program, BPF_JSET, O_PATH, 2, 0);
    test(program, BPF_JSET, O_WRONLY, 0, 2);
    test(program, BPF_JSET, O_RDWR, 0, 1);
    answer(program, SECCOMP_RET_ERRNO | EACCES);
    answer(program, SECCOMP_RET_ALLOW);
}

static void refuse_most(struct program *program, unsigned process) {
    refuse(program, refused, REFUSED);
    refuse_opening_unread(program, SYS_openat, 2);
#ifdef __x86_64__
    refuse_opening_unread(program, SYS_open, 1);
#endif
    allow_threads(program);
    allow_only(program, SYS_kill, 0, &process, 1, EPERM);
    refuse_by_arguments(program, process);
}

/* Calls that only programs may use. */
static int is_for_programs(int number) {
    return number == SYS_execve || number == SYS_execveat
#ifdef __x86_64__
           || number == SYS_fork || number == SYS_vfork
#endif
        ;
}

static void refuse_to_programs(struct program *program, unsigned process) {
    struct call calls[REFUSED];
    int count = 0;
    for (int index = 0; index < REFUSED; index++)
        if (!is_for_programs(refused[index].number)) calls[count++] = refused[index];
    refuse(program, calls, count);
    test(program, BPF_JEQ, SYS_clone, 0, 4);
    load(program, ARGUMENT(0));
    test(program, BPF_JSET, NAMESPACES, 0, 1);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
    answer(program, SECCOMP_RET_ALLOW);
    /* 0 is the group of the process that calls. */
    const unsigned own[] = {0, process};
    allow_only(program, SYS_kill, 0, own, COUNT(own), EPERM);
    refuse_by_arguments(program, process);
}

/* The call fails if a flag of the argument is set. */
static void refuse_flags(struct program *program, int call, int argument, unsigned flags, int error) {
    test(program, BPF_JEQ, (unsigned)call, 0, 4);
    load(program, ARGUMENT(argument));
    test(program, BPF_JSET, flags, 0, 1);
    answer(program, SECCOMP_RET_ERRNO | (unsigned)error);
    answer(program, SECCOMP_RET_ALLOW);
}

/* The call fails if it opens a file to read it, and to empty it. */
static void refuse_emptying(struct program *program, int call, int argument) {
    test(program, BPF_JEQ, (unsigned)call, 0, 5);
    load(program, ARGUMENT(argument));
    test(program, BPF_JSET, O_TRUNC, 0, 2);
    test(program, BPF_JSET, O_WRONLY | O_RDWR, 1, 0);
    answer(program, SECCOMP_RET_ERRNO | EACCES);
    answer(program, SECCOMP_RET_ALLOW);
}

static void refuse_changes(struct program *program) {
    static const struct call modes[] = {CALL(fchmod, EPERM)};
    refuse(program, modes, COUNT(modes));
    refuse_emptying(program, SYS_openat, 2);
#ifdef __x86_64__
    refuse_emptying(program, SYS_open, 1);
#endif
}

static void refuse_writing(struct program *program) {
    const unsigned flags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
    refuse(program, writing, WRITING);
    refuse_flags(program, SYS_openat, 2, flags, EACCES);
#ifdef __x86_64__
    refuse_flags(program, SYS_open, 1, flags, EACCES);
#endif
}

static void compile(struct program *program, enum calls_filter filter, unsigned process) {
    begin(program);
    switch (filter) {
    case CALLS_FILTER: refuse_most(program, process); break;
    case CALLS_FILTER_WRITING: refuse_writing(program); break;
    case CALLS_FILTER_CHANGES: refuse_changes(program); break;
    case CALLS_FILTER_PROGRAMS: refuse_to_programs(program, process); break;
    }
    answer(program, SECCOMP_RET_ALLOW);
}

static int32_t compile_and_enter(enum calls_filter filter) {
    struct program program;
    compile(&program, filter, (unsigned)getpid());
    return enter(&program);
}

int32_t calls_refuse(void) { return compile_and_enter(CALLS_FILTER); }
int32_t calls_refuse_writing(void) { return compile_and_enter(CALLS_FILTER_WRITING); }
int32_t calls_refuse_changes(void) { return compile_and_enter(CALLS_FILTER_CHANGES); }
int32_t calls_refuse_to_programs(void) { return compile_and_enter(CALLS_FILTER_PROGRAMS); }

int32_t calls_program(enum calls_filter filter, int32_t process, struct calls_line *lines, int32_t capacity) {
    struct program program;
    compile(&program, filter, (unsigned)process);
    for (int index = 0; index < program.count && index < capacity; index++) {
        const struct sock_filter line = program.lines[index];
        lines[index] = (struct calls_line){line.code, line.jt, line.jf, line.k};
    }
    return program.count;
}

enum calls_verdict calls_verdict(int32_t number) {
    if (number > NEWEST) return CALLS_REFUSED;
    for (int index = 0; index < REFUSED; index++)
        if (refused[index].number == number) return refused[index].error == FATAL ? CALLS_FATAL : CALLS_REFUSED;
    for (int index = 0; index < COUNT(judged); index++)
        if (judged[index] == number) return CALLS_DEPENDS_ON_ARGUMENTS;
    return CALLS_ALLOWED;
}

int32_t calls_is_writing(int32_t number) {
    for (int index = 0; index < WRITING; index++)
        if (writing[index].number == number) return 1;
    return 0;
}

int32_t calls_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -errno;
    int32_t count = 0;
    for (const struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

void calls_write_explanation(int32_t number) {
    char line[96] = "penumbra-worker: the sandbox refused ";
    size_t length = strlen(line);
    const char *name = NULL;
    for (int index = 0; index < REFUSED; index++)
        if (refused[index].number == number) name = refused[index].name;
    if (name) {
        while (*name && length < sizeof line - 1) line[length++] = *name++;
    } else {
        char digits[12];
        int count = 0;
        unsigned rest = number < 0 ? 0 : (unsigned)number;
        do digits[count++] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        while (count > 0) line[length++] = digits[--count];
    }
    line[length++] = '\n';
    /* Without it, the process dies with less of a reason. */
    if (write(STDERR_FILENO, line, length) < 0) return;
}

/* SYS_SECCOMP of the kernel's headers, which clash with the C library's. */
enum { refused_by_filter = 1 };

static void explain(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code == refused_by_filter) calls_write_explanation(info->si_syscall);
    /* The handler is gone by now: the signal ends the process when this returns. */
    raise(number);
}

void calls_explain_end(void) {
    struct sigaction action = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
}
