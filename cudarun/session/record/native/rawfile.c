/* Writing of raw files. One that is not complete has another name. */
#define _GNU_SOURCE
#include "rawfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

int raw_open(RawFile *file, unsigned number) {
    *file = (RawFile){0};
    begin_writing(&file->mask);
    in_folder(file->path, "raw-%d-%06u.part", getpid(), number);
    file->descriptor = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->descriptor < 0) file->error = errno;
    raw_write(file, "CUDARAW1", 8);
    return !file->error;
}

void raw_write(RawFile *file, const void *data, size_t size) {
    while (size && !file->error) {
        ssize_t written = write(file->descriptor, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            file->error = errno;
            return;
        }
        data = (const char *)data + written;
        size -= written, file->end += written;
    }
}

void raw_section(RawFile *file, const char tag[4], uint64_t size) {
    raw_write(file, tag, 4);
    raw_write(file, &size, sizeof size);
}

void raw_text(RawFile *file, const char *key, const char *format, ...) {
    char *text = 0;
    va_list rest;
    va_start(rest, format);
    int length = vasprintf(&text, format, rest);
    va_end(rest);
    if (length < 0) return;
    raw_section(file, "TEXT", strlen(key) + 1 + length);
    raw_write(file, key, strlen(key) + 1);
    raw_write(file, text, length);
    free(text);
}

int raw_read(const RawFile *file, uint64_t offset, void *data, size_t size) {
    while (size) {
        ssize_t got = pread(file->descriptor, data, size, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        data = (char *)data + got;
        size -= got, offset += got;
    }
    return 1;
}

int raw_close(RawFile *file, int complete) {
    char name[4096];
    if (file->descriptor >= 0) close(file->descriptor);
    end_writing(&file->mask);
    strcpy(name, file->path);
    char *dot = strrchr(name, '.');
    if (complete && !file->error && dot) {
        strcpy(dot, ".raw");
        if (!rename(file->path, name)) return 1;
        file->error = errno;
    }
    unlink(file->path);
    return 0;
}
