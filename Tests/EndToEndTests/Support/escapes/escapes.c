// Attempts of a worker that was taken over: by a plugin, or by a picture that its decoder did not withstand. None does harm:
// the files are those that the test made for it, and the other process is one that the test started for it.
//
//   PENUMBRA_TEST_ESCAPE_FOLDER   the test's folder, with `in` (inputs) and `elsewhere` (files of somebody else)
//   PENUMBRA_TEST_ESCAPE_VICTIM   a process of the same user
//   PENUMBRA_TEST_ESCAPE_FROM     the number of the first attempt that is tried
//   PENUMBRA_TEST_ESCAPE_WORDS    the open descriptor for what came of them
#define _GNU_SOURCE
#include "escapes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

// Numbers that are the same on all machines, and that older headers lack.
enum {
    NR_PIDFD_SEND_SIGNAL = 424,
    NR_IO_URING_SETUP = 425,
    NR_PIDFD_OPEN = 434,
    NR_CLONE3 = 435,
    NR_PIDFD_GETFD = 438,
    NR_FCHMODAT2 = 452,
};

static char folder[2048];
static pid_t victim;
static int words, number_of_attempt;

// MARK: Helpers

// A path below the test's folder. The next calls use other buffers.
static const char *at(const char *name) {
    static char paths[4][4096];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static const char *of_process(pid_t process, const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    return path;
}

static int opens(const char *path, int flags) {
    const int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    close(file);
    return 0;
}

// Some errors come from behind all checks of rights: then the call has reached what it should not.
static int or_error(int result, int error) { return result < 0 && errno == error ? 0 : result; }

static int closed(int file) {
    if (file < 0) return -1;
    close(file);
    return 0;
}

static int waited(pid_t child) {
    if (child < 0) return -1;
    int status = 0;
    while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {}
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    return errno ? -1 : 0;
}

// In a child process if there can be one, because the attempt would change this process for good.
static int apart(int (*attempt)(void)) {
    const pid_t child = fork();
    if (child < 0) return attempt();
    if (child == 0) _exit(attempt() < 0 ? errno : 0);
    return waited(child);
}

// MARK: What a worker may do

static void *nothing(void *argument) { return argument; }

static int starts_thread(void) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, nothing, NULL);
    if (errno) return -1;
    pthread_join(thread, NULL);
    return 0;
}

static int asks_for_size(void) {
    struct stat status;
    return stat(at("elsewhere/private"), &status);
}

// MARK: Programs and processes

// The new program reports by itself that it runs.
static int becomes_program(void) {
    char script[80];
    snprintf(script, sizeof script, "echo escape $$ %d went through >&%d", number_of_attempt, words);
    return execl("/bin/sh", "sh", "-c", script, (char *)NULL);
}
static int executes(void) { return apart(becomes_program); }

static int becomes_memory(void) {
    const int file = memfd_create("program", 0), source = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char bytes[65536];
    for (ssize_t count; source >= 0 && (count = read(source, bytes, sizeof bytes)) > 0;)
        if (write(file, bytes, (size_t)count) != count) break;
    closed(source);
    // If the program could not be copied, the kernel still checks the right to execute before it reads it.
    char *arguments[] = {"program", "--version", NULL}, *environment[] = {NULL};
    const long result = syscall(SYS_execveat, file, "", arguments, environment, AT_EMPTY_PATH);
    const int error = errno;
    close(file);
    errno = error;
    return or_error((int)result, ENOEXEC);
}
static int executes_memory(void) { return apart(becomes_memory); }

static int forks(void) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return waited(child);
}
static int clones(void) {
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return waited((pid_t)child);
}
static int shares_memory(void) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    return waited(child);
}
static int clones_by_structure(void) {
    uint64_t arguments[8] = {[4] = SIGCHLD};
    const long child = syscall(NR_CLONE3, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    return waited((pid_t)child);
}

static int enters_user_namespace(void) { return unshare(CLONE_NEWUSER); }
static int makes_user_namespace(void) { return apart(enters_user_namespace); }
static int enters_mount_namespace(void) { return unshare(CLONE_NEWNS); }
static int makes_mount_namespace(void) { return apart(enters_mount_namespace); }
static int mounts_folder(void) {
    const int result = mount("none", at("elsewhere/folder"), "tmpfs", 0, NULL);
    if (result == 0) umount2(at("elsewhere/folder"), MNT_DETACH);
    return result;
}
static int mounts(void) { return apart(mounts_folder); }
static int enters_root(void) { return chroot(at("elsewhere")); }
static int changes_root(void) { return apart(enters_root); }
static int becomes_user(void) { return setresuid(geteuid(), geteuid(), geteuid()); }
static int changes_user(void) { return apart(becomes_user); }

// MARK: Other processes

static int signals_process(void) { return kill(victim, SIGCONT); }
static int signals_coordinator(void) { return kill(getppid(), SIGCONT); }
static int signals_group(void) { return kill(0, SIGCONT); }
static int signals_all(void) { return kill(-1, 0); }
static int signals_thread(void) { return (int)syscall(SYS_tgkill, victim, victim, SIGCONT); }
static int queues_signal(void) { return sigqueue(victim, SIGCONT, (union sigval){0}); }
static int signals_by_descriptor(void) {
    const int process = (int)syscall(NR_PIDFD_OPEN, victim, 0);
    if (process < 0) return -1;
    const int result = (int)syscall(NR_PIDFD_SEND_SIGNAL, process, SIGCONT, NULL, 0);
    const int error = errno;
    close(process);
    errno = error;
    return result;
}
static int takes_descriptor(void) {
    const int process = (int)syscall(NR_PIDFD_OPEN, victim, 0);
    if (process < 0) return -1;
    const int file = (int)syscall(NR_PIDFD_GETFD, process, 0, 0);
    const int error = errno;
    close(process);
    errno = error;
    return closed(file);
}
static int traces(void) {
    if (ptrace(PTRACE_ATTACH, victim, NULL, NULL)) return -1;
    waitpid(victim, NULL, __WALL);
    ptrace(PTRACE_DETACH, victim, NULL, NULL);
    return 0;
}
// Nothing is mapped at the first page. The right is checked before.
static int reads_memory(void) {
    char bytes[8];
    struct iovec here = {bytes, sizeof bytes}, there = {(void *)8, sizeof bytes};
    return or_error((int)process_vm_readv(victim, &here, 1, &there, 1, 0), EFAULT);
}
static int writes_memory(void) {
    char bytes[8] = {0};
    struct iovec here = {bytes, sizeof bytes}, there = {(void *)8, sizeof bytes};
    return or_error((int)process_vm_writev(victim, &here, 1, &there, 1, 0), EFAULT);
}
static int changes_priority(void) {
    errno = 0;
    const int priority = getpriority(PRIO_PROCESS, (id_t)victim);
    return errno ? -1 : setpriority(PRIO_PROCESS, (id_t)victim, priority);
}
static int changes_limit(void) {
    // Nobody misses core files of the victim.
    const struct rlimit none = {0, 0};
    return prlimit(victim, RLIMIT_CORE, &none, NULL);
}
static int changes_processors(void) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all)) return -1;
    return sched_setaffinity(victim, sizeof all, &all);
}
static int changes_scheduling(void) {
    const struct sched_param none = {0};
    return sched_setscheduler(victim, SCHED_OTHER, &none);
}
static int opens_memory(void) { return opens(of_process(victim, "mem"), O_RDWR); }
static int reads_environment(void) { return opens(of_process(victim, "environ"), O_RDONLY); }
static int reads_coordinator(void) { return opens(of_process(getppid(), "environ"), O_RDONLY); }
static int opens_descriptor(void) { return opens(of_process(victim, "fd/0"), O_RDONLY); }

// MARK: Connections

static int connects(void) {
    const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0) return -1;
    const struct sockaddr_in discard = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int result = connect(end, (const struct sockaddr *)&discard, sizeof discard);
    const int error = errno;
    close(end);
    errno = error;
    return or_error(result, ECONNREFUSED);
}
static int sends_datagram(void) {
    const int end = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (end < 0) return -1;
    const struct sockaddr_in discard = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const ssize_t result = sendto(end, "x", 1, 0, (const struct sockaddr *)&discard, sizeof discard);
    const int error = errno;
    close(end);
    errno = error;
    return (int)result;
}
static int makes_local_socket(void) { return closed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int makes_netlink_socket(void) { return closed(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)); }
static int makes_ring(void) {
    char parameters[512] = {0};
    return closed((int)syscall(NR_IO_URING_SETUP, 4, parameters));
}

// MARK: What outlives a process

static int makes_shared_memory(void) {
    const int name = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
    return name < 0 ? -1 : shmctl(name, IPC_RMID, NULL);
}
static int makes_message_queue(void) {
    const int name = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    return name < 0 ? -1 : msgctl(name, IPC_RMID, NULL);
}
static int makes_semaphore(void) {
    const int name = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    return name < 0 ? -1 : semctl(name, 0, IPC_RMID);
}
static int makes_named_queue(void) {
    char name[64];
    snprintf(name, sizeof name, "/penumbra-escape-%d", (int)getpid());
    const mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
    if (queue < 0) return -1;
    mq_close(queue);
    return mq_unlink(name);
}

// MARK: Parts of the kernel

static int loads_bpf(void) {
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return closed((int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
}
static int counts_events(void) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
    return closed((int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}
static int handles_faults(void) { return closed((int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* of user mode only */)); }
static int adds_key(void) { return (int)syscall(SYS_add_key, "user", "penumbra-escape", "x", 1, -1 /* of this thread */); }
static int takes_handle(void) {
    struct {
        struct file_handle handle;
        char bytes[128];
    } room = {.handle = {.handle_bytes = 128}};
    int mount = 0;
    return name_to_handle_at(AT_FDCWD, at("elsewhere/private"), &room.handle, &mount, 0);
}
static int types_into_terminal(void) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return -1;
    const int result = ioctl(terminal, TIOCSTI, "x");
    const int error = errno;
    close(terminal);
    errno = error;
    return result;
}
static int calls_as_x32(void) { return (int)syscall(0x40000000 + SYS_getpid); }
static int calls_as_32_bit(void) {
#ifdef __x86_64__
    long result = 20;  // getpid, by the way in of 32-bit programs
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    if (result >= 0) return 0;
    errno = (int)-result;
    return -1;
#else
    errno = ENOSYS;
    return -1;
#endif
}

// MARK: What belongs to files of somebody else

static int truncates(void) { return truncate(at("elsewhere/size"), 0); }
static int changes_mode(void) { return chmod(at("elsewhere/mode"), 0640); }
static int changes_mode_by_path_descriptor(void) {
    const int file = open(at("elsewhere/mode"), O_PATH | O_CLOEXEC);
    if (file < 0) return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int result = chmod(path, 0640), error = errno;
    close(file);
    errno = error;
    return result;
}
static int changes_mode_by_new_call(void) {
    return (int)syscall(NR_FCHMODAT2, AT_FDCWD, at("elsewhere/mode"), 0640, 0);
}
static int changes_owner(void) { return chown(at("elsewhere/private"), geteuid(), (gid_t)-1); }
static int changes_times(void) {
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    return utimensat(AT_FDCWD, at("elsewhere/time"), times, 0);
}
static int sets_attribute(void) { return setxattr(at("elsewhere/attribute"), "user.escape", "x", 1, 0); }
static int makes_pipe(void) {
    if (mkfifo(at("elsewhere/pipe"), 0600)) return or_error(-1, EEXIST);
    return or_error(unlink(at("elsewhere/pipe")), EACCES);
}
static int watches(void) {
    const int events = inotify_init1(IN_CLOEXEC);
    if (events < 0) return -1;
    const int result = inotify_add_watch(events, at("elsewhere"), IN_ALL_EVENTS), error = errno;
    close(events);
    errno = error;
    return result;
}

// MARK: Writing

static int writes_input(void) { return opens(at("in/own.jpg"), O_WRONLY); }
static int makes_file(void) { return opens(at("elsewhere/made"), O_WRONLY | O_CREAT); }
static int makes_nameless_file(void) { return opens(at("elsewhere"), O_WRONLY | O_TMPFILE); }
static int makes_temporary_file(void) {
    char path[] = "/tmp/penumbra-escape-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return -1;
    close(file);
    return unlink(path);
}
static int makes_folder(void) { return or_error(mkdir(at("elsewhere/made-folder"), 0700), EEXIST); }
static int makes_symbolic_link(void) { return or_error(symlink("/etc/passwd", at("elsewhere/made-link")), EEXIST); }
static int links_input(void) { return or_error(link(at("in/own.jpg"), at("elsewhere/linked.jpg")), EEXIST); }
static int moves_input(void) {
    if (rename(at("in/other.jpg"), at("elsewhere/moved.jpg"))) return -1;
    return rename(at("elsewhere/moved.jpg"), at("in/other.jpg"));
}
static int removes_file(void) { return or_error(unlink(at("elsewhere/doomed")), ENOENT); }
static int removes_folder(void) { return or_error(rmdir(at("elsewhere/doomed-folder")), ENOENT); }
static int truncates_by_opening(void) { return opens(at("elsewhere/content"), O_RDONLY | O_TRUNC); }
static int writes_device(void) { return opens("/dev/zero", O_RDWR); }

// MARK: Reading

static int reads_other_input(void) { return opens(at("in/other.jpg"), O_RDONLY); }
static int reads_private_file(void) { return opens(at("elsewhere/private"), O_RDONLY); }
static int reads_users(void) { return opens("/etc/passwd", O_RDONLY); }
static int lists_home(void) {
    const char *home = getenv("HOME");
    return opens(home ? home : "/root", O_RDONLY | O_DIRECTORY);
}
static int lists_folder(void) { return opens(at("elsewhere"), O_RDONLY | O_DIRECTORY); }
static int reads_by_link(void) { return opens(at("in/link"), O_RDONLY); }
static int reads_by_own_root(void) { return opens("/proc/self/root/etc/passwd", O_RDONLY); }
static int reads_by_parent_folder(void) { return opens(at("in/../elsewhere/private"), O_RDONLY); }

// MARK: The table

struct attempt {
    // From which stage of the sandbox on it is refused. 1: the filter of system calls. 2: workers open nothing for writing.
    // 3: Landlock. 0: it always goes through.
    int stage;
    const char *name;
    int (*function)(void);
    // Why some machines refuse it without a sandbox.
    const char *reason;
};

// EscapeTests reads this table from this file.
static const struct attempt attempts[] = {
    {0, "start a thread", starts_thread, NULL},
    {0, "ask for the size of a file", asks_for_size, NULL},

    {1, "execute a program", executes, NULL},
    {1, "execute from memory", executes_memory, NULL},
    {1, "fork", forks, NULL},
    {1, "fork by clone", clones, NULL},
    {1, "fork by clone3", clones_by_structure, "containers refuse clone3, because filters do not see its flags"},
    {1, "fork by vfork", shares_memory, NULL},
    {1, "make a user namespace", makes_user_namespace, "containers and some distributions refuse it"},
    {1, "make a mount namespace", makes_mount_namespace, "only root may"},
    {1, "mount a file system", mounts, "only root may"},
    {1, "change the root folder", changes_root, "only root may"},
    {1, "change the user", changes_user, NULL},

    {1, "signal a process", signals_process, NULL},
    {1, "signal the coordinator", signals_coordinator, NULL},
    {1, "signal the process group", signals_group, NULL},
    {1, "signal all processes", signals_all, NULL},
    {1, "signal a thread of a process", signals_thread, NULL},
    {1, "queue a signal", queues_signal, NULL},
    {1, "signal by a process descriptor", signals_by_descriptor, NULL},
    {1, "take a descriptor of a process", takes_descriptor, "containers, and Yama with ptrace_scope, refuse it"},
    {1, "trace a process", traces, "containers, and Yama with ptrace_scope, refuse it"},
    {1, "read the memory of a process", reads_memory, "containers, and Yama with ptrace_scope, refuse it"},
    {1, "write the memory of a process", writes_memory, "containers, and Yama with ptrace_scope, refuse it"},
    {1, "change the priority of a process", changes_priority, NULL},
    {1, "change a limit of a process", changes_limit, NULL},
    {1, "change the processors of a process", changes_processors, NULL},
    {1, "change the scheduling of a process", changes_scheduling, NULL},

    {1, "connect to the network", connects, "there is no network"},
    {1, "send a datagram", sends_datagram, "there is no network"},
    {1, "make a local socket", makes_local_socket, NULL},
    {1, "make a netlink socket", makes_netlink_socket, NULL},
    {1, "make an io_uring", makes_ring, "containers refuse it, and kernels with kernel.io_uring_disabled"},

    {1, "make shared memory", makes_shared_memory, NULL},
    {1, "make a message queue", makes_message_queue, NULL},
    {1, "make a semaphore", makes_semaphore, NULL},
    {1, "make a named message queue", makes_named_queue, "the kernel has no POSIX message queues, or their limit is reached"},

    {1, "load a BPF map", loads_bpf, "only root may"},
    {1, "count events (perf_event_open)", counts_events, "containers refuse it, and kernels with perf_event_paranoid"},
    {1, "handle page faults (userfaultfd)", handles_faults, "containers refuse it, and kernels without userfaultfd"},
    {1, "add a key", adds_key, "containers refuse it, and kernels without keys"},
    {1, "take the handle of a file", takes_handle, "containers refuse it, and some file systems have no handles"},
    {1, "type into a terminal", types_into_terminal, "kernels since 6.2 refuse it, unless dev.tty.legacy_tiocsti is set"},
    {1, "call with a number of x32", calls_as_x32, "the kernel has no x32 programs"},
    {1, "call as a 32-bit program", calls_as_32_bit, "the kernel has no 32-bit programs"},

    {1, "truncate a file", truncates, NULL},
    {1, "change the mode of a file", changes_mode, NULL},
    {1, "change a mode by a path descriptor", changes_mode_by_path_descriptor, NULL},
    {1, "change a mode by fchmodat2", changes_mode_by_new_call, "kernels have it since 6.6"},
    {1, "change the owner of a file", changes_owner, NULL},
    {1, "change the times of a file", changes_times, NULL},
    {1, "set an attribute of a file", sets_attribute, "some file systems have no attributes"},
    {1, "make a named pipe", makes_pipe, NULL},
    {1, "watch a folder", watches, "the limit of inotify instances is reached"},

    {2, "write its input", writes_input, NULL},
    {2, "make a file", makes_file, NULL},
    {2, "make a nameless file", makes_nameless_file, "some file systems have no nameless files"},
    {2, "make a temporary file", makes_temporary_file, NULL},
    {2, "make a folder", makes_folder, NULL},
    {2, "make a symbolic link", makes_symbolic_link, NULL},
    {2, "link its input", links_input, NULL},
    {2, "move an input", moves_input, NULL},
    {2, "remove a file", removes_file, NULL},
    {2, "remove a folder", removes_folder, NULL},
    {2, "truncate a file by opening it", truncates_by_opening, NULL},
    {2, "write a device", writes_device, NULL},
    {2, "open the memory of a process", opens_memory, "containers, and Yama with ptrace_scope, refuse it"},

    {3, "read another input", reads_other_input, NULL},
    {3, "read a private file", reads_private_file, NULL},
    {3, "read the list of users", reads_users, NULL},
    {3, "list the home folder", lists_home, NULL},
    {3, "list a folder", lists_folder, NULL},
    {3, "read by a symbolic link", reads_by_link, NULL},
    {3, "read by /proc/self/root", reads_by_own_root, NULL},
    {3, "read by a parent folder", reads_by_parent_folder, NULL},
    {3, "read the environment of a process", reads_environment, "containers, and Yama with ptrace_scope, refuse it"},
    {3, "read the environment of the coordinator", reads_coordinator, "the parent of a plugin's trial is the worker itself"},
    {3, "open a descriptor of a process", opens_descriptor, "containers, and Yama with ptrace_scope, refuse it"},
};

// MARK: Trying

static void report(int number, const char *what) {
    char line[128];
    const int length = snprintf(line, sizeof line, "escape %d %d %s\n", (int)getpid(), number, what);
    // In one piece, because other processes write to the same file.
    if (write(words, line, (size_t)length) != length) _exit(1);
}

static _Thread_local sigjmp_buf before_call;

// A filter may answer by SIGSYS. Code that has taken a process over survives that.
static void refused(int signal) {
    (void)signal;
    siglongjmp(before_call, 1);
}

static void try_one(int number) {
    report(number, "tries");
    struct sigaction old, own = {.sa_handler = refused, .sa_flags = SA_NODEFER};
    sigaction(SIGSYS, &own, &old);
    char what[64];
    number_of_attempt = number;
    if (sigsetjmp(before_call, 1)) {
        snprintf(what, sizeof what, "refused by SIGSYS");
    } else {
        errno = 0;
        if (attempts[number].function() >= 0)
            snprintf(what, sizeof what, "went through");
        else
            snprintf(what, sizeof what, "refused by %s", strerrorname_np(errno) ? strerrorname_np(errno) : "?");
    }
    sigaction(SIGSYS, &old, NULL);
    report(number, what);
}

void try_escapes(const char *place) {
    static atomic_flag has_tried = ATOMIC_FLAG_INIT;
    const char *wanted = getenv("PENUMBRA_TEST_ESCAPE_PLACE"), *where = getenv("PENUMBRA_TEST_ESCAPE_FOLDER");
    const char *process = getenv("PENUMBRA_TEST_ESCAPE_VICTIM"), *from = getenv("PENUMBRA_TEST_ESCAPE_FROM");
    const char *descriptor = getenv("PENUMBRA_TEST_ESCAPE_WORDS");
    if (!wanted || !where || !process || !from || !descriptor || strcmp(wanted, place) || atomic_flag_test_and_set(&has_tried)) return;
    snprintf(folder, sizeof folder, "%s", where);
    victim = (pid_t)atoi(process);
    words = atoi(descriptor);
    const int count = (int)(sizeof attempts / sizeof *attempts);
    for (int number = atoi(from); number < count; number++) try_one(number);
}
