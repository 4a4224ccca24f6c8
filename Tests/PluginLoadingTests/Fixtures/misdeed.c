/* Copies its input, and does one thing that no plugin may do: MISDEED is its name. A point filter, or with REACH an area
   filter that says that it reads so far to the left. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { none, overrun, underrun, upwards, tilewise, peeking, lazy, counting, leaking, liar, silent, clashing,
       wrecking, scribbling, endless, sometimes, infinite, stumbling };

static int32_t sample_bytes(penumbra_format format) { return format == PENUMBRA_F32 ? 4 : format == PENUMBRA_U16 ? 2 : 1; }

static int calls;

static int32_t render(const penumbra_tile *tile) {
    const int64_t pixel = tile->channels * sample_bytes(tile->format);
    const int64_t count = tile->target.rect.width * pixel;
    const int64_t left = tile->target.rect.x - tile->source.rect.x, top = tile->target.rect.y - tile->source.rect.y;
    char *target = tile->target.data;
    if (MISDEED == silent && tile->values[0] > 0) return 7;
    if (MISDEED == leaking) memset(malloc(100000), 1, 100000);
    for (int64_t y = 0; y < tile->target.rect.height; y++) {
        const char *from = (const char *)tile->source.data + (y + top) * tile->source.row_bytes + left * pixel;
        char *to = target + y * tile->target.row_bytes;
        if ((MISDEED == lazy || (MISDEED == stumbling && calls > 0)) && y == 3) continue;
        memcpy(to, from, (size_t)count);
        if (MISDEED == clashing && tile->format == PENUMBRA_U8) memset(to, 0, (size_t)count);
        if (MISDEED == overrun && y == 1) to[count] = 1;
        if (MISDEED == peeking && y == 2) to[0] = from[-1];
    }
    if (MISDEED == liar) target[0] ^= 1;
    if (MISDEED == stumbling && calls++ == 0) return 7;
    if (MISDEED == underrun) target[-1] = 1;
    if (MISDEED == wrecking) {
        target[count] = 1;
        return 7;
    }
    if (MISDEED == scribbling) tile->error[-1] = 1;
    if (MISDEED == endless) {
        memset(tile->error, 'a', tile->error_capacity);
        return 7;
    }
    if (MISDEED == upwards) fesetround(FE_UPWARD);
    if (MISDEED == tilewise) target[0] = (char)tile->target.rect.width;
    if (MISDEED == sometimes && tile->values[0] > 0) target[0] = (char)tile->target.rect.width;
    if (MISDEED == infinite && tile->format == PENUMBRA_F32) *(float *)target = NAN;
    if (MISDEED == counting) target[0] = (char)calls++;
    return PENUMBRA_OK;
}

static int32_t is_identity(const double *values) { return MISDEED == liar || values[0] == 0; }

#ifdef REACH
static penumbra_margins halo(const double *values) {
    (void)values;
    return (penumbra_margins){.left = REACH};
}
#endif

static const penumbra_parameter parameters[] = {
    {.name = "amount", .kind = PENUMBRA_NUMBER, .minimum = 0, .maximum = 1, .fallback = 0, .summary = "how bad"},
};

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "misdeed", .version = "1.0",
    .summary = "Does what no plugin may do", .rendering_version = 1,
#ifdef REACH
    .kind = PENUMBRA_AREA, .halo = halo,
#else
    .kind = PENUMBRA_POINT,
#endif
    .formats = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32, .parameter_count = 1,
    .parameter_size = sizeof(penumbra_parameter), .parameters = parameters, .render = render,
    .is_identity = is_identity,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
