/* What the library shares with the recorder, which made it, and what it knows of its thread. */

#ifndef IOTOLL_SHARED_H
#define IOTOLL_SHARED_H

#include "kernel.h"
#include "constants.h" /* made of shared.rs, as places.h is */

/* The beginning of the shared memory; the ring is behind it. */
struct shared {
    uint64_t magic;
    uint64_t ring_bytes; /* a power of two */
    uint32_t open;       /* 0 once nobody reads any more */
    uint32_t cycles;     /* whether times are of the cycle counter, which all processors share */
    uint64_t device, inode; /* of this library's file */
    uint8_t apart_1[24];
    uint64_t reserved; /* how many units have been given out, on a cache line of its own */
    uint8_t apart_2[56];
    uint64_t read; /* how many have been read */
    uint8_t apart_3[56];
    uint64_t lost; /* records for which there was no room */
    uint64_t clones;
    uint8_t apart_4[48];
    uint32_t words[NUMBERS]; /* whether a call is recorded, and where its pointers are */
};
_Static_assert(sizeof(struct shared) <= HEAD_BYTES, "it has room");

/* A record: `stamp` is written last and says that it is complete. */
struct record {
    uint64_t stamp;
    uint64_t began, ended;
    uint32_t thread, number;
    int64_t result;
    uint32_t dispatched, process;
    uint64_t arguments[4];
};
struct large {
    struct record record;
    uint64_t more[2];
    uint16_t block, path, to, unused;
    uint8_t rest[];
};
_Static_assert(sizeof(struct record) == RECORD_BYTES, "as the recorder has it");
_Static_assert(sizeof(struct large) == LARGE_BYTES, "as the recorder has it");
#include "places.h"

/* What the library knows of its thread. */
struct self {
    uint32_t thread, process;
    /* System calls that came by a signal since the last record. */
    uint32_t dispatched;
    /* Whether the program has blocked SIGSYS, as far as it knows, and one has come meanwhile. */
    uint16_t blocks_sys, awaits_sys;
    /* Memory for vfork, unless it is in use. */
    void *area;
    /* An environment that was made for execve by a child that shares this memory. */
    void *environment;
    size_t environment_bytes;
    /* Where the program is while a call is performed for it. */
    struct context *at;
    /* The record that is being written, its stamp, and the stack of who writes it. */
    struct record *writing;
    uint64_t stamp;
    char *writer;
};

extern __thread struct self self __attribute__((tls_model("initial-exec"))) HIDDEN;
extern struct shared *shared HIDDEN;
extern uint8_t *ring HIDDEN;

/* What the program has asked for. A child that shares this memory changes it for itself alone. */
struct asked {
    /* Its action for SIGSYS. */
    struct action of_sys;
    /* The signals within whose handlers it wants SIGSYS to be blocked. */
    uint64_t blocking;
    /* What libc has for the signal by which it cancels threads. */
    void *cancel;
    /* It has filters, which may kill it for system calls that are not its. */
    int has_filters;
    /* Children have other process numbers than here, or a tracer. */
    int is_apart;
    /* Nothing more of it is recorded. */
    int is_silent;
};
extern struct asked asked HIDDEN;

static inline int is_recorded(void)
{
    return shared && *(volatile uint32_t *)&shared->open && !asked.is_silent;
}

static inline uint64_t now(void)
{
    if (__builtin_expect(shared->cycles, 1)) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        return (uint64_t)high << 32 | low;
    }
    long time[2];
    raw(SYS_clock_gettime, 1, (long)time, 0, 0, 0, 0);
    return time[0] * 1000000000ul + time[1];
}

/* record.c */
HIDDEN void keep(uint32_t number, uint64_t began, uint64_t ended, long result, const long *arguments);
HIDDEN void tell(uint32_t number, long result, long a, long b, long c, const char *text);

/* shared.c */
HIDDEN extern const volatile char ring_path[OWN_PATH_BYTES];
HIDDEN extern const volatile char library_path[OWN_PATH_BYTES];
HIDDEN int is_library_there(void);

/* user_dispatch.c */
HIDDEN int dispatch_on(void);
HIDDEN void dispatch_off(void);

/* clone.c */
HIDDEN void forget_area(void);
HIDDEN void emulate_clone(struct context *context, long number, const long *arguments);

/* execute.c */
HIDDEN long execute(long number, const long *arguments);
HIDDEN void hide(char **environment);
HIDDEN void forget_environment(void);

/* signals.c */
HIDDEN void catch_sys(void);
HIDDEN void pass_on(int signal, struct info *info, struct context *context);
HIDDEN long set_action(const long *arguments);
HIDDEN long set_mask(struct context *context, const long *arguments);
HIDDEN long wait_with_mask(long number, const long *arguments);
HIDDEN void as_without(void);
HIDDEN void as_before(void);

/* entry.S */
HIDDEN long perform(long number, const long *arguments);
HIDDEN extern char perform_end[];
HIDDEN _Noreturn void resume(void *context);
HIDDEN void restorer(void);
HIDDEN long clone_onto(long number, const long *arguments);
HIDDEN _Noreturn void vfork_from(long number, const long *arguments, void *area);

#endif
