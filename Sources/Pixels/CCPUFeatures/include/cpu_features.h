#ifndef PENUMBRA_CPU_FEATURES_H
#define PENUMBRA_CPU_FEATURES_H

/// The highest x86-64 level (2, 3 or 4) whose instructions both the CPU and the operating system support, 1 below
/// that, and 0 on other architectures. Reads the CPU itself, so no setting of the C library changes the answer.
int penumbra_x86_level(void);

#endif
