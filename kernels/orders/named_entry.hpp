// What the tables of orders and traversals share. Each entry has an `info` with its name.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {

template <class Entry, std::size_t size>
constexpr auto infos_of(const std::array<Entry, size>& entries) {
  std::array<decltype(Entry::info), size> infos;
  for (std::size_t i = 0; i < size; ++i) infos[i] = entries[i].info;
  return infos;
}

// The entry called `name`. Throws UsageError with all names if there is none. `kind` is used in
// the message: "order".
template <class Entry, std::size_t size>
const Entry& entry_named(const std::array<Entry, size>& entries, std::string_view kind,
                         std::string_view name) {
  std::array<std::string_view, size> names;
  for (std::size_t i = 0; i < size; ++i) {
    if (entries[i].info.name == name) return entries[i];
    names[i] = entries[i].info.name;
  }
  const std::string near = nearest_name(name, names);
  throw UsageError({fmt::format("unknown {} '{}'", kind, name), "",
                    fmt::format("{}s are {}", kind, fmt::join(names, ", ")),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near)});
}

}  // namespace hilbench
