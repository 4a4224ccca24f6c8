/* How a worker starts ffmpeg. Its launcher starts a process of its own for each film: that one starts ffmpeg and tells how it ends.

   Each of these processes has one thread, and ends with the one that has started it. Functions return a negative error number if they
   fail. */
#ifndef VIDEO_PROGRAM_H
#define VIDEO_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

/* In a process that was just forked: keeps this descriptor, as number 3, and no other. The standard streams become empty, and
   the environment, too. From now on the process ends with its parent.

   \param parent the process that has forked it. It may have ended meanwhile. */
int32_t video_serve(int32_t channel, pid_t parent);

/* A file in memory. A program that is executed does not inherit it. */
int32_t video_memory_file(void);

/* A process that becomes ffmpeg. */
struct video_start {
    /* Become descriptors 0, 1, 2 and 3. */
    int32_t input, output, errors, file;
    /* Becomes descriptor 4: the clip whose sound is copied. -1 for none. */
    int32_t sound;
    /* The largest file that it may write, and its most private memory, in bytes. UINT64_MAX for no limit. */
    uint64_t file_size, memory;
    pid_t parent;
};

/* In a process that was just forked: makes it what ffmpeg expects. It ends with its parent. */
int32_t video_prepare(const struct video_start *start);

/* Waits for the end of a child.

   \returns its exit code, or the negative number of the signal that has ended it. */
int32_t video_wait(pid_t child);

#endif
