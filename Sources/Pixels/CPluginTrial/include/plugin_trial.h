/* Tries to open shared libraries in a child process, so that one that crashes, hangs or ends the process while it is
   opened does so there. */
#ifndef PLUGIN_TRIAL_H
#define PLUGIN_TRIAL_H

#include <stdint.h>

/* How a trial ended. */
typedef struct plugin_trial {
    /* How many libraries, from the first one on, were opened and gave their description. */
    int32_t survived;
    /* The child's wait status when the next one ended it; 0 when all survived. */
    int32_t status;
    /* Not 0 when the child could not be started. */
    int32_t error;
} plugin_trial;

/* For a process with one thread. Each library has `seconds` to be opened in, and for `read`, which gets what the entry
   answered, to read it. */
plugin_trial try_plugins(const char *const *paths, int32_t count, uint32_t host_abi, uint32_t seconds,
                         void (*read)(const void *plugin));

/* 1 when a file has the text in it, 0 when not, or when it cannot be read. */
int32_t file_contains(const char *path, const char *text);

/* Bytes that malloc has handed out and not got back. */
int64_t allocated_bytes(void);

#endif
