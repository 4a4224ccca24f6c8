/*
 * SPDX-License-Identifier: MIT-0
 *
 * Copyright the authors of Penumbra
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
 * persons to whom the Software is furnished to do so.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/*
 * penumbra_plugin.h — filters for Penumbra as shared libraries. C11, no dependencies.
 *
 * A plugin is a file lib<Something>.so in one of the plugin folders. It exports one function, penumbra_plugin_entry,
 * that returns a constant description of one filter. Build one from C with
 *
 *     cc -std=c11 -O2 -shared -fPIC -fvisibility=hidden -I <this folder> sepia.c -o libSepia.so
 *
 * after defining PENUMBRA_PLUGIN_IMPLEMENTATION before this header is included.
 *
 * What a filter must keep to:
 *
 *  - What it writes at a pixel depends on the values and on the pixels around that one, never on the tile: pictures
 *    are rendered in tiles of any size, in any order, and must come out the same. Coordinates are those of the whole
 *    picture (of the chain's first input), so a pattern can be anchored to them.
 *  - It keeps no state between calls. `render` is called from several threads at once.
 *  - It keeps no pointer that it was given. All text is UTF-8, ends with a zero byte and lives as long as the library.
 *  - It writes nothing but the pixels of its target and `error`: not into the room between rows, not beyond them. It
 *    prints nothing, does not end the process, and leaves no memory behind. (The host guards against all that; a
 *    plugin that does it fails the pictures that it did it on.)
 *  - For the same bits on every machine it uses + - * / and sqrt only, in a fixed order (-ffp-contract=off), and no
 *    function of libm: those differ between CPUs.
 *
 * `penumbra plugin check libSepia.so` tries all of it; `penumbra plugin new sepia --language c` begins a plugin.
 *
 * Growth: structures only get new members, at their end, and carry their size. A reader never looks beyond the size
 * that it was told; a host goes on serving older plugins. What changes otherwise gets a new PENUMBRA_PLUGIN_ABI.
 */
#ifndef PENUMBRA_PLUGIN_H
#define PENUMBRA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENUMBRA_PLUGIN_ABI 1u

/* How much of the input an output pixel needs. */
typedef int32_t penumbra_kind;
enum {
    /* Its own pixel. Pixels come as they are stored: colours are not multiplied by alpha. What the filter writes
       under an alpha of 0 is replaced by 0. */
    PENUMBRA_POINT = 0,
    /* A neighbourhood. Colours come multiplied by alpha where there is alpha, and are to be written so. */
    PENUMBRA_AREA = 1
};

/* How a sample is stored; in `formats` a set of them. */
typedef uint32_t penumbra_format;
enum {
    PENUMBRA_U8 = 1,  /* uint8_t, 0...255 */
    PENUMBRA_U16 = 2, /* uint16_t, 0...65535 */
    PENUMBRA_F32 = 4  /* float, nominally 0...1 and never clamped; of samples of 0...1 a filter makes finite ones */
};

typedef int32_t penumbra_parameter_kind;
enum {
    PENUMBRA_NUMBER = 0,  /* minimum...maximum */
    PENUMBRA_INTEGER = 1, /* a whole number in minimum...maximum */
    PENUMBRA_BOOLEAN = 2, /* 0 or 1 */
    PENUMBRA_CHOICE = 3   /* the index of one of `choices` */
};

/* One parameter, as a manifest gives it. */
typedef struct penumbra_parameter {
    const char *name; /* [a-z][a-z0-9_-]*, and not one that the host adds: edge, extent, light, within */
    penumbra_parameter_kind kind;
    double minimum, maximum;    /* finite; PENUMBRA_NUMBER and PENUMBRA_INTEGER only */
    double fallback;            /* what is used when the manifest does not say */
    const char *const *choices; /* PENUMBRA_CHOICE only: words, then NULL */
    const char *unit;           /* "px", "%", ... or NULL */
    const char *summary;        /* one line, without a full stop */

    /* Members since the second revision of this header; both may be NULL. */

    const char *needed;              /* a PENUMBRA_CHOICE, only with some words of which this parameter has an effect: */
    const char *const *needed_words; /* those words, then NULL. Users who give it with another word are warned */
} penumbra_parameter;

/* How much of a parameter the first revision had. */
#define PENUMBRA_PARAMETER_FIRST_SIZE offsetof(penumbra_parameter, needed)

/* Whole pixels, y growing downwards. */
typedef struct penumbra_rect {
    int64_t x, y, width, height;
} penumbra_rect;

/* A width for each side, in pixels, 0...16384. */
typedef struct penumbra_margins {
    int32_t left, top, right, bottom;
} penumbra_margins;

/* Rows of interleaved samples. `data` is the first sample of the pixel at rect.x, rect.y and aligned to a sample;
   `row_bytes` leads from one row to the next. */
typedef struct penumbra_source {
    const void *data;
    int64_t row_bytes;
    penumbra_rect rect;
} penumbra_source;

typedef struct penumbra_target {
    void *data;
    int64_t row_bytes;
    penumbra_rect rect;
} penumbra_target;

/* One call's work. */
typedef struct penumbra_tile {
    uint32_t struct_size;
    penumbra_format format; /* one of the plugin's; of both buffers */
    int32_t channels;       /* 1...4, of both buffers */
    int32_t has_alpha;      /* 1 when the last channel is alpha */
    penumbra_rect image;    /* the extent of the filter's whole input */
    penumbra_source source; /* target.rect grown by the halo, or its region_of_interest; what lies outside the image is
                               filled as the manifest's `edge` says, so a filter never sees a border */
    penumbra_target target; /* to be written completely */
    const double *values;   /* one for each parameter, in the description's order */
    int32_t (*is_cancelled)(void *context); /* not 0: return PENUMBRA_CANCELLED soon; cheap enough for every row */
    void *context;
    char *error; /* room for one sentence that says what failed, with its zero byte */
    size_t error_capacity;

    /* Members since the third revision of this header. */

    int64_t frame; /* which frame of an animation, from 0; 0 of a still and of each page of a document. For what shall
                      differ from frame to frame, as noise does. Read it by penumbra_tile_frame */
} penumbra_tile;

/* How much of the tile the first revision had. */
#define PENUMBRA_TILE_FIRST_SIZE offsetof(penumbra_tile, frame)

/* The tile's frame; 0 of a host that knows of none. */
static inline int64_t penumbra_tile_frame(const penumbra_tile *tile) {
    return tile->struct_size >= PENUMBRA_TILE_FIRST_SIZE + sizeof tile->frame ? tile->frame : 0;
}

/* What `render` returns. Any other value is a failure that `error` describes. */
enum {
    PENUMBRA_OK = 0,
    PENUMBRA_CANCELLED = 1
};

/* The description of a filter. Each text in it is one line of UTF-8, without invisible characters, of at most 1000 bytes. */
typedef struct penumbra_plugin {
    uint32_t abi;         /* PENUMBRA_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(penumbra_plugin) */
    const char *name;     /* as manifests name the filter: [a-z][a-z0-9_-]* */
    const char *version;  /* the plugin's, "1.0.2" */
    const char *summary;  /* one line, without a full stop */
    uint32_t rendering_version; /* changes when, and only when, the filter's pixels change */
    penumbra_kind kind;
    /* A set of penumbra_format. PENUMBRA_F32 must be in it: samples of a format that is not are converted to that one
       and back, and an area filter gets pixels with alpha, and those in linear light, in no other. The rest is for
       speed. */
    penumbra_format formats;
    uint32_t parameter_count;
    uint32_t parameter_size; /* sizeof(penumbra_parameter) */
    const penumbra_parameter *parameters;
    /* Area filters only, NULL in point filters: what is read around a pixel. The host adds the parameters edge and
       light, and gives every filter `within`. An area filter has this or `region_of_interest`. */
    penumbra_margins (*halo)(const double *values);
    /* Area filters only, may be NULL: how far the output spreads beyond the input. With it the host adds the
       parameter `extent`. */
    penumbra_margins (*growth)(const double *values);
    int32_t (*render)(const penumbra_tile *tile);

    /* Members since the second revision of this header; all may be NULL. */

    /* Not 0 when the filter changes no pixel with these values: it is then not called at all. */
    int32_t (*is_identity)(const double *values);
    /* Area filters only, instead of `growth`: the rectangle where the output is defined, for an input that is defined
       in `input`; not empty where that is not, no side over 1000000, and x and y within 10000000 of 0. The host then
       adds neither `extent` nor `within`. */
    penumbra_rect (*extent)(penumbra_rect input, const double *values);
    /* Area filters only, instead of `halo`: the rectangle that is read for `output`, a part of the extent, from an
       input that is defined in `input`. It is not empty and may lie outside of `input`, with x and y within 10000000
       of 0; of a larger output it covers that of every part. Neither width nor height may be larger than the output's by over 32768.
       `source.rect` is this rectangle. A filter that needs less where it is near is given less to read: a halo is
       enough for all others. */
    penumbra_rect (*region_of_interest)(penumbra_rect output, penumbra_rect input, const double *values);

    /* Members since the third revision of this header; may be NULL. */

    /* PENUMBRA_OK when the filter can work with these values. Otherwise `error` says why not, in one sentence: users read
       it before anything is rendered. The range of each parameter is checked by the host. */
    int32_t (*check_values)(const double *values, char *error, size_t error_capacity);
} penumbra_plugin;

/* How much of the description the first revision had. */
#define PENUMBRA_PLUGIN_FIRST_SIZE offsetof(penumbra_plugin, is_identity)

/* The exported function. `host_abi` is the newest interface that the host speaks. NULL when the plugin needs a newer
   one. */
typedef const penumbra_plugin *(*penumbra_plugin_entry_function)(uint32_t host_abi);

#ifdef PENUMBRA_PLUGIN_IMPLEMENTATION
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi);
#endif

#ifdef __cplusplus
}
#endif
#endif
