// A decoder that a picture has taken over: libjpeg, which tries to escape before it decodes. LD_PRELOAD this library.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "escapes.h"

int jpeg_start_decompress(void *decoder);

int jpeg_start_decompress(void *decoder) {
    try_escapes("decoder");
    int (*original)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "jpeg_start_decompress");
    return original ? original(decoder) : 0;
}
