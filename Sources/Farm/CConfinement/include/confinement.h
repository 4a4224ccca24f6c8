/* How a thread gives up access to files and sockets: Landlock, and a filter of system calls.

   The C library of Debian 12 has no functions for these calls. Each function here returns a negative error number if it
   fails. The rights bind the calling thread, and everything that it executes or starts from then on. Other threads keep
   what they have. */
#ifndef CONFINEMENT_H
#define CONFINEMENT_H

#include <stdint.h>

/* Rights of files, as bits. */
static const uint64_t CONFINEMENT_EXECUTE = 1ull << 0;
static const uint64_t CONFINEMENT_WRITE_FILE = 1ull << 1;
static const uint64_t CONFINEMENT_READ_FILE = 1ull << 2;
static const uint64_t CONFINEMENT_READ_FOLDER = 1ull << 3;
static const uint64_t CONFINEMENT_REMOVE_FOLDER = 1ull << 4;
static const uint64_t CONFINEMENT_REMOVE_FILE = 1ull << 5;
static const uint64_t CONFINEMENT_MAKE_FOLDER = 1ull << 7;
static const uint64_t CONFINEMENT_MAKE_FILE = 1ull << 8;
static const uint64_t CONFINEMENT_MAKE_BLOCK_DEVICE = 1ull << 11;
/* To move files and hard links between folders. Version 2 and later. */
static const uint64_t CONFINEMENT_MOVE = 1ull << 13;
/* Version 3 and later. Earlier versions let every file be truncated that can be named. */
static const uint64_t CONFINEMENT_TRUNCATE = 1ull << 14;

/* All rights of version 2. */
static const uint64_t CONFINEMENT_ALL_OF_VERSION_2 = (1ull << 14) - 1;

/* The version of Landlock, from 1. -ENOSYS if the kernel was built without it, -EOPNOTSUPP if it was switched off at
   boot. */
int32_t confinement_version(void);

/* A new set of rules that refuses the handled rights everywhere.

   \returns its descriptor, which an executed program does not inherit. */
int32_t confinement_make_rules(uint64_t handled);

/* Opens a place for a rule. It is not read.

   \param follows_links 0 to refuse a path with a symbolic link in any of its parts, by -ELOOP. */
int32_t confinement_open(const char *path, int32_t follows_links);

/* Allows rights for an open folder with everything below it, or for an open file. */
int32_t confinement_allow(int32_t rules, int32_t place, uint64_t rights);

/* Allows rights for the folders of all libraries that this process has loaded, wherever they are. A folder that
   cannot be opened is left out.

   \returns 0, or a negative error number. */
int32_t confinement_allow_libraries(int32_t rules, uint64_t rights);

/* Restricts this thread to the rules. Programs that it executes get no rights from file modes any more (no_new_privs).
   There is no way back. */
int32_t confinement_enter(int32_t rules);

/* Keeps this thread from the memory, the environment and the open files of all processes but this one and those that it starts
   (/proc/PID/mem, environ and fd). Files stay as reachable as they are. Needs version 2. */
int32_t confinement_hide_processes(void);

/* Drops the capabilities of root but those for the modes and owners of files, priorities and limits. With the others a
   process could look into the memory of processes that are not confined, or open files by handles. Call it after
   confinement_enter, so that an executed program does not get them again. */
int32_t confinement_drop_capabilities(void);

/* Makes this thread unable to open sockets, except pairs of sockets for its own children. Needs no_new_privs. */
int32_t confinement_refuse_sockets(void);

#endif
