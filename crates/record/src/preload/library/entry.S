/* What cannot be said in C. Each is called as a C function is. */

    .text

/* A function begins. */
    .macro function name
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .endm

/* A system call, as a C function is given it: its number, and its six arguments in memory. */
    .macro call_kernel
    mov %rdi, %rax
    mov %rsi, %r11
    mov (%r11), %rdi
    mov 8(%r11), %rsi
    mov 16(%r11), %rdx
    mov 24(%r11), %r10
    mov 32(%r11), %r8
    mov 40(%r11), %r9
    syscall
    .endm

/* long perform(long number, const long *arguments): any system call. */
    function perform
    .cfi_startproc
    call_kernel
    ret
    .cfi_endproc
    .globl perform_end
    .hidden perform_end
perform_end:
    .size perform, . - perform

/* void resume(struct context *): goes on there, as from a handler of a signal. */
    function resume
    mov %rdi, %rsp
    mov $15, %eax
    syscall
    hlt
    .size resume, . - resume

/* Returns from a handler. Unwinders know it by these very instructions. */
    nop
    function restorer
    mov $15, %rax
    syscall
    .size restorer, . - restorer

/* long clone_onto(long number, const long *arguments): clone or clone3 onto a stack of the child's,
 * at whose pointer a `struct start` is: the child goes on from there. */
    function clone_onto
    call_kernel
    test %rax, %rax
    jz 1f
    ret
1:  xor %ebp, %ebp
    mov %rsp, %rbx
    mov %rsp, %rdi
    and $-16, %rsp
    call be_born
    mov %rbx, %rsp
    mov $15, %eax
    syscall
    hlt
    .size clone_onto, . - clone_onto

/* void vfork_from(long number, const long *arguments, struct area *area): a child that uses this
 * very stack. Whoever goes on does so from the area. */
    function vfork_from
    mov %rdx, %rbx
    call_kernel
    mov %rbx, %rsp
    xor %ebp, %ebp
    mov %rbx, %rdi
    mov %rax, %rsi
    call vforked
    hlt
    .size vfork_from, . - vfork_from

    .section .note.GNU-stack, "", @progbits
