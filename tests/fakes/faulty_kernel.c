/* A kernel for tests, with on demand every fault that a library can have: built with -DFAULT=number and
   -DINTERFACE=number. Without a fault it computes attention slowly, in the words of kernel.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
  NONE, SAYS_WHY_NOT, WORKSPACE, NEGATIVE_WORKSPACE, WRITES_NAN, WRITES_NOTHING, ERROR_CODE, PREPARE_FAILS, FORKS,
  FORKS_BY_SYSCALL, EXITS, CRASHES, BEFORE_O, BEHIND_LSE, BEHIND_WORKSPACE, HANGS, PRINTS, LINEAR_ALWAYS, LAST_TILE,
  NO_LAUNCH, NO_DEVICE, MANY_TILE_ROWS, ONCE
};

static const hilbench_case* work;
static int calls = 0;

static const char* why_not(const hilbench_case* asked) {
  return FAULT == SAYS_WHY_NOT ? "it is\nMonday" : asked->dtype != HILBENCH_FP32 ? "fp32 alone" : NULL;
}

static int64_t workspace_bytes(const hilbench_case* asked) {
  (void)asked;
  return FAULT == WORKSPACE ? (int64_t)1 << 50 : FAULT == NEGATIVE_WORKSPACE ? -1 : FAULT == BEHIND_WORKSPACE ? 64 : 0;
}

static int32_t prepare(const hilbench_case* asked, const hilbench_tensors* t, void** state) {
  work = asked;
  *state = NULL;
  if (FAULT == BEHIND_WORKSPACE) ((char*)t->workspace)[64] = 0;
  return FAULT == PREPARE_FAILS ? 5 : 0;
}

static void compute(const hilbench_tensors* t, const hilbench_tile* tile, int64_t query) {
  const int64_t d = work->head_dim, row = (tile->batch * work->sequence_length + query) * work->heads + tile->head;
  const float *q = (const float*)t->q + row * d, *k = t->k, *v = t->v;
  float* o = (float*)t->o + row * d;
  float sums[64] = {0}, total = 0;
  for (int64_t j = 0; j < tile->key_count; ++j) {
    const int64_t position = tile->key + j * tile->key_step;
    if (work->causal && position > query) break;
    const int64_t slot = FAULT == LINEAR_ALWAYS ? position : t->slots[position];
    const int64_t at = ((tile->batch * work->sequence_length + slot) * work->kv_heads + tile->kv_head) * d;
    float score = 0;
    for (int64_t i = 0; i < d; ++i) score += q[i] * k[at + i];
    const float weight = expf(score * work->scale);  /* tests have small scores */
    total += weight;
    for (int64_t i = 0; i < d; ++i) sums[i] += weight * v[at + i];
  }
  if (total == 0) return;
  if (tile->flags & HILBENCH_TILE_MERGES) {
    const float before = expf(t->lse[row]);
    for (int64_t i = 0; i < d; ++i) sums[i] += before * o[i];
    total += before;
  }
  for (int64_t i = 0; i < d; ++i) o[i] = sums[i] / total;
  t->lse[row] = logf(total);
}

static int32_t launch(void* state, const hilbench_tensors* t, void* stream) {
  const int64_t rows = work->batch * work->sequence_length * work->heads, elements = rows * work->head_dim;
  (void)state, (void)stream;
  ++calls;
  if (FAULT == PRINTS) puts("{\"times_ns\": [1]}");
  if (FAULT == WRITES_NOTHING) return 0;
  if (FAULT == ERROR_CODE) return 7;
  if (FAULT == FORKS && fork() == 0) exit(0);
  if (FAULT == FORKS_BY_SYSCALL && syscall(SYS_fork) != 0) wait(NULL);
  if (FAULT == EXITS) exit(3);
  if (FAULT == CRASHES) *(volatile int*)NULL = 1;
  if (FAULT == HANGS) for (;;) sleep(100);
  if (FAULT == ONCE && calls > 1) return 0;
  memset(t->o, 0, (size_t)elements * sizeof(float));
  for (int64_t row = 0; row < rows; ++row) t->lse[row] = -INFINITY;
  for (int64_t i = 0; i < t->tile_count; ++i) {
    const hilbench_tile* tile = &t->tiles[i];
    if (FAULT == LAST_TILE && i + 1 == t->tile_count) continue;
    for (int32_t j = 0; j < tile->query_count; ++j)
      for (int again = 0; again < (j % 10 < TWICE_OF_10 ? 2 : 1); ++again)
        compute(t, tile, tile->query + (int64_t)j * tile->query_step);
  }
  if (FAULT == WRITES_NAN) ((float*)t->o)[3] = NAN;
  if (FAULT == BEFORE_O) ((float*)t->o)[-1] = 0;
  if (FAULT == BEHIND_LSE) t->lse[rows] = 0;
  return 0;
}

static const char* error_text(int32_t status) { return status == 7 ? "no more tea" : NULL; }

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
const hilbench_kernel* another_table(void) { return &table; }
#else
const hilbench_kernel* hilbench_kernel_table(void) { return &table; }
#endif
