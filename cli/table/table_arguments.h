// Which table and which of its columns, on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "cli/table/bad_lines.h"
#include "cli/table/table.h"

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

// What a verb does with the lines of a table.
enum class TableUse : std::uint8_t {
  kRead,
  kReadAndWritten,  // each comes back in the output
};

struct TableArguments {
  std::string x;  // empty: the first column, or the member "x"
  std::string y;  // empty: the second column, or the member "y"
  std::string time;
  TableFormat format = TableFormat::kAuto;
  bool header = false;
  BadLinePolicy bad_lines = BadLinePolicy::kSkip;
  Following following;  // no flag of every verb

  void add_to(CLI::App& verb, TableUse use);
};

}  // namespace phsic
