/* System calls that do not come through the functions of `calls.c`: what libc does of itself, and
 * instructions in other libraries and in the program. Each raises SIGSYS instead (syscall user
 * dispatch, prctl(2)), and is performed by the handler, from this library's text. Nothing of it
 * outlives the program or needs the recorder: the dispatch is the thread's own, ends when another
 * program begins, and is not inherited.
 *
 * The handler calls nothing of libc, and allocates nothing. */

#include <asm/prctl.h>
#include <linux/audit.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/seccomp.h>

#include "shared.h"

#define INSTRUCTION_BYTES 2

/* Has the program make the call by itself, and this thread's calls from then on. */
static void leave_alone(struct context *context)
{
    dispatch_off();
    tell(LEFT_ALONE, 1, 0, 0, 0, NULL);
    context->rip -= INSTRUCTION_BYTES;
}

/* Records nothing more of this process: it will not be able to read the cycle counter. */
static void stop_recording(void)
{
    tell(LEFT_ALONE, 1, 0, 0, 0, NULL);
    asked.is_silent = 1;
}

static void tell_end(long number, long code)
{
    long usage[18] = {0};
    int is_process = number == SYS_exit_group;
    if (!asked.has_filters)
        raw(SYS_getrusage, is_process ? RUSAGE_SELF : RUSAGE_THREAD, (long)usage, 0, 0, 0, 0);
    tell(ENDED, (code & 0xff) << 8, is_process, usage[0] * 1000000000 + usage[1] * 1000,
         usage[2] * 1000000000 + usage[3] * 1000, NULL);
}

/* Any call, recorded where it is one of those. */
static long timed(uint32_t number, const long *arguments)
{
    if (!is_recorded() || number >= NUMBERS || !(shared->words[number] & WANTED))
        return perform(number, arguments);
    uint64_t began = now();
    long result = perform(number, arguments);
    keep(number, began, now(), result, arguments);
    return result;
}

/* wait4 tells how a child has ended, which need not have told it itself. */
static long reap(long *arguments)
{
    int ours = 0;
    if (!arguments[1])
        arguments[1] = (long)&ours;
    long result = timed(SYS_wait4, arguments);
    if (result <= 0)
        return result;
    int status = *(int *)arguments[1];
    int has_ended = (status & 0xff) != 0x7f && status != 0xffff;
    if (has_ended)
        tell(REAPED, status, result, 0, 0, NULL);
    return result;
}

/* Calls after which this library has to be careful, or gone. */
static int changes_rules(struct context *context, long number, const long *arguments)
{
    switch (number) {
    case SYS_prctl:
        if (arguments[0] == PR_SET_SECCOMP)
            asked.has_filters = 1;
        if (arguments[0] == PR_SET_TSC ||
            (arguments[0] == PR_SET_SECCOMP && arguments[1] == SECCOMP_MODE_STRICT))
            stop_recording();
        if (arguments[0] != PR_SET_SYSCALL_USER_DISPATCH)
            return 0;
        /* The program does the same: SIGSYS is its own from now on. */
        raw(SYS_rt_sigaction, SIGSYS, (long)&asked.of_sys, 0, SIGNAL_BYTES, 0, 0);
        break;
    case SYS_seccomp:
        asked.has_filters = 1;
        if (arguments[0] == SECCOMP_SET_MODE_STRICT)
            stop_recording();
        return 0;
    case SYS_ptrace:
        if (arguments[0] != PTRACE_TRACEME)
            return 0;
        asked.is_apart = 1;
        break;
    case SYS_arch_prctl:
        if (arguments[0] != ARCH_SET_FS)
            return 0;
        break;
    case SYS_setns:
        asked.is_apart = 1;
        return 0;
    case SYS_unshare:
        if (arguments[0] & CLONE_NEWPID)
            asked.is_apart = 1;
        return 0;
    default:
        return 0;
    }
    leave_alone(context);
    return 1;
}

static long do_for(struct context *context, uint32_t number, long *arguments)
{
    long result;
    switch (number) {
    case SYS_rt_sigaction:
        return set_action(arguments);
    case SYS_rt_sigprocmask:
        return set_mask(context, arguments);
    case SYS_rt_sigsuspend:
    case SYS_ppoll:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_pselect6:
    case SYS_io_pgetevents:
        return wait_with_mask(number, arguments);
    case SYS_sigaltstack:
        /* What the handler returns to has it. */
        result = perform(number, arguments);
        raw(SYS_sigaltstack, 0, (long)&context->alternate, 0, 0, 0, 0);
        return result;
    case SYS_execve:
    case SYS_execveat:
        return execute(number, arguments);
    case SYS_wait4:
        return reap(arguments);
    case SYS_exit:
    case SYS_exit_group:
        tell_end(number, arguments[0]);
        if (number == SYS_exit && !asked.has_filters)
            forget_area();
        return perform(number, arguments);
    default:
        return timed(number, arguments);
    }
}

HIDDEN void on_sys(int signal, struct info *info, struct context *context)
{
    if (info->code != SYS_USER_DISPATCH) {
        pass_on(signal, info, context);
        return;
    }
    if (info->architecture != AUDIT_ARCH_X86_64) {
        leave_alone(context);
        return;
    }
    uint32_t number = info->number;
    long arguments[6] = {context->rdi, context->rsi, context->rdx,
                         context->r10, context->r8, context->r9};
    self.dispatched++;
    switch (number) {
    case SYS_rt_sigreturn:
        /* The end of a handler of the program's: its frame is where the program's stack is. */
        resume((void *)context->rsp);
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
        emulate_clone(context, number, arguments);
        return;
    default:
        if (changes_rules(context, number, arguments))
            return;
    }
    struct context *before = self.at;
    self.at = context;
    context->rax = do_for(context, number, arguments);
    self.at = before;
}
