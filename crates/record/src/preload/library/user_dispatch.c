/* Syscall user dispatch (prctl(2), Linux 5.11), switched on and off for a thread. */

#include "shared.h"

/* The library's text, and all else of it. */
extern const char __ehdr_start[] HIDDEN;
extern const char _end[] HIDDEN;

/* Dispatches this thread's calls; 0 where that is done. */
int dispatch_on(void)
{
    return raw(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, (long)__ehdr_start,
               _end - __ehdr_start, 0, 0);
}

/* Leaves this thread's calls to itself. */
void dispatch_off(void)
{
    raw(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0, 0);
}
