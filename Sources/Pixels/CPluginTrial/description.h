/* Private: what the child of a trial does with a description. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <stdint.h>

/* Reads every byte that a description says it has, and all that it points to. One that cannot be read is a fault of
   this process; what is wrong with one that can is for others to find. */
void read_whole_description(const void *description, uint32_t host_abi);

#endif
