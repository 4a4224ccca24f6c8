/* Makes every sample the number of the frame, and of a host that tells a smaller tile 0. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

static int32_t render(const penumbra_tile *tile) {
    penumbra_tile older = *tile;
    older.struct_size = PENUMBRA_TILE_FIRST_SIZE;
    float number = (float)(penumbra_tile_frame(tile) + 1000 * penumbra_tile_frame(&older));
    for (int64_t row = 0; row < tile->target.rect.height; row++) {
        float *to = (float *)((char *)tile->target.data + row * tile->target.row_bytes);
        for (int64_t i = 0; i < tile->target.rect.width * tile->channels; i++) to[i] = number;
    }
    return PENUMBRA_OK;
}

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "frames", .version = "1.0",
    .summary = "The frame's number", .rendering_version = 1, .kind = PENUMBRA_POINT, .formats = PENUMBRA_F32,
    .parameter_size = sizeof(penumbra_parameter), .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
