/* The page that `cudarun record` shares with all processes of the program, and its questions.
 *
 * `control.py` has the same layout.
 */
#ifndef CUDARUN_CONTROL_H
#define CUDARUN_CONTROL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

enum Mode { MODE_OFF, MODE_LIST, MODE_RECORD, MODE_WATCH, MODE_SKIP };
enum { NAME_BYTES = 4096, SLOTS = 64 };

/* A launch that a thread waits for. */
typedef struct {
    _Atomic uint64_t started_ns; /* CLOCK_MONOTONIC; 0 if it is not waiting */
    uint64_t ordinal;
    _Atomic uint32_t process; /* 0 if the slot is free */
    uint32_t padding;
    char kernel[NAME_BYTES - 24];
} Slot;

typedef struct {
    char magic[8];
    uint32_t mode;
    uint32_t each_kernel; /* count the launches of each kernel on their own, in each process */
    uint64_t nth, count, max_bytes;
    _Atomic uint64_t matched, taken;
    _Atomic uint32_t fault_claimed, fault_status;
    uint64_t fault_ordinal;
    char padding[NAME_BYTES - 72];
    char fault_kernel[NAME_BYTES];
    Slot slots[SLOTS];
} Control;

/* The shared page; null if the process is not recorded. */
extern Control *control;

/* The path of a file in the folder that the parent reads. */
const char *in_folder(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum { PATH_BYTES = 4096 };

/* Ask the parent; return the answer, which the caller frees, or null. */
char *ask(const char *question, const char *kernel, const char *path);

/* Keep SIGXFSZ, of a file that exceeds the user's limit, from ending the program; the calling thread
 * writes files between the two calls. */
void begin_writing(sigset_t *mask);
void end_writing(const sigset_t *mask);

/* Tell the parent about something that the user has to know. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
