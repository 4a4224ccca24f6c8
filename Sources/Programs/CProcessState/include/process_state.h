/* How this process is to be, whatever somebody else's code makes of it. One thread at a time records; any may restore. */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

#include <signal.h>
#include <stdint.h>

/* What was found changed. */
enum {
    PROCESS_UMASK = 1,
    PROCESS_LIMITS = 2,
    PROCESS_MASK = 4,
    PROCESS_HANDLERS = 8,
    PROCESS_TIMERS = 16,
    PROCESS_FOLDER = 32,
    PROCESS_DESCRIPTORS = 64,
    PROCESS_LOCALE = 128,
    /* A descriptor could not be put back: nothing can be said to the coordinator any more. */
    PROCESS_LOST = 256
};

/* From now on this descriptor is looked after, too. At most eight. */
void process_state_watch(int32_t descriptor);

/* Remembers how the process is now. */
void process_state_record(void);

/* The signals that this thread does not want now. */
void process_state_mask(sigset_t *mask);

/* Puts back what is not as it was recorded, and this thread's mask.

   Handlers of crashes by memory or arithmetic, of SIGPIPE, SIGURG and SIGPROF are left alone: the run times of some languages
   need theirs. So is a soft limit of open files that was raised.

   \returns what was changed. */
uint32_t process_state_restore(const sigset_t *mask);

#endif
