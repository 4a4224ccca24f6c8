#define _GNU_SOURCE

#include "raw.h"

#include <dlfcn.h>
#include <errno.h>
#include <libraw/libraw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct penumbra_raw {
    libraw_data_t *data;
    /* Whether LibRaw met damage. It continues, and would fill the rest of the picture with anything. */
    int is_damaged;
};

static void note_damage(void *raw, const char *file, const int offset) {
    (void)file;
    (void)offset;
    ((penumbra_raw *)raw)->is_damaged = 1;
}

static int32_t end_of(int code) {
    if (code == LIBRAW_SUCCESS) return PENUMBRA_RAW_FINE;
    if (code == ENOMEM || code == LIBRAW_UNSUFFICIENT_MEMORY) return PENUMBRA_RAW_NO_MEMORY;
    /* Positive codes are those of system calls. */
    if (code > 0) return PENUMBRA_RAW_SYSTEM - code;
    if (code == LIBRAW_TOO_BIG) return PENUMBRA_RAW_TOO_LARGE;
    if (code == LIBRAW_FILE_UNSUPPORTED || code == LIBRAW_NOT_IMPLEMENTED) return PENUMBRA_RAW_UNKNOWN;
    return PENUMBRA_RAW_BROKEN;
}

/* LibRaw would use all cores. A worker has only its share of them, and threads that cannot be started would end the process. */
static void use_one_thread(void) {
    void (*set_threads)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set_threads) set_threads(1);
}

static void set_fixed_settings(libraw_data_t *data) {
    libraw_output_params_t *params = &data->params;
    params->use_camera_wb = 1; /* the camera's white, or that of daylight if the file has none */
    params->use_auto_wb = 0;
    params->use_camera_matrix = 1;
    params->output_color = 1; /* sRGB */
    params->output_bps = 16;
    params->gamm[0] = params->gamm[1] = 1; /* Linear light. The caller's table has the curve. */
    params->no_auto_bright = 1;
    params->bright = 1;
    params->adjust_maximum_thr = 0; /* Otherwise the brightest pixel would decide what white is. */
    params->highlight = 0;          /* clipped */
    params->user_qual = 3;          /* AHD */
    params->user_flip = 0;          /* The caller turns it. */
#if LIBRAW_MINOR_VERSION < 21
    params->raw_processing_options |= LIBRAW_PROCESSING_CAMERAWB_FALLBACK_TO_DAYLIGHT;
#else
    data->rawparams.options |= LIBRAW_RAWOPTIONS_CAMERAWB_FALLBACK_TO_DAYLIGHT;
#endif
}

/* Gray has no white balance. LibRaw would take one of three colours for it. */
static void balance_gray(libraw_data_t *data) {
    if (data->idata.colors != 1) return;
    data->params.use_camera_wb = 0;
    for (int channel = 0; channel < 4; channel++) data->params.user_mul[channel] = 1;
}

/* Whether LibRaw knows the colours of the camera. Otherwise it would call the sensor's own colours sRGB. */
static int has_colors(const libraw_data_t *data) {
    if (data->idata.colors == 1) return 1;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < data->idata.colors && column < 4; column++)
            if (data->color.rgb_cam[row][column] != (row == column ? 1.0f : 0.0f)) return 1;
    return 0;
}

/* An open file whose head is read. */
static penumbra_raw *open_raw(const char *path, int32_t half, int32_t *end) {
    penumbra_raw *raw = calloc(1, sizeof *raw);
    if (raw) raw->data = libraw_init(0);
    if (!raw || !raw->data) {
        free(raw);
        *end = PENUMBRA_RAW_NO_MEMORY;
        return NULL;
    }
    use_one_thread();
    libraw_set_dataerror_handler(raw->data, note_damage, raw);
    set_fixed_settings(raw->data);
    raw->data->params.half_size = half;
    *end = end_of(libraw_open_file(raw->data, path));
    if (*end == PENUMBRA_RAW_FINE && !has_colors(raw->data)) *end = PENUMBRA_RAW_UNKNOWN;
    if (*end == PENUMBRA_RAW_FINE) {
        balance_gray(raw->data);
        return raw;
    }
    penumbra_raw_close(raw);
    return NULL;
}

static void copy_text(char *to, size_t room, const char *from, size_t most) {
    size_t length = strnlen(from, most);
    if (length >= room) length = room - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

#define COPY_TEXT(to, from) copy_text(to, sizeof(to), from, sizeof(from))

/* What the clock of the camera showed. LibRaw counts it as local time, but that of CRW files as universal time. */
static struct tm *camera_clock(const char *path, const time_t *time, struct tm *shown) {
    char head[14] = {0};
    FILE *file = fopen(path, "rbe");
    size_t length = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    int is_crw = length == sizeof head && memcmp(head + 6, "HEAPCCDR", 8) == 0;
    return is_crw ? gmtime_r(time, shown) : localtime_r(time, shown);
}

int32_t penumbra_raw_read_facts(const char *path, int32_t half, penumbra_raw_facts *facts) {
    int32_t end;
    penumbra_raw *raw = open_raw(path, half, &end);
    memset(facts, 0, sizeof *facts);
    if (!raw) return end;
    libraw_data_t *data = raw->data;
    facts->sensor_width = data->sizes.raw_width;
    facts->sensor_height = data->sizes.raw_height;
    facts->channels = data->idata.colors == 1 ? 1 : 3;
    facts->is_mosaic = data->idata.filters != 0;
    facts->flip = data->sizes.flip & 7;
    COPY_TEXT(facts->make, data->idata.make);
    COPY_TEXT(facts->model, data->idata.model);
    COPY_TEXT(facts->software, data->idata.software);
    COPY_TEXT(facts->artist, data->other.artist);
    COPY_TEXT(facts->description, data->other.desc);
    COPY_TEXT(facts->lens_make, data->lens.LensMake);
    COPY_TEXT(facts->lens, data->lens.Lens);
    struct tm taken;
    if (data->other.timestamp > 0 && camera_clock(path, &data->other.timestamp, &taken) &&
        strftime(facts->taken, sizeof facts->taken, "%Y:%m:%d %H:%M:%S", &taken) != sizeof facts->taken - 1)
        facts->taken[0] = 0;
    facts->exposure_time = data->other.shutter;
    facts->aperture = data->other.aperture;
    facts->iso = data->other.iso_speed;
    facts->focal_length = data->other.focal_len;
    /* Sensors that lie diagonally, or whose pixels are not square, give other sizes. After this call nothing can be developed. */
    int first_width = data->sizes.iwidth, first_height = data->sizes.iheight;
    int is_even = data->sizes.pixel_aspect == 1;
    end = end_of(libraw_adjust_sizes_info_only(data));
    facts->width = data->sizes.iwidth;
    facts->height = data->sizes.iheight;
    if (!is_even || facts->width != first_width || facts->height != first_height) {
        facts->first_width = first_width;
        facts->first_height = first_height;
    }
    if (end == PENUMBRA_RAW_FINE && raw->is_damaged) end = PENUMBRA_RAW_BROKEN;
    penumbra_raw_close(raw);
    return end;
}

penumbra_raw *penumbra_raw_develop(const char *path, int32_t half, int32_t *end) {
    penumbra_raw *raw = open_raw(path, half, end);
    if (!raw) return NULL;
    *end = end_of(libraw_unpack(raw->data));
    if (*end == PENUMBRA_RAW_FINE && raw->is_damaged) *end = PENUMBRA_RAW_BROKEN;
    if (*end == PENUMBRA_RAW_FINE) *end = end_of(libraw_dcraw_process(raw->data));
    if (*end == PENUMBRA_RAW_FINE && (!raw->data->image || raw->data->idata.colors < 1)) *end = PENUMBRA_RAW_BROKEN;
    if (*end == PENUMBRA_RAW_FINE) return raw;
    penumbra_raw_close(raw);
    return NULL;
}

int32_t penumbra_raw_width(const penumbra_raw *raw) { return raw->data->sizes.width; }

int32_t penumbra_raw_height(const penumbra_raw *raw) { return raw->data->sizes.height; }

int32_t penumbra_raw_channels(const penumbra_raw *raw) { return raw->data->idata.colors == 1 ? 1 : 3; }

void penumbra_raw_copy_row(const penumbra_raw *raw, int32_t row, const uint16_t *table, uint16_t *samples) {
    const int32_t width = penumbra_raw_width(raw), channels = penumbra_raw_channels(raw);
    /* LibRaw has four samples for each pixel, of which it uses as many as there are channels. */
    const uint16_t(*pixels)[4] = (const uint16_t(*)[4])raw->data->image + (size_t)row * (size_t)width;
    for (int32_t column = 0; column < width; column++)
        for (int32_t channel = 0; channel < channels; channel++) *samples++ = table[pixels[column][channel]];
}

void penumbra_raw_close(penumbra_raw *raw) {
    libraw_close(raw->data);
    free(raw);
}

const char *penumbra_raw_version(void) { return libraw_version(); }
