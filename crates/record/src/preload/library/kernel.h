/* The kernel as this library meets it: system calls without libc, and the structures that signals
 * come with (x86-64). Everything here is placed in the library's own text, from which system calls
 * are allowed. */

#ifndef IOTOLL_KERNEL_H
#define IOTOLL_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <sys/syscall.h>

/* What headers before Linux 5.11 lack. */
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#define SIGNAL_CANCEL 32
#define SIGNAL_BYTES 8
/* The bit of SIGSYS in a set of signals. */
#define SYS_BIT (1ul << (SIGSYS - 1))

/* sigaction as the kernel has it. */
struct action {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

/* The head of siginfo_t, as SIGSYS has it. */
struct info {
    int32_t signal, error, code, unused;
    uint64_t address;
    int32_t number;
    uint32_t architecture;
};

struct stack {
    void *base;
    int32_t flags, unused;
    uint64_t bytes;
};

/* ucontext as the kernel writes it; rt_sigreturn finds it at the stack pointer. */
struct context {
    uint64_t flags;
    struct context *link;
    struct stack alternate;
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
    uint64_t eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t error, trap, old_mask, cr2;
    uint8_t *floats;
    uint64_t unused[8];
    uint64_t mask;
};
_Static_assert(sizeof(struct context) == 304, "as in the kernel");

static inline long raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline int failed(long result)
{
    return (unsigned long)result > -4096ul;
}

static inline void copy(void *to, const void *from, size_t bytes)
{
    /* One instruction, so that no compiler makes a call of it. */
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static inline void clear(void *at, size_t bytes)
{
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(0) : "memory");
}

static inline size_t length_of(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static inline int starts_with(const char *text, const char *start)
{
    while (*start)
        if (*text++ != *start++)
            return 0;
    return 1;
}

#endif
