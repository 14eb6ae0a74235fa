// A document as one HTML file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/document/document.hpp"
#include "reports/page/chart_library.hpp"

namespace hilbench {

// Self-contained and all markup, without a script.
std::string to_html(const Document& document);
// Self-contained: style, scripts, chart library and `data` (page_data()) inlined; nothing is fetched, and the
// page forbids it. Sections of prose and small tables are markup and need no script; figures and the table of
// all records are made from the data.
std::string to_html(const Document& document, const nlohmann::json& data, const ChartLibrary& charts);

}  // namespace hilbench
