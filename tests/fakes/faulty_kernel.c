/* A kernel for tests, with on demand every fault that a library can have, and ways to cheat: built with
   -DFAULT=NAME and -DINTERFACE=number. Without a fault it computes attention slowly, in the words of
   kernel.h. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hilbench/kernel.h"

#ifndef FAULT
#define FAULT NONE
#endif
#ifndef TWICE_OF_10
#define TWICE_OF_10 0 /* of ten rows, so many are computed twice: for gates, where no launch merges */
#endif
#ifndef INTERFACE
#define INTERFACE HILBENCH_KERNEL_INTERFACE
#endif

enum {
  NONE,
  SAYS_WHY_NOT,
  SAYS_BLANKS,
  WORKSPACE,
  NEGATIVE_WORKSPACE,
  WRITES_NAN,
  WRITES_NOTHING,
  ERROR_CODE,
  PREPARE_FAILS,
  FORKS,
  FORKS_BY_SYSCALL,
  EXITS,
  CRASHES,
  BEFORE_O,
  BEHIND_LSE,
  BEHIND_WORKSPACE,
  HANGS,
  PRINTS,
  LINEAR_ALWAYS,
  LAST_TILE,
  NO_LAUNCH,
  NO_DEVICE,
  MANY_TILE_ROWS,
  LINGERS, /* no fault: a thread that has computed spins for some milliseconds, as those of OpenMP do */
  UNEVEN,  /* no fault: every second execution takes twice as long, as those that ask for memory do */
  ONCE,
  CACHES_BY_INPUTS, /* from here on: cheats */
  HALF_OF_THE_ROWS,
  LAST_KEY_OF_EACH_TILE,
  LOW_PRECISION,
  IGNORES_CAUSAL,
  KEEPS_OLD_V,
  WRONG_LSE,
  COARSE_AFTER_30,
  TWO_THREADS,
  SPINS,
  COMPUTES_LATER,
  EVERY_THIRD_TIME
};

static const hilbench_case* work;
static int calls = 0;
static float* old_v;
static atomic_bool computing;
static _Atomic double ended_s;

static const char* why_not(const hilbench_case* asked) {
  if (FAULT == SAYS_BLANKS) return " \n\t";
  return FAULT == SAYS_WHY_NOT ? "it is\nMonday" : asked->dtype != HILBENCH_FP32 ? "fp32 alone" : NULL;
}

static int64_t workspace_bytes(const hilbench_case* asked) {
  (void)asked;
  return FAULT == WORKSPACE            ? (int64_t)1 << 50
         : FAULT == NEGATIVE_WORKSPACE ? -1
         : FAULT == BEHIND_WORKSPACE   ? 64
                                       : 0;
}

static double now_s(void) {
  struct timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) != 0 ? 0 : (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* spin(void* state) {
  (void)state;
  for (volatile int64_t i = 0;; ++i) {
    if (FAULT == TWO_THREADS && !computing) usleep(10);
    if (FAULT == LINGERS && !computing && now_s() > ended_s + 0.004) usleep(500);
  }
  return NULL;
}

static int32_t prepare(const hilbench_case* asked, const hilbench_tensors* t, void** state) {
  pthread_t thread;
  work = asked;
  *state = NULL;
  if (FAULT == KEEPS_OLD_V) {
    const size_t bytes =
        (size_t)(work->batch * work->sequence_length * work->kv_heads * work->head_dim) * sizeof(float);
    old_v = malloc(bytes);
    memcpy(old_v, t->v, bytes);
  }
  if ((FAULT == SPINS || FAULT == TWO_THREADS || FAULT == LINGERS) &&
      pthread_create(&thread, NULL, spin, NULL) != 0)
    return 1;
  if (FAULT == BEHIND_WORKSPACE) ((char*)t->workspace)[64] = 0;
  return FAULT == PREPARE_FAILS ? 5 : 0;
}

static void compute(const hilbench_tensors* t, const hilbench_tile* tile, int64_t query) {
  const int64_t d = work->head_dim,
                row = (tile->batch * work->sequence_length + query) * work->heads + tile->head;
  const float *q = (const float*)t->q + row * d, *k = t->k, *v = FAULT == KEEPS_OLD_V ? old_v : t->v;
  float* o = (float*)t->o + row * d;
  float sums[64] = {0}, total = 0;
  const int64_t keys = tile->key_count - (FAULT == LAST_KEY_OF_EACH_TILE);
  for (int64_t j = 0; j < keys; ++j) {
    const int64_t position = tile->key + j * tile->key_step;
    if (work->causal && position > query && FAULT != IGNORES_CAUSAL) break;
    const int64_t slot = FAULT == LINEAR_ALWAYS ? position : t->slots[position];
    const int64_t at = ((tile->batch * work->sequence_length + slot) * work->kv_heads + tile->kv_head) * d;
    float score = 0;
    for (int64_t i = 0; i < d; ++i) score += q[i] * k[at + i];
    const float weight = expf(score * work->scale); /* tests have small scores */
    total += weight;
    for (int64_t i = 0; i < d; ++i) sums[i] += weight * v[at + i];
  }
  if (total == 0) return;
  if (tile->flags & HILBENCH_TILE_MERGES) {
    const float before = expf(t->lse[row]);
    for (int64_t i = 0; i < d; ++i) sums[i] += before * o[i];
    total += before;
  }
  for (int64_t i = 0; i < d; ++i) o[i] = sums[i] / total * (FAULT == LOW_PRECISION ? 1.002f : 1);
  t->lse[row] = logf(total) + (FAULT == WRONG_LSE ? 0.01f : 0);
}

static double sum_of(const float* values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i] * (double)(i % 7 + 1);
  return sum;
}

/* True if the inputs are those of the call before, whose output still stands. */
static int has_result(const hilbench_tensors* t, int64_t elements) {
  static double before = 0;
  const int64_t keys = elements / work->heads * work->kv_heads;
  const double now = sum_of(t->q, elements) + 3 * sum_of(t->k, keys) + 5 * sum_of(t->v, keys);
  const int same = calls > 1 && now == before;
  before = now;
  return same;
}

static void* compute_all(void* tensors) {
  const hilbench_tensors* t = tensors;
  const int64_t rows = work->batch * work->sequence_length * work->heads;
  const int coarse = FAULT == HALF_OF_THE_ROWS || (FAULT == COARSE_AFTER_30 && calls > 30);
  memset(t->o, 0, (size_t)(rows * work->head_dim) * sizeof(float));
  for (int64_t row = 0; row < rows; ++row) t->lse[row] = -INFINITY;
  for (int64_t i = 0; i < t->tile_count; ++i) {
    const hilbench_tile* tile = &t->tiles[i];
    if (FAULT == LAST_TILE && i + 1 == t->tile_count) continue;
    for (int32_t j = 0; j < tile->query_count; j += coarse ? 2 : 1)
      for (int again = 0; again < (j % 10 < TWICE_OF_10 ? 2 : 1); ++again)
        compute(t, tile, tile->query + (int64_t)j * tile->query_step);
  }
  return NULL;
}

static int32_t launch(void* state, const hilbench_tensors* t, void* stream) {
  const int64_t rows = work->batch * work->sequence_length * work->heads, elements = rows * work->head_dim;
  pthread_t thread;
  (void)state, (void)stream;
  ++calls;
  if (FAULT == PRINTS) puts("{\"times_ns\": [1]}");
  if (FAULT == WRITES_NOTHING) return 0;
  if (FAULT == ERROR_CODE) return 7;
  if (FAULT == FORKS && fork() == 0) exit(0);
  if (FAULT == FORKS_BY_SYSCALL && syscall(SYS_fork) != 0) wait(NULL);
  if (FAULT == EXITS) exit(3);
  if (FAULT == CRASHES) *(volatile int*)NULL = 1;
  if (FAULT == HANGS)
    for (;;) sleep(100);
  if (FAULT == ONCE && calls > 1) return 0;
  if (FAULT == EVERY_THIRD_TIME && calls % 3 != 1) return 0;
  if (FAULT == CACHES_BY_INPUTS && has_result(t, elements)) return 0;
  if (FAULT == COMPUTES_LATER) {
    if (pthread_create(&thread, NULL, compute_all, (void*)t) != 0 || pthread_detach(thread) != 0) return 1;
    return 0;
  }
  computing = 1;
  compute_all((void*)t);
  if (FAULT == UNEVEN && calls % 2 == 0) compute_all((void*)t);
  ended_s = now_s();
  computing = 0;
  if (FAULT == WRITES_NAN) ((float*)t->o)[3] = NAN;
  if (FAULT == BEFORE_O) ((float*)t->o)[-1] = 0;
  if (FAULT == BEHIND_LSE) t->lse[rows] = 0;
  return 0;
}

static const char* error_text(int32_t status) {
  return status == 7 ? "no more tea" : NULL;
}

static const hilbench_kernel table = {
    .interface = INTERFACE,
    .devices = FAULT == NO_DEVICE ? 4 : HILBENCH_ON_CPU,
    .tile_rows = FAULT == MANY_TILE_ROWS ? 65537 : 16,
    .name = "faulty",
    .why_not = why_not,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = FAULT == NO_LAUNCH ? NULL : launch,
    .error_text = error_text,
};

#ifdef OTHER_SYMBOL
const hilbench_kernel* another_table(void);
const hilbench_kernel* another_table(void) {
  return &table;
}
#else
const hilbench_kernel* hilbench_kernel_table(void) {
  return &table;
}
#endif
