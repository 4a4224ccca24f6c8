// The module is its header; SwiftPM wants a source file.
#include "pair_sums.h"
