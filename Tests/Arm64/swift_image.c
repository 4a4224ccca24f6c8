// Tells the runtime of Swift where the metadata of a program is. A toolchain has this as swiftrt.o, for its own architectures alone.

#include <stddef.h>
#include <stdint.h>

#define SECTIONS(each) \
    each(swift5_protocols) each(swift5_protocol_conformances) each(swift5_type_metadata) each(swift5_typeref) \
        each(swift5_reflstr) each(swift5_fieldmd) each(swift5_assocty) each(swift5_replace) each(swift5_replac2) \
            each(swift5_builtin) each(swift5_capture) each(swift5_mpenum) each(swift5_accessible_functions) \
                each(swift5_runtime_attributes) each(swift5_tests)

// An empty part, which the linker may not drop, makes it define where each section starts and ends, even if the program has nothing in it.
#define DECLARE(name) \
    __attribute__((section(#name), used, retain)) static const char empty_##name[0]; \
    extern const char __start_##name __attribute__((visibility("hidden"))); \
    extern const char __stop_##name __attribute__((visibility("hidden")));
SECTIONS(DECLARE)

struct section {
    const char *start;
    size_t length;
};

#define FIELD(name) struct section name;
static struct {
    uintptr_t version;
    const void *base;
    void *unused[2];
    SECTIONS(FIELD)
} image;

extern const char __ehdr_start __attribute__((visibility("hidden")));
void swift_addNewDSOImage(void *image);

__attribute__((constructor)) static void add_image(void) {
    image.version = 5;
    image.base = &__ehdr_start;
#define SET(name) image.name = (struct section){&__start_##name, (size_t)(&__stop_##name - &__start_##name)};
    SECTIONS(SET)
    swift_addNewDSOImage(&image);
}
