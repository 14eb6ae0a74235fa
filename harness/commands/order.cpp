// `hilbench order`: prints an order's map, and checks it.
#include "kernels/orders/order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "harness/pictures/footprint.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/orders/describe.hpp"
#include "kernels/orders/grids.hpp"
#include "reports/pictures/drawing_program.hpp"
#include "reports/pictures/strip.hpp"

namespace hilbench {
namespace {

struct OrderArguments {
  std::vector<std::string> names;  // NAME or NAME.PARAM, each
  std::int64_t length = 0;
  std::string grid;      // "32x48x80"; empty: a sequence
  std::string dilation;  // "2x4", of windows on the grid; empty: 1 everywhere
  std::string window;    // "13x13"; empty: no windows, so no footprints
  std::optional<std::int64_t> chunk, residue, seed;
  std::filesystem::path file;      // of order `file`
  std::filesystem::path output;    // .npy; empty: text on standard output
  std::filesystem::path svg, png;  // of a picture; empty: none

  bool draws() const { return !svg.empty() || !png.empty(); }
};

const OrderInfo& order_named(const std::string& name) {
  if (const OrderInfo* order = find_order(name)) return *order;
  std::vector<std::string_view> names;
  for (const OrderInfo& order : orders()) names.push_back(order.name);
  const std::string near = nearest_name(name, names);
  throw UsageError(
      {.what = fmt::format("unknown order '{}'", name),
       .remedy = near.empty() ? "see `hilbench list orders`" : fmt::format("did you mean '{}'?", near)});
}

// NAME, NAME.PARAM or NAME.A.B[.C]: a name and its parameters.
struct SplitName {
  std::string name;
  std::vector<std::int64_t> params;
};

// The integers of a list like "32x48x80".
std::vector<std::int64_t> integers_of(std::string_view list, char separator, const std::string& where) {
  std::vector<std::int64_t> integers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(separator, begin), list.size());
    const std::string digits(list.substr(begin, end - begin));
    std::int64_t& value = integers.emplace_back(0);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool plain = digits.find_first_not_of("0123456789") == std::string::npos;
    if (!plain || error != std::errc() || stop != digits.data() + digits.size())
      throw UsageError({.what = fmt::format("bad parameter '{}'", digits),
                        .where = where,
                        .why = "expects an integer below 2^63"});
    begin = end + 1;
  }
  return integers;
}

SplitName split_name(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {text, {}};
  return {text.substr(0, dot), integers_of(std::string_view(text).substr(dot + 1), '.', text)};
}

// The value of the option that sets the order's parameter. Throws UsageError for an option that the order
// does not have.
std::optional<std::int64_t> param_of(const OrderArguments& arguments, const OrderInfo& order) {
  const auto refuse = [&](const char* option) {
    throw UsageError({.what = fmt::format("{} does not apply to order '{}'", option, order.name)});
  };
  const bool residue = order.param == OrderParam::residue || order.param == OrderParam::max_residue;
  if (arguments.chunk && order.param != OrderParam::chunk) refuse("--chunk");
  if (arguments.residue && !residue) refuse("--residue");
  if (arguments.seed && order.param != OrderParam::seed) refuse("--seed");
  if (!arguments.file.empty() && order.name != "file") refuse("--file");
  if (!arguments.dilation.empty() && arguments.window.empty() && !sorts_groups(order.name))
    refuse("--dilation");
  if (arguments.chunk) return arguments.chunk;
  return arguments.residue ? arguments.residue : arguments.seed;
}

// The dimensions of --grid 32x48x80; empty if it is not given.
std::vector<WindowDimension> grid_dimensions(const std::string& grid) {
  std::vector<WindowDimension> dimensions;
  if (grid.empty()) return dimensions;
  for (const std::int64_t extent : integers_of(grid, 'x', "--grid " + grid)) {
    if (extent < 1 || extent > kLongestExtent)
      throw UsageError({.what = fmt::format("extent {}", extent),
                        .where = "--grid " + grid,
                        .why = fmt::format("extents are 1..{}", kLongestExtent)});
    dimensions.push_back({.extent = extent, .window = extent});
  }
  if (dimensions.size() < 2 || dimensions.size() > kMostDimensions)
    throw UsageError({.what = fmt::format("grid of {} dimensions", dimensions.size()),
                      .where = "--grid " + grid,
                      .why = "grids have two or three",
                      .remedy = "write HxW or TxHxW: --grid 32x48x80"});
  return dimensions;
}

// Sets a member of each dimension from an option like "--dilation 2x4". Nothing if it was not given.
void set_dimensions(std::vector<WindowDimension>& dimensions, const std::string& option,
                    const std::string& list, std::int64_t WindowDimension::*member) {
  if (list.empty()) return;
  const std::string where = option + " " + list;
  const std::vector<std::int64_t> values = integers_of(list, 'x', where);
  if (values.size() != dimensions.size())
    throw UsageError({.what = where,
                      .why = fmt::format("the grid has {} dimensions", dimensions.size()),
                      .remedy = fmt::format("write a number for each: {} {}", option,
                                            dimensions.size() == 2 ? "2x4" : "2x4x4")});
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (values[d] < 1 || values[d] > dimensions[d].extent)
      throw UsageError({.what = std::to_string(values[d]),
                        .where = where,
                        .why = fmt::format("here it is 1..{}, the extent", dimensions[d].extent)});
    dimensions[d].*member = values[d];
  }
}

// What the order is over: a sequence, or a grid.
Case work_of(const OrderArguments& arguments) {
  if (arguments.grid.empty() && !arguments.dilation.empty())
    throw UsageError({.what = "--dilation without --grid",
                      .why = "it is that of windows on a grid",
                      .remedy = "for a sequence give --residue R"});
  if (arguments.grid.empty() && !arguments.window.empty())
    throw UsageError(
        {.what = "--window without --grid", .why = "windows are on a grid", .remedy = "add --grid 64x64"});
  Case work{.sequence_length = arguments.length,
            .pattern = {{arguments.length, 1}},
            .kv_heads = 8,
            .windows = grid_dimensions(arguments.grid)};
  set_dimensions(work.windows, "--dilation", arguments.dilation, &WindowDimension::dilation);
  set_dimensions(work.windows, "--window", arguments.window, &WindowDimension::window);
  if (has_windows(work)) fill_in_windows(work);
  if (has_windows(work) && arguments.length != 0 && arguments.length != work.sequence_length)
    throw UsageError({.what = fmt::format("--length {}", arguments.length),
                      .where = "--grid " + arguments.grid,
                      .why = fmt::format("the grid has {} positions", work.sequence_length),
                      .remedy = "leave --length out"});
  if (work.sequence_length < 1)
    throw UsageError({.what = "--length is required, and at least 1", .remedy = "or give --grid HxW"});
  return work;
}

// An order of the command line: the request, and the choice that it was made of.
struct Asked {
  std::string text;  // as written
  KernelChoice choice;
  OrderRequest request;
};

Asked asked_order(const OrderArguments& arguments, const std::string& text, const Case& work) {
  const auto [name, params] = split_name(text);
  const OrderInfo& order = order_named(name);
  const bool box = order.param == OrderParam::box;
  if (!box && params.size() > 1)
    throw UsageError({.what = fmt::format("order '{}' takes one parameter at most", name), .where = text});
  std::optional<std::int64_t> param;
  if (!box && !params.empty()) param = params.front();
  if (const auto option = param_of(arguments, order)) {
    if (param)
      throw UsageError({.what = fmt::format("the parameter of order '{}' is given twice", name),
                        .where = text,
                        .remedy = fmt::format("write only '{}' and the option", name)});
    param = option;
  }
  if (param && order.param == OrderParam::none)
    throw UsageError({.what = fmt::format("order '{}' takes no parameter", name)});
  if (box && std::find(params.begin(), params.end(), 0) != params.end())
    throw UsageError({.what = "an extent of a box is 0", .where = text, .why = "extents are at least 1"});
  const bool residue = order.param == OrderParam::residue || order.param == OrderParam::max_residue;
  if (residue && !param && !has_windows(work))
    throw UsageError(
        {.what = fmt::format("order '{}' needs a dilation rate", name), .remedy = "add --residue R"});
  if (name == "file" && arguments.file.empty())
    throw UsageError({.what = "order 'file' needs a permutation", .remedy = "add --file MAP.npy"});
  KernelChoice kernel{.order = name, .order_param = param, .order_file = arguments.file};
  if (box) kernel.order_box = params;
  OrderRequest request = order_request(work, kernel);
  return {text, std::move(kernel), std::move(request)};
}

// Memory for the map and for its inverse or the visited rows: 8 bytes a position each.
void require_memory(std::int64_t length) {
  constexpr std::int64_t kBytesPerPosition = 24;
  if (length > kMostPositions) return;  // order_slots refuses it and names the range
  const std::int64_t needed = length * kBytesPerPosition, available = available_memory();
  if (needed > available)
    throw EnvironmentError(
        {.what = fmt::format("not enough memory for an order of {} positions", length),
         .where = "--length",
         .why = fmt::format("it takes {:.1f} GiB, {:.1f} GiB are available",
                            static_cast<double>(needed) / 0x1p30, static_cast<double>(available) / 0x1p30),
         .remedy = "give a shorter length"});
}

void print_slots(std::span<const std::int64_t> slots) {
  constexpr std::size_t kLinesAtOnce = 1 << 16;
  for (std::size_t first = 0; first < slots.size(); first += kLinesAtOnce) {
    fmt::memory_buffer text;
    for (const std::int64_t slot : slots.subspan(first, std::min(kLinesAtOnce, slots.size() - first)))
      fmt::format_to(std::back_inserter(text), "{}\n", slot);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw EnvironmentError({.what = "cannot write to standard output"});
  }
}

// "hilbert on 16 x 16".
std::string picture_title(const OrderArguments& arguments, const Case& work) {
  std::string title =
      arguments.names.size() == 1 ? arguments.names.front() + " on " : std::string("Orders on ");
  if (!has_windows(work)) return title + fmt::format("{} positions", work.sequence_length);
  title += fmt::format("{}", fmt::join(grid_of(work), " x "));
  if (arguments.window.empty()) return title;
  const std::string windows = fmt::format("{}", fmt::join(integers_of(arguments.window, 'x', ""), " x "));
  return fmt::format("One tile{}: windows of {} on {}",
                     arguments.names.size() == 1 ? " in order " + arguments.names.front() : "", windows,
                     fmt::join(grid_of(work), " x "));
}

std::string footprint_text(const Footprint& footprint) {
  return fmt::format("tiles of {} queries: computed / needed pairs {:.2f}; one tile reads {} keys\n",
                     kDrawnTile, footprint.computed_over_needed, footprint.keys.size());
}

Panel panel_of(const OrderArguments& arguments, const Case& work, const Asked& asked,
               const std::vector<std::int64_t>& slots) {
  Panel panel{.name = asked.text, .grid = grid_of(work), .slots = {}, .footprint = std::nullopt};
  if (arguments.window.empty()) {
    panel.slots = slots;
    return panel;
  }
  KernelChoice choice = asked.choice;
  choice.order_tensors = OrderTensors::qkv;
  panel.footprint = footprint_of(work, choice);
  return panel;
}

void draw_orders(const OrderArguments& arguments, const Case& work, std::vector<Panel> panels) {
  Strip strip{.title = picture_title(arguments, work), .panels = std::move(panels)};
  if (strip.panels.size() == 1) {
    strip.side = kLoneSide;
    strip.panels.front().name.clear();
  }
  const std::string svg = strip_svg(strip);
  if (!arguments.svg.empty()) write_file(arguments.svg, svg);
  if (!arguments.png.empty()) write_file(arguments.png, png_of(svg));
}

void check_order_arguments(const OrderArguments& arguments, const Case& work) {
  if (arguments.names.size() > 1 && !arguments.draws())
    throw UsageError({.what = fmt::format("{} orders", arguments.names.size()),
                      .why = "the slots of one are printed; a picture shows several beside each other",
                      .remedy = "give one order, or add --svg FILE"});
  if (arguments.window.empty()) return;
  if (const Refusal why = why_not_windows(work))
    throw UsageError({.what = *why, .where = "--window " + arguments.window});
}

// Prints the map even if it is no bijection; the description then says so, and the status is `failed`.
ExitCode order_command(const OrderArguments& arguments) {
  const Case work = work_of(arguments);
  check_order_arguments(arguments, work);
  require_memory(work.sequence_length);
  std::vector<Asked> orders;  // all are read before anything is printed
  for (const std::string& name : arguments.names) orders.push_back(asked_order(arguments, name, work));
  bool bijections = true;
  std::string said;  // printed after the files are written, so that a failure is one line
  std::vector<Panel> panels;
  for (const Asked& asked : orders) {
    const std::vector<std::int64_t> slots = order_slots(asked.request);
    if (!arguments.output.empty()) write_npy(arguments.output, slots);
    said += (said.empty() ? "" : "\n") + describe_order(asked.request, slots);
    bijections = bijections && check_order(asked.request, slots).bijection();
    if (arguments.draws() || !arguments.window.empty())
      panels.push_back(panel_of(arguments, work, asked, slots));
    if (!arguments.window.empty()) said += footprint_text(*panels.back().footprint);
    if (!arguments.output.empty() || arguments.draws()) continue;
    fmt::print(stderr, "{}", std::exchange(said, ""));
    print_slots(slots);
  }
  if (arguments.draws()) draw_orders(arguments, work, std::move(panels));
  fmt::print(stderr, "{}", said);
  return bijections ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_order(Commands& commands) {
  auto arguments = std::make_shared<OrderArguments>();
  Options options = commands.add(
      "order", "print an order: the memory slot of each position. Checks and locality go to standard error",
      [arguments] { return order_command(*arguments); });
  options.arguments("NAME", arguments->names,
                    "an order of `hilbench list orders`, NAME.PARAM or NAME.A.B[.C]; for a picture several");
  options.integer("--length", arguments->length, "number of positions");
  options.text("--grid", arguments->grid, "instead of --length: a grid HxW or TxHxW, such as 32x48x80");
  options.text("--dilation", arguments->dilation, "of windows on the grid, for residue*: 2x4");
  options.text("--window", arguments->window,
               "windows on the grid, 13x13: count what tiles compute; a picture shows what one tile reads");
  options.integer("--chunk", arguments->chunk,
                  "for curves: apply the order inside chunks of this many positions");
  options.integer("--residue", arguments->residue, "for residue: r; for bitrev_residue: r_max");
  options.integer("--seed", arguments->seed, "for random: the seed");
  options.path("--file", arguments->file, "for file: .npy with the slot of each position", Empty::allowed);
  options.path("-o", arguments->output, "write the slots to this .npy file (int64) instead", Empty::allowed);
  options.path("--svg", arguments->svg,
               "draw into this file instead: paths on a grid, the slot of each position, or footprints");
  options.path("--png", arguments->png, "the same as PNG, if there is rsvg-convert");
  options.exclude("-o", {"--svg", "--png"});
  options.examples({{"hilbench order hilbert --grid 32x32 --svg hilbert.svg", "a picture of its path"},
                    {"hilbench order linear hilbert boxes.8.16 --grid 64x64 --window 13x13 --svg tiles.svg",
                     "which keys a tile of windows reads in each order"},
                    {"hilbench order hilbert --length 4096", "the slot of each position, one a line"},
                    {"hilbench order residue.4 --length 4096 -o slots.npy", "for numpy, or `order: file`"},
                    {"hilbench order boxes.4.8 --grid 32x48", "positions of an image"}});
}

}  // namespace hilbench
