/* A point filter whose description can be spoiled, one macro at a time. */
#define PENUMBRA_PLUGIN_IMPLEMENTATION
#include "penumbra_plugin.h"

#ifndef ABI
#define ABI PENUMBRA_PLUGIN_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(penumbra_plugin)
#endif
#ifndef NAME
#define NAME "flawed"
#endif
#ifndef VERSION
#define VERSION "1.0"
#endif
#ifndef SUMMARY
#define SUMMARY "Flawed"
#endif
#ifndef KIND
#define KIND PENUMBRA_POINT
#endif
#ifndef FORMATS
#define FORMATS PENUMBRA_F32
#endif
#ifndef HALO
#define HALO NULL
#endif
#ifndef PARAMETER
#define PARAMETER {.name = "a", .kind = PENUMBRA_NUMBER, .minimum = 0, .maximum = 1, .summary = "a"}
#endif
#ifndef PARAMETERS
#define PARAMETERS 1
#endif
#ifndef PARAMETER_SIZE
#define PARAMETER_SIZE sizeof(penumbra_parameter)
#endif
#ifndef RENDER
#define RENDER render
#endif

static penumbra_margins vast(const double *values) { return (penumbra_margins){.left = 16385}; }
static int32_t render(const penumbra_tile *tile) { return PENUMBRA_CANCELLED; }
static const penumbra_parameter parameters[] = {PARAMETER};
static const void *const used[] = {(const void *)vast, (const void *)render};

static const penumbra_plugin plugin = {
    .abi = ABI, .struct_size = SIZE, .name = NAME, .version = VERSION, .summary = SUMMARY, .kind = KIND,
    .formats = FORMATS, .parameter_count = PARAMETERS,
    .parameter_size = PARAMETER_SIZE, .parameters = parameters, .halo = HALO, .render = RENDER,
};

const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
#ifdef REFUSES
    return NULL;
#endif
    return used[0] ? &plugin : NULL;
}
