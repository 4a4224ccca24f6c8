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
    /* Something could not be put back without which this process can do no task, or tell the coordinator of none. */
    PROCESS_LOST = 256,
    /* Process, user and group numbers, and the root folder. */
    PROCESS_GROUP = 512,
    PROCESS_USER = 1024,
    PROCESS_ROOT = 2048
};

/* From now on this descriptor is looked after, too. At most eight. */
void process_state_watch(int32_t descriptor);

/* Remembers how the process is now. */
void process_state_record(void);

/* Remembers the limits of this process's resources as they are now. */
void process_state_record_limits(void);

/* The signals that this thread does not want now. */
void process_state_mask(sigset_t *mask);

/* Puts back what is not as it was recorded, and this thread's mask.

   Handlers of crashes by memory or arithmetic, of SIGPIPE, SIGURG and SIGPROF are left alone: the run times of some languages
   need theirs. So is a soft limit of open files that was raised.

   \returns what was changed. */
uint32_t process_state_restore(const sigset_t *mask);

/* A number that grows as files are left open, and never becomes smaller: the lowest free descriptor above all those that were in
   use at an earlier call. The limit of open files if there is none. */
int32_t process_state_lowest_free(void);

/* How many files somebody else's code may keep open. */
int32_t process_state_tolerated(void);

#endif
