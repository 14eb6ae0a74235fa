#include "reports/tables/environment.hpp"

#include "reports/view/environment_values.hpp"

namespace hilbench {

Table environment_table(const View& view) {
  const EnvironmentValues values = environment_values(view);
  using Entry = std::pair<std::string, std::vector<std::string>>;
  const std::vector<ColumnOf<Entry>> columns = {
      {{"key", "what"}, [](const Entry& e) { return Cell{e.first}; }},
      {{"value", "value"}, [](const Entry& e) { return Cell{values_text(e.second)}; }},
  };
  return make_table<Entry>("environment", "", columns, {values.begin(), values.end()});
}

}  // namespace hilbench
