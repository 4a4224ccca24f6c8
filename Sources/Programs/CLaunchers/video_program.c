#define _GNU_SOURCE
#include "video_program.h"
#include "launchers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void use_usual_signals(void) {
    launchers_use_default_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int32_t end_with(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) return -errno;
    if (getppid() != parent) _exit(127);
    return 0;
}

/* Gives open files the numbers from 0 on, and closes all others. */
static int32_t number_files(const int32_t *files, int count) {
    int32_t away[5];
    for (int index = 0; index < count; index++)
        if ((away[index] = fcntl(files[index], F_DUPFD, 16)) < 0) return -errno;
    for (int index = 0; index < count; index++)
        if (dup2(away[index], index) < 0) return -errno;
    launchers_close_from(count);
    return 0;
}

int32_t video_serve(int32_t channel, pid_t parent) {
    use_usual_signals();
    signal(SIGPIPE, SIG_IGN);
    const int32_t code = end_with(parent);
    if (code < 0) return code;
    launchers_forget_environment();
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) return -errno;
    const int32_t files[] = {nothing, nothing, nothing, channel};
    return number_files(files, 4);
}

int32_t video_memory_file(void) {
    const int file = memfd_create("penumbra-video", MFD_CLOEXEC);
    return file < 0 ? -errno : file;
}

int32_t video_prepare(const struct video_start *start) {
    use_usual_signals();
    int32_t code = end_with(start->parent);
    if (code < 0) return code;
    if (chdir("/")) return -errno;
    code = launchers_limit(start->file_size, start->memory);
    if (code < 0) return code;
    const int32_t files[] = {start->input, start->output, start->errors, start->file, start->sound};
    return number_files(files, start->sound < 0 ? 4 : 5);
}

int32_t video_wait(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
