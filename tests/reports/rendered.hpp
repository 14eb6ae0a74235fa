// Reports in memory and in temporary folders.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "reports/claims/claims_file.hpp"
#include "reports/document/document.hpp"
#include "reports/figures/draw.hpp"
#include "reports/report.hpp"

namespace hilbench {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "report-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// What the static figures need.
inline bool can_draw() {
  return std::system("node --version > /dev/null 2>&1 && rsvg-convert --version > /dev/null 2>&1") == 0 &&
         !find_chart_library({}).script.empty();
}

// The document with figures that were not drawn, so that the golden text is the same if Vega is missing.
inline Document document_without_pictures(const ReportInput& input) {
  const View view = view_of(input);
  static const std::vector<ClaimRow> claims = named_claims({"seeds"});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  return document_of(view, answers, {{"times", "Time of <one> execution", "Medians. A machine."}},
                     {"a note"});
}

// The page without the content of its scripts.
inline std::string markup_of(const std::string& html) {
  std::string markup;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t open = html.find("<script", at), body = html.find('>', open),
                      end = html.find("</script>", open);
    markup += html.substr(at, open == std::string::npos ? open : body + 1 - at);
    if (open == std::string::npos) break;
    at = end;
  }
  return markup;
}

}  // namespace hilbench
