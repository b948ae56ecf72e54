/* Writes records into the ring that all programs of the recording share.
 *
 * Nobody ever waits: where there is no room, the record is counted as lost. A place is taken first
 * and its stamp is written last. Whoever dies in between leaves a gap, over which the recorder steps
 * in the end; a thread that jumps out of a signal's handler closes its gap with its next record. */

#include "shared.h"

#define FRAME_BYTES_MIN 1024

static void finish(struct record *record, uint64_t stamp)
{
    __atomic_store_n(&record->stamp, stamp, __ATOMIC_RELEASE);
    if (self.writing == record)
        self.writing = NULL;
}

/* A place for so many bytes, or none. */
static void *reserve(size_t bytes, uint64_t *stamp)
{
    char *here = __builtin_frame_address(0);
    /* Whoever is interrupted has at least the frame of a signal below it. */
    if (__builtin_expect(self.writing && here + FRAME_BYTES_MIN > self.writer, 0)) {
        self.writing->number = UNFINISHED;
        finish(self.writing, self.stamp);
    }
    uint64_t units = (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
    uint64_t room = shared->ring_bytes / UNIT_BYTES; /* a power of two */
    uint64_t at = __atomic_load_n(&shared->reserved, __ATOMIC_RELAXED);
    do {
        if (at + units - __atomic_load_n(&shared->read, __ATOMIC_ACQUIRE) > room) {
            __atomic_fetch_add(&shared->lost, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&shared->reserved, &at, at + units, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    *stamp = (at + 1) << STAMP_SHIFT | units;
    void *place = ring + (at & (room - 1)) * UNIT_BYTES;
    if (!self.writing) {
        self.stamp = *stamp;
        self.writer = here;
        self.writing = place;
    }
    return place;
}

static void fill(struct record *record, uint32_t number, uint64_t began, uint64_t ended, long result,
                 const long *arguments)
{
    record->began = began;
    record->ended = ended;
    record->thread = self.thread;
    record->process = self.process;
    record->number = number;
    record->result = result;
    record->dispatched = self.dispatched;
    for (int at = 0; at < 4; at++)
        record->arguments[at] = arguments[at];
    self.dispatched = 0;
}

/* Whether memory can be read: asked of the kernel where a call has failed perhaps because it
 * cannot. */
static int is_there(const void *at, size_t bytes)
{
    uint8_t into[256];
    while (bytes && !asked.has_filters) {
        size_t step = bytes < sizeof into ? bytes : sizeof into;
        struct { void *base; size_t bytes; } ours = {into, step}, its = {(void *)at, step};
        if (raw(SYS_process_vm_readv, self.process, (long)&ours, 1, (long)&its, 1, 0) != (long)step)
            return 0;
        at = (const char *)at + step;
        bytes -= step;
    }
    return !bytes;
}

/* The length of a path with the 0 at its end; 0 for one that cannot be read. */
static size_t path_bytes(const char *path, int was_read)
{
    size_t length = 0;
    if (!path)
        return 0;
    for (; length < PATH_BYTES; length++) {
        /* A path is looked at page by page. */
        if (!was_read && (length == 0 || ((uintptr_t)(path + length) & 4095) == 0) &&
            !is_there(path + length, 1))
            return 0;
        if (!path[length])
            return length + 1;
    }
    return 0;
}

static size_t block_bytes(uint32_t word, long number, long result, const long *arguments)
{
    uint32_t index = word >> BLOCK_SHIFT & INDEX_MASK;
    if (!index || !arguments[index - 1])
        return 0;
    size_t bytes = word >> BYTES_SHIFT & BYTES_MASK;
    if (!bytes) {
        size_t count = arguments[index];
        bytes = (count < VECTOR_MAX ? count : VECTOR_MAX) * VECTOR_BYTES;
    }
    /* Most commands of fcntl have a number where those for locks have a pointer: 5 to 7, and 36 to
     * 38 for open file descriptions. */
    long command = arguments[1];
    int locks = (command >= 5 && command <= 7) || (command >= 36 && command <= 38);
    if (number == SYS_fcntl && !locks)
        return 0;
    return result >= 0 || is_there((void *)arguments[index - 1], bytes) ? bytes : 0;
}

static void keep_large(uint32_t word, uint32_t number, uint64_t began, uint64_t ended, long result,
                       const long *arguments)
{
    /* The kernel has read the path of a call that succeeded, or did not find it. */
    int was_read = result >= 0 || result == -ENOENT;
    uint32_t path_index = word >> PATH_SHIFT & INDEX_MASK, to_index = word >> TO_SHIFT & INDEX_MASK;
    const char *path = path_index ? (char *)arguments[path_index - 1] : NULL;
    const char *to = to_index ? (char *)arguments[to_index - 1] : NULL;
    size_t path_length = path_bytes(path, was_read), to_length = path_bytes(to, was_read);
    size_t block_length = block_bytes(word, number, result, arguments);
    uint64_t stamp;
    struct large *large =
        reserve(sizeof *large + block_length + path_length + to_length, &stamp);
    if (!large)
        return;
    fill(&large->record, number | IS_LARGE, began, ended, result, arguments);
    large->more[0] = arguments[4];
    large->more[1] = arguments[5];
    large->block = block_length;
    large->path = path_length;
    large->to = to_length;
    uint8_t *rest = large->rest;
    if (block_length)
        copy(rest, (void *)arguments[(word >> BLOCK_SHIFT & INDEX_MASK) - 1], block_length);
    rest += block_length;
    copy(rest, path, path_length);
    copy(rest + path_length, to, to_length);
    finish(&large->record, stamp);
}

/* A call that has returned, if it is one that is recorded. */
void keep(uint32_t number, uint64_t began, uint64_t ended, long result, const long *arguments)
{
    uint32_t word = number < NUMBERS ? shared->words[number] : 0;
    if (!(word & WANTED))
        return;
    if (word & LARGE) {
        keep_large(word, number, began, ended, result, arguments);
        return;
    }
    uint64_t stamp;
    struct record *record = reserve(sizeof *record, &stamp);
    if (!record)
        return;
    fill(record, number, began, ended, result, arguments);
    finish(record, stamp);
}

/* Anything that is no call. */
void tell(uint32_t number, long result, long a, long b, long c, const char *text)
{
    if (!is_recorded())
        return;
    size_t length = text ? path_bytes(text, 0) : 0;
    uint64_t stamp;
    struct large *large = reserve(sizeof *large + length, &stamp);
    if (!large)
        return;
    uint64_t at = now();
    uint32_t dispatched = self.dispatched;
    const long arguments[4] = {a, b, c};
    fill(&large->record, number, at, at, result, arguments);
    self.dispatched = dispatched;
    large->more[0] = large->more[1] = 0;
    large->block = large->to = 0;
    large->path = length;
    copy(large->rest, text, length);
    finish(&large->record, stamp);
}
