#include "tests/reports/windows_records.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/case/windows.hpp"

namespace hilbench::sample {

Case windowed() {
  Case of = work(4096, {{4096, 1}});
  of.windows = {{.extent = 64, .window = 13}, {.extent = 64, .window = 13}};
  of.edges = Edges::cut;
  return of;
}

Record ordered(std::string_view name, double computed, double factor, double phase) {
  Record made = record(windowed(), "dilated", name);
  made.variant.change().order_chunk = made.order_chunk = 0;
  if (name != "linear") made.variant.change().order_tensors = OrderTensors::qkv;
  made.variant_id = variant_id(made.variant);
  time(made, 1, factor, phase);
  made.pairs = Pairs{.needed = 1e6, .computed = 1e6 * computed, .density = 0.01 * computed};
  return made;
}

std::vector<Record> windowed_records() {
  std::vector<Record> records = {ordered("linear", 6, 6, 0), ordered("hilbert", 3, 3, 1),
                                 ordered("random", 24, 24, 2)};
  Record flex = record(windowed(), "torch_windows.flex", "linear", true);
  time(flex, 1, 5, 3);
  (*flex.environment)["library"] = {{"computed_over_needed", 7.5}};
  records.push_back(flex);
  for (std::size_t i = 1; i < records.size(); ++i) {
    compare_with(records[i], records.front());
    records[i].permute_ns = i < 3 ? std::optional(20e6) : std::nullopt;
  }
  Case dense = windowed();
  dense.windows.clear();
  dense.edges = Edges::shift;
  records.push_back(record(dense, "dilated", "linear"));
  time(records.back(), 1, 30, 4);
  return records;
}

}  // namespace hilbench::sample
