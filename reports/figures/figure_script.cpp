#include "reports/figures/figure_script.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

namespace hilbench {

// Files of this folder, built into the program.
std::string_view embedded_figure_texts();
std::string_view embedded_figure_values();
std::string_view embedded_figure_series();
std::string_view embedded_figure_looks();
std::string_view embedded_figure_axes();
std::string_view embedded_figure_labels();
std::string_view embedded_figure_specification();
std::string_view embedded_figure_speedups();
std::string_view embedded_figure_heat();
std::string_view embedded_figure_one_case();
std::string_view embedded_figure_rates();
std::string_view embedded_figure_claims();
std::string_view embedded_figure_chains();
std::string_view embedded_figure_rings();
std::string_view embedded_figure_side_by_side();
std::string_view embedded_figure_still_data();
std::string_view embedded_figure_still();
std::string_view embedded_figure_colours();

std::string text_script() {
  return std::string(embedded_figure_texts());
}

std::string figure_script() {
  std::string script;
  for (const std::string_view part :
       {embedded_figure_values(), embedded_figure_series(), embedded_figure_looks(), embedded_figure_axes(),
        embedded_figure_specification(), embedded_figure_labels(), embedded_figure_one_case(),
        embedded_figure_speedups(), embedded_figure_heat(), embedded_figure_rates(), embedded_figure_claims(),
        embedded_figure_chains(), embedded_figure_rings()})
    script += part;
  return script;
}

std::string still_script() {
  return "const COLOURS = " + nlohmann::json(embedded_figure_colours()).dump() + ";\n" +
         std::string(embedded_figure_still_data()) + text_script() + figure_script() +
         std::string(embedded_figure_side_by_side()) + std::string(embedded_figure_still());
}

std::string_view colour_style() {
  return embedded_figure_colours();
}

}  // namespace hilbench
