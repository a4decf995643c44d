/* Writes down every write, truncation and sync of files below a directory, in order, so that a test can work out what a
 * disk would hold after a power loss. Preloaded; SORDINO_RECORD names the record, SORDINO_RECORD_BELOW the directory.
 * A record: operation, length of path, offset, length of data (four whole numbers of 64 bits), path, data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static ssize_t (*real_write)(int, const void *, size_t);

static void note(uint64_t operation, int file, int64_t offset, const void *data, uint64_t length) {
    static int record = -2;
    static const char *below;
    char link[64], path[4096];
    if (record == -2) {
        const char *name = getenv("SORDINO_RECORD");
        below = getenv("SORDINO_RECORD_BELOW");
        record = name && below ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
        real_write = dlsym(RTLD_NEXT, "write");
    }
    if (record < 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return;
    path[size] = 0;
    if (strncmp(path, below, strlen(below)) != 0) return;
    uint64_t head[4] = {operation, (uint64_t)size, (uint64_t)offset, length};
    if (real_write(record, head, sizeof head) < 0 || real_write(record, path, (size_t)size) < 0) abort();
    for (uint64_t done = 0; done < length;) {
        ssize_t step = real_write(record, (const char *)data + done, length - done);
        if (step < 0) abort();
        done += (uint64_t)step;
    }
}

/* The record is made before a write and after a sync: what was not yet said to be done may not be relied on. */
#define REAL(name) (*(__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define IN_TURN(before, call, after) \
    pthread_mutex_lock(&turn); before; __typeof__(call) found = call; after; pthread_mutex_unlock(&turn); return found

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    IN_TURN(note(1, file, offset, data, length), REAL(pwrite)(file, data, length, offset), );
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    IN_TURN(note(1, file, offset, data, length), REAL(pwrite64)(file, data, length, offset), );
}
ssize_t write(int file, const void *data, size_t length) {
    struct stat about;
    int64_t offset = 0;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        offset = fcntl(file, F_GETFL) & O_APPEND ? about.st_size : lseek(file, 0, SEEK_CUR);
    IN_TURN(note(1, file, offset, data, length), REAL(write)(file, data, length), );
}
int ftruncate(int file, off_t length) { IN_TURN(note(2, file, length, "", 0), REAL(ftruncate)(file, length), ); }
int ftruncate64(int file, off64_t length) { IN_TURN(note(2, file, length, "", 0), REAL(ftruncate64)(file, length), ); }
int fsync(int file) { IN_TURN(, REAL(fsync)(file), note(3, file, 0, "", 0)); }
int fdatasync(int file) { IN_TURN(, REAL(fdatasync)(file), note(3, file, 0, "", 0)); }
