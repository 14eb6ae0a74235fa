// The content of a report, before it becomes HTML, Markdown or text.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/figures/draw.hpp"
#include "reports/terminal/screen.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct Paragraph {
  std::string text;
};
struct Heading {
  std::string text;  // below the section's own title
};
struct Bullets {
  std::vector<std::string> items;
  std::string fold = {};  // as in Table
};
struct Command {
  std::string text;
};
using Block = std::variant<Paragraph, Heading, Bullets, Command, Table, Figure, Picture>;

enum class Form { both, text };  // text: Markdown only; the page shows the same from its data

struct Section {
  std::string id;
  std::string title;
  std::vector<Block> blocks;
  Form form = Form::both;
};

struct Tile {
  std::string value;
  std::string label;
  Tone tone = Tone::plain;
};

struct Document {
  std::string title;
  std::string question;
  std::string machine;
  std::vector<std::string> answer;  // sentences, most important first
  Table compared;                   // below the first of them; may have no rows
  std::vector<Tile> tiles;
  std::vector<Section> sections;
};

// What stands for the sweep in headings and lists: its `question:`, else its title; may be empty.
std::string subject_of(const View& view);
// What the sweep asks: its `question:`, else its title if that is one, else what these records answer.
std::string question_of(const View& view);

// The whole report. `notes`: what could not be made, and why.
Document document_of(const View& view, const std::vector<ClaimAnswer>& answers, std::vector<Figure> figures,
                     const std::vector<std::string>& notes);

std::string to_markdown(const Document& document);
// For a terminal; of figures only the titles.
std::string to_text(const Document& document, const Screen& screen = {});
}  // namespace hilbench
