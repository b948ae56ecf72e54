/* New threads and processes. The kernel clears the dispatch of calls in each, so a child is armed
 * here, as the first thing that it does, and then goes on where the program made it, with the
 * registers that the program had, as from a handler of a signal.
 *
 * The memory for that is the child's stack where it has one of its own. A child of vfork uses the
 * parent's, which nobody may rely on after that: both go on from an area apart. */

#include "shared.h"

#define RED_ZONE 128
#define CLONE3_BYTES_MAX 256

/* What a child is told. */
struct birth {
    uint64_t number, flags;
    uint32_t parent, parents_process, blocks_sys;
    int is_armed;
};

/* Where a child goes on. */
struct start {
    struct context context;
    struct birth birth;
};

/* Both sides of a vfork. Its address is the top of a stack that each uses, one after the other. */
struct area {
    struct start child;
    struct context parent;
    struct self self;
    struct asked asked;
};
#define AREA_BYTES (64ul << 10)
#define AREA_STACK (16ul << 10)
#define AREA_FLOATS (24ul << 10)

/* How many bytes of floating-point registers there are in a frame (arch/x86/kernel/fpu/signal.c). */
static size_t float_bytes(const uint8_t *floats)
{
    const uint32_t *said = (const uint32_t *)(floats + 464);
    return !floats ? 0 : said[0] == 0x46505853 ? said[1] : 512;
}

/* Tells of a child. Both sides do, and whoever is first is heard: what follows must not be told
 * before. */
static void tell_birth(const struct birth *birth, uint32_t child)
{
    uint32_t thread = self.thread;
    self.thread = birth->parent;
    tell(FORKED, birth->number, child, birth->flags, birth->parent, NULL);
    self.thread = thread;
}

static void become_child(const struct birth *birth)
{
    self.thread = raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
    self.process = birth->flags & CLONE_THREAD ? birth->parents_process : self.thread;
    self.dispatched = 0;
    self.blocks_sys = birth->blocks_sys;
    self.at = NULL;
    if (!birth->is_armed) {
        if (!(birth->flags & CLONE_VM))
            asked.is_silent = 1;
        return;
    }
    tell_birth(birth, self.thread);
    dispatch_on();
}

/* The child of clone_onto, on its own stack. */
HIDDEN void be_born(const struct start *start)
{
    const struct birth *birth = &start->birth;
    int shares_self = (birth->flags & CLONE_VM) && !(birth->flags & CLONE_SETTLS);
    /* Its memory of itself is its parent's, who does not wait: it cannot be told apart. */
    if (shares_self && !(birth->flags & CLONE_VFORK))
        return;
    become_child(birth);
}

/* A vfork that has returned, in the child or in its parent. */
HIDDEN _Noreturn void vforked(struct area *area, long result)
{
    if (result == 0) {
        become_child(&area->child.birth);
        resume(&area->child.context);
    }
    /* It may have made an environment for the program that it became. */
    forget_environment();
    self = area->self;
    self.area = area;
    asked = area->asked;
    if (result > 0)
        tell_birth(&area->child.birth, result);
    area->parent.rax = result;
    resume(&area->parent);
}

static void vfork_here(struct context *context, long number, const long *arguments,
                       const struct birth *birth)
{
    uint8_t *memory = self.area ? (uint8_t *)self.area - AREA_STACK : NULL;
    size_t bytes = float_bytes(context->floats);
    if (!memory) {
        long got = raw(SYS_mmap, 0, AREA_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memory = failed(got) ? NULL : (uint8_t *)got;
    }
    if (!memory || bytes > (AREA_BYTES - AREA_FLOATS) / 2) {
        context->rax = -12; /* ENOMEM, as fork has it */
        return;
    }
    struct area *area = (struct area *)(memory + AREA_STACK);
    uint8_t *floats = memory + AREA_FLOATS;
    self.area = NULL;
    area->self = self;
    area->asked = asked;
    area->parent = area->child.context = *context;
    area->child.birth = *birth;
    area->child.context.rax = 0;
    if (bytes) {
        copy(floats, context->floats, bytes);
        area->child.context.floats = floats;
        area->parent.floats = floats + (AREA_BYTES - AREA_FLOATS) / 2;
        copy(area->parent.floats, context->floats, bytes);
    }
    vfork_from(number, arguments, area);
}

/* The thread ends. */
void forget_area(void)
{
    if (self.area)
        raw(SYS_munmap, (long)((uint8_t *)self.area - AREA_STACK), AREA_BYTES, 0, 0, 0, 0);
}

/* A child with a stack of its own, on which it is told where to go on. */
static long clone_there(struct context *context, long number, const long *arguments, uint64_t top,
                        const struct birth *birth)
{
    uint64_t parameters[CLONE3_BYTES_MAX / 8];
    long changed[6];
    struct self before = self;
    struct asked asked_before = asked;
    size_t bytes = float_bytes(context->floats);
    uint8_t *floats = (uint8_t *)((top - RED_ZONE - bytes) & -64ul);
    struct start *start = (struct start *)((uintptr_t)(floats - sizeof *start) & -64ul);
    start->context = *context;
    start->birth = *birth;
    start->context.rsp = top;
    start->context.rax = 0;
    if (bytes) {
        copy(floats, context->floats, bytes);
        start->context.floats = floats;
    }
    if ((birth->flags & CLONE_VM) && !(birth->flags & CLONE_VFORK)) {
        /* As the kernel has it for a new thread. */
        start->context.alternate = (struct stack){NULL, SS_DISABLE, 0, 0};
    }
    copy(changed, arguments, sizeof changed);
    if (number == SYS_clone3) {
        copy(parameters, (void *)arguments[0], arguments[1]);
        parameters[6] = (uintptr_t)start - parameters[5];
        changed[0] = (long)parameters;
    } else {
        changed[1] = (long)start;
    }
    long result = clone_onto(number, changed);
    if (birth->flags & CLONE_VFORK) {
        forget_environment();
        self = before;
        asked = asked_before;
    }
    return result;
}

/* clone, clone3, fork or vfork. */
void emulate_clone(struct context *context, long number, const long *arguments)
{
    uint64_t flags = 0, top = 0;
    if (number == SYS_vfork) {
        flags = CLONE_VM | CLONE_VFORK;
    } else if (number == SYS_clone) {
        flags = arguments[0];
        top = arguments[1];
    } else if (number == SYS_clone3) {
        const uint64_t *parameters = (void *)arguments[0];
        if (arguments[1] < 64 || arguments[1] > CLONE3_BYTES_MAX) {
            context->rax = perform(number, arguments);
            return;
        }
        flags = parameters[0];
        top = parameters[5] ? parameters[5] + parameters[6] : 0;
    }
    struct birth birth = {
        .number = shared ? __atomic_add_fetch(&shared->clones, 1, __ATOMIC_RELAXED) : 0,
        .flags = flags,
        .parent = self.thread,
        .parents_process = self.process,
        .blocks_sys = self.blocks_sys,
        .is_armed = is_recorded() && !asked.has_filters && !asked.is_apart && !(flags & CLONE_NEWPID),
    };
    if (!top && (flags & CLONE_VM)) {
        vfork_here(context, number, arguments, &birth);
        return;
    }
    long result;
    if (top) {
        result = clone_there(context, number, arguments, top, &birth);
    } else {
        result = perform(number, arguments);
        if (result == 0)
            become_child(&birth);
    }
    context->rax = result;
    if (result <= 0)
        return;
    tell_birth(&birth, result);
    if (!birth.is_armed)
        tell(LEFT_ALONE, 1, 0, 0, 0, NULL);
}
