#pragma once
#ifdef __linux__
#include <malloc.h>
#endif
#include <dlfcn.h>
#include <vips/vips.h>

// What Swift cannot reach by itself: macros, variadic functions, and signals whose handlers should have a type.

static inline GType penumbra_type_boolean(void) { return G_TYPE_BOOLEAN; }
static inline GType penumbra_type_int(void) { return G_TYPE_INT; }
static inline GType penumbra_type_double(void) { return G_TYPE_DOUBLE; }
static inline GType penumbra_type_string(void) { return G_TYPE_STRING; }
static inline GType penumbra_type_object(void) { return G_TYPE_OBJECT; }

// Loads a part of libvips that is kept in a file of its own; 0 when that cannot be done. (libvips brings GModule along.)
static inline int penumbra_load_module(const char *_Nonnull path) {
    void *(*open)(const char *, int) = (void *(*)(const char *, int))dlsym(NULL, "g_module_open");
    return open && open(path, 1 /* G_MODULE_BIND_LAZY */) ? 1 : 0;
}

// The file that libvips was loaded from, or NULL. (`dladdr`, which C's headers show only to GNU sources.)
static inline const char *_Nullable penumbra_library_path(void) {
    struct { const char *file; void *base; const char *symbol; void *address; } info = {0};
    int (*find)(const void *, void *) = (int (*)(const void *, void *))dlsym(NULL, "dladdr");
    return find && find(dlsym(NULL, "vips_init"), &info) ? info.file : NULL;
}

// libimagequant divides sums among the threads of OpenMP, as many as the machine has cores. Sums of floats depend on how they are divided, so
// that one thread must do all. The setting is that of the calling thread.
static inline void penumbra_use_one_openmp_thread(void) {
    void (*set)(int) = (void (*)(int))dlsym(NULL, "omp_set_num_threads");
    if (set) set(1);
}

// Buffers of rows and tiles are of the same few sizes again and again. Without this the C library gives each of them
// back to the kernel, which clears it anew: on a large picture that took most of the time (19 million page faults).
static inline void penumbra_keep_freed_memory(void) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 32 << 20); // the largest that it takes
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
    mallopt(M_TOP_PAD, 16 << 20);
#endif
}

// libvips keeps several blocks of 128 rows between the steps of a pipeline, which is 9 MB each for a picture of 25,000 columns. The number
// of rows follows from the height of its tiles, 128, which only its command line options set. Returns 0 if this libvips has no such option.
static inline int penumbra_set_tile_height(int rows) {
    char option[40];
    g_snprintf(option, sizeof option, "--vips-tile-height=%d", rows);
    char *words[] = {"penumbra", option, NULL};
    char **arguments = g_strdupv(words);
    GOptionContext *context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new("vips", "", "", NULL, NULL);
    vips_add_option_entries(group);
    g_option_context_set_main_group(context, group);
    int isSet = g_option_context_parse_strv(context, &arguments, NULL);
    g_option_context_free(context); // the group, too
    g_strfreev(arguments);
    return isSet;
}

// The address of a pixel in a prepared region, and the bytes from one row to the next.
static inline void *_Nonnull penumbra_region_address(VipsRegion *_Nonnull region, int x, int y) {
    return VIPS_REGION_ADDR(region, x, y);
}
static inline size_t penumbra_region_stride(VipsRegion *_Nonnull region) { return VIPS_REGION_LSKIP(region); }

// Makes `image` the start of a pipeline.
static inline int penumbra_image_begin(VipsImage *_Nonnull image, VipsDemandStyle hint) {
    return vips_image_pipelinev(image, hint, NULL);
}

typedef gint64 (*penumbra_source_read)(VipsSourceCustom *_Nonnull, void *_Nonnull bytes, gint64 count, void *_Nonnull);
typedef gint64 (*penumbra_source_seek)(VipsSourceCustom *_Nonnull, gint64 offset, int whence, void *_Nonnull);
typedef gint64 (*penumbra_target_write)(
    VipsTargetCustom *_Nonnull, const void *_Nonnull bytes, gint64 count, void *_Nonnull);
typedef gint64 (*penumbra_target_read)(VipsTargetCustom *_Nonnull, void *_Nonnull bytes, gint64 count, void *_Nonnull);
typedef gint64 (*penumbra_target_seek)(VipsTargetCustom *_Nonnull, gint64 offset, int whence, void *_Nonnull);
typedef void (*penumbra_release)(void *_Nullable context, GClosure *_Nullable closure);

// Reads go to `context` until the source is destroyed; then `release` is called once.
static inline void penumbra_source_connect(
    VipsSourceCustom *_Nonnull source, penumbra_source_read _Nonnull read, penumbra_source_seek _Nonnull seek,
    void *_Nonnull context, penumbra_release _Nonnull release) {
    g_signal_connect_data(source, "read", G_CALLBACK(read), context, release, (GConnectFlags)0);
    g_signal_connect(source, "seek", G_CALLBACK(seek), context);
}

// Writes go to `context` until the target is destroyed; then `release` is called once.
static inline void penumbra_target_connect(
    VipsTargetCustom *_Nonnull target, penumbra_target_write _Nonnull write, penumbra_target_read _Nonnull read,
    penumbra_target_seek _Nonnull seek, void *_Nonnull context, penumbra_release _Nonnull release) {
    g_signal_connect_data(target, "write", G_CALLBACK(write), context, release, (GConnectFlags)0);
    g_signal_connect(target, "read", G_CALLBACK(read), context);
    g_signal_connect(target, "seek", G_CALLBACK(seek), context);
}
