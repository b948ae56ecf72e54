/* The program that a preloaded library is calibrated by. It makes the same small calls many times
 * and prints how long each took, as `time_calls` in overhead.rs does. iotoll may be static, and a
 * static program takes no library; this one is dynamic, as the programs are that are recorded. Told
 * of no calls, it starts processes instead, and without arguments it ends.
 *
 * It begins by itself rather than by `__libc_start_main`, whose newest version glibc older than
 * 2.34 lacks, so that a program built here runs there. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "timing.h" /* made of overhead.rs's figures by build.rs */

__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call begin\n"
        "    hlt\n");

/* Kinds of calls: as in overhead.rs. */
#define KINDS 5

static int file;
static char line[CALL_BYTES];

static void through_libc(void)
{
    if (pwrite64(file, line, CALL_BYTES, 0) != CALL_BYTES)
        _exit(1);
}

static void named(void)
{
    if (access(NAMED, F_OK))
        _exit(1);
}

static void without_libc(void)
{
    long result;
    register long offset __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_pwrite64), "D"((long)file), "S"(line), "d"((long)CALL_BYTES), "r"(offset)
                     : "rcx", "r11", "memory");
    if (result != CALL_BYTES)
        _exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The same calls, told apart by what they ask for. */
static void cold_write(void)
{
    if (pwrite64(file, line, CALL_BYTES, COLD_OFFSET) != CALL_BYTES)
        _exit(1);
}

static void cold_named(void)
{
    if (access(COLD_NAMED, F_OK))
        _exit(1);
}

static uint64_t timed(uint64_t calls, void (*call)(void))
{
    uint64_t began = now();
    for (uint64_t done = 0; done < calls; done++)
        call();
    return (now() - began) / calls;
}

/* The same of fewer calls, with the processor's nearest cache emptied before each. */
static uint64_t timed_cold(uint64_t calls, void (*call)(void))
{
    static volatile char memory[COLD_BYTES];
    uint64_t took = 0;
    calls = calls / COLD_PART ? calls / COLD_PART : 1;
    for (uint64_t done = 0; done < calls; done++) {
        for (unsigned long at = 0; at < COLD_BYTES; at += 64)
            memory[at]++;
        uint64_t began = now();
        call();
        took += now() - began;
    }
    return took / calls;
}

/* Writes a number before `end`, and returns where it begins. */
static char *number(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

static void print(const uint64_t *took, int kinds)
{
    char text[KINDS * 21];
    char *end = text + sizeof(text), *begin = end;
    for (int kind = kinds - 1; kind >= 0; kind--) {
        *--begin = kind == kinds - 1 ? '\n' : ' ';
        begin = number(begin, took[kind]);
    }
    if (write(STDOUT_FILENO, begin, (size_t)(end - begin)) != end - begin)
        _exit(1);
}

/* What is on the stack where a program begins: the number of its arguments, then these and a null
 * pointer, then its environment. */
struct arguments {
    long count;
    char *words[];
};

/* Processor time that this process has used, and those that it started. */
static uint64_t used(void)
{
    struct timespec own;
    struct rusage theirs;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    getrusage(RUSAGE_CHILDREN, &theirs);
    uint64_t seconds = (uint64_t)(own.tv_sec + theirs.ru_utime.tv_sec + theirs.ru_stime.tv_sec);
    uint64_t micros = (uint64_t)(theirs.ru_utime.tv_usec + theirs.ru_stime.tv_usec);
    return seconds * 1000000000 + (uint64_t)own.tv_nsec + micros * 1000;
}

/* What it takes from starting a process to its end: one that does nothing, or one that becomes this
 * program. It is processor time, for on a busy machine both wait longer than they work. */
static uint64_t started(const struct arguments *arguments, int becomes_program)
{
    char *words[] = {arguments->words[0], NULL};
    int status;
    uint64_t before = used();
    pid_t child = fork();
    if (!child && becomes_program) {
        execve("/proc/self/exe", words, (char **)arguments->words + arguments->count + 1);
        _exit(1);
    }
    if (!child)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        _exit(1);
    return used() - before;
}

__attribute__((noreturn)) static void time_starts(const struct arguments *arguments)
{
    for (int round = 0; round <= STARTS; round++) {
        uint64_t took[] = {started(arguments, 0), started(arguments, 1)};
        if (round)
            print(took, sizeof(took) / sizeof(*took));
    }
    _exit(0);
}

__attribute__((noreturn, used)) static void begin(const struct arguments *arguments)
{
    uint64_t calls = 0;
    if (arguments->count < 2)
        _exit(0);
    for (const char *digit = arguments->words[1]; *digit; digit++)
        calls = calls * 10 + (uint64_t)(*digit - '0');
    if (!calls)
        time_starts(arguments);
    file = (int)syscall(SYS_memfd_create, "iotoll", 1u /* MFD_CLOEXEC */);
    if (file < 0)
        _exit(1);
    for (int byte = 0; byte < CALL_BYTES; byte++)
        line[byte] = 'x';
    /* The first round is for warming up. */
    for (int round = 0; round <= ROUNDS; round++) {
        uint64_t took[KINDS] = {timed(calls, through_libc), timed(calls, named), timed(calls, without_libc),
                                timed_cold(calls, cold_write), timed_cold(calls, cold_named)};
        if (round)
            print(took, KINDS);
    }
    _exit(0);
}
