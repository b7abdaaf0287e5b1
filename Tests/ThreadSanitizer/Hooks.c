// What the thread sanitizer cannot see of Swift's runtime on Linux, told to it.
//
// libswiftSynchronization and libswift_Concurrency are not instrumented. Two of their orderings are therefore unknown to
// the sanitizer, which then reports races where there are none:
//
//   1 Mutex: the uncontended lock and unlock are inlined into the caller and seen; the contended ones are calls into the
//     library (a futex), and are not.
//   2 A continuation resumed before its task has come to wait for it: the runtime tells the sanitizer of the resumption,
//     but not of the task that goes on.
//
// Linked into a program, these definitions win over the library's: each calls the library's own and names the ordering
// that it makes. They add no ordering that is not there; Rig.swift's races hold them to it. Scripts/tsan links them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// The next definition of a symbol after this program's; looked up once.
static void *original(_Atomic(void *) *known, const char *symbol) {
  void *found = atomic_load_explicit(known, memory_order_acquire);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, symbol);
    if (found == NULL) {
      fprintf(stderr, "thread sanitizer: this toolchain's runtime has no %s; Tests/ThreadSanitizer/Hooks.c needs care\n", symbol);
      _Exit(70);
    }
    atomic_store_explicit(known, found, memory_order_release);
  }
  return found;
}

// --- 1: Synchronization._MutexHandle; the handle, which is the futex's word, comes as self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void mutexLock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT bool mutexTryLock(SELF void *handle) __asm__(TRY_LOCK);
SWIFT void mutexUnlock(SELF void *handle) __asm__(UNLOCK);

SWIFT void mutexLock(uint32_t thread, SELF void *handle) {
  static _Atomic(void *) known;
  ((SWIFT void (*)(uint32_t, SELF void *))original(&known, LOCK))(thread, handle);
  __tsan_acquire(handle);
}

SWIFT bool mutexTryLock(SELF void *handle) {
  static _Atomic(void *) known;
  bool locked = ((SWIFT bool (*)(SELF void *))original(&known, TRY_LOCK))(handle);
  if (locked) __tsan_acquire(handle);
  return locked;
}

SWIFT void mutexUnlock(SELF void *handle) {
  static _Atomic(void *) known;
  void *library = original(&known, UNLOCK);
  __tsan_release(handle);
  ((SWIFT void (*)(SELF void *))library)(handle);
}

// --- 2: what a function that awaits does first when it goes on is to free the frame of the function it awaited. The
// runtime released the task itself (its address) when a continuation was resumed.

SWIFT void *swift_task_getCurrent(void);
SWIFT void swift_task_dealloc(void *frame);

SWIFT void swift_task_dealloc(void *frame) {
  static _Atomic(void *) known;
  void *library = original(&known, "swift_task_dealloc");
  void *task = swift_task_getCurrent();
  if (task != NULL) __tsan_acquire(task);
  ((SWIFT void (*)(void *))library)(frame);
}
