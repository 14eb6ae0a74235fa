#include "reports/view/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/base/text/text.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// True if a spreadsheet might run the field as a formula: it begins like one, and is neither a number nor a
// number with words behind it ("-1.5 %").
bool looks_like_formula(std::string_view text) {
  // A spreadsheet may drop spaces and line breaks in front.
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  constexpr std::array<std::string_view, 8> kStarts = {
      "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};  // the last four are the wide forms
  if (std::none_of(kStarts.begin(), kStarts.end(), [&](auto start) { return text.starts_with(start); }))
    return false;
  const std::string field(text);
  char* end = nullptr;
  std::strtod(field.c_str(), &end);
  const std::string_view rest(end);
  const bool words = end != field.c_str() && rest.starts_with(' ') && rest.find_first_of("|(!=") == rest.npos;
  return !rest.empty() && !words;
}

std::string classes(const Column& column, Tone tone) {
  std::string names = column.align == Align::right ? "num" : column.align == Align::wrapped ? "wide" : "";
  if (tone != Tone::plain) {
    if (!names.empty()) names += ' ';
    names += class_of(tone);
  }
  return names.empty() ? "" : fmt::format(" class=\"{}\"", names);
}

// A name, which a narrow column breaks between its parts: dilated_|wgmma/|hilbert@|tokens.
std::string name_html(std::string_view name) {
  std::string html;
  while (true) {
    const std::size_t cut = std::min(name.find_first_of("/_@"), name.size());
    if (cut + 1 >= name.size()) return html + html_text(name);
    html += html_text(name.substr(0, cut + 1)) + "<wbr>";
    name.remove_prefix(cut + 1);
  }
}

// Of long text only the first words are shown; the rest opens by a click.
std::string cell_html(const Column& column, const Cell& cell) {
  constexpr std::size_t kShown = 120, kFolded = 170;
  if (!cell.link.empty() && !cell.text.empty())
    return fmt::format("<a href=\"{}\">{}</a>", html_text(cell.link), name_html(cell.text));
  if (column.align == Align::left) return name_html(cell.text);
  if (column.align != Align::wrapped || cell.text.size() <= kFolded) return html_text(cell.text);
  std::size_t cut = cell.text.rfind(' ', kShown);
  if (cut == std::string::npos || cut == 0) return html_text(cell.text);
  return fmt::format("<details><summary>{}</summary>{}</details>",
                     html_text(std::string_view(cell.text).substr(0, cut)),
                     html_text(std::string_view(cell.text).substr(cut)));
}

std::size_t shown_columns(const Table& table) {
  return static_cast<std::size_t>(
      std::ranges::count_if(table.columns, [](const Column& column) { return column.show != Show::data; }));
}

// The group that begins with a row; null if none does.
const RowGroup* group_at(const Table& table, std::size_t row) {
  const auto found = std::ranges::find(table.groups, row, &RowGroup::first);
  return found == table.groups.end() ? nullptr : &*found;
}

// Its title in the first cell.
std::string group_markdown(const Table& table, const RowGroup& group) {
  std::string line = fmt::format("| **{}** |", markdown_text(group.title));
  for (std::size_t i = 1; i < shown_columns(table); ++i) line += "  |";
  return line + "\n";
}

std::string group_html(const Table& table, const RowGroup& group) {
  return fmt::format("<tr class=\"group\"><th scope=\"colgroup\" colspan=\"{}\"><span>{}</span></th></tr>\n",
                     shown_columns(table), html_text(group.title));
}

std::string row_html(const Table& table, const std::vector<Cell>& row) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < row.size(); ++i)
    if (table.columns[i].show != Show::data)
      html += fmt::format("<td{}>{}</td>", classes(table.columns[i], row[i].tone),
                          cell_html(table.columns[i], row[i]));
  return html + "</tr>\n";
}

}  // namespace

std::string_view class_of(Tone tone) {
  constexpr std::array<std::string_view, 6> kNames = {"plain", "good", "bad", "neutral", "muted", "excluded"};
  return kNames[static_cast<std::size_t>(tone)];
}

std::string html_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string address_of(std::string_view path) {
  std::string address;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

std::string record_address(std::string_view case_id, std::string_view variant_id) {
  return fmt::format("#record={}/{}", address_of(case_id), address_of(variant_id));
}

std::string markdown_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : one_line(text, text.size())) {
    if (std::string_view("\\`*_[]<>#|").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  if (looks_like_formula(text)) field.insert(field.begin(), '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string to_csv(const Table& table) {
  std::string csv;
  const auto line = [&](const auto& text_of) {
    bool first = true;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].show == Show::page) continue;
      if (!first) csv += ',';
      first = false;
      csv += csv_field(text_of(i));
    }
    csv += "\r\n";
  };
  line([&](std::size_t i) { return table.columns[i].key; });
  for (const auto& row : table.rows) line([&](std::size_t i) { return printable(row[i].text); });
  return csv;
}

std::string to_markdown(const Table& table) {
  std::string heads = "|", rules = "|", body;
  for (const Column& column : table.columns) {
    if (column.show == Show::data) continue;
    heads += fmt::format(" {} |", markdown_text(column.title));
    rules += column.align == Align::right ? "---:|" : "---|";
  }
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    if (const RowGroup* group = group_at(table, at)) body += group_markdown(table, *group);
    const auto& row = table.rows[at];
    body += '|';
    for (std::size_t i = 0; i < row.size(); ++i)
      if (table.columns[i].show != Show::data) body += fmt::format(" {} |", markdown_text(row[i].text));
    body += '\n';
  }
  return fmt::format("{}\n{}\n{}", heads, rules, body);
}

std::string to_html(const Table& table) {
  std::string html = table.fold.empty() ? ""
                                        : fmt::format("<details class=\"fold\">\n<summary>{}</summary>\n",
                                                      html_text(table.fold));
  html += fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n",
                      html_text(table.caption.empty() ? table.name : table.caption));
  if (!table.caption.empty()) html += fmt::format("<caption>{}</caption>\n", html_text(table.caption));
  html += "<thead><tr>";
  for (const Column& column : table.columns)
    if (column.show != Show::data)
      html +=
          fmt::format("<th scope=\"col\"{}>{}</th>", classes(column, Tone::plain), html_text(column.title));
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    if (const RowGroup* group = group_at(table, at)) html += group_html(table, *group);
    html += row_html(table, table.rows[at]);
  }
  return html + "</tbody>\n</table>\n</div>\n" + (table.fold.empty() ? "" : "</details>\n");
}

}  // namespace hilbench
