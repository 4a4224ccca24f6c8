/* Turns a picture over its left and right sides and adds a column of BORDER pixels on the right: a plugin with an extent
   and a region of interest, which EXTENT and REGION can spoil. The border is the picture's rightmost column, seen by
   `edge`. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#include <string.h>

#define BORDER 3
#ifndef EXTENT
#define EXTENT
#endif
#ifndef REGION
#define REGION
#endif

static penumbra_rect extent(penumbra_rect input, const double *values) {
    (void)values;
    input.width += BORDER;
    EXTENT
    return input;
}

/* Column x of the output is column x0 + x1 - x of the input. */
static penumbra_rect region(penumbra_rect output, penumbra_rect input, const double *values) {
    (void)values;
    const int64_t last = 2 * input.x + input.width - 1;
    penumbra_rect read = {last - (output.x + output.width - 1), output.y, output.width, output.height};
    REGION
    return read;
}

static int32_t render(const penumbra_tile *tile) {
    const size_t bytes = (tile->format == PENUMBRA_F32 ? 4 : tile->format == PENUMBRA_U16 ? 2 : 1) * (size_t)tile->channels;
    const int64_t width = tile->target.rect.width;
    for (int64_t y = 0; y < tile->target.rect.height; y++) {
        const char *from = (const char *)tile->source.data + y * tile->source.row_bytes;
        char *to = (char *)tile->target.data + y * tile->target.row_bytes;
        for (int64_t x = 0; x < width; x++) memcpy(to + (size_t)x * bytes, from + (size_t)(width - 1 - x) * bytes, bytes);
    }
    return PENUMBRA_OK;
}

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "mirror", .version = "1.0",
    .summary = "Turns over", .rendering_version = 1, .kind = PENUMBRA_AREA,
    .formats = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32, .parameter_size = sizeof(penumbra_parameter),
    .render = render, .region_of_interest = region,
#ifndef KEEPS_EXTENT
    .extent = extent,
#endif
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
