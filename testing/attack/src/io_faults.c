/* Makes writes and syncs of files below a folder fail, as a broken or full disk does.
 *
 * ORRERY_FAULT_FOLDER   the folder
 * ORRERY_FAULT_CONTROL  a file whose first line says what fails: "write 28" (errno 28 for write, pwrite and writev),
 *                       "sync 5" (errno 5 for fsync and fdatasync); anything else, or no file: nothing
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int fault(const char *operation, int file) {
    const char *folder = getenv("ORRERY_FAULT_FOLDER"), *control = getenv("ORRERY_FAULT_CONTROL");
    char link[64], path[4096], wanted[16];
    int number = 0;
    if (!folder || !control) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    FILE *said = fopen(control, "re");
    if (!said) return 0;
    int fields = fscanf(said, "%15s %d", wanted, &number);
    fclose(said);
    return fields == 2 && strcmp(wanted, operation) == 0 ? number : 0;
}

#define WRAP(result, name, operation, parameters, ...)                                                          \
    result name parameters {                                                                                    \
        static result(*real) parameters;                                                                        \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                                                   \
        int number = fault(operation, file);                                                                    \
        if (number) {                                                                                           \
            errno = number;                                                                                     \
            return -1;                                                                                          \
        }                                                                                                       \
        return real(__VA_ARGS__);                                                                               \
    }

WRAP(ssize_t, write, "write", (int file, const void *bytes, size_t count), file, bytes, count)
WRAP(ssize_t, writev, "write", (int file, const struct iovec *parts, int count), file, parts, count)
WRAP(ssize_t, pwrite, "write", (int file, const void *bytes, size_t count, off_t at), file, bytes, count, at)
WRAP(ssize_t, pwrite64, "write", (int file, const void *bytes, size_t count, off64_t at), file, bytes, count, at)
WRAP(int, fsync, "sync", (int file), file)
WRAP(int, fdatasync, "sync", (int file), file)
