/* `--list`: the launches of each kernel with each geometry, counted and measured.
 *
 * The rows are in a mapped file, so that they are complete however the process ends.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "interpose.h"
#include "launches.h"
#include "table.h"

enum { ROWS = 1 << 14, PENDING = 256 };

/* `listing.py` has the same layout. */
typedef struct {
    uint64_t launches, measured;
    double milliseconds;
    uint32_t grid[3], block[3], shared_bytes, is_captured;
    char kernel[NAME_BYTES - 56];
} Row;

typedef struct {
    CUevent before, after;
    CUcontext context;
    Row *row;
    enum { FREE, BEGUN, ENDED } state;
} Measurement;

static Row *rows;
static uint32_t row_count;
static int rows_file, is_noted;
static Table by_launch;
static Measurement pending[PENDING];
static unsigned next_pending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void after_fork_in_child(void) { /* the child has rows of its own */
    rows = 0, row_count = 0, rows_file = 0, by_launch = (Table){0};
    memset(pending, 0, sizeof pending);
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Map a file that is extended row by row: writing to a part that is not there would be fatal. */
static int has_rows(void) {
    char path[PATH_BYTES];
    if (rows || rows_file < 0) return rows && row_count < ROWS;
    rows_file = open(in_folder(path, "list-%d", getpid()), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    size_t size = sizeof(Row) * (size_t)ROWS;
    void *found = rows_file < 0 ? MAP_FAILED
                                : mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, rows_file, 0);
    if (found == MAP_FAILED) rows_file = -1;
    rows = found == MAP_FAILED ? 0 : found;
    return rows != 0;
}

static Row *new_row(void) {
    sigset_t mask;
    if (!has_rows()) return 0;
    begin_writing(&mask);
    int failed = posix_fallocate(rows_file, sizeof(Row) * (off_t)row_count, sizeof(Row));
    end_writing(&mask);
    if (!failed) return &rows[row_count++];
    if (!is_noted) note("list %s", strerror(failed));
    is_noted = 1;
    return 0;
}

static uint64_t key_of(const Launch *launch) {
    uint64_t key = (uint64_t)launch->kernel;
    const uint32_t numbers[] = {
        launch->config.grid[0],  launch->config.grid[1],  launch->config.grid[2],
        launch->config.block[0], launch->config.block[1], launch->config.block[2],
        launch->config.shared_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        key = (key ^ numbers[i]) * 0x100000001B3u + (key >> 29);
    return key ? key : 1;
}

static Row *row_of(const Launch *launch) {
    uint64_t key = key_of(launch);
    Entry *known = table_find(&by_launch, key);
    if (known) return (Row *)known->value;
    Row *row = new_row();
    if (!row) return 0;
    memcpy(row->grid, launch->config.grid, sizeof row->grid);
    memcpy(row->block, launch->config.block, sizeof row->block);
    row->shared_bytes = launch->config.shared_bytes;
    strncpy(row->kernel, launch->kernel->name, sizeof row->kernel - 1);
    table_put(&by_launch, key, (uint64_t)row, 0);
    return row;
}

/* Add the time of a launch that has ended. */
static int collect(Measurement *each) {
    float milliseconds;
    if (each->state != ENDED) return each->state == FREE;
    CUresult result = driver_cuEventElapsedTime(&milliseconds, each->before, each->after);
    if (result == CUDA_ERROR_NOT_READY) return 0;
    if (!result) each->row->milliseconds += milliseconds, each->row->measured++;
    each->state = FREE;
    return 1;
}

static Measurement *measurement(Row *row) {
    Measurement *each = &pending[next_pending];
    CUcontext context = 0;
    driver_cuCtxGetCurrent(&context);
    if (!collect(each)) return 0;
    if (each->context != context) { /* events belong to a context */
        if (driver_cuEventCreate(&each->before, 0) || driver_cuEventCreate(&each->after, 0))
            return 0;
        each->context = context;
    }
    next_pending = (next_pending + 1) % PENDING;
    each->row = row, each->state = BEGUN;
    return each;
}

/* Called when the process ends in order, while the driver still answers. */
static void collect_all(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PENDING; i++) collect(&pending[i]);
    pthread_mutex_unlock(&lock);
}

/* Count a launch and begin to measure it. */
static Measurement *begin(const Launch *launch) {
    Row *row = row_of(launch);
    if (!row) return 0;
    row->launches++;
    Measurement *each = measurement(row);
    if (!each || !driver_cuEventRecord(each->before, launch->config.stream)) return each;
    each->state = FREE;
    return 0;
}

CUresult list_launch(const Launch *launch, CUresult (*again)(void *), void *context) {
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    int mode = CAPTURE_MODE_RELAXED;
    if (!atomic_flag_test_and_set(&registered)) atexit(collect_all);
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    pthread_mutex_lock(&lock);
    Measurement *each = begin(launch);
    pthread_mutex_unlock(&lock);
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    CUresult result = again(context);
    if (each) {
        int failed = result || driver_cuEventRecord(each->after, launch->config.stream);
        pthread_mutex_lock(&lock);
        each->state = failed ? FREE : ENDED;
        pthread_mutex_unlock(&lock);
    }
    return result;
}

void list_launch_of_graph(const Launch *launch) {
    pthread_mutex_lock(&lock);
    Row *row = row_of(launch);
    if (row) row->launches++, row->is_captured = 1;
    pthread_mutex_unlock(&lock);
}
