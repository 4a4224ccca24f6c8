// What code tries that has taken a worker over. EscapeTests builds it into a plugin (plugin.c) and into a decoder (decoder.c).
#ifndef ESCAPES_H
#define ESCAPES_H

// Tries everything once in this process, if PENUMBRA_TEST_ESCAPE_PLACE is this place. Each attempt writes two lines to the
// descriptor PENUMBRA_TEST_ESCAPE_WORDS. A process that was killed by an attempt has written only the first one.
//
//   escape PID NUMBER tries
//   escape PID NUMBER went through
//   escape PID NUMBER refused by EPERM
void try_escapes(const char *place);

#endif
