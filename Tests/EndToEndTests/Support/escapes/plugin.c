// A plugin that copies its input, and tries to escape: when it is loaded, when it renders, and in a thread of its own.
#define _GNU_SOURCE
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include <penumbra_plugin.h>
#include <pthread.h>
#include <string.h>

#include "escapes.h"

__attribute__((constructor)) static void load(void) { try_escapes("initialiser"); }

static void *run(void *argument) {
    try_escapes("thread");
    return argument;
}

static int32_t render(const penumbra_tile *tile) {
    try_escapes("render");
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0) pthread_join(thread, NULL);
    const int64_t bytes = tile->format == PENUMBRA_F32 ? 4 : 1;
    for (int64_t y = 0; y < tile->target.rect.height; y++)
        memcpy(
            (char *)tile->target.data + y * tile->target.row_bytes,
            (const char *)tile->source.data + (y + tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes,
            (size_t)(tile->target.rect.width * tile->channels * bytes));
    return PENUMBRA_OK;
}

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI,
    .struct_size = sizeof(penumbra_plugin),
    .name = "evil",
    .version = "1.0.0",
    .summary = "Tries to escape",
    .rendering_version = 1,
    .kind = PENUMBRA_POINT,
    .formats = PENUMBRA_U8 | PENUMBRA_F32,
    .parameter_size = sizeof(penumbra_parameter),
    .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
