#include "reports/site/order_matrix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hilbench {
namespace {

OrderEntry order_entry(const std::string& family, bool windows, const std::vector<double>& ratios) {
  OrderEntry entry{.family = family, .windows = windows, .ratios = ratios, .tally = {}};
  for (const double ratio : ratios) entry.tally.add(Measured{.ratio = ratio});
  return entry;
}

TEST(OrderMatrix, JoinsSweepsAndShadesByTheMedian) {
  MachineOverview a{.name = "a", .address = "machines/a"}, b{.name = "b", .address = "machines/b"};
  SweepOverview one{.name = "one"}, two{.name = "two"};
  one.orders = {order_entry("hilbert", false, {0.5, 0.996}), order_entry("boxes", true, {2.5, 4})};
  two.orders = {order_entry("hilbert", false, {1.005})};
  a.sweeps = {one, two};
  b.sweeps = {SweepOverview{.name = "of rivals alone"}};
  const std::string html = order_matrix_html({a, b});
  EXPECT_NE(html.find("<td>hilbert</td><td>dilated</td><td>0.996<br><small>3 cases, 0.500 to 1.00"
                      "</small></td>"),
            std::string::npos)
      << html;
  EXPECT_NE(html.find("<td>boxes</td><td>windows on grids</td><td class=\"gain-4\">3.162"), std::string::npos)
      << html;
  EXPECT_EQ(html.find(">b</"), std::string::npos) << "it measured no order";
  EXPECT_EQ(order_matrix_html({b}), "");
  a.sweeps = {SweepOverview{.name = "slow", .orders = {order_entry("random", false, {0.9})}}};
  EXPECT_NE(order_matrix_html({a}).find("<td class=\"loss-1\">0.900<br><small>1 case</small>"),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
