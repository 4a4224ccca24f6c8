/* Which system calls a worker may use. A worker decodes pictures of strangers and runs plugins. It computes: it needs memory,
   threads, and files that are open or that it opens by their paths. A filter of the kernel refuses the other calls that the list in
   system_calls.c names, and all calls that are newer than the list. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stdint.h>

/* Refuses for ever what a worker does not need, for this thread and all that it starts: programs, processes, sockets, signals
   to other processes, and the parts of the kernel that have no use for pictures. Other threads keep what they have, so call it
   while there is only one.

   No code that only computes uses the calls of programs and of debuggers. These end the process by SIGSYS. Libraries try some
   of the others and do without. These return an error.

   \returns 0, or a negative error number. */
int32_t calls_refuse(void);

/* Also refuses to open files for writing, to create, rename, link and remove files, and to change their modes. A process that does none of
   that gets its files as open descriptors. Call it after calls_refuse. */
int32_t calls_refuse_writing(void);

/* For a process that may write in some folders, by rules of Landlock: also refuses what Landlock lets it do everywhere. That is to change
   the modes of open files, and before version 3 to empty a file by opening it to read it. Call it after calls_refuse. */
int32_t calls_refuse_changes(void);

/* Like calls_refuse, for a process that is about to execute a program which somebody trusts: it may execute programs, start processes
   and send signals to its own process group, which it cannot leave. It may not make namespaces. */
int32_t calls_refuse_to_programs(void);

/* The programs that the kernel runs for each call, for tests. */
enum calls_filter { CALLS_FILTER, CALLS_FILTER_WRITING, CALLS_FILTER_CHANGES, CALLS_FILTER_PROGRAMS };

/* A line of such a program: struct sock_filter of the kernel's headers. */
struct calls_line {
    uint16_t code;
    uint8_t jump_if_true, jump_if_false;
    uint32_t value;
};

/* Writes the program that a process enters.

   \param process its number.
   \returns how many lines the program has. No more than `capacity` are written. */
int32_t calls_program(enum calls_filter filter, int32_t process, struct calls_line *lines, int32_t capacity);

/* What calls_refuse does with a call, for tests. */
enum calls_verdict { CALLS_ALLOWED, CALLS_REFUSED, CALLS_FATAL, CALLS_DEPENDS_ON_ARGUMENTS };
enum calls_verdict calls_verdict(int32_t number);

/* True if only calls_refuse_writing refuses it, whatever its arguments are. */
int32_t calls_is_writing(int32_t number);

/* The number of threads of this process. A negative error number if /proc cannot be read. */
int32_t calls_threads(void);

/* From now on, a thread that is ended for a call writes the line "penumbra-worker: the sandbox refused NAME" to standard error
   before it dies. NAME is the name of the call, or its number. */
void calls_explain_end(void);

/* Writes that line. For programs that have a handler of their own for SIGSYS. It calls only what such a handler may.

   \param number si_syscall of the signal. */
void calls_write_explanation(int32_t number);

#endif
