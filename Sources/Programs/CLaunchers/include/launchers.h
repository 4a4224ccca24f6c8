/* What a worker's launchers have in common. A worker gives up the right to start processes. So it forks a launcher before that, which
   starts processes for it. Each of these processes has one thread.

   Functions return a negative error number if they fail. */
#ifndef LAUNCHERS_H
#define LAUNCHERS_H

#include <stdint.h>
#include <sys/types.h>

/* fork(), which Swift does not offer. The process must have one thread. */
pid_t launchers_fork(void);

/* Gives all signals their usual handlers. */
void launchers_use_default_signals(void);

/* Removes all variables. They are the worker's, with the secret by which a later coordinator knows and kills it. A launcher must not be
   taken for a worker. */
void launchers_forget_environment(void);

/* Closes all descriptors from a number on. */
void launchers_close_from(int32_t first);

/* Limits the files and the memory of a program that is about to begin, and forbids it to leave its memory in a file.

   \param file_size the largest file that it may write, in bytes.
   \param memory the most private memory of each of its processes. UINT64_MAX for no limit. */
int32_t launchers_limit(uint64_t file_size, uint64_t memory);

#endif
