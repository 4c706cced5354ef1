#include "cli/table/table_arguments.h"

#include <CLI/CLI.hpp>
#include <map>

namespace phsic {
namespace {

// An option that is one of some words. CLI11's own transformer would print the values in messages.
template <class Choice>
CLI::Option* add_choice(CLI::App& verb, const std::string& name, Choice& chosen,
                        const std::map<std::string, Choice>& words, const std::string& about) {
  return verb
      .add_option_function<std::string>(
          name, [&chosen, words](const std::string& word) { chosen = words.at(word); }, about)
      ->check(CLI::IsMember(words));
}

}  // namespace

void TableArguments::add_to(CLI::App& verb, TableUse use) {
  const std::string group = "Table";
  verb.add_option("-x,--x,--scol", x,
                  "column of x: a number from 1, a name with --header, a member of JSONL "
                  "(default: the first column, or \"x\")")
      ->type_name("COL")
      ->group(group);
  verb.add_option("-y,--y,--tcol", y, "column of y (default: the second column, or \"y\")")
      ->type_name("COL")
      ->group(group);
  verb.add_option("--time", time,
                  "column of the time: seconds, or such as 2004-12-25T03:32:00Z; for half-lives "
                  "and windows in seconds")
      ->type_name("COL")
      ->group(group);
  add_choice(
      verb, "--format", format,
      {{"auto", TableFormat::kAuto}, {"tsv", TableFormat::kTsv}, {"jsonl", TableFormat::kJsonl}},
      "tsv, jsonl, or auto by the first line (default)")
      ->type_name("FORMAT")
      ->group(group);
  verb.add_flag("--header", header, "the first line of a TSV names its columns")->group(group);
  add_choice(verb, "--bad-lines", bad_lines,
             {{"skip", BadLinePolicy::kSkip},
              {"drop", BadLinePolicy::kDrop},
              {"fail", BadLinePolicy::kFail}},
             use == TableUse::kReadAndWritten
                 ? "what to do with a line that cannot be read: skip (default; it stays in the "
                   "output with nan), drop (it is left out), fail"
                 : "what to do with a line that cannot be read: skip (default) or drop (it is told "
                   "and passed over), fail")
      ->type_name("WHAT")
      ->group(group);
}

}  // namespace phsic
