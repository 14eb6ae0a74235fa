#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"
#include "reports/records/record.hpp"
#include "tests/reports/records/kernel_record.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

Record window_record() {
  Record record = kernel_record();
  record.work = {.heads = 4, .kv_heads = 4, .device = DeviceKind::cpu, .edges = Edges::cut};
  record.work.windows = {{.extent = 6, .window = 3, .causal = true},
                         {.extent = 8, .window = 9, .dilation = 2, .stride = 4}};
  fill_in_windows(record.work);
  record.variant = {
      KernelChoice{.name = "dilated", .order = "boxes", .order_box = {2, 4}, .tiles = KeyTiles::aligned}};
  record.variant_id = variant_id(record.variant);
  record.order_chunk = 0;
  record.speedup.reset();  // it is not read
  record.key_tiles = KeyTiles::aligned;
  record.pairs = Pairs{.needed = 100, .computed = 150, .density = 0.25, .partial_blocks = 0.5};
  return record;
}

TEST(WindowRecord, ComesBackFromJson) {
  const Record record = window_record();
  const json made = to_json(record);
  const Record read = record_from_json(made);
  EXPECT_EQ(read.work, record.work);
  EXPECT_EQ(read.variant, record.variant);
  ASSERT_TRUE(read.pairs);
  EXPECT_EQ(read.pairs->computed, 150);
  EXPECT_EQ(to_json(read), made);
  EXPECT_EQ(made["params"]["grid"], json({6, 8}));
  EXPECT_EQ(made["params"]["window_causal"], json({true, false}));
  EXPECT_EQ(made["params"]["edges"], "cut");
  EXPECT_EQ(made["params"]["tiles"], "aligned");
  EXPECT_EQ(made["params"]["key_tiles"], "aligned");
  EXPECT_EQ(read.key_tiles, KeyTiles::aligned);
  EXPECT_EQ(made["pairs"]["ratio"], 1.5);
  for (const char* key : {"segments", "dilations", "queries", "head_offset", "branch_heads"})
    EXPECT_TRUE(made["params"].at(key).is_null()) << key;
}

TEST(WindowRecord, TilesOfABaselineAreNotRead) {
  Record record = window_record();
  record.kind = ImplementationKind::baseline;
  record.variant = {BaselineName{"gemm"}};
  record.variant_id = variant_id(record.variant);
  json made = to_json(record);
  made["params"]["key_tiles"] = "aligned";
  EXPECT_EQ(computed_variant(record_from_json(made)), record.variant);
}

// Keys of windows are there for branches too, without a value; older records do not have them.
TEST(WindowRecord, BranchesHaveNullThere) {
  json made = to_json(kernel_record());
  for (const char* key : {"grid", "window", "window_dilation", "window_stride", "window_causal", "edges",
                          "tiles", "order_box"}) {
    ASSERT_TRUE(made["params"].at(key).is_null()) << key;
    made["params"].erase(key);
  }
  ASSERT_TRUE(made.at("pairs").is_null());
  made.erase("pairs");
  EXPECT_EQ(record_from_json(made).key_tiles, KeyTiles::automatic);
  EXPECT_EQ(record_from_json(made).work, kernel_record().work);
}

TEST(WindowRecord, RefusesWhatIsNoWindow) {
  const auto refused = [](auto change) {
    json made = to_json(window_record());
    change(made["params"]);
    EXPECT_THROW(record_from_json(made), UsageError) << made["params"];
  };
  refused([](json& params) { params["grid"] = {6, 9}; });
  refused([](json& params) { params["grid"] = {6, 8, 1}; });
  refused([](json& params) { params["window"] = {3}; });
  refused([](json& params) { params["window_stride"] = {1, 10}; });
  refused([](json& params) { params["window_dilation"] = {0, 1}; });
  refused([](json& params) { params["window_causal"] = {1, 0}; });
  refused([](json& params) { params["edges"] = "shift"; });
}

Record mask_record() {
  Record record = window_record();
  record.work.windows = {{.extent = 6}, {.extent = 8}};
  BlockBits bits(3);
  bits.set(2, 1);
  record.work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 16);
  record.work.edges = Edges::shift;
  record.case_id = case_id(record.work);
  return record;
}

TEST(RecordJson, OfAMaskHoldsItsHash) {
  const Record record = mask_record();
  const json made = to_json(record);
  EXPECT_EQ(made["params"]["mask"], mask_text(record.work.mask_blocks));
  EXPECT_EQ(made["params"]["mask_block"], 16);
  EXPECT_EQ(made["params"]["grid"], json({6, 8}));
  for (const char* key : {"window", "window_causal", "edges", "segments", "queries"})
    EXPECT_TRUE(made["params"][key].is_null()) << key;
  const Record back = record_from_json(made);
  EXPECT_EQ(back.work, record.work);
  EXPECT_EQ(back.work.mask_blocks.bits, nullptr);
  EXPECT_EQ(case_id(back.work), record.case_id);
  EXPECT_EQ(to_json(back), made);
  json flat = made;
  flat["params"]["grid"] = nullptr;
  EXPECT_TRUE(record_from_json(flat).work.windows.empty());
  EXPECT_TRUE(to_json(window_record())["params"]["mask"].is_null());
}

TEST(RecordJson, RejectsWhatIsNoMask) {
  const auto refused = [](auto change) {
    json made = to_json(mask_record());
    change(made["params"]);
    EXPECT_THROW(record_from_json(made), UsageError) << made["params"].dump();
  };
  refused([](json& params) { params["mask"] = 7; });
  refused([](json& params) { params["mask"] = "12"; });
  refused([](json& params) { params["mask"] = "000000000000000g"; });
  refused([](json& params) { params["mask_block"] = 0; });
  refused([](json& params) { params["mask_block"] = nullptr; });
  refused([](json& params) { params["grid"] = {6, 9}; });
}

}  // namespace
}  // namespace hilbench
