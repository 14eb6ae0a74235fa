// Programs that draw or convert pictures, which no shell starts.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/base/process/held_signals.hpp"

namespace hilbench {

struct Drew {
  bool found = true;  // whether there is such a program
  bool hung = false;
  std::string fault;  // empty if it succeeded
};

// Runs `command`, program and arguments; what it prints goes to `log`. Waits at most `limit`, and not if this
// process is to stop.
Drew run_drawing(const std::vector<std::string>& command, const std::filesystem::path& log,
                 std::chrono::milliseconds limit, const HeldSignals& signals);

// What such a program wrote; empty if there is no such file.
std::string drawn_text(const std::filesystem::path& file);

// The command that makes a PNG of an SVG, with 1.4 times the pixels.
std::vector<std::string> png_command(const std::string& rsvg_convert, const std::filesystem::path& svg,
                                     const std::filesystem::path& png);

// The PNG of a picture. Throws EnvironmentError, which says what to install, or what went wrong.
std::string png_of(const std::string& svg, const std::string& rsvg_convert = "rsvg-convert");

}  // namespace hilbench
