/* Says on a pipe whose code a thread was in when it crashed, or when it called exit. */
#ifndef CRASH_RECORD_H
#define CRASH_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* From now on the messages of threads that crash go to this pipe. Once in a process, before others limit its memory: a thread that
   ends because it gets no memory says so on standard error if the limit (RLIMIT_DATA) is another one by then. */
void crash_record_start(int32_t pipe);

/* What is in the pipe `from` then goes to `to`, too, up to some kilobytes. Reading from it must not wait. Before the start. */
void crash_record_replay(int32_t from, int32_t to);

/* What is said if this thread crashes; NULL for nothing. The bytes stay where they are until the next call. */
void crash_record_set(const void *message, size_t size);

/* How a thread tells which system call it was ended for (si_syscall of SIGSYS). It calls only what a handler of signals may. Before
   the start. */
void crash_record_explain(void (*explain)(int32_t call));

/* Between these two calls somebody writes to the pipe, so that no crash is told in the middle of a message. They do
   not nest; whoever calls them holds a lock. */
void crash_record_lock(void);
void crash_record_unlock(void);

#endif
