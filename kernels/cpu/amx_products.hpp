// Products of bf16 pairs in tile registers (Intel AMX): 8 registers of 16 rows x 64 bytes.
// A word is two bf16 that are neighbours in the summed dimension; the first is in the lower half.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hilbench {

constexpr std::size_t kAmxRows = 16;   // of one register
constexpr std::size_t kAmxWords = 16;  // of one row

// Configures the tile registers for whole tiles from construction to destruction. The instructions are
// written as assembly because the compiler's intrinsics do not declare that they read memory.
#if defined(__x86_64__)
class AmxTiles {
 public:
  AmxTiles() {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static_assert(sizeof(Configuration) == 64);
    const Configuration whole;
    asm volatile("ldtilecfg %0" ::"m"(whole) : "memory");
  }
  ~AmxTiles() { asm volatile("tilerelease" ::: "memory"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int kTile>
  void clear() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  void load(const float* from, std::size_t stride_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride_bytes), "i"(kTile) : "memory");
  }
  template <int kTile>
  void store(float* to, std::size_t stride_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride_bytes), "i"(kTile) : "memory");
  }
  // sum[row][column] += sum over words w of a[row][w] . b[w][column]; each word gives two products.
  template <int kSum, int kA, int kB>
  void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kA), "i"(kB));
  }
};
#endif

enum class Start { from_zero, from_result };

constexpr std::size_t kAmxBlock = 2 * kAmxRows;     // rows of a multiplied at once
constexpr std::size_t kAmxColumns = 2 * kAmxWords;  // columns of b and c

// c[row][column] (+)= sum over words w of a[row][w] . b[w][column] for kAmxBlock rows of a, `a_stride` words
// apart, and kAmxColumns columns of b and c; `words` is a multiple of kAmxWords.
template <class Tiles>
void multiply_amx_block(Tiles& tiles, const float* a, std::size_t a_stride, const float* b, std::size_t words,
                        Start start, float* c) {
  constexpr std::size_t kRowBytes = kAmxColumns * sizeof(float);
  const std::size_t a_bytes = a_stride * sizeof(float);
  float* const lower = c + kAmxRows * kAmxColumns;
  if (start == Start::from_zero) {
    tiles.template clear<0>();
    tiles.template clear<1>();
    tiles.template clear<2>();
    tiles.template clear<3>();
  } else {
    tiles.template load<0>(c, kRowBytes);
    tiles.template load<1>(lower, kRowBytes);
    tiles.template load<2>(c + kAmxWords, kRowBytes);
    tiles.template load<3>(lower + kAmxWords, kRowBytes);
  }
  for (std::size_t word = 0; word < words; word += kAmxWords) {
    tiles.template load<4>(a + word, a_bytes);
    tiles.template load<6>(b + word * kAmxColumns, kRowBytes);
    tiles.template multiply_add<0, 4, 6>();
    tiles.template load<5>(a + word + kAmxRows * a_stride, a_bytes);
    tiles.template multiply_add<1, 5, 6>();
    tiles.template load<7>(b + word * kAmxColumns + kAmxWords, kRowBytes);
    tiles.template multiply_add<2, 4, 7>();
    tiles.template multiply_add<3, 5, 7>();
  }
  tiles.template store<0>(c, kRowBytes);
  tiles.template store<1>(lower, kRowBytes);
  tiles.template store<2>(c + kAmxWords, kRowBytes);
  tiles.template store<3>(lower + kAmxWords, kRowBytes);
}

// The same for any multiple of kAmxBlock rows.
template <class Tiles>
void multiply_amx(Tiles& tiles, const float* a, std::size_t a_stride, const float* b, std::size_t rows,
                  std::size_t words, Start start, float* c) {
  for (std::size_t row = 0; row < rows; row += kAmxBlock)
    multiply_amx_block(tiles, a + row * a_stride, a_stride, b, words, start, c + row * kAmxColumns);
}

}  // namespace hilbench
