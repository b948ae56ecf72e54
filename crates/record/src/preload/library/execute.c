/* Programs that begin. Each gets this library, whatever environment it is given, if it can take it:
 * the dynamic linker says so on standard error where it cannot, and that would be seen. It is
 * hidden in the environment that the program has.
 *
 * A program that is not told of afterwards, because it is static or has rights of its own, runs as
 * ever: the recorder counts it. */

#include <linux/elf.h>

#include "shared.h"

#define O_READ (O_RDONLY | O_CLOEXEC | O_NONBLOCK)
#define INTERPRETERS_MAX 5
#define HEAD 255
#define PROGRAM_HEADER_BYTES 56

static const char NAME[] = "LD_PRELOAD=";

static long read_at(int file, void *into, size_t bytes, uint64_t at)
{
    return raw(SYS_pread64, file, (long)into, bytes, at, 0, 0);
}

/* Whether the dynamic linker is glibc's for x86-64. The stacks of Go's threads have no room for a
 * signal. */
static int is_suitable(int file, const uint8_t *head)
{
    uint64_t table = *(uint64_t *)(head + 32);
    uint16_t count = *(uint16_t *)(head + 56);
    int has_linker = 0;
    for (uint16_t at = 0; at < count; at++) {
        static const char LINKER[] = "/ld-linux-x86-64.so.2";
        uint64_t header[PROGRAM_HEADER_BYTES / 8];
        char text[HEAD + 1];
        if (read_at(file, header, sizeof header, table + at * sizeof header) != sizeof header)
            return 0;
        uint32_t kind = header[0];
        if (kind != PT_INTERP && kind != PT_NOTE)
            continue;
        long bytes = header[4] < HEAD ? header[4] : HEAD;
        if (read_at(file, text, bytes, header[1]) != bytes)
            return 0;
        text[bytes] = 0;
        for (long from = 0; kind == PT_NOTE && from + 4 <= bytes; from += 4)
            if (text[from] == 'G' && text[from + 1] == 'o' && !text[from + 2] && !text[from + 3])
                return 0;
        long skip = bytes - (long)sizeof LINKER;
        if (kind == PT_INTERP)
            has_linker = skip >= 0 && starts_with(text + skip, LINKER);
    }
    return has_linker;
}

/* Whether a program, or what interprets it, can take this library. */
static int takes_us(long folder, const char *path, long flags)
{
    uint8_t head[HEAD + 1];
    int is_open = (flags & AT_EMPTY_PATH) && path && !*path;
    int file = is_open ? raw(SYS_fcntl, folder, F_DUPFD_CLOEXEC, 0, 0, 0, 0)
                       : raw(SYS_openat, folder, (long)path, O_READ, 0, 0, 0);
    for (int level = 0; level < INTERPRETERS_MAX && file >= 0; level++) {
        long bytes = read_at(file, head, HEAD, 0);
        int is_script = bytes > 2 && head[0] == '#' && head[1] == '!';
        /* 64 bits, little-endian, x86-64. */
        int is_ours = bytes >= 64 && *(uint32_t *)head == 0x464c457f && head[4] == 2 &&
                      *(uint16_t *)(head + 18) == 62;
        int suits = is_ours && is_suitable(file, head);
        raw(SYS_close, file, 0, 0, 0, 0, 0);
        if (!is_script)
            return suits;
        long from = 2, to;
        head[bytes] = 0;
        while (head[from] == ' ' || head[from] == '\t')
            from++;
        for (to = from; head[to] && head[to] != ' ' && head[to] != '\t' && head[to] != '\n';)
            to++;
        head[to] = 0;
        file = raw(SYS_openat, AT_FDCWD, (long)(head + from), O_READ, 0, 0, 0);
    }
    return 0;
}

/* The environment with this library in it, in memory that the next program has no more. */
static char **with_us(char **environment)
{
    static char *const NONE[] = {NULL};
    char **given = environment ? environment : (char **)NONE;
    size_t count = 0, there = 0;
    while (given[count]) {
        there += starts_with(given[count], NAME) ? length_of(given[count]) : 0;
        count++;
    }
    size_t ours = length_of((const char *)library_path);
    size_t bytes = (count + 2) * sizeof(char *) + sizeof NAME + ours + there + 2;
    long got = raw(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(got))
        return NULL;
    char **made = (char **)got, *text = (char *)(made + count + 2), *end = text;
    self.environment = made;
    self.environment_bytes = bytes;
    copy(end, NAME, sizeof NAME - 1);
    end += sizeof NAME - 1;
    copy(end, (const char *)library_path, ours);
    end += ours;
    int is_in = 0;
    for (size_t at = 0; at < count; at++) {
        made[at] = given[at];
        if (is_in || !starts_with(given[at], NAME))
            continue;
        const char *others = given[at] + sizeof NAME - 1;
        size_t length = length_of(others);
        if (length)
            *end++ = ':';
        copy(end, others, length);
        made[at] = text;
        is_in = 1;
    }
    if (!is_in)
        made[count] = text;
    return made;
}

/* Gives back the memory of an environment for a program that did not begin, or that began in a
 * child which shared this memory. */
void forget_environment(void)
{
    if (self.environment)
        raw(SYS_munmap, (long)self.environment, self.environment_bytes, 0, 0, 0, 0);
    self.environment = NULL;
}

/* execve(path, arguments, environment), or execveat with a folder before and flags behind. */
long execute(long number, const long *arguments)
{
    int is_at = number == SYS_execveat;
    const char *path = (char *)arguments[is_at];
    long changed[6];
    copy(changed, arguments, sizeof changed);
    tell(EXECUTING, 0, 0, 0, 0, path);
    int may = is_recorded() && !asked.has_filters && !asked.is_apart && is_library_there();
    if (may && takes_us(is_at ? arguments[0] : AT_FDCWD, path, is_at ? arguments[4] : 0)) {
        char **made = with_us((char **)arguments[is_at + 2]);
        if (made)
            changed[is_at + 2] = (long)made;
    }
    as_without();
    long result = perform(number, changed);
    as_before();
    forget_environment();
    tell(NOT_EXECUTED, result, 0, 0, 0, NULL);
    return result;
}

/* Takes this library out of the environment of the program that begins, as if it were not there. */
void hide(char **environment)
{
    size_t ours = length_of((const char *)library_path);
    for (char **at = environment; *at; at++) {
        if (!starts_with(*at, NAME))
            continue;
        char *others = *at + sizeof NAME - 1;
        if (!starts_with(others, (const char *)library_path))
            return;
        if (others[ours] == ':') {
            copy(others, others + ours + 1, length_of(others + ours + 1) + 1);
            return;
        }
        do
            at[0] = at[1];
        while (*at++);
        return;
    }
}
