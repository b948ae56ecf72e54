// Does a known number of file calls, for recordings to be held against.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char line[70];
static int file;
static long times;

static void *write_lines(void *unused) {
    for (long i = 0; i < times; i++)
        if (write(file, line, sizeof line) != sizeof line) abort();
    return unused;
}

static void stdio(const char *path) {
    FILE *stream = fopen(path, "a");
    for (long i = 0; i < times; i++) {
        fwrite(line, sizeof line, 1, stream);
        fflush(stream);
    }
    fclose(stream);
}

static void threads(void) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, write_lines, NULL);
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

static void many_kinds(const char *path) {
    char other[4096], buffer[100];
    struct stat facts;
    struct iovec both[2] = {{line, 10}, {line, 20}};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 6};
    snprintf(other, sizeof other, "%s.other", path);
    for (long i = 0; i < times; i++) {
        int new = open(other, O_CREAT | O_RDWR | O_TRUNC, 0600);
        if (writev(new, both, 2) != 30 || pwrite(new, line, 7, 100) != 7) abort();
        if (pread(new, buffer, 100, 3) != 100 || lseek(new, 1, SEEK_SET) != 1) abort();
        if (fcntl(new, F_SETLK, &lock) || fsync(new) || ftruncate(new, 3)) abort();
        int copy = dup(new);
        close(copy);
        close(new);
        if (stat(other, &facts) || access(other, R_OK) || rename(other, path)) abort();
        if (stat("/nonexistent/file", &facts) != -1) abort();
        if (unlink(path)) abort();
    }
}

// Calls that change names, owners and rights.
static void names(const char *path) {
    char other[4096];
    snprintf(other, sizeof other, "%s.name", path);
    for (long i = 0; i < times; i++) {
        if (symlink(path, other) || unlinkat(AT_FDCWD, other, 0)) abort();
        if (link(path, other) || chmod(other, 0640) || chown(other, -1, -1)) abort();
        if (unlink(other) || fchmod(file, 0600) || fchown(file, -1, -1)) abort();
        if (mkdirat(AT_FDCWD, other, 0700) || unlinkat(AT_FDCWD, other, AT_REMOVEDIR)) abort();
        if (chmod("/nonexistent/file", 0600) != -1 || errno != ENOENT) abort();
        if (getpid() != gettid() || getppid() <= 0 || geteuid() != getuid()) abort();
        if (getegid() != getgid()) abort();
    }
}

static void start_others(void) {
    for (long i = 0; i < times; i++) {
        int forked = fork();
        if (forked == 0) {
            if (write(file, line, sizeof line) != sizeof line) abort();
            _exit(3);
        }
        waitpid(forked, NULL, 0);
        int vforked = vfork();
        if (vforked == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(127);
        }
        waitpid(vforked, NULL, 0);
    }
}

// Calls that take long because they wait, and calls that take long because they have much to do.
static void wait_and_work(const char *path) {
    for (long i = 0; i < times; i++) {
        int ends[2];
        char byte;
        if (pipe(ends)) abort();
        int forked = fork();
        if (forked == 0) {
            int own = open(path, O_RDWR);
            if (flock(own, LOCK_EX) || write(ends[1], "x", 1) != 1) abort();
            usleep(50000);
            _exit(0);
        }
        if (read(ends[0], &byte, 1) != 1 || flock(file, LOCK_EX) || flock(file, LOCK_UN)) abort();
        close(ends[0]);
        close(ends[1]);
        waitpid(forked, NULL, 0);
    }
    size_t many = 32 << 20;
    char *buffer = malloc(many);
    memset(buffer, 1, many);
    int zeros = open("/dev/zero", O_RDONLY);
    for (long i = 0; i < times; i++)
        if (read(zeros, buffer, many) != (ssize_t)many) abort();
}

// Pages of a new file that are written to through memory; says how many page faults that took.
static void mapped(const char *path) {
    int new = open(path, O_RDWR | O_TRUNC);
    long page = sysconf(_SC_PAGESIZE);
    if (ftruncate(new, times * page)) abort();
    char *at = mmap(NULL, times * page, PROT_READ | PROT_WRITE, MAP_SHARED, new, 0);
    if (at == MAP_FAILED) abort();
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (long i = 0; i < times; i++) at[i * page] = 1;
    getrusage(RUSAGE_SELF, &after);
    printf("%ld\n", after.ru_minflt - before.ru_minflt);
}

int main(int count, char **words) {
    if (count < 4) return 2;
    times = atol(words[2]);
    memset(line, 'x', sizeof line);
    file = open(words[3], O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (!strcmp(words[1], "write")) write_lines(NULL);
    if (!strcmp(words[1], "stdio")) stdio(words[3]);
    if (!strcmp(words[1], "threads")) threads();
    if (!strcmp(words[1], "kinds")) many_kinds(words[3]);
    if (!strcmp(words[1], "mapped")) mapped(words[3]);
    if (!strcmp(words[1], "names")) names(words[3]);
    if (!strcmp(words[1], "others")) start_others();
    if (!strcmp(words[1], "waits")) wait_and_work(words[3]);
    if (!strcmp(words[1], "rights")) printf("%d %d\n", getuid(), geteuid());
    if (!strcmp(words[1], "signal")) raise(times);
    return 0;
}
