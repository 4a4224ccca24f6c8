/* Sends and receives bytes together with open descriptors, over a socket of this machine (AF_UNIX).

   A descriptor arrives as another descriptor of the same open file. Functions return a negative error number if they
   fail. They continue after a signal. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stddef.h>
#include <stdint.h>

/* The kernel's limit of descriptors in one message (SCM_MAX_FD of Linux). */
enum { CHANNEL_MOST_FILES = 253 };

/* A pair of connected stream sockets. A program that is executed inherits neither. */
int32_t channel_make_pair(int32_t ends[2]);

/* Sends some of the bytes, and all of the descriptors with the first of them.

   \param files at most CHANNEL_MOST_FILES descriptors. They stay open here. A pipe takes none.
   \returns how many bytes were sent. -EPIPE if nobody receives any more; there is no signal. */
int64_t channel_send(int32_t channel, const void *bytes, size_t count, const int32_t *files, size_t file_count);

/* Waits for bytes. The channel may also be a pipe.

   \param files takes the descriptors that come with the bytes, at most CHANNEL_MOST_FILES. Executed programs do not
       inherit them.
   \param file_count becomes their number.
   \param are_missing becomes 1 if this process could not take all descriptors, because it may have no more.
   \returns how many bytes have come; 0 at the end. */
int64_t channel_receive(int32_t channel, void *bytes, size_t count, int32_t *files, int32_t *file_count,
                        int32_t *are_missing);

/* Creates a file without a name. -EOPNOTSUPP, -EISDIR or -EINVAL if the folder's file system, or the kernel, has none. */
int32_t channel_open_nameless(const char *folder);

/* Creates a file with a name in the folder, and removes the name at once. */
int32_t channel_open_removed(const char *folder);

#endif
