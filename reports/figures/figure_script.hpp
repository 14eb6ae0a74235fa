// The scripts that make figures from data: shared by the page and the static figures.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

std::string text_script();    // numbers as text; needs nothing
std::string figure_script();  // the figures as specifications of Vega; needs DATA, text_script() and paint()
std::string still_script();   // draws the static figures with Node.js; needs `vega`
std::string_view colour_style();  // the colours, as CSS, of figures and pages

}  // namespace hilbench
