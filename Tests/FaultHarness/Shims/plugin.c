/* A filter that copies pixels. By PENUMBRA_FAULTS_PLUGIN it also is slow, ends its process once on two pictures at
   most, or ends it always. What was struck is told by files in PENUMBRA_FAULTS_FOLDER that only one process can make. */
#define _GNU_SOURCE
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include <penumbra_plugin.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int claim(const char *format, long long a, long long b) {
    char name[64], path[4096];
    snprintf(name, sizeof name, format, a, b);
    snprintf(path, sizeof path, "%s/%s", getenv("PENUMBRA_FAULTS_FOLDER"), name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    return file >= 0;
}

static void die(unsigned way) {
    switch (way % 6) {
    case 0: raise(SIGSEGV); break;
    case 1: abort();
    case 2: exit(3);
    case 3: _exit(0);
    case 4: raise(SIGBUS); break;
    default: for (;;) pause();
    }
}

static void misbehave(const penumbra_tile *tile) {
    const char *mode = getenv("PENUMBRA_FAULTS_PLUGIN"), *text = getenv("PENUMBRA_FAULTS_SEED");
    if (!mode) return;
    if (!strcmp(mode, "fatal")) {
        claim("plugin-struck-%lld-%lld", tile->image.width, tile->image.height);
        raise(SIGSEGV);
    }
    unsigned long long mix = (text ? strtoull(text, NULL, 10) : 0) ^ (unsigned long long)tile->image.width * 2654435761u
        ^ (unsigned long long)(tile->target.rect.y * 977 + tile->target.rect.x) * 40503u;
    mix = (mix ^ (mix >> 29)) * 0xbf58476d1ce4e5b9u;
    mix ^= mix >> 32;
    if (mix % 3) return;
    if (!strcmp(mode, "slow")) {
        claim("plugin-struck-%lld", (long long)(mix >> 8), 0);
        usleep(30000 + mix % 200000);
        return;
    }
    if (!claim("plugin-picture-%lld-%lld", tile->image.width, tile->image.height)) return;
    if (claim("plugin-struck-0", 0, 0) || claim("plugin-struck-1", 0, 0)) die((unsigned)(mix >> 16));
}

static int32_t render(const penumbra_tile *tile) {
    misbehave(tile);
    size_t sample = tile->format == PENUMBRA_U8 ? 1 : 4;
    size_t count = (size_t)(tile->target.rect.width * tile->channels) * sample;
    for (int64_t y = 0; y < tile->target.rect.height; y++) {
        const char *from = (const char *)tile->source.data
            + (y + tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes
            + (tile->target.rect.x - tile->source.rect.x) * tile->channels * (int64_t)sample;
        memcpy((char *)tile->target.data + y * tile->target.row_bytes, from, count);
    }
    return PENUMBRA_OK;
}

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "faulty", .version = "1.0.0",
    .summary = "Copies pixels, and misbehaves", .rendering_version = 1, .kind = PENUMBRA_POINT,
    .formats = PENUMBRA_U8 | PENUMBRA_F32, .parameter_size = sizeof(penumbra_parameter), .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
