/* Limits another process of the same user. The C library's function for that (prlimit) is not visible in Swift. */
#ifndef PROCESS_LIMITS_H
#define PROCESS_LIMITS_H

#include <stdint.h>

/* In place of a number of bytes: no limit. */
#define PROCESS_LIMITS_NONE UINT64_MAX

/* Sets the soft limits of a process. The hard limits stay, because only root could raise them again. No soft limit becomes higher
   than that of the calling process.

   \param memory for the bytes of private memory (RLIMIT_DATA).
   \param file_size for the bytes of a file that it writes (RLIMIT_FSIZE).
   \returns 0, or a negative error number. */
int32_t process_limits_set(int32_t process, uint64_t memory, uint64_t file_size);

#endif
