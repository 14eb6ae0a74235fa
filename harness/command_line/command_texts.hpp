// The command line as other programs show it, made of the same texts as --help. Hidden commands are left out.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace hilbench {

// A page of man(1), section 1, as roff. `version`: "0.1.0".
std::string man_page(const CLI::App& app, const std::string& version);
// A script that bash-completion loads: commands, their options, and files.
std::string bash_completion(const CLI::App& app);

}  // namespace hilbench
