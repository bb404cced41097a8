/* The arguments of tensor maps, whose bytes only the driver that encoded them can read. */
#ifndef CUDARUN_TENSOR_MAPS_H
#define CUDARUN_TENSOR_MAPS_H

#include "rawfile.h"

/* Write a section for each tensor map in the parameters. */
void write_tensor_maps(RawFile *file, const char *parameters, long size);

#endif
