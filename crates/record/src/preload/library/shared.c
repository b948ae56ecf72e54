/* What every file here knows: of its thread, of the memory shared with the recorder, and of this
 * library's own file. */

#include "shared.h"

__thread struct self self;
struct shared *shared;
uint8_t *ring;

/* The recorder writes both into the library before it is loaded. */
#define PLACED __attribute__((section(".data")))
const volatile char library_path[OWN_PATH_BYTES] PLACED = LIBRARY_MARK;
const volatile char ring_path[OWN_PATH_BYTES] PLACED = RING_MARK;

/* Whether this library's file is still there for programs that begin. */
int is_library_there(void)
{
    uint64_t facts[18]; /* struct stat: the device, the inode, and more */
    int file = raw(SYS_openat, AT_FDCWD, (long)library_path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (file < 0)
        return 0;
    long result = raw(SYS_fstat, file, (long)facts, 0, 0, 0, 0);
    raw(SYS_close, file, 0, 0, 0, 0, 0);
    return result == 0 && facts[0] == shared->device && facts[1] == shared->inode;
}
