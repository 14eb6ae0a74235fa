// A document as one HTML file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reports/document/document.hpp"
#include "reports/figures/chart_library.hpp"
#include "reports/page/frame.hpp"

namespace hilbench {

// Without any script: all content is markup.
std::string to_html(const Document& document);
// With style, scripts, chart library and `data` (report_data()) inside the file. The page fetches nothing;
// its content policy forbids it. Prose and small tables are markup and need no script; scripts make the
// figures and the table of all records from the data. `frame`: of a page of a site; style and scripts then
// stand in the files of page_files().
std::string to_html(const Document& document, const nlohmann::json& data, const ChartLibrary& charts,
                    const PageFrame& frame = {});

}  // namespace hilbench
