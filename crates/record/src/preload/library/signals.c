/* SIGSYS is this library's: it is never blocked and its handler never replaced, for the kernel ends
 * a process that cannot be told of a dispatched call. What the program asks for SIGSYS is kept, and
 * told back to it. */

#include "shared.h"

#define SIGNALS 64

struct asked asked;

typedef void handler(int, struct info *, struct context *);

extern handler on_sys HIDDEN;

static void change_mask(int how, uint64_t mask)
{
    raw(SYS_rt_sigprocmask, how, (long)&mask, 0, SIGNAL_BYTES, 0, 0);
}

/* Handlers that others have set before this library began. */
static void unblock_in_handlers(void)
{
    for (long signal = 1; signal <= SIGNALS; signal++) {
        struct action found = {SIG_DFL, 0, NULL, 0};
        raw(SYS_rt_sigaction, signal, 0, (long)&found, SIGNAL_BYTES, 0, 0);
        const long arguments[] = {signal, (long)&found, 0, SIGNAL_BYTES};
        if (signal != SIGSYS && found.mask & SYS_BIT)
            set_action(arguments);
    }
}

void catch_sys(void)
{
    /* Other signals may come within it, as they may within a call; and so may SIGSYS, within
     * the handlers of those. */
    struct action ours = {on_sys, SA_SIGINFO | SA_RESTORER | SA_NODEFER, restorer, 0};
    uint64_t mask = 0;
    raw(SYS_rt_sigaction, SIGSYS, (long)&ours, (long)&asked.of_sys, SIGNAL_BYTES, 0, 0);
    raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, SIGNAL_BYTES, 0, 0);
    self.blocks_sys = (mask & SYS_BIT) != 0;
    change_mask(SIG_UNBLOCK, SYS_BIT);
    unblock_in_handlers();
}

/* Before another program begins: as it would be without this library. */
void as_without(void)
{
    struct action none = {SIG_IGN, SA_RESTORER, restorer, 0};
    if (asked.of_sys.handler == SIG_IGN)
        raw(SYS_rt_sigaction, SIGSYS, (long)&none, 0, SIGNAL_BYTES, 0, 0);
    if (self.blocks_sys)
        change_mask(SIG_BLOCK, SYS_BIT);
}

/* It has not begun. */
void as_before(void)
{
    struct action ours = {on_sys, SA_SIGINFO | SA_RESTORER | SA_NODEFER, restorer, 0};
    raw(SYS_rt_sigaction, SIGSYS, (long)&ours, 0, SIGNAL_BYTES, 0, 0);
    change_mask(SIG_UNBLOCK, SYS_BIT);
}

static void raise_sys(void)
{
    raw(SYS_tgkill, raw(SYS_getpid, 0, 0, 0, 0, 0, 0), raw(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGSYS,
        0, 0, 0);
}

/* A SIGSYS that is the program's own: of a filter that it has, or sent by somebody. */
void pass_on(int signal, struct info *info, struct context *context)
{
    int was_sent = info->code <= 0;
    handler *its = asked.of_sys.handler;
    if (was_sent && (self.blocks_sys || asked.of_sys.handler == SIG_IGN)) {
        self.awaits_sys = self.blocks_sys;
        return;
    }
    if (asked.of_sys.handler == SIG_DFL || asked.of_sys.handler == SIG_IGN) {
        struct action none = {SIG_DFL, SA_RESTORER, restorer, 0};
        raw(SYS_rt_sigaction, SIGSYS, (long)&none, 0, SIGNAL_BYTES, 0, 0);
        raise_sys();
        return;
    }
    if (asked.of_sys.flags & SA_RESETHAND)
        asked.of_sys.handler = SIG_DFL;
    change_mask(SIG_BLOCK, asked.of_sys.mask & ~SYS_BIT);
    its(signal, info, context);
}

/* libc cancels a thread where it stands within a call of libc's; while a call is performed for it,
 * it stands here. */
static void on_cancel(int signal, struct info *info, struct context *context)
{
    int is_here = context->rip >= (uintptr_t)perform && context->rip < (uintptr_t)perform_end;
    ((handler *)asked.cancel)(signal, info, is_here && self.at ? self.at : context);
}

/* rt_sigaction(signal, act, oldact, bytes) */
long set_action(const long *arguments)
{
    int signal = arguments[0];
    const struct action *act = (void *)arguments[1];
    struct action *old = (void *)arguments[2], ours;
    if (arguments[3] != SIGNAL_BYTES || signal < 1 || signal > SIGNALS)
        return -EINVAL;
    if (signal == SIGSYS) {
        struct action before = asked.of_sys;
        if (act)
            asked.of_sys = *act;
        if (old)
            *old = before;
        return 0;
    }
    uint64_t bit = 1ul << (signal - 1), blocked = asked.blocking & bit;
    void *cancel_before = asked.cancel;
    if (act) {
        ours = *act;
        ours.mask &= ~SYS_BIT;
        if (signal == SIGNAL_CANCEL && ours.handler != SIG_DFL && ours.handler != SIG_IGN) {
            asked.cancel = ours.handler;
            ours.handler = on_cancel;
        }
        if (act->mask & SYS_BIT)
            __atomic_fetch_or(&asked.blocking, bit, __ATOMIC_RELAXED);
        else
            __atomic_fetch_and(&asked.blocking, ~bit, __ATOMIC_RELAXED);
    }
    long result = raw(SYS_rt_sigaction, signal, act ? (long)&ours : 0, (long)old, SIGNAL_BYTES, 0, 0);
    if (result == 0 && old) {
        if (blocked)
            old->mask |= SYS_BIT;
        if (old->handler == on_cancel)
            old->handler = cancel_before;
    }
    return result;
}

/* rt_sigprocmask(how, set, oldset, bytes): what the handler returns to has the mask. */
long set_mask(struct context *context, const long *arguments)
{
    const uint64_t *set = (void *)arguments[1];
    uint64_t *old = (void *)arguments[2], ours = 0, wanted = 0;
    int blocked = self.blocks_sys;
    if (set && arguments[3] == SIGNAL_BYTES) {
        wanted = *set & SYS_BIT;
        ours = *set & ~SYS_BIT;
    }
    long result = raw(SYS_rt_sigprocmask, arguments[0], set ? (long)&ours : 0, (long)old,
                      arguments[3], 0, 0);
    if (result != 0)
        return result;
    if (old && blocked)
        *old |= SYS_BIT;
    if (set && arguments[0] == SIG_SETMASK)
        self.blocks_sys = wanted != 0;
    else if (set && wanted)
        self.blocks_sys = arguments[0] == SIG_BLOCK;
    raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&context->mask, SIGNAL_BYTES, 0, 0);
    if (self.awaits_sys && !self.blocks_sys) {
        self.awaits_sys = 0;
        raise_sys();
    }
    return result;
}

/* Calls that wait with another mask, within which handlers run. */
long wait_with_mask(long number, const long *arguments)
{
    struct { const uint64_t *set; uint64_t bytes; } both;
    long changed[6];
    uint64_t mask;
    int at = number == SYS_rt_sigsuspend ? 0 : number == SYS_ppoll ? 3 : 4;
    int is_behind = number == SYS_pselect6 || number == SYS_io_pgetevents;
    copy(changed, arguments, sizeof changed);
    if (is_behind) {
        if (!arguments[5])
            return perform(number, arguments);
        copy(&both, (void *)arguments[5], sizeof both);
    } else {
        both.set = (void *)arguments[at];
    }
    if (!both.set)
        return perform(number, arguments);
    mask = *both.set & ~SYS_BIT;
    both.set = &mask;
    changed[is_behind ? 5 : at] = is_behind ? (long)&both : (long)&mask;
    return perform(number, changed);
}
