#include "kernels/case/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 4> kDtypes = {"fp32", "bf16", "fp16", "auto"};
constexpr std::int64_t kAutomaticDtype = 3;
constexpr std::array<std::string_view, 2> kQueries = {"dilated", "dense"};
constexpr std::array<std::string_view, 4> kHeadOffsets = {"modulo", "contiguous", "none", "branch"};
constexpr std::array<std::string_view, 2> kBranchHeads = {"all", "partition"};
constexpr std::array<std::string_view, 3> kPasses = {"forward", "backward", "both"};
constexpr std::array<std::string_view, 3> kDevices = {"auto", "cpu", "cuda"};
constexpr std::array<std::string_view, 2> kEdges = {"shift", "cut"};
constexpr std::array<std::string_view, 4> kData = {"normal", "heavy_tails", "dominating_key", "equal_rows"};
constexpr std::array<std::string_view, 3> kPages = {"default", "4k", "2m"};

const std::array kCaseFields = {
    number_field<&Case::sequence_length>("sequence_length", "positions in the sequence"),
    number_field<&Case::batch>("batch", "sequences in the batch"),
    number_field<&Case::heads>("heads", "query heads"),
    number_field<&Case::kv_heads>("kv_heads", "key and value heads; default: heads"),
    number_field<&Case::head_dim>("head_dim", "elements of one head's row"),
    Field<Case>{.name = "dtype",
                .kind = FieldKind::choice,
                .help = "storage type of Q, K, V and O; auto: bf16 on a GPU from 8.0 up, else fp32",
                .choices = kDtypes,
                .get =
                    [](const Case& work) {
                      return work.dtype_by_device ? kAutomaticDtype : static_cast<std::int64_t>(work.dtype);
                    },
                .set =
                    [](Case& work, std::int64_t value) {
                      work.dtype_by_device = value == kAutomaticDtype;
                      work.dtype = work.dtype_by_device ? Dtype::fp32 : static_cast<Dtype>(value);
                    }},
    Field<Case>{
        .name = "causal",
        .kind = FieldKind::boolean,
        .help = "mask keys after the query's position",
        .get = [](const Case& work) { return std::int64_t{work.mask == Mask::causal}; },
        .set = [](Case& work, std::int64_t value) { work.mask = value != 0 ? Mask::causal : Mask::full; }},
    choice_field<&Case::pass, Pass>("pass", kPasses, "forward, backward or both"),
    choice_field<&Case::queries, Queries>("queries", kQueries,
                                          "queries of a segment: the selected ones or all"),
    choice_field<&Case::head_offset, HeadOffset>("head_offset", kHeadOffsets,
                                                 "start of a head's dilated stream"),
    choice_field<&Case::branch_heads, BranchHeads>("branch_heads", kBranchHeads, "branches that a head runs"),
    number_field<&Case::ring_size>("ring_size", "ranks that share the sequence"),
    choice_field<&Case::device, DeviceKind>("device", kDevices, "where the case runs"),
    number_field<&Case::threads>("threads", "CPU threads; default: OMP_NUM_THREADS, else all cores", 4096),
    Field<Case>{.name = "score_scale",
                .kind = FieldKind::real,
                .help = "factor of Q: about the standard deviation of the scores",
                .maximum = 1000,
                .above = 0.001,
                .get = [](const Case& work) { return bits_of_real(work.score_scale); },
                .set = [](Case& work, std::int64_t value) { work.score_scale = real_of_bits(value); }},
    choice_field<&Case::data, DataKind>("data", kData, "what the random inputs are like"),
    choice_field<&Case::pages, PageSize>("pages", kPages,
                                         "size of the pages that hold a processor's buffers"),
    choice_field<&Case::edges, Edges>("edges", kEdges,
                                      "windows at an end of the grid: moved inwards, or cut off"),
    Field<Case>{.name = "dropout",
                .kind = FieldKind::share,
                .help = "share of the (query, key) pairs that are dropped after the softmax",
                .get = [](const Case& work) { return bits_of_real(work.dropout); },
                .set = [](Case& work, std::int64_t value) { work.dropout = real_of_bits(value); }},
    Field<Case>{.name = "dropout_seed",
                .kind = FieldKind::integer,
                .help = "which pairs are dropped",
                .minimum = 0,
                .maximum = std::int64_t{1} << 62,
                .get = [](const Case& work) { return work.dropout_seed; },
                .set = [](Case& work, std::int64_t value) { work.dropout_seed = value; }},
};

// True if the fixed part of an id holds the parameter.
bool in_fixed_part(std::string_view name) {
  constexpr std::array<std::string_view, 6> kFixed = {"sequence_length", "heads",     "head_dim",
                                                      "dtype",           "ring_size", "device"};
  return std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end();
}

std::string branches_text(const Case& work) {
  std::vector<std::int64_t> segments, dilations;
  for (const Branch& branch : work.pattern) {
    segments.push_back(branch.segment_length);
    dilations.push_back(branch.dilation);
  }
  return fmt::format("n{}-w{}-r{}", work.sequence_length, fmt::join(segments, "."),
                     fmt::join(dilations, "."));
}

std::string id_of_pattern(const Case& work) {
  if (!has_windows(work)) return branches_text(work);
  const auto fields = window_fields();
  const std::string positions = has_grid(work) ? fmt::format("g{}", list_text(fields[0], work.windows))
                                               : fmt::format("n{}", work.sequence_length);
  if (!has_mask_blocks(work)) return fmt::format("{}-win{}", positions, list_text(fields[1], work.windows));
  return fmt::format("{}-m{}.{}", positions, work.mask_blocks.block,
                     mask_text(work.mask_blocks).substr(0, 8));
}

// "-window_dilation.2x1x1", for every parameter of the windows that the fixed part does not hold and that is
// not at its default.
std::string rest_of_windows(const Case& work) {
  std::string text;
  if (has_mask_blocks(work)) return text;
  const WindowDimension defaults;
  for (const Field<WindowDimension>& field : window_fields().subspan(2))
    if (std::any_of(work.windows.begin(), work.windows.end(),
                    [&](const WindowDimension& each) { return field.get(each) != field.get(defaults); }))
      text += fmt::format("-{}.{}", field.name, list_text(field, work.windows));
  return text;
}

}  // namespace

std::string_view to_string(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)];
}
std::string_view to_string(DeviceKind device) {
  return kDevices[static_cast<std::size_t>(device)];
}
std::string_view to_string(PageSize pages) {
  return kPages[static_cast<std::size_t>(pages)];
}

std::span<const Field<Case>> case_fields() {
  return kCaseFields;
}

std::string case_id(const Case& work) {
  std::string id = fmt::format("{}-h{}-d{}-{}-p{}-{}", id_of_pattern(work), work.heads, work.head_dim,
                               to_string(work.dtype), work.ring_size, to_string(work.device));
  Case defaults;
  defaults.kv_heads = work.heads;
  for (const Field<Case>& field : kCaseFields) {
    if (in_fixed_part(field.name) || field.get(work) == field.get(defaults)) continue;
    id += fmt::format("-{}.{}", field.name, field_text(field, field.get(work)));
  }
  return id + rest_of_windows(work);
}

}  // namespace hilbench
