// What is derived of the caches: whether an order can change what they see.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "reports/findings/sentences.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Variants in another order or traversal than linear and `auto`, as they were derived.
struct DerivedViews {
  std::size_t variants = 0;
  std::size_t renamed = 0;             // same blocks, tiles and sequence, lines of one slot
  std::vector<double> more;            // share of sectors that those read more than linear order
  std::size_t counted = 0, equal = 0;  // records whose GPU counted loads, and as derived
};

bool moves_something(const Record& record) {
  const KernelChoice& kernel = record.variant.kernel();
  return kernel.order != "linear" || kernel.rows == KeyRows::gathered || kernel.traversal != "auto";
}

bool only_renames(const Record& record) {
  for (const char* name :
       {"derived_changed_blocks", "derived_changed_tiles", "derived_moved_tiles", "derived_shared_lines"})
    if (counter_value(record, name) != 0.0) return false;
  return true;
}

void add_counted(const Record& record, DerivedViews& views) {
  const auto tma = counter_value(record, "tma_load_sectors"),
             loads = counter_value(record, "l1_load_requests");
  const auto derived_tma = counter_value(record, "derived_tma_sectors"),
             derived_loads = counter_value(record, "derived_load_requests");
  if (!tma || !loads || !derived_tma || !derived_loads) return;
  ++views.counted;
  if (tma == derived_tma && loads == derived_loads) ++views.equal;
}

void add_order(const Record& record, DerivedViews& views) {
  const auto own = counter_value(record, "derived_read_sectors"),
             linear = counter_value(record, "derived_linear_read_sectors");
  if (!own || !linear || *linear <= 0 || !moves_something(record)) return;
  ++views.variants;
  if (!only_renames(record)) return;
  ++views.renamed;
  views.more.push_back(*own / *linear - 1);
}

std::string renamed_sentence(const DerivedViews& views) {
  if (views.variants == 0) return "";
  std::string text = fmt::format(
      "Derived, not measured: {} of {} read the same keys in the same blocks as linear order. Lines of K and "
      "V "
      "are then only renamed, and no cache can gain by the order",
      views.renamed, plural(views.variants, "variant in another order", "variants in another order"));
  if (!views.more.empty()) {
    const auto [least, most] = std::minmax_element(views.more.begin(), views.more.end());
    text += fmt::format("; the sectors read change by {:+.1f} to {:+.1f} %, by tables", 100 * *least,
                        100 * *most);
  }
  return text + ".";
}

std::string counted_sentence(const DerivedViews& views) {
  if (views.counted == 0) return "";
  return fmt::format("The GPU counted exactly what is derived in {} of {}.", views.equal,
                     plural(views.counted, "record", "records"));
}

}  // namespace

std::vector<std::string> block_sentences(const View& view) {
  DerivedViews views;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->variant.is_baseline() || record->twin) continue;
      add_counted(*record, views);
      add_order(*record, views);
    }
  return {renamed_sentence(views), counted_sentence(views)};
}

}  // namespace hilbench
