/*
 * posterize: a picture in few, equally spaced levels. The model of a filter in plain C.
 *
 * A value v becomes the nearest of the levels 0, 1/n, 2/n ... 1, where n is `levels` - 1. With `dither: ordered` it becomes
 * the one below or above, by a pattern of 8 x 8 pixels that hangs on the whole picture's coordinates: as often above as v
 * is nearer to it, so that areas keep their mean. Floating-point values beyond 0...1 get levels at the same distance;
 * infinities and NaN stay. Alpha is kept.
 *
 * The header converts samples for filters that take floats alone; here whole numbers are handled, too, for speed.
 */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* what -std=c11 alone says to gcc */
#endif

enum { LEVELS, DITHER };
enum { PATTERN = 8, PATTERN_LEVELS = PATTERN * PATTERN };

static const char *const dithers[] = {"none", "ordered", NULL};

static const penumbra_parameter parameters[] = {
    [LEVELS] = {.name = "levels",
                .kind = PENUMBRA_INTEGER,
                .minimum = 2,
                .maximum = 256,
                .fallback = 4,
                .summary = "Sets the number of levels of each colour, with 0 and full intensity"},
    [DITHER] = {.name = "dither",
                .kind = PENUMBRA_CHOICE,
                .choices = dithers,
                .summary = "Chooses how levels are found. 'none' takes the nearest one, 'ordered' mixes two in a pattern"},
};

/* The pattern of Bayer (1973): 0...63, each once, neighbours far apart. Bits of x ^ y and of y, taken in turns. */
static int bayer(int64_t x, int64_t y) {
    int order = 0;
    for (int bit = 0; bit < 3; bit++) order = order * 4 + (int)((((x ^ y) >> bit) & 1) * 2 + ((y >> bit) & 1));
    return order;
}

/* What is added to a value before the level below is taken, in parts of 2 * PATTERN_LEVELS of a step: the middle of a
   step without dither. */
static int offset(int is_ordered, int64_t x, int64_t y) {
    return is_ordered ? 2 * bayer(x, y) + 1 : PATTERN_LEVELS;
}

/* Colours of a pixel; alpha, behind them, is copied. */
static int colors(const penumbra_tile *tile) { return tile->channels - (tile->has_alpha ? 1 : 0); }

/* The level below sample * n / full + offset / (2 * PATTERN_LEVELS), and its value rounded half up, in whole numbers. */
static uint32_t level(uint32_t sample, uint32_t n, uint32_t full, int offset) {
    uint64_t parts = (uint64_t)sample * n * (2 * PATTERN_LEVELS) + (uint64_t)full * (uint32_t)offset;
    uint32_t number = (uint32_t)(parts / ((uint64_t)full * (2 * PATTERN_LEVELS)));
    return (2 * number * full + n) / (2 * n);
}

static void row_u8(const penumbra_tile *tile, const uint8_t *from, uint8_t *to, uint32_t n, const int *offsets) {
    int channels = tile->channels, colored = colors(tile);
    for (int64_t x = 0; x < tile->target.rect.width; x++, from += channels, to += channels) {
        int offset = offsets[(tile->target.rect.x + x) & (PATTERN - 1)];
        for (int channel = 0; channel < colored; channel++) {
            to[channel] = (uint8_t)level(from[channel], n, 255, offset);
        }
        if (tile->has_alpha) to[colored] = from[colored];
    }
}

static void row_u16(const penumbra_tile *tile, const uint16_t *from, uint16_t *to, uint32_t n, const int *offsets) {
    int channels = tile->channels, colored = colors(tile);
    for (int64_t x = 0; x < tile->target.rect.width; x++, from += channels, to += channels) {
        int offset = offsets[(tile->target.rect.x + x) & (PATTERN - 1)];
        for (int channel = 0; channel < colored; channel++) {
            to[channel] = (uint16_t)level(from[channel], n, 65535, offset);
        }
        if (tile->has_alpha) to[colored] = from[colored];
    }
}

/* The whole number below; floats from 2^23 on have no fraction, and NaN answers no comparison. */
static float below(float value) {
    if (!(value > -8388608.0f && value < 8388608.0f)) return value;
    float whole = (float)(int32_t)value;
    return whole > value ? whole - 1 : whole;
}

static void row_f32(const penumbra_tile *tile, const float *from, float *to, float n, const int *offsets) {
    int channels = tile->channels, colored = colors(tile);
    for (int64_t x = 0; x < tile->target.rect.width; x++, from += channels, to += channels) {
        float part = (float)offsets[(tile->target.rect.x + x) & (PATTERN - 1)] / (2 * PATTERN_LEVELS);
        for (int channel = 0; channel < colored; channel++) to[channel] = below(from[channel] * n + part) / n;
        if (tile->has_alpha) to[colored] = from[colored];
    }
}

static void render_row(const penumbra_tile *tile, int64_t y, const void *from, void *to) {
    uint32_t n = (uint32_t)tile->values[LEVELS] - 1;
    int offsets[PATTERN];
    for (int x = 0; x < PATTERN; x++) offsets[x] = offset(tile->values[DITHER] != 0, x, y);
    if (tile->format == PENUMBRA_U8) {
        row_u8(tile, from, to, n, offsets);
    } else if (tile->format == PENUMBRA_U16) {
        row_u16(tile, from, to, n, offsets);
    } else {
        row_f32(tile, from, to, (float)n, offsets);
    }
}

static int32_t render(const penumbra_tile *tile) {
    size_t bytes = tile->format == PENUMBRA_U8 ? 1 : tile->format == PENUMBRA_U16 ? 2 : 4;
    const char *from = tile->source.data;
    from += (tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes;
    from += (tile->target.rect.x - tile->source.rect.x) * tile->channels * (int64_t)bytes;
    char *to = tile->target.data;
    for (int64_t y = 0; y < tile->target.rect.height; y++) {
        if (tile->is_cancelled(tile->context)) return PENUMBRA_CANCELLED;
        render_row(tile, tile->target.rect.y + y, from, to);
        from += tile->source.row_bytes;
        to += tile->target.row_bytes;
    }
    return PENUMBRA_OK;
}

static const penumbra_plugin plugin = {
    .abi = PENUMBRA_PLUGIN_ABI,
    .struct_size = sizeof(penumbra_plugin),
    .name = "posterize",
    .version = "1.0.0",
    .summary = "Reduces each colour to a few levels with equal distances",
    .rendering_version = 2,
    .kind = PENUMBRA_POINT,
    .formats = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32,
    .parameter_count = sizeof(parameters) / sizeof(parameters[0]),
    .parameter_size = sizeof(penumbra_parameter),
    .parameters = parameters,
    .render = render,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
    return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
}
