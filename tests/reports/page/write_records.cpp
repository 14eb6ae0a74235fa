// write_records [COUNT]: prints the sample records, or COUNT records of many cases, one JSON per line.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/reports/sample_records.hpp"

int main(int count, char** arguments) {
  using namespace hilbench;
  const std::vector<Record> records =
      count > 1 ? sample::many(std::strtoull(arguments[1], nullptr, 10)) : sample::input().records;
  for (const Record& record : records) std::puts(to_json(record).dump().c_str());
}
