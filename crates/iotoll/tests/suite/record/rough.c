// What programs do with signals, threads and processes that a recorder within them could spoil. Each
// line of the output is what came of it: a recorded program has to print the same.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int hits;
static sigjmp_buf back;
static int ends[2];

static void say(const char *what, long value) { printf("%s: %ld\n", what, value); }

static int is_in(const sigset_t *set) { return sigismember(set, SIGSYS); }

static void hit(int signal) {
    (void)signal;
    FILE *stream = fopen("/dev/null", "w");
    fprintf(stream, "x");
    fclose(stream);
    hits++;
}

static void jump(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

static void catch(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

// Once, so that whoever is slow gets on between two of them.
static void ring_in(long us) {
    struct itimerval once = {{0, 0}, {0, us}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static long status_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void signals(void) {
    sigset_t all, before, now;
    struct sigaction old;
    catch(SIGSYS, hit, 0);
    sigaction(SIGSYS, NULL, &old);
    say("its own handler of SIGSYS", old.sa_handler == hit);
    raise(SIGSYS);
    say("was called", hits);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    say("SIGSYS was blocked", is_in(&before));
    raise(SIGSYS);
    puts("this is written with all signals blocked");
    sigprocmask(SIG_BLOCK, NULL, &now);
    say("SIGSYS is blocked", is_in(&now));
    say("handlers called meanwhile", hits);
    sigprocmask(SIG_SETMASK, &before, NULL);
    say("and behind", hits);
    signal(SIGSYS, SIG_DFL);
    // Memory for the stream is there before anything interrupts it: malloc is not for handlers.
    FILE *stream = fopen("/dev/null", "w");
    fprintf(stream, "x"), fflush(stream);
    catch(SIGALRM, hit, 0);
    hits = 0;
    int rung = -1;
    for (long written = 0; written < 300 || hits < 5;) {
        if (rung != hits) rung = hits, ring_in(1000);
        fprintf(stream, "%ld\n", written);
        written += fflush(stream) == 0;
    }
    ring_in(0);
    fclose(stream);
    // There is where to jump to before anybody does.
    volatile int jumps = -1;
    int null = open("/dev/null", O_WRONLY);
    if (!sigsetjmp(back, 1)) catch(SIGALRM, jump, 0);
    if (++jumps < 100) ring_in(1000);
    while (jumps < 100) {
        if (write(null, "x", 1) != 1) abort();
        getppid();
    }
    signal(SIGALRM, SIG_IGN);
    close(null);
    say("jumped out of handlers", jumps);
    catch(SIGCHLD, hit, 0);
    sigemptyset(&now);
    sigaddset(&now, SIGCHLD);
    sigprocmask(SIG_BLOCK, &now, &before);
    hits = 0;
    pid_t child = fork();
    if (child == 0) _exit(5);
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    say("waits for a signal", sigsuspend(&all) == -1 && errno == EINTR);
    say("which came", hits);
    say("child", status_of(child));
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    struct timespec soon = {0, 1000000};
    say("waits with a mask", pselect(0, NULL, NULL, NULL, &soon, &all));
    stack_t apart = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, found;
    sigaltstack(&apart, NULL);
    catch(SIGUSR1, hit, SA_ONSTACK);
    raise(SIGUSR1);
    sigaltstack(NULL, &found);
    say("keeps its stack for signals", found.ss_sp == apart.ss_sp);
    stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&other, NULL);
    sigaltstack(NULL, &found);
    say("or has another one", found.ss_sp == other.ss_sp);
}

static void *work(void *unused) {
    (void)unused;
    FILE *stream = fopen("/dev/null", "w");
    stack_t found;
    for (int i = 0; i < 100; i++) fprintf(stream, "%d", i), fflush(stream);
    fclose(stream);
    sigaltstack(NULL, &found);
    return (void *)(long)(fegetround() + (found.ss_flags == SS_DISABLE));
}

static void *read_one(void *unused) {
    char byte;
    return read(ends[0], &byte, 1) == 1 ? unused : NULL;
}

static void *read_line(void *unused) {
    char line[10];
    return fgets(line, sizeof line, fdopen(dup(ends[0]), "r")) ? unused : NULL;
}

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

static void threads(void) {
    void *(*blocked[])(void *) = {read_one, read_line, wait_for_ever};
    pthread_t all[4];
    void *result;
    if (pipe(ends)) abort();
    fesetround(FE_UPWARD);
    for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, work, NULL);
    long sum = 0;
    for (int i = 0; i < 4; i++) pthread_join(all[i], &result), sum += (long)result;
    say("threads round as they are told to", sum == 4 * (FE_UPWARD + 1));
    pid_t child = vfork();
    if (child == 0) _exit(7);
    say("so does who forks", fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
    say("child", status_of(child));
    for (int way = 0; way < 3; way++)
        for (int i = 0; i < 4; i++) {
            pthread_create(&all[0], NULL, blocked[way], NULL);
            usleep(i * 500);
            pthread_cancel(all[0]);
            pthread_join(all[0], &result);
            if (result != PTHREAD_CANCELED) say("was not cancelled", way);
        }
}

static int in_clone(void *code) {
    hit(0);
    _exit((int)(long)code);
}

static void processes(void) {
    char *words[] = {"sh", "-c", "exit 6", NULL}, line[10] = "";
    char *stack = malloc(1 << 16);
    pid_t child;
    for (int i = 0; i < 20; i++) {
        child = vfork();
        if (child == 0) {
            pid_t nested = vfork();
            if (nested == 0) close(open("/dev/null", O_RDONLY)), _exit(3);
            _exit(WEXITSTATUS(status_of(nested)) + 1);
        }
        if (status_of(child) != 4 << 8) say("nested child", i);
    }
    catch(SIGSYS, hit, 0);
    child = vfork();
    if (child == 0) execl("/nonexistent/program", "x", NULL), _exit(errno);
    say("missing program", status_of(child));
    say("spawn", posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ));
    say("spawned", status_of(child));
    say("spawn what is missing", posix_spawn(&child, "/nonexistent", NULL, NULL, words, environ));
    say("system", system("exit 11"));
    FILE *pipe = popen("echo hello", "r");
    say("popen", fgets(line, sizeof line, pipe) && !strcmp(line, "hello\n"));
    pclose(pipe);
    struct sigaction kept;
    sigaction(SIGSYS, NULL, &kept);
    say("keeps its handler", kept.sa_handler == hit);
    signal(SIGSYS, SIG_DFL);
    int ways[] = {0, CLONE_VM | CLONE_VFORK, CLONE_VM};
    for (int i = 0; i < 3; i++)
        say("clone", status_of(clone(in_clone, stack + (1 << 16), SIGCHLD | ways[i], (void *)9L)));
    child = syscall(SYS_fork);
    if (child == 0) _exit(8);
    say("fork by its number", status_of(child));
    int deadly[] = {SIGSEGV, SIGSYS, SIGKILL, SIGTERM};
    for (int i = 0; i < 4; i++) {
        child = fork();
        if (child == 0) raise(deadly[i]), _exit(0);
        say("killed", status_of(child) & 0x7f);
    }
}

static void errors(void) {
    char *path = malloc(9000), byte;
    memset(path, 'a', 8999);
    path[8999] = 0;
    say("no path", open((char *)8, O_RDONLY) == -1 ? errno : 0);
    say("none at all", open(NULL, O_RDONLY) == -1 ? errno : 0);
    say("by its number", syscall(SYS_openat, AT_FDCWD, 8, 0) == -1 ? errno : 0);
    say("not looked at", openat(AT_FDCWD, (char *)16, O_TMPFILE, 0) == -1 ? errno : 0);
    say("too long", open(path, O_RDONLY) == -1 ? errno : 0);
    say("no folder", openat(-5, "x", O_RDONLY) == -1 ? errno : 0);
    say("no buffer", write(1, (void *)8, 10) == -1 ? errno : 0);
    say("no descriptor", read(-1, &byte, 1) == -1 ? errno : 0);
    say("no lock", fcntl(ends[0], F_SETLK, (void *)8) == -1 ? errno : 0);
}

// With a filter that ends whoever makes another call than these, or reads the cycle counter.
static void filtered(void) {
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        if (write(1, "within a filter\n", 16) == 16) puts("and by stdio");
        syscall(SYS_exit, 3);
    }
    say("filtered", status_of(child));
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    say("has a variable too many", getenv("LD_PRELOAD") != NULL);
    signals();
    threads();
    processes();
    errors();
    filtered();
    return 42;
}
