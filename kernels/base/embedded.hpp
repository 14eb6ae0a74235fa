// Data files that are built into the program (see .cmake/embed.cmake).
#pragma once

#include <string_view>

namespace hilbench {

std::string_view embedded_claims();  // reports/claims.yaml
// baselines/external/*.py
std::string_view embedded_torch_sdpa();
std::string_view embedded_torch_context_parallel();
// reports/page/
std::string_view embedded_page_style();
std::string_view embedded_page_values();
std::string_view embedded_page_charts();
std::string_view embedded_page_figures();
std::string_view embedded_page_tables();
std::string_view embedded_page_records();
std::string_view embedded_page_record();
std::string_view embedded_page_start();
// harness/counters/sets/*.yaml
std::string_view embedded_counter_nvml();
std::string_view embedded_counter_perf();
std::string_view embedded_counter_sm_61();
std::string_view embedded_counter_sm_75();
std::string_view embedded_counter_sm_80();
std::string_view embedded_counter_sm_90();

}  // namespace hilbench
