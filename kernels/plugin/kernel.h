/* The C interface for kernels of your own, version 1: a shared library that hilbench loads in a process of
   its own (docs/kernels.md). It exports one function, hilbench_kernel_table(). Needs C99 or C++11, and
   nothing else. */
#ifndef HILBENCH_KERNEL_H
#define HILBENCH_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HILBENCH_KERNEL_INTERFACE 1

enum { HILBENCH_ON_CPU = 1, HILBENCH_ON_CUDA = 2 };                  /* bits of hilbench_kernel.devices */
enum { HILBENCH_FP32 = 0, HILBENCH_BF16 = 1, HILBENCH_FP16 = 2 };    /* hilbench_case.dtype */
enum { HILBENCH_TILE_MERGES = 1, HILBENCH_TILE_KEYS_BACKWARDS = 2 }; /* bits of hilbench_tile.flags */

/* The case. Its pointers stay valid until release(). */
typedef struct hilbench_case {
  int64_t batch, sequence_length, heads, kv_heads, head_dim;
  int32_t dtype;   /* of q, k, v and o */
  int32_t on_cuda; /* 1: tensors, slots and tiles are in the memory of the GPU; 0: in that of the host */
  int32_t causal;  /* 1: a query sees the keys up to its own position */
  int32_t threads; /* that a kernel on a processor may use */
  float scale;     /* of the scores: 1 / sqrt(head_dim) */
  int32_t branches;
  const int64_t* segments;  /* [branches]: length of a segment */
  const int64_t* dilations; /* [branches] */
  const char* order;        /* "hilbert" */
  const char* traversal;    /* "head_major"; "auto" */
  const char* json;         /* all parameters, as the protocol has them under `case` (docs/external.md) */
} hilbench_case;

/* Queries of one head and batch entry against keys of one segment. Key j, for j < key_count, has the position
   key + j * key_step, and its row of k and v is slots[that position]. Query i has the position query + i *
   query_step, and under a causal mask sees the keys up to it. Tiles of one launch share no row of o, and may
   run side by side; launches come one after the other. Rows that no tile covers are 0, with an lse of
   -infinity. */
typedef struct hilbench_tile {
  int32_t launch;
  int32_t batch, head, kv_head;
  int32_t query, query_step, query_count;
  int32_t key, key_step, key_count; /* key_count may be 0 */
  int32_t unmasked;                 /* leading keys that every query sees */
  int32_t flags; /* merges: o and lse hold results of an earlier launch, to be merged by lse */
} hilbench_tile;

/* Contiguous, 64-byte aligned, on the device of the case. */
typedef struct hilbench_tensors {
  const void* q; /* [batch, sequence_length, heads, head_dim], by position */
  const void* k; /* [batch, sequence_length, kv_heads, head_dim], by slot */
  const void* v; /* like k */
  void* o;       /* like q: every element is to be written */
  float* lse;    /* [batch, sequence_length, heads], natural logarithm: every element is to be written */
  const int32_t* slots;            /* [sequence_length]: where the row of each position of k and v is */
  const hilbench_tile* tiles;      /* in the sequence of the traversal; null if tile_rows is 0 */
  const hilbench_tile* host_tiles; /* the same in the memory of the host */
  int64_t tile_count;
  void* workspace; /* of workspace_bytes(), not set */
} hilbench_tensors;

typedef struct hilbench_kernel {
  int32_t interface; /* HILBENCH_KERNEL_INTERFACE */
  int32_t devices;   /* HILBENCH_ON_CPU, HILBENCH_ON_CUDA, or both */
  int32_t tile_rows; /* query rows of a tile, up to 65536; 0: it wants no tiles */
  const char* name;
  /* Why it cannot compute the case: one line, which stays valid. Null: it can. May be null: it always can. */
  const char* (*why_not)(const hilbench_case*);
  /* May be null: none. */
  int64_t (*workspace_bytes)(const hilbench_case*);
  /* Called once, before anything is timed. What it stores in *state is given to launch() and release(). It
     may keep the pointers: they and the sizes stay the same until release(), and only values change. Returns
     0, or a number that the message names. May be null. */
  int32_t (*prepare)(const hilbench_case*, const hilbench_tensors*, void** state);
  /* Computes o and lse anew: this is what is timed. On a GPU it enqueues its work on `stream` (a
     cudaStream_t; null is the default stream), and neither waits nor allocates. Returns 0, or a number that
     the message names. */
  int32_t (*launch)(void* state, const hilbench_tensors*, void* stream);
  void (*release)(void* state); /* may be null */
  /* What a number of prepare() or launch() means; may be null. */
  const char* (*error_text)(int32_t);
} hilbench_kernel;

/* What the library exports. The table stays valid. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const hilbench_kernel*
hilbench_kernel_table(void);

#ifdef __cplusplus
}
#endif

#endif
