/* How a worker has programs started: its launcher starts them, one at a time.

   All functions but launch_open are for the launcher, and for the processes that it starts. Each of these processes has
   one thread. Functions return a negative error number if they fail. */
#ifndef PROGRAM_LAUNCH_H
#define PROGRAM_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

/* What a worker and its launcher have in common. */
struct launch_files {
    /* A socket between both. Each of them closes the other's end. */
    int32_t workers_end, launchers_end;
    /* Files in memory: what a program gets as its standard input, and what it has written to its standard output. */
    int32_t input, output;
};

/* Creates them. A program that is executed inherits none. */
int32_t launch_open(struct launch_files *files);

/* Makes this process a launcher: a process group of its own, the parent of all orphans of its children, without other descriptors than
   the three that it needs, without environment, with the usual handlers of signals. The files get other numbers.

   \returns a descriptor that can be read when a child has ended. */
int32_t launch_begin(struct launch_files *files);

/* A program that begins. */
struct launch_start {
    /* Become descriptors 0, 1 and 2. */
    int32_t input, output, errors;
    /* The program's working directory. */
    const char *folder;
    /* The largest file that it may write, in bytes. */
    uint64_t file_size;
    /* The most private memory of each of its processes. UINT64_MAX for no limit. */
    uint64_t memory;
    /* The launcher. If it has ended meanwhile, this process ends, too. */
    pid_t launcher;
};

/* In a child of the launcher: makes it what a program expects, in a process group of its own. It ends with the launcher. */
int32_t launch_prepare(const struct launch_start *start);

/* Whether a child has ended. It is not waited for, so that its number stays its own.

   \param code its exit code.
   \param signal the signal that has ended it, or 0. */
int32_t launch_has_ended(pid_t process, int32_t *code, int32_t *signal);

/* Ends all processes that the launcher's children have started, and waits for their end.

   \param group the process group of the program. */
void launch_end_children(pid_t group);

/* Removes a folder with everything in it. Follows no links. */
void launch_remove(const char *folder);

#endif
