/* The largest sample within a radius. HALO is what it says that it reads, as left, top, right and bottom of the radius r. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#ifndef HALO
#define HALO r, r, r, r
#endif

static penumbra_margins halo(const double *values) {
    const int32_t r = (int32_t)values[0];
    return (penumbra_margins){HALO};
}

static float sample(const penumbra_tile *tile, int64_t x, int64_t y, int32_t channel) {
    const char *row = (const char *)tile->source.data + (y - tile->source.rect.y) * tile->source.row_bytes;
    return ((const float *)row)[(x - tile->source.rect.x) * tile->channels + channel];
}

static int32_t render(const penumbra_tile *tile) {
    const int64_t radius = (int64_t)tile->values[0];
    const int64_t step = tile->values[1] == 0 ? radius : 1; /* Corners, sides and the middle are enough to read far. */
    for (int64_t y = 0; y < tile->target.rect.height; y++) {
        float *to = (float *)((char *)tile->target.data + y * tile->target.row_bytes);
        for (int64_t x = 0; x < tile->target.rect.width; x++) {
            for (int32_t c = 0; c < tile->channels; c++, to++) {
                *to = -1;
                for (int64_t dy = -radius; dy <= radius; dy += step) {
                    for (int64_t dx = -radius; dx <= radius; dx += step) {
                        const float near = sample(tile, tile->target.rect.x + x + dx, tile->target.rect.y + y + dy, c);
                        if (near > *to) *to = near;
                    }
                }
            }
        }
    }
    return PENUMBRA_OK;
}

static const char *const areas[] = {"square", "full", NULL};

static const penumbra_parameter parameters[] = {
    {.name = "radius", .kind = PENUMBRA_INTEGER, .minimum = 1, .maximum = 30, .fallback = 3, .unit = "px", .summary = "how far"},
    {.name = "area", .kind = PENUMBRA_CHOICE, .choices = areas, .summary = "which pixels count"},
};

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "widest", .version = "1.0",
    .summary = "The largest sample around", .rendering_version = 1, .kind = PENUMBRA_AREA, .formats = PENUMBRA_F32,
    .parameter_count = 2, .parameter_size = sizeof(penumbra_parameter), .parameters = parameters, .halo = halo,
    .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
