/* An area filter: the mean of the pixels `distance` to the left and to the right. Takes every sample format. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#ifndef NEAREST
#define NEAREST 0
#endif

static penumbra_margins reach(const double *values) {
    int32_t distance = (int32_t)values[0];
    return (penumbra_margins){.left = distance, .right = distance};
}

#define ROW(TYPE, MEAN)                                                                                          \
    {                                                                                                            \
        const TYPE *a = (const TYPE *)from, *b = a + 2 * distance * tile->channels;                               \
        for (int64_t i = 0; i < count; i++) ((TYPE *)to)[i] = (TYPE)(MEAN);                                       \
    }

static int32_t render(const penumbra_tile *tile) {
    int64_t distance = (int64_t)tile->values[0], count = tile->target.rect.width * tile->channels;
    if (tile->source.rect.x != tile->target.rect.x - distance) return -1;
    if (tile->source.rect.width != tile->target.rect.width + 2 * distance) return -1;
    for (int64_t row = 0; row < tile->target.rect.height; row++) {
        if (tile->is_cancelled(tile->context)) return PENUMBRA_CANCELLED;
        const char *from = (const char *)tile->source.data + row * tile->source.row_bytes;
        char *to = (char *)tile->target.data + row * tile->target.row_bytes;
        switch (tile->format) {
        case PENUMBRA_U8: ROW(uint8_t, (a[i] + b[i] + 1) / 2) break;
        case PENUMBRA_U16: ROW(uint16_t, (a[i] + b[i] + 1) / 2) break;
        default: ROW(float, (a[i] + b[i]) / 2) break;
        }
    }
    return PENUMBRA_OK;
}

static const penumbra_parameter parameters[] = {
    {.name = "distance", .kind = PENUMBRA_INTEGER, .minimum = NEAREST, .maximum = 100 + NEAREST, .fallback = 3 + NEAREST, .unit = "px",
     .summary = "how far to look"},
};

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "spread", .version = "2.1",
    .summary = "Mean of two neighbours", .rendering_version = 7, .kind = PENUMBRA_AREA,
    .formats = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32, .parameter_count = 1,
    .parameter_size = sizeof(penumbra_parameter), .parameters = parameters, .halo = reach, .growth = reach,
    .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
