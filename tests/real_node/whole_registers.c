/* A processor with tile registers (AMX) has more of them than the kernel that runs as a process was
 * built for, and the host takes a process's registers whole or not at all. This stands before ptrace
 * of the C library: of what the caller does not know it writes back what is there.
 *
 * Source: xstateregs_set in arch/x86/kernel/fpu/regset.c of Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202

static char whole[64 * 1024] __attribute__((aligned(64)));

long ptrace(enum __ptrace_request request, ...) {
    va_list rest;
    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *at = va_arg(rest, void *);
    void *data = va_arg(rest, void *);
    va_end(rest);

    struct iovec all = {whole, sizeof whole};
    if (request == PTRACE_SETREGSET && (long)at == NT_X86_XSTATE) {
        struct iovec *known = data;
        if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, at, &all) == 0 && known->iov_len < all.iov_len) {
            memcpy(whole, known->iov_base, known->iov_len);
            data = &all;
        }
    }
    /* The C library hands back what the kernel writes for a peek. */
    long word = 0;
    int peeks = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
    long answer = syscall(SYS_ptrace, request, pid, at, peeks ? &word : data);
    if (answer >= 0 && peeks) {
        errno = 0;
        return word;
    }
    return answer;
}
