// Sectors counted by hand, of kernels that are not here.
#include "baselines/derived_sectors.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "baselines/table.hpp"
#include "kernels/machine/named_gpus.hpp"

namespace hilbench {
namespace {

Case dense_case(std::int64_t length, Dtype dtype) {
  Case work{.sequence_length = length, .pattern = {{length, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 128};
  work.dtype = dtype;
  work.device = DeviceKind::cuda;
  return work;
}

Sectors sectors_on(const std::string& gpu, const Case& work, const std::string& kernel,
                   KernelChoice choice = {}) {
  choice.name = kernel;
  const Implementation& implementation = *find_implementation(kernel, DeviceKind::cuda);
  const Variant variant{choice};
  EXPECT_FALSE(why_no_sectors(work, variant, &implementation, stream_device(named_gpu(gpu))));
  return implementation.stream->sectors(
      work, choice, streamed_index(work, choice, implementation, stream_device(named_gpu(gpu))),
      stream_device(named_gpu(gpu)));
}

// 256 positions: two tiles of 128 queries, each with two blocks of 128 keys. A row is 256 bytes, 8 sectors.
TEST(DerivedSectors, WgmmaByHand) {
  const Sectors sectors = sectors_on("h100", dense_case(256, Dtype::bf16), "dilated_wgmma");
  const std::int64_t rows = 2 * (128 + 2 * 2 * 128);  // Q, and K and V of two blocks, of two tiles
  EXPECT_EQ(sectors[MemoryPath::tma].sectors, rows * 8);
  EXPECT_EQ(sectors[MemoryPath::tma].requests, 2 * 2 * (2 + 4));  // boxes have 64 columns; those of Q 64 rows
  EXPECT_EQ(sectors[MemoryPath::tables], (Asked{6, 6}));          // 48 bytes of each tile
  EXPECT_EQ(sectors[MemoryPath::copies], Asked());
  EXPECT_EQ(sectors[MemoryPath::stores].sectors, 256 * 8 + 256 * 4 / 32);
}

TEST(DerivedSectors, GatheredRowsAreCopiedAndTheirSlotsRead) {
  KernelChoice gathered;
  gathered.rows = KeyRows::gathered;
  const Sectors sectors = sectors_on("h100", dense_case(256, Dtype::bf16), "dilated_wgmma", gathered);
  EXPECT_EQ(sectors[MemoryPath::tma].sectors, 256 * 8);
  EXPECT_EQ(sectors[MemoryPath::copies].sectors, 2 * 4 * 128 * 8);
  EXPECT_EQ(sectors.copy_instructions, 2 * 4 * 128 * 256 / 512);
  EXPECT_EQ(sectors[MemoryPath::tables].sectors, 6 + 2 * 2 * 128 * 4 / 32);
}

// A row of 48 elements is 96 bytes, 3 sectors, of 96 elements 6. Boxes count as if all their 64 columns were
// there, 4 sectors a row. 256 positions are two tiles, of 192 and 64 queries at 48.
TEST(DerivedSectors, WgmmaBoxesCountWhole) {
  Case work = dense_case(256, Dtype::bf16);
  work.head_dim = 96;
  const Sectors wide = sectors_on("h100", work, "dilated_wgmma");
  EXPECT_EQ(wide[MemoryPath::tma], (Asked{2 * 2 * (2 + 4), 2 * (128 + 2 * 2 * 128) * 8}));
  EXPECT_EQ(wide.tma_stores, (Asked{2 * 256 / 16, 256 * 6}));
  work.head_dim = 48;
  const Sectors narrow = sectors_on("h100", work, "dilated_wgmma");
  EXPECT_EQ(narrow[MemoryPath::tma], (Asked{4 + 2 * 4, (256 + 2 * 2 * 2 * 128) * 4}));
  EXPECT_EQ(narrow.tma_stores, (Asked{256 / 16, 256 * 3}));
  work.head_dim = 72;
  EXPECT_EQ(why_no_sectors(work, variant_named(ImplementationKind::kernel, "dilated_wgmma"),
                           find_implementation("dilated_wgmma", DeviceKind::cuda),
                           stream_device(named_gpu("h100"))),
            "dilated_wgmma: rows of 144 bytes share sectors of 32");
}

// Blocks of 80 keys at 256, of 112 at 192. Threads store O there: 32 elements of eight rows at a time.
TEST(DerivedSectors, WgmmaOfLongRowsByHand) {
  Case work = dense_case(256, Dtype::bf16);
  work.head_dim = 256;
  const Sectors strided = sectors_on("h100", work, "dilated_wgmma");
  EXPECT_EQ(strided[MemoryPath::tma], (Asked{2 * 4 * (2 + 2 * 4), 2 * (128 + 2 * 4 * 80) * 16}));
  EXPECT_EQ(strided.tma_stores, Asked());
  EXPECT_EQ(strided[MemoryPath::stores], (Asked{256 / 8 * (1 + 8), 256 * 16 + 256 * 4 / 32}));
  work.head_dim = 192;
  KernelChoice choice;
  choice.rows = KeyRows::gathered;
  const Sectors gathered = sectors_on("h100", work, "dilated_wgmma", choice);
  EXPECT_EQ(gathered[MemoryPath::copies].sectors, 2 * 3 * 2 * 112 * 12);
  EXPECT_EQ(gathered.copy_instructions, 2 * 3 * 2 * (112 / 4) * 3) << "128 bytes of four rows";
  // Four warps fetch 28 slots each of whole blocks: 7 pairs of four are not in line with sectors of eight. Of
  // the last 32 keys the second warp gets four, the others the last one again.
  const std::int64_t whole = 4 * 4, first = whole, second = whole, last = 4 + 1 + 1 + 1;
  EXPECT_EQ(gathered[MemoryPath::tables].sectors, 6 + 2 * (first + second + last));
}

// Two halves of a mask: 256 positions that see each other have none; under a causal mask the blocks of the
// diagonal have. Each of eight warps reads the number of every half but the first, and 8 sectors of a mask;
// of the half that it visits last twice.
TEST(DerivedSectors, WgmmaWindowsOfLongRowsByHand) {
  Case work = dense_case(256, Dtype::bf16);
  work.head_dim = 256;
  work.pattern.clear();
  work.windows = {{.extent = 1, .window = 1}, {.extent = 256, .window = 256}};
  KernelChoice aligned;
  aligned.tiles = KeyTiles::aligned;
  const Sectors all = sectors_on("h100", work, "dilated_wgmma", aligned);
  EXPECT_EQ(all[MemoryPath::tma], (Asked{2 * 4 * (2 + 2 * 4), 2 * (128 + 2 * 256) * 16}));
  EXPECT_EQ(all[MemoryPath::tables].sectors, 6 + 2 * 4 + 2 * 8 * 3);
  work.mask = Mask::causal;
  const Sectors causal = sectors_on("h100", work, "dilated_wgmma", aligned);
  EXPECT_EQ(causal[MemoryPath::tma].sectors, (2 * 128 + 2 * 128 + 2 * 256) * 16);
  EXPECT_EQ(causal[MemoryPath::tables].requests, 6 + 2 + 4 + 8 * (1 + 3) + 8 * (3 + 3));
}

// Every second position of 256 is a query: rows of 96 elements are 192 bytes, and a store of 512 bytes holds
// parts of three or four of them, so each clears something.
TEST(DerivedSectors, ClearedRowsNeedNotDivideAStore) {
  Case work = dense_case(256, Dtype::bf16);
  work.head_dim = 96;
  work.pattern = {{256, 2}};
  const Sectors wgmma = sectors_on("h100", work, "dilated_wgmma");
  EXPECT_EQ(wgmma[MemoryPath::clears], (Asked{256 * 192 / 512 + 8 + 2, 128 * 6 + 256 * 4 / 32 + 2}));
}

TEST(DerivedSectors, MmaByHand) {
  const Sectors sectors = sectors_on("a100", dense_case(256, Dtype::bf16), "dilated_mma");
  const std::int64_t rows = 2 * (128 + 4 * 2 * 64);
  EXPECT_EQ(sectors[MemoryPath::copies].sectors, rows * 8);
  EXPECT_EQ(sectors.copy_instructions, rows * 256 / 512);
  EXPECT_EQ(sectors[MemoryPath::stores].sectors, 256 * 8 + 256 * 4 / 32);
}

// Four warps read 22 fields of the tile, and one for each store of eight rows of O. In a block with a mask
// each reads two, and by steps four more. By slot each tile meets every block, and each reads one more and
// the table of positions: of each eight keys the even ones and the odd ones.
TEST(DerivedSectors, MmaMasksByHand) {
  const std::int64_t fields = 2 * (4 * 22 + 16 * 8);
  Case work = dense_case(256, Dtype::bf16);
  EXPECT_EQ(sectors_on("a100", work, "dilated_mma")[MemoryPath::tables].sectors, fields);
  work.mask = Mask::causal;
  EXPECT_EQ(sectors_on("a100", work, "dilated_mma")[MemoryPath::tables].sectors, fields + 2 * 4 * 2 * 6);
  KernelChoice by_slot;
  by_slot.order = "random";
  by_slot.key_visit = KeyVisit::slot;
  const std::int64_t masks = 2 * 4 * (4 * 3 + 2 * 256 / 8);
  EXPECT_EQ(sectors_on("a100", work, "dilated_mma", by_slot)[MemoryPath::tables].sectors, fields + masks);
  work.mask = Mask::full;
  work.sequence_length = 250;
  work.pattern = {{250, 1}};
  EXPECT_EQ(sectors_on("a100", work, "dilated_mma")[MemoryPath::tables].sectors, fields + 2 * 4 * 2)
      << "the last block is short";
}

// 256 positions that see each other: two tiles, each of which reads 256 slots in four blocks of 64 keys. Four
// warps read nine fields of the tile at the start and three for each eight rows; a mask's number for every
// block but the first; of a mask 8 bytes a lane. Without a mask no block has one; a causal mask halves the
// keys of the first tile, and the blocks of the diagonal have masks.
TEST(DerivedSectors, MmaWindowsByHand) {
  Case work = dense_case(256, Dtype::bf16);
  work.pattern.clear();
  work.windows = {{.extent = 1, .window = 1}, {.extent = 256, .window = 256}};
  const Sectors all = sectors_on("a100", work, "dilated_mma");
  const std::int64_t fields = 2 * (4 * 9 + 16 * 3);
  EXPECT_EQ(all[MemoryPath::copies].sectors, 2 * (128 + 2 * 256) * 8);
  EXPECT_EQ(all[MemoryPath::tables].sectors, fields + 2 * 256 * 4 / 32 + 2 * 4 * 3);
  EXPECT_EQ(all[MemoryPath::stores].sectors, 256 * 8 + 256 * 4 / 32);
  work.mask = Mask::causal;
  const Sectors causal = sectors_on("a100", work, "dilated_mma");
  EXPECT_EQ(causal[MemoryPath::copies].sectors, (2 * 128 + 2 * 128 + 2 * 256) * 8);
  EXPECT_EQ(causal[MemoryPath::tables].sectors, fields + (128 + 256) * 4 / 32 + 4 * (1 + 3) + 2 * 4 * 2 * 8);
}

// A row of fp32 is 512 bytes. A GTX 1080 reads it by loads, an A100 by copies. Copies read a sector twice if
// its halves go to two lines of shared memory.
TEST(DerivedSectors, SimtByHandOnEveryGpu) {
  const Case work = dense_case(256, Dtype::fp32);
  const Sectors pascal = sectors_on("gtx-1080", work, "dilated_simt");
  const std::int64_t pascal_rows = 256 + 2 * 256 * (256 / 32);  // tiles of 32 queries
  EXPECT_EQ(pascal[MemoryPath::copies], Asked());
  EXPECT_EQ(pascal[MemoryPath::loads].sectors, pascal_rows * 16);
  const Sectors hopper = sectors_on("h100", work, "dilated_simt");  // a tile of 256 queries
  EXPECT_EQ(hopper[MemoryPath::loads].sectors, 256 * 32) << "a lane reads half a sector of its row at a time";
  EXPECT_EQ(hopper.copy_instructions, 2 * 256 * 512 / 512);
  EXPECT_EQ(hopper[MemoryPath::copies].sectors, 2 * 256 * 16 + 2 * 128 * 4)
      << "four of every second row twice";
}

// Every second position of 256 is a query. dilated_wgmma stores its queries by TMA, and clears 32 rows at a
// time: a store of 512 bytes holds two rows, one of them cleared. It sets two counters to zero besides.
TEST(DerivedSectors, StoresAndClearedRowsByHand) {
  Case work = dense_case(256, Dtype::bf16);
  work.pattern = {{256, 2}};
  const Sectors wgmma = sectors_on("h100", work, "dilated_wgmma");
  EXPECT_EQ(wgmma.tma_stores.sectors, 128 * 8);
  EXPECT_EQ(wgmma[MemoryPath::stores].sectors, 128 * 8 + 256 * 4 / 32);
  EXPECT_EQ(wgmma[MemoryPath::clears], (Asked{128 + 8 + 2, 128 * 8 + 256 * 4 / 32 + 2}));
  EXPECT_EQ(wgmma.l1_stores().sectors, 128 * 8 + 2 * 256 * 4 / 32 + 2);
  // dilated_simt clears position by position: a row of fp32 and its LSE are two stores.
  work.dtype = Dtype::fp32;
  const Sectors simt = sectors_on("h100", work, "dilated_simt");
  EXPECT_EQ(simt.tma_stores, Asked());
  EXPECT_EQ(simt[MemoryPath::clears], (Asked{2 * 128, 128 * 16 + 128}));
  EXPECT_EQ(sectors_on("h100", dense_case(256, Dtype::fp32), "dilated_simt")[MemoryPath::clears], Asked());
}

// Parts at one place of the pattern are counted once. 250 is no multiple of the dilation: there each is
// counted.
TEST(DerivedSectors, ClearedRowsOfSeveralHeadsAndBatches) {
  for (const std::int64_t length : {240, 250}) {
    Case work = dense_case(length, Dtype::fp32);
    work.pattern = {{60, 3}};
    work.heads = work.kv_heads = 3;
    work.batch = 2;
    std::int64_t rows = 0;
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t head = 0; head < 3; ++head) rows += t % 60 % 3 != head ? 1 : 0;
    const Asked cleared = sectors_on("h100", work, "dilated_simt")[MemoryPath::clears];
    // Of three neighbouring rows two are cleared, whose LSE are in one sector or two.
    EXPECT_GE(cleared.sectors, 2 * rows * 17 - 2 * 3 * length) << length;
    EXPECT_LE(cleared.sectors, 2 * rows * 17) << length;
    work.batch = 1;
    const Asked once = sectors_on("h100", work, "dilated_simt")[MemoryPath::clears];
    EXPECT_EQ(once.sectors / 16, cleared.sectors / 32) << length;
  }
}

TEST(DerivedSectors, AreNotKnownOfWhatIsNotDerived) {
  const StreamDevice gpu = stream_device(named_gpu("h100"));
  const auto reason = [&](const Case& work, const Variant& variant) {
    return why_no_sectors(work, variant, streamed_implementation(work, variant, gpu), gpu).value_or("");
  };
  const Case work = dense_case(256, Dtype::bf16);
  const Variant kernel = variant_named(ImplementationKind::kernel, "dilated");
  EXPECT_EQ(reason(work, kernel), "");
  EXPECT_NE(reason(work, variant_named(ImplementationKind::baseline, "cudnn")).find("not known"),
            std::string::npos);
  Case ring = work;
  ring.ring_size = 2;
  EXPECT_NE(reason(ring, kernel).find("one rank"), std::string::npos);
  Case backward = work;
  backward.pass = Pass::backward;
  EXPECT_NE(reason(backward, kernel).find("forward"), std::string::npos);
  Case narrow = work;
  narrow.head_dim = 8;
  EXPECT_NE(reason(narrow, kernel).find("share sectors"), std::string::npos);
}

TEST(DerivedSectors, DistinctSectorsOfARequest) {
  std::int64_t bytes[] = {64, 0, 16, 70, 30};
  EXPECT_EQ(distinct_sectors(bytes, 4), 3);
  EXPECT_EQ(table_sectors(7, 2), 2);
  EXPECT_EQ(table_sectors(8, 8), 1);
  EXPECT_EQ(table_sectors(3, 0), 0);
}

// Keys of a block stand in device headers, which only a CUDA compiler reads.
TEST(DerivedSectors, BlocksOfKeysAreThoseOfTheKernels) {
  const auto text = [](const std::string& file) {
    std::ifstream in(HILBENCH_KERNELS "/" + file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::smatch found;
  const std::string wgmma = text("cuda/wgmma/wgmma_tiling.cuh");
  EXPECT_NE(wgmma.find("int kKeys = wgmma_block_keys(kDim, kWindows);"), std::string::npos);
  const StreamDevice device{90, 132};
  Case work = dense_case(256, Dtype::bf16);
  const auto block_keys = [&](const char* kernel) {
    return find_implementation(kernel, DeviceKind::cuda)->stream->block_keys(work, device);
  };
  for (const auto& [head_dim, keys] : {std::pair{64, 128}, {72, 128}, {128, 128}, {192, 112}, {256, 80}}) {
    work.head_dim = head_dim;
    EXPECT_EQ(block_keys("dilated_wgmma"), keys) << head_dim;
  }
  const std::string mma = text("cuda/mma/mma_instance.cuh");
  for (const int head_dim : {32, 64, 96, 128, 256}) {
    work.head_dim = head_dim;
    const std::string rule =
        "struct Tilings<T, " + std::to_string(head_dim) + "> : Tiling<T, [0-9]+, [0-9]+, ([0-9]+), ([0-9]+)";
    ASSERT_TRUE(std::regex_search(mma, found, std::regex(rule))) << head_dim;
    EXPECT_EQ(std::stoll(found[1]), 4) << "warps";
    EXPECT_EQ(std::stoll(found[2]), block_keys("dilated_mma")) << head_dim;
  }
}

}  // namespace
}  // namespace hilbench
