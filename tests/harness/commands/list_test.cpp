#include "harness/commands/list.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "baselines/table.hpp"
#include "harness/counters/counters.hpp"
#include "harness/sweep/embedded.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/ring/transport/table.hpp"

namespace hilbench {
namespace {

TEST(List, HasTextForEveryTopic) {
  for (const char* topic : {"orders", "traversals", "kernels", "baselines", "ring_algorithms", "transports",
                            "counters", "devices", "claims", "sweeps", "schema"})
    EXPECT_GT(list_text(topic).size(), 20u) << topic;
}

TEST(List, NamesAllThatTheTablesHold) {
  const std::string orders_text = list_text("orders");
  for (const OrderInfo& order : orders())
    EXPECT_NE(orders_text.find(order.name), std::string::npos) << order.name;
  const std::string variants = list_text("kernels") + list_text("baselines");
  for (const Implementation* implementation : implementation_table())
    EXPECT_NE(variants.find(std::string(implementation->name) + " "), std::string::npos)
        << implementation->name;
  EXPECT_EQ(list_text("kernels").rfind("dilated ", 0), 0u);
  EXPECT_EQ(variants.find("it computes windows on grids only"), std::string::npos) << "that is no lack";
  for (const TransportInfo& transport : transports())
    EXPECT_NE(list_text("transports").find(std::string(transport.name) + " "), std::string::npos)
        << transport.name;
  const auto* asked = find_field(variant_fields(), "ring_algorithm");
  for (const std::string_view name : asked->choices.subspan(1))  // not `auto`
    EXPECT_NE(list_text("ring_algorithms").find(std::string(name) + " "), std::string::npos) << name;
  const std::string counters = list_text("counters", Shown::all);
  for (const CounterSet& set : counter_sets())
    for (const CounterEvent& event : set.events) EXPECT_NE(counters.find(event.name), std::string::npos);
  EXPECT_NE(counters.find("l1d_read_hit_rate       = 1 - l1d_read_misses / l1d_reads"), std::string::npos);
  EXPECT_NE(list_text("claims").find("hybrid-core"), std::string::npos);
}

TEST(List, ShowsTheCountersOfThisMachineAndHowManyOthersHave) {
  const std::string here = list_text("counters"), all = list_text("counters", Shown::all);
  std::size_t sets = 0, foreign = 0;
  for (const CounterSet& set : counter_sets()) {
    ++sets;
    foreign += set.last != kCpuTarget && counter_target(DeviceKind::cuda) < kCpuTarget;
  }
  ASSERT_GT(sets, foreign);
  if (foreign == 0) GTEST_SKIP() << "a GPU is here";
  EXPECT_NE(here.find("l1d_read_hit_rate"), std::string::npos);
  EXPECT_EQ(here.find("no CUDA device answers"), std::string::npos) << here;
  EXPECT_NE(all.find("no CUDA device answers"), std::string::npos);
  EXPECT_TRUE(here.ends_with(std::to_string(foreign) +
                             " sets more that this machine has not: hilbench list counters --all\n"))
      << here;
}

TEST(List, AllIsOfCountersOnly) {
  EXPECT_THROW((void)list_text("orders", Shown::all), UsageError);
}

TEST(List, NamesEverySweepOfTheProgram) {
  const std::string text = list_text("sweeps");
  for (const EmbeddedSweep& sweep : embedded_sweeps())
    EXPECT_NE(text.find(std::string(sweep.path()) + " "), std::string::npos) << sweep.file;
  EXPECT_NE(text.find("Does the order of memory change dilated attention here?"), std::string::npos);
}

TEST(List, SaysWhyADeviceIsUnavailable) {
  if (survey_gpus().absence.empty()) GTEST_SKIP() << "a GPU is here";
  EXPECT_NE(list_text("devices").find("cuda  unavailable: "), std::string::npos) << list_text("devices");
}

TEST(List, GivesALineForEachName) {
  const std::string text = list_text("orders");
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), orders().size());
}

TEST(List, UnknownTopicNamesTheNearest) {
  try {
    (void)list_text("kernel");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'kernels'?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hilbench
