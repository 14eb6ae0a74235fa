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
#include "reports/figures/figures.hpp"
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

inline bool has_gnuplot() {
  return std::system("gnuplot --version > /dev/null 2>&1") == 0;
}

// The document without pictures, so that the golden text is the same if gnuplot is missing.
inline Document document_without_pictures(const ReportInput& input) {
  const View view = view_of(input);
  static const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  std::vector<Figure> figures;
  for (const Plot& plot : plots_of(view, answers))
    figures.push_back({plot.name, plot.title, plot.caption, ""});
  return document_of(view, answers, std::move(figures), {"a note"});
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
