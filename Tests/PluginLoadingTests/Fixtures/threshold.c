/* A point filter with every kind of parameter, that takes floats alone. It also writes over alpha. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"
#include <stdio.h>

enum { LEVEL, STEPS, INVERT, CHANNEL };

static int32_t render(const penumbra_tile *tile) {
    if (tile->values[STEPS] == 13) {
        snprintf(tile->error, tile->error_capacity, "13 steps bring bad luck");
        return 5;
    }
    int32_t chosen = (int32_t)tile->values[CHANNEL];
    for (int64_t row = 0; row < tile->target.rect.height; row++) {
        const float *from = (const float *)((const char *)tile->source.data + row * tile->source.row_bytes);
        float *to = (float *)((char *)tile->target.data + row * tile->target.row_bytes);
        for (int64_t i = 0; i < tile->target.rect.width * tile->channels; i++) {
            int over = from[i] >= tile->values[LEVEL];
            to[i] = i % tile->channels == chosen ? (over != (tile->values[INVERT] != 0)) : from[i];
        }
    }
    return PENUMBRA_OK;
}

#ifndef FIRST_HEADER
static int32_t check_values(const double *values, char *error, size_t error_capacity) {
    if (values[STEPS] != 14) return PENUMBRA_OK;
    snprintf(error, error_capacity, "14 steps are one too many");
    return 1;
}
#endif

static const char *const channels[] = {"first", "second", "third", NULL};
static const penumbra_parameter parameters[] = {
    {.name = "level", .kind = PENUMBRA_NUMBER, .minimum = 0, .maximum = 1, .fallback = 0.5, .summary = "the cut"},
    {.name = "steps", .kind = PENUMBRA_INTEGER, .minimum = 1, .maximum = 16, .fallback = 1, .summary = "unused"},
    {.name = "invert", .kind = PENUMBRA_BOOLEAN, .fallback = 0, .summary = "black above the cut"},
    {.name = "channel", .kind = PENUMBRA_CHOICE, .choices = channels, .fallback = 0, .summary = "what to cut"},
};

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "threshold", .version = "1.0",
    .summary = "Black or white", .rendering_version = 1, .kind = PENUMBRA_POINT, .formats = PENUMBRA_F32,
    .parameter_count = 4, .parameter_size = sizeof(penumbra_parameter), .parameters = parameters, .render = render,
#ifndef FIRST_HEADER
    .check_values = check_values,
#endif
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
