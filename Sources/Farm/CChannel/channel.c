#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Room for the descriptors of a message, aligned as its header needs. */
union room {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CHANNEL_MOST_FILES * sizeof(int32_t))];
};

int32_t channel_make_pair(int32_t ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : -errno;
}

/* What is no socket takes bytes alone. */
static int64_t write_bytes(int32_t channel, const void *bytes, size_t count) {
    ssize_t sent;
    do sent = write(channel, bytes, count);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

int64_t channel_send(int32_t channel, const void *bytes, size_t count, const int32_t *files, size_t file_count) {
    if (file_count > CHANNEL_MOST_FILES) return -EINVAL;
    union room room;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file_count > 0) {
        const size_t length = file_count * sizeof *files;
        memset(&room, 0, sizeof room);
        message.msg_control = &room;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(header), files, length);
    }
    ssize_t sent;
    do sent = sendmsg(channel, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == ENOTSOCK && file_count == 0) return write_bytes(channel, bytes, count);
    return sent < 0 ? -errno : sent;
}

static int64_t read_bytes(int32_t channel, void *bytes, size_t count) {
    ssize_t got;
    do got = read(channel, bytes, count);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

int64_t channel_receive(int32_t channel, void *bytes, size_t count, int32_t *files, int32_t *file_count,
                        int32_t *are_missing) {
    *file_count = 0;
    *are_missing = 0;
    union room room;
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    ssize_t got;
    do got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == ENOTSOCK ? read_bytes(channel, bytes, count) : -errno;
    *are_missing = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof *files;
        for (size_t index = 0; index < number && *file_count < CHANNEL_MOST_FILES; index++)
            memcpy(&files[(*file_count)++], CMSG_DATA(header) + index * sizeof *files, sizeof *files);
    }
    return got;
}

int32_t channel_open_nameless(const char *folder) {
    const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file < 0 ? -errno : file;
}

int32_t channel_open_removed(const char *folder) {
    char name[PATH_MAX];
    const int length = snprintf(name, sizeof name, "%s/penumbra-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof name) return -ENAMETOOLONG;
    const int file = mkostemp(name, O_CLOEXEC);
    if (file < 0) return -errno;
    unlink(name);
    return file;
}
