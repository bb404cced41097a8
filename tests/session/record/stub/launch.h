/* What the graphs of the stub use of its kernels. */
#ifndef STUB_LAUNCH_H
#define STUB_LAUNCH_H

#include <stddef.h>

/* The stream whose launches can be captured. */
#define STUB_CAPTURED ((void *)7)

size_t stub_parameter_count(void *function);
size_t stub_parameter_size(void *function, size_t index);
int stub_launch(void *function, unsigned threads, void **parameters);
int stub_capture(void *function, const unsigned *grid, const unsigned *block, void **parameters);
int cuStreamIsCapturing(void *stream, int *status);

#endif
