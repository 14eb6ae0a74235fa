// `hilbench order`: prints an order's map, and checks it.
#include "kernels/orders/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "harness/commands/command_line.hpp"
#include "kernels/base/npy.hpp"
#include "kernels/base/text.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/orders/describe.hpp"

namespace hilbench {
namespace {

struct OrderArguments {
  std::string name;  // NAME or NAME.PARAM
  std::int64_t length = 0;
  std::optional<std::int64_t> chunk, residue, seed;
  std::filesystem::path file;    // of order `file`
  std::filesystem::path output;  // .npy; empty: text on standard output
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

// Splits NAME.PARAM. PARAM must be digits.
std::pair<std::string, std::optional<std::int64_t>> split_name(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {text, std::nullopt};
  const std::string digits = text.substr(dot + 1);
  std::int64_t param = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), param);
  const bool plain = digits.find_first_not_of("0123456789") == std::string::npos;
  if (!plain || error != std::errc() || stop != digits.data() + digits.size())
    throw UsageError({.what = fmt::format("bad parameter '{}'", digits),
                      .where = text,
                      .why = "expects an integer below 2^63"});
  return {text.substr(0, dot), param};
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
  if (arguments.chunk) return arguments.chunk;
  return arguments.residue ? arguments.residue : arguments.seed;
}

OrderRequest request_of(const OrderArguments& arguments) {
  if (arguments.length < 1) throw UsageError({.what = "--length must be at least 1"});
  auto [name, param] = split_name(arguments.name);
  const OrderInfo& order = order_named(name);
  if (const auto option = param_of(arguments, order)) {
    if (param)
      throw UsageError({.what = fmt::format("the parameter of order '{}' is given twice", name),
                        .where = arguments.name,
                        .remedy = fmt::format("write only '{}' and the option", name)});
    param = option;
  }
  if (param && order.param == OrderParam::none)
    throw UsageError({.what = fmt::format("order '{}' takes no parameter", name)});
  const bool residue = order.param == OrderParam::residue || order.param == OrderParam::max_residue;
  if (residue && !param)
    throw UsageError(
        {.what = fmt::format("order '{}' needs a dilation rate", name), .remedy = "add --residue R"});
  if (name == "file" && arguments.file.empty())
    throw UsageError({.what = "order 'file' needs a permutation", .remedy = "add --file MAP.npy"});
  const Case work{.sequence_length = arguments.length, .pattern = {{arguments.length, 1}}, .kv_heads = 8};
  return order_request(work, {.order = name, .order_param = param, .order_file = arguments.file});
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

// Prints the map even if it is no bijection; the description then says so, and the status is `failed`.
ExitCode order_command(const OrderArguments& arguments) {
  const OrderRequest request = request_of(arguments);
  require_memory(request.length);
  const std::vector<std::int64_t> slots = order_slots(request);
  if (!arguments.output.empty()) write_npy(arguments.output, slots);
  fmt::print(stderr, "{}", describe_order(request, slots));
  if (arguments.output.empty()) print_slots(slots);
  return check_order(request, slots).bijection() ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_order(Commands& commands) {
  auto arguments = std::make_shared<OrderArguments>();
  Options options = commands.add(
      "order", "print an order: the memory slot of each position. Checks and locality go to standard error",
      [arguments] { return order_command(*arguments); });
  options.argument("NAME", arguments->name, "an order of `hilbench list orders`, or NAME.PARAM");
  options.integer("--length", arguments->length, "number of positions");
  options.require("--length");
  options.integer("--chunk", arguments->chunk,
                  "for curves: apply the order inside chunks of this many positions");
  options.integer("--residue", arguments->residue, "for residue: r; for bitrev_residue: r_max");
  options.integer("--seed", arguments->seed, "for random: the seed");
  options.path("--file", arguments->file, "for file: .npy with the slot of each position", Empty::allowed);
  options.path("-o", arguments->output, "write the slots to this .npy file (int64) instead", Empty::allowed);
}

}  // namespace hilbench
