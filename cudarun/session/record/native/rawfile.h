/* The raw file of a recording, which the parent converts: sections of a tag, a size and bytes. */
#ifndef CUDARUN_RAWFILE_H
#define CUDARUN_RAWFILE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int descriptor;
    int error; /* errno of the first failure; nothing is written after it */
    uint64_t end;
    sigset_t mask; /* of the thread, until the file is closed */
    char path[4096];
} RawFile;

int raw_open(RawFile *file, unsigned number);
void raw_write(RawFile *file, const void *data, size_t size);

/* Start a section, of which `size` bytes follow. */
void raw_section(RawFile *file, const char tag[4], uint64_t size);

/* Write a section of a key and a text. */
void raw_text(RawFile *file, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read what was written. */
int raw_read(const RawFile *file, uint64_t offset, void *data, size_t size);

/* Close the file and give it the name of a complete one, or delete it. */
int raw_close(RawFile *file, int complete);

#endif
