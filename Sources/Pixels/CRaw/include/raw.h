/* Develops the raw pictures of cameras by LibRaw, always with the same settings. LibRaw's own header stays inside of this module,
   because its structures change with its versions. */
#ifndef PENUMBRA_RAW_H
#define PENUMBRA_RAW_H

#include <stdint.h>

/* How a call ended. */
enum {
    PENUMBRA_RAW_FINE = 0,
    /* LibRaw does not know the camera, the compression, or what kind of file it is. */
    PENUMBRA_RAW_UNKNOWN = 1,
    /* The file ends too early, or it has impossible values. */
    PENUMBRA_RAW_BROKEN = 2,
    /* LibRaw refuses the size of the sensor. */
    PENUMBRA_RAW_TOO_LARGE = 3,
    /* The process has no more memory. */
    PENUMBRA_RAW_NO_MEMORY = 4,
    /* A call of the system failed. Its error number is subtracted. */
    PENUMBRA_RAW_SYSTEM = -1000
};

/* What the head of a file states. */
typedef struct penumbra_raw_facts {
    /* The size of the developed picture, before it is turned. */
    int32_t width, height;
    /* The size of the picture from which LibRaw makes it at last, if pixels are not square or lie diagonally; 0 otherwise. */
    int32_t first_width, first_height;
    /* The size of the sensor, with the margins that are cut off. */
    int32_t sensor_width, sensor_height;
    /* 3 for colour, 1 for gray. */
    int32_t channels;
    /* 1 if each pixel of the sensor sees one colour. */
    int32_t is_mosaic;
    /* How the picture has to be turned. 4 exchanges rows and columns, then 2 reverses the order of rows, and 1 that of columns. */
    int32_t flip;
    /* Texts end with a zero. They are empty if the file has none. */
    char make[64], model[64], software[64], artist[64], description[512], lens_make[128], lens[128];
    /* When the picture was taken, by the camera's clock: 2026:11:21 14:05:09. Empty if unknown. */
    char taken[20];
    /* In seconds, in f-numbers, and in millimetres. 0 if unknown. */
    float exposure_time, aperture, iso, focal_length;
} penumbra_raw_facts;

/* Reads the head of the file at a path. No memory is allocated for pixels.

   half: 1 for the size at half of the width and height. */
int32_t penumbra_raw_read_facts(const char *path, int32_t half, penumbra_raw_facts *facts);

/* A developed picture. */
typedef struct penumbra_raw penumbra_raw;

/* Computes the picture: linear light of the primaries of sRGB, 16 bits, not turned. NULL if that fails.

   half: 1 for half of the width and height. Each square of four pixels of the sensor becomes one pixel. */
penumbra_raw *penumbra_raw_develop(const char *path, int32_t half, int32_t *end);

int32_t penumbra_raw_width(const penumbra_raw *raw);
int32_t penumbra_raw_height(const penumbra_raw *raw);
int32_t penumbra_raw_channels(const penumbra_raw *raw);

/* Copies a row through a table of 65536 values. `samples` has room for width × channels. */
void penumbra_raw_copy_row(const penumbra_raw *raw, int32_t row, const uint16_t *table, uint16_t *samples);

void penumbra_raw_close(penumbra_raw *raw);

/* Such as "0.20.2-Release". */
const char *penumbra_raw_version(void);

#endif
