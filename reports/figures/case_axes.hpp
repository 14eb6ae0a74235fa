// What varies among the cases of a view, as axes of figures.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/view/view.hpp"

namespace hilbench {

// [{key, name, title, number}]: `key` finds the value in case_places(), `name` stands in names of files.
// `number` says that the values are numbers, not words. Length and dilation come first. The dtype and the
// size of pages are no axes: they tell series apart.
nlohmann::json case_axes(const View& view);
// The value of a case on each of `axes`, by key.
nlohmann::json case_places(const Case& work, const nlohmann::json& axes);

}  // namespace hilbench
