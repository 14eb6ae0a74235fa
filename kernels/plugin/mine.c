/* Attention in plain C: one tile of queries after the other, by an online softmax (arXiv 1805.02867). K and V
   are read through `slots`, so every order runs the same code. fp32, head_dim up to 256. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "hilbench/kernel.h"

enum { MOST_HEAD_DIM = 256, TILE_ROWS = 64 };

typedef struct {
  const hilbench_case* work;
} State;

static const char* why_not(const hilbench_case* work) {
  if (work->dtype != HILBENCH_FP32) return "it computes fp32 alone";
  if (work->head_dim > MOST_HEAD_DIM) return "head_dim above 256";
  return NULL;
}

static State state;

static int32_t prepare(const hilbench_case* work, const hilbench_tensors* tensors, void** kept) {
  (void)tensors;
  state.work = work;
  *kept = &state;
  return 0;
}

/* One query against the keys of its tile; what earlier launches left in o and lse is merged. */
static void compute_row(const hilbench_case* work, const hilbench_tensors* t, const hilbench_tile* tile,
                        int64_t query) {
  const int64_t d = work->head_dim;
  const int64_t row = (tile->batch * work->sequence_length + query) * work->heads + tile->head;
  const float* q = (const float*)t->q + row * d;
  float *o = (float*)t->o + row * d, sums[MOST_HEAD_DIM] = {0};
  const float* keys =
      (const float*)t->k + (tile->batch * work->sequence_length * work->kv_heads + tile->kv_head) * d;
  const float* values = (const float*)t->v + (keys - (const float*)t->k);
  float top = -INFINITY, total = 0;
  for (int32_t j = 0; j < tile->key_count; ++j) {
    const int64_t position = tile->key + (int64_t)j * tile->key_step;
    if (work->causal && position > query) break;
    const int64_t at = (int64_t)t->slots[position] * work->kv_heads * d;
    float score = 0;
    for (int64_t i = 0; i < d; ++i) score += q[i] * keys[at + i];
    score *= work->scale;
    if (score > top) {
      const float shrink = expf(top - score);
      for (int64_t i = 0; i < d; ++i) sums[i] *= shrink;
      total *= shrink;
      top = score;
    }
    const float weight = expf(score - top);
    total += weight;
    for (int64_t i = 0; i < d; ++i) sums[i] += weight * values[at + i];
  }
  if (total == 0) return;
  const float lse = top + logf(total);
  float before = t->lse[row], share = 1, kept = 0;
  if ((tile->flags & HILBENCH_TILE_MERGES) && before > -INFINITY) {
    const float most = fmaxf(before, lse);
    const float sum = expf(before - most) + expf(lse - most);
    kept = expf(before - most) / sum;
    share = expf(lse - most) / sum;
    t->lse[row] = most + logf(sum);
  } else {
    t->lse[row] = lse;
  }
  for (int64_t i = 0; i < d; ++i) o[i] = kept * o[i] + share * sums[i] / total;
}

static int32_t launch(void* kept, const hilbench_tensors* t, void* stream) {
  const hilbench_case* work = ((State*)kept)->work;
  const int64_t rows = work->batch * work->sequence_length * work->heads;
  (void)stream;
  memset(t->o, 0, (size_t)(rows * work->head_dim) * sizeof(float));
  for (int64_t row = 0; row < rows; ++row) t->lse[row] = -INFINITY;
  for (int64_t begin = 0, end = 0; begin < t->tile_count; begin = end) {
    while (end < t->tile_count && t->tiles[end].launch == t->tiles[begin].launch) ++end;
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 1)
    for (int64_t i = begin; i < end; ++i) {
      const hilbench_tile* tile = &t->tiles[i];
      for (int32_t q = 0; q < tile->query_count; ++q)
        compute_row(work, t, tile, tile->query + (int64_t)q * tile->query_step);
    }
  }
  return 0;
}

static const hilbench_kernel table = {
    .interface = HILBENCH_KERNEL_INTERFACE,
    .devices = HILBENCH_ON_CPU,
    .tile_rows = TILE_ROWS,
    .name = "mine",
    .why_not = why_not,
    .prepare = prepare,
    .launch = launch,
};

const hilbench_kernel* hilbench_kernel_table(void) {
  return &table;
}
