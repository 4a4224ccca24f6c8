/* Tries to open shared libraries in a child process, so that one that crashes, hangs or ends the process while it is
   opened does so there. */
#ifndef PLUGIN_TRIAL_H
#define PLUGIN_TRIAL_H

#include <stdint.h>

/* How much of a description is read, here and by those who use the plugin: more is no description. */
enum {
    PLUGIN_MOST_PARAMETERS = 64,
    PLUGIN_MOST_CHOICES = 256
};

/* How a trial ended. */
typedef struct plugin_trial {
    /* How many libraries, from the first one on, were opened and gave their description. */
    int32_t survived;
    /* The child's wait status when the next one ended it; 0 when all survived. */
    int32_t status;
    /* 1 when the next one was not done in time, so that the child was killed. */
    int32_t hung;
    /* Not 0 when the child could not be started. */
    int32_t error;
} plugin_trial;

/* Opens the libraries one after the other and reads what each says of itself. Each has so many milliseconds; then the
   child is killed, with every process of its group. What the libraries were opened as is told by `names`: paths, or
   descriptors of this process below /proc/self.

   Between the fork and the end of the child nothing runs there but this module's code, the loader's and the
   libraries': other threads may hold any lock of this process but the loader's and malloc's, which a fork hands on
   unlocked. A library whose own language has a run time that this process uses too needs a process with one thread.

   The child calls `confine` with the context before it opens a library. NULL for nothing. */
plugin_trial try_plugins(const char *const *names, int32_t count, uint32_t host_abi, uint32_t milliseconds,
                         void (*confine)(void *context), void *context);

/* Whether a library names a symbol, or one with a longer name, as its own or as one of another library. 0 as well when it is no regular
   file, or cannot be read. Reads the names alone where the table of sections says where they are, else all of it, up to 1 GB. */
int32_t file_names_symbol(const char *path, const char *symbol);

/* Bytes that malloc has handed out and not got back. */
int64_t allocated_bytes(void);

#endif
