#include "kernels/orders/grids.hpp"

#include <gtest/gtest.h>

#include "kernels/base/text/error.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/orders/describe.hpp"

namespace hilbench {
namespace {

using Extents = std::vector<std::int64_t>;

OrderRequest request_of(const std::string& name, const Extents& grid, const Extents& box = {}) {
  std::int64_t length = 1;
  for (const std::int64_t extent : grid) length *= extent;
  return {.name = name, .length = length, .grid = grid, .box = box};
}

OrderCheck check_of(const OrderRequest& request) {
  return check_order(request, order_slots(request));
}

Case grid_case(const Extents& extents) {
  Case work;
  for (const std::int64_t extent : extents) work.windows.push_back({.extent = extent, .window = 1});
  fill_in_windows(work);
  return work;
}

TEST(GridOrders, AreValidOnEveryGrid) {
  for (const char* name : {"linear", "snake", "morton", "gray", "hilbert", "moore", "random"})
    for (std::int64_t rows = 1; rows <= 12; ++rows)
      for (std::int64_t columns = 1; columns <= 12; ++columns) {
        const OrderRequest request = request_of(name, {rows, columns});
        const OrderCheck check = check_of(request);
        ASSERT_TRUE(check.valid()) << name << " " << rows << " x " << columns << ": "
                                   << order_fault(request, check);
      }
  for (const char* name : {"linear", "snake", "morton", "hilbert", "random"})
    for (const Extents& grid :
         {Extents{1, 1, 1}, {3, 5, 7}, {2, 9, 4}, {16, 1, 3}, {6, 10, 12}, {32, 48, 80}}) {
      const OrderRequest request = request_of(name, grid);
      ASSERT_TRUE(check_of(request).valid()) << name << ": " << order_fault(request, check_of(request));
    }
}

// Every step is counted, and promised where it should be.
TEST(GridOrders, UnitStepsAreCounted) {
  const OrderCheck even = check_of(request_of("hilbert", {4, 6, 8}));
  EXPECT_TRUE(even.promised);
  EXPECT_EQ(even.steps, 4 * 6 * 8 - 1);
  EXPECT_EQ(even.long_steps + even.diagonal_steps, 0);
  const OrderCheck odd = check_of(request_of("hilbert", {5, 7, 9}));
  EXPECT_FALSE(odd.promised);
  EXPECT_GT(odd.long_steps + odd.diagonal_steps, 0);
  EXPECT_TRUE(odd.valid());
  const OrderCheck flat = check_of(request_of("hilbert", {7, 10}));
  EXPECT_TRUE(flat.promised);
  EXPECT_EQ(flat.long_steps, 0);
  EXPECT_FALSE(check_of(request_of("moore", {1, 9})).promised);
  EXPECT_TRUE(check_of(request_of("snake", {5, 7, 9})).promised);
  // The same map with two slots exchanged is no unit-step curve any more.
  const OrderRequest request = request_of("hilbert", {4, 6, 8});
  std::vector<std::int64_t> slots = order_slots(request);
  std::swap(slots[0], slots[100]);
  EXPECT_FALSE(check_order(request, slots).valid());
}

TEST(GridOrders, TwoDimensionsAreTheCurveOnTheGridItself) {
  // Snake on 2 x 3: there and back.
  EXPECT_EQ(order_slots(request_of("snake", {2, 3})), (Extents{0, 1, 2, 5, 4, 3}));
  EXPECT_EQ(order_slots(request_of("morton", {2, 4})), (Extents{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(Boxes, AreRowMajorInBothWays) {
  // Boxes of 2 x 2 on 3 x 5: the last row and column of boxes are ragged.
  EXPECT_EQ(order_slots(request_of("boxes", {3, 5}, {2, 2})),
            (Extents{0, 1, 4, 5, 8, 2, 3, 6, 7, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(order_slots(request_of("boxes", {2, 2, 2}, {1, 2, 1})), (Extents{0, 2, 1, 3, 4, 6, 5, 7}));
  // One box, and boxes of one row: the raster.
  for (const Extents& box : {Extents{64, 64, 64}, {1, 1, 64}})
    EXPECT_EQ(order_slots(request_of("boxes", {3, 4, 5}, box)), order_slots(request_of("linear", {3, 4, 5})));
  for (const Extents& box : {Extents{2, 3, 4}, {8, 8, 8}, {5, 1, 2}})
    EXPECT_TRUE(check_of(request_of("boxes", {7, 9, 10}, box)).bijection());
}

// Groups of 2 x 2 on 3 x 5: their extents are 2 x 3, 2 x 2, 1 x 3 and 1 x 2.
TEST(Groups, FollowEachOtherRowMajor) {
  OrderRequest request = request_of("residue", {3, 5});
  EXPECT_EQ(order_slots(request), order_slots(request_of("linear", {3, 5})));
  request.dilation = {2, 2};
  EXPECT_EQ(order_slots(request), (Extents{0, 6, 1, 7, 2, 10, 13, 11, 14, 12, 3, 8, 4, 9, 5}));
}

// Against the definition: the slots of a group are those of the inner order on the group as a grid, and
// follow the slots of the groups before it.
TEST(Groups, HoldTheInnerOrder) {
  const struct {
    const char *name, *inside;
    Extents box;
  } kNames[] = {
      {"residue", "linear", {}}, {"residue_hilbert", "hilbert", {}}, {"residue_boxes", "boxes", {2, 3, 2}}};
  for (const auto& [name, inside, box] : kNames)
    for (const Extents& dilation : {Extents{1, 1, 1}, {2, 3, 1}, {1, 4, 20}, {5, 6, 7}}) {
      OrderRequest request = request_of(name, {5, 6, 7}, box);
      request.dilation = dilation;
      const Extents slots = order_slots(request);
      EXPECT_TRUE(check_order(request, slots).bijection()) << name;
      std::int64_t first = 0;
      for (std::int64_t a = 0; a < std::min<std::int64_t>(dilation[0], 5); ++a)
        for (std::int64_t b = 0; b < std::min<std::int64_t>(dilation[1], 6); ++b)
          for (std::int64_t c = 0; c < std::min<std::int64_t>(dilation[2], 7); ++c) {
            Extents found;
            Extents extents(3, 0);
            for (std::int64_t i = a; i < 5; i += dilation[0], ++extents[0])
              for (std::int64_t j = b, rows = extents[1] = 0; j < 6; j += dilation[1], extents[1] = ++rows)
                for (std::int64_t k = c, columns = extents[2] = 0; k < 7;
                     k += dilation[2], extents[2] = ++columns)
                  found.push_back(slots[static_cast<std::size_t>((i * 6 + j) * 7 + k)] - first);
            EXPECT_EQ(found, order_slots(request_of(inside, extents, box))) << name << " " << a << b << c;
            first += static_cast<std::int64_t>(found.size());
          }
    }
}

TEST(GridOrders, SayWhyThereIsNone) {
  const Case flat = grid_case({8, 6}), video = grid_case({4, 8, 6}), sequence;
  EXPECT_EQ(why_not_order(flat, {.order = "moore"}), std::nullopt);
  EXPECT_EQ(why_not_order(video, {.order = "moore"}), "order moore has no form on grids of three dimensions");
  EXPECT_EQ(why_not_order(flat, {.order = "bitrev_residue"}), "order bitrev_residue has no form on grids");
  EXPECT_EQ(why_not_order(flat, {.order = "residue", .order_param = 4}),
            "order residue with a parameter: on a grid the dilations of the window decide");
  EXPECT_EQ(why_not_order(video, {.order = "residue_boxes", .order_box = {8, 8}}),
            "order residue_boxes of 2 extents on a grid of 3 dimensions: write residue_boxes.2.8.8");
  EXPECT_EQ(why_not_order(sequence, {.order = "residue_hilbert"}),
            "order residue_hilbert is for grids alone; this sequence has no grid");
  EXPECT_EQ(why_not_order(flat, {.order = "hilbert", .order_chunk = 16}),
            "order hilbert with a chunk: order_chunk does not apply to grids");
  EXPECT_EQ(why_not_order(flat, {.order = "hilbert", .order_param = 16}),
            "order hilbert with a chunk: order_chunk does not apply to grids");
  EXPECT_EQ(why_not_order(video, {.order = "boxes", .order_box = {8, 8}}),
            "order boxes of 2 extents on a grid of 3 dimensions: write boxes.2.8.8");
  EXPECT_EQ(why_not_order(sequence, {.order = "boxes", .order_box = {8, 8}}),
            "order boxes is for grids alone; this sequence has no grid");
  EXPECT_THROW(order_request(flat, {.order = "bitrev_residue"}), UsageError);
  EXPECT_THROW(order_slots({.name = "residue_hilbert", .length = 12}), UsageError);
  EXPECT_THROW(order_slots({.name = "boxes", .length = 12, .box = {2, 2}}), UsageError);
  EXPECT_THROW(order_slots({.name = "hilbert", .length = 13, .grid = {3, 4}}), UsageError);
}

TEST(GridOrders, AreDescribed) {
  const OrderRequest request = request_of("hilbert", {3, 5, 7});
  const std::string text = describe_order(request, order_slots(request));
  EXPECT_NE(text.find("order hilbert, 105 positions of a grid of 3 x 5 x 7\n"), std::string::npos) << text;
  EXPECT_NE(text.find("unit steps: not promised on this grid (104 steps examined"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace hilbench
