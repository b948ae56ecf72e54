/* libc's functions for the calls that programs make most, in place of libc's own: each makes the
 * very system call that libc makes, from this library's text, where it is not dispatched. What is
 * not here is dispatched and costs a signal, which is slower and nothing else. */

#include <stdarg.h>

#include "shared.h"

#define CANCEL_AT_ONCE 1

extern int *__errno_location(void) __attribute__((weak));
extern int pthread_setcanceltype(int type, int *old) __attribute__((weak));
extern char __libc_single_threaded __attribute__((weak));
extern const char *gnu_get_libc_version(void) __attribute__((weak));

static long returned(long result)
{
    if (__builtin_expect(!failed(result), 1))
        return result;
    *__errno_location() = -result;
    return -1;
}

/* A thread may be cancelled within a call that waits, as it may in libc's function. */
static long cancellable(long number, const long *a)
{
    int type, ours;
    if ((&__libc_single_threaded && __libc_single_threaded) || !pthread_setcanceltype)
        return raw(number, a[0], a[1], a[2], a[3], 0, 0);
    pthread_setcanceltype(CANCEL_AT_ONCE, &type);
    long result = raw(number, a[0], a[1], a[2], a[3], 0, 0);
    pthread_setcanceltype(type, &ours);
    return result;
}

static inline __attribute__((always_inline)) long call(int waits, long number, long a, long b, long c,
                                                       long d)
{
    const long arguments[6] = {a, b, c, d, 0, 0};
    if (!is_recorded())
        return returned(waits ? cancellable(number, arguments) : raw(number, a, b, c, d, 0, 0));
    uint64_t began = now();
    long result = waits ? cancellable(number, arguments) : raw(number, a, b, c, d, 0, 0);
    keep(number, began, now(), result, arguments);
    return returned(result);
}

#define WAITS 1
#define PLAIN 0
#define ALSO(name, of, ...) EXPORT __typeof__(of) name __attribute__((alias(#of)))

/* A function that makes one call, and does nothing else. */
#define CALL(type, name, parameters, ...)             \
    EXPORT type name parameters                       \
    {                                                 \
        return call(__VA_ARGS__);                     \
    }

CALL(long, read, (int fd, void *into, size_t bytes), WAITS, SYS_read, fd, (long)into, bytes, 0)
ALSO(__read, read);
CALL(long, write, (int fd, const void *from, size_t bytes),
     WAITS, SYS_write, fd, (long)from, bytes, 0)
ALSO(__write, write);
CALL(long, pread, (int fd, void *into, size_t bytes, long at),
     WAITS, SYS_pread64, fd, (long)into, bytes, at)
ALSO(pread64, pread);
ALSO(__pread64, pread);
CALL(long, pwrite, (int fd, const void *from, size_t bytes, long at),
     WAITS, SYS_pwrite64, fd, (long)from, bytes, at)
ALSO(pwrite64, pwrite);
ALSO(__pwrite64, pwrite);
CALL(long, readv, (int fd, const void *buffers, int count),
     WAITS, SYS_readv, fd, (long)buffers, count, 0)
CALL(long, writev, (int fd, const void *buffers, int count),
     WAITS, SYS_writev, fd, (long)buffers, count, 0)

/* The mode that follows the flags of an open, where one does. */
static int mode_after(int flags, va_list list)
{
    int takes_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return takes_mode ? va_arg(list, int) : 0;
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int mode = mode_after(flags, list);
    va_end(list);
    return call(WAITS, SYS_openat, folder, (long)path, flags, mode);
}
ALSO(openat64, openat);

EXPORT int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int mode = mode_after(flags, list);
    va_end(list);
    return call(WAITS, SYS_openat, AT_FDCWD, (long)path, flags, mode);
}
ALSO(open64, open);
ALSO(__open, open);
ALSO(__open64, open);

CALL(int, close, (int fd), WAITS, SYS_close, fd, 0, 0, 0)
ALSO(__close, close);
CALL(long, lseek, (int fd, long to, int whence), PLAIN, SYS_lseek, fd, to, whence, 0)
ALSO(lseek64, lseek);
ALSO(__lseek, lseek);
CALL(int, fsync, (int fd), WAITS, SYS_fsync, fd, 0, 0, 0)
CALL(int, fdatasync, (int fd), WAITS, SYS_fdatasync, fd, 0, 0, 0)
CALL(int, ftruncate, (int fd, long bytes), PLAIN, SYS_ftruncate, fd, bytes, 0, 0)
ALSO(ftruncate64, ftruncate);
CALL(int, fstatat, (int folder, const char *path, void *into, int flags),
     PLAIN, SYS_newfstatat, folder, (long)path, (long)into, flags)
ALSO(fstatat64, fstatat);
CALL(int, stat, (const char *path, void *into),
     PLAIN, SYS_newfstatat, AT_FDCWD, (long)path, (long)into, 0)
ALSO(stat64, stat);
CALL(int, lstat, (const char *path, void *into),
     PLAIN, SYS_newfstatat, AT_FDCWD, (long)path, (long)into, AT_SYMLINK_NOFOLLOW)
ALSO(lstat64, lstat);

/* glibc 2.33 to 2.38 have another system call for it than those before and after. */
static int asks_by_fstat(void)
{
    const char *version = gnu_get_libc_version ? gnu_get_libc_version() : "";
    int minor = 0;
    for (const char *at = version[0] == '2' && version[1] == '.' ? version + 2 : "";
         *at >= '0' && *at <= '9'; at++)
        minor = 10 * minor + *at - '0';
    return minor < 33 || minor > 38;
}

EXPORT int fstat(int fd, void *into)
{
    if (asks_by_fstat())
        return call(PLAIN, SYS_fstat, fd, (long)into, 0, 0);
    if (fd < 0)
        return returned(-EBADF);
    return call(PLAIN, SYS_newfstatat, fd, (long)"", (long)into, AT_EMPTY_PATH);
}
ALSO(fstat64, fstat);

EXPORT int statx(int folder, const char *path, int flags, unsigned wanted, void *into)
{
    const long arguments[6] = {folder, (long)path, flags, wanted, (long)into, 0};
    if (!is_recorded())
        return returned(raw(SYS_statx, folder, (long)path, flags, wanted, (long)into, 0));
    uint64_t began = now();
    long result = raw(SYS_statx, folder, (long)path, flags, wanted, (long)into, 0);
    keep(SYS_statx, began, now(), result, arguments);
    return returned(result);
}

CALL(int, access, (const char *path, int mode), PLAIN, SYS_access, (long)path, mode, 0, 0)
CALL(int, unlink, (const char *path), PLAIN, SYS_unlink, (long)path, 0, 0, 0)
CALL(int, rename, (const char *path, const char *to), PLAIN, SYS_rename, (long)path, (long)to, 0, 0)
CALL(int, mkdir, (const char *path, unsigned mode), PLAIN, SYS_mkdir, (long)path, mode, 0, 0)
CALL(int, rmdir, (const char *path), PLAIN, SYS_rmdir, (long)path, 0, 0, 0)
CALL(long, readlink, (const char *path, char *into, size_t bytes),
     PLAIN, SYS_readlink, (long)path, (long)into, bytes, 0)
CALL(int, unlinkat, (int folder, const char *path, int flags),
     PLAIN, SYS_unlinkat, folder, (long)path, flags, 0)
CALL(int, mkdirat, (int folder, const char *path, unsigned mode),
     PLAIN, SYS_mkdirat, folder, (long)path, mode, 0)
CALL(int, link, (const char *path, const char *to), PLAIN, SYS_link, (long)path, (long)to, 0, 0)
CALL(int, symlink, (const char *path, const char *to),
     PLAIN, SYS_symlink, (long)path, (long)to, 0, 0)
CALL(int, chmod, (const char *path, unsigned mode), PLAIN, SYS_chmod, (long)path, mode, 0, 0)
CALL(int, fchmod, (int fd, unsigned mode), PLAIN, SYS_fchmod, fd, mode, 0, 0)
CALL(int, chown, (const char *path, unsigned user, unsigned group),
     PLAIN, SYS_chown, (long)path, user, group, 0)
CALL(int, fchown, (int fd, unsigned user, unsigned group), PLAIN, SYS_fchown, fd, user, group, 0)
CALL(int, flock, (int fd, int how), PLAIN, SYS_flock, fd, how, 0, 0)

EXPORT int fcntl(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (command == F_GETOWN) {
        /* As libc has it: a group's number is negative, and no error. */
        int owner[2];
        long result = raw(SYS_fcntl, fd, F_GETOWN_EX, (long)owner, 0, 0, 0);
        return result < 0 ? returned(result) : owner[0] == F_OWNER_PGRP ? -owner[1] : owner[1];
    }
    if (command == F_SETLKW || command == F_OFD_SETLKW)
        return call(WAITS, SYS_fcntl, fd, command, argument, 0);
    return call(PLAIN, SYS_fcntl, fd, command, argument, 0);
}
ALSO(fcntl64, fcntl);
ALSO(__fcntl, fcntl);

/* Nothing of these is recorded. */
#define NUMBER_OF(name)                               \
    EXPORT int name(void)                             \
    {                                                 \
        return raw(SYS_##name, 0, 0, 0, 0, 0, 0);     \
    }

NUMBER_OF(getpid)
NUMBER_OF(getppid)
NUMBER_OF(gettid)
NUMBER_OF(getuid)
NUMBER_OF(geteuid)
NUMBER_OF(getgid)
NUMBER_OF(getegid)
ALSO(__getpid, getpid);
