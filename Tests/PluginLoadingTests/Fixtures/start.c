/* A plugin whose library runs START while it is opened. */
#define _GNU_SOURCE
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void) { START }

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    (void)host_abi;
    return NULL;
}
