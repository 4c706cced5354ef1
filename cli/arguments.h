// What the verbs have in common on the command line: which model, and how to print.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/connect_arguments.h"
#include "cli/session/session.h"
#include "cli/table/table_arguments.h"

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

// For verbs that print a few facts.
void add_json_flag(CLI::App& verb, bool& json);

struct ModelArguments {
  std::string config;                                       // a YAML file, see model_file.h
  std::vector<std::pair<std::string, std::string>> chosen;  // options with their values
  std::vector<std::string> encoder_path;
  std::size_t threads = 0;  // 0: as many as there are processors
  ConnectArguments daemon;  // endpoint empty: a stream of one's own

  void add_to(CLI::App& verb);
  // Only what says what a stream is.
  void add_options_to(CLI::App& verb);
  // A stream of one's own, or the daemon's. Throws, too, when the model forgets by seconds and the
  // table has no times, or when the daemon's stream is not what file and flags ask for.
  // `opened` becomes what the stream is, if it is not null.
  [[nodiscard]] std::unique_ptr<Session> open(const TableArguments& table,
                                              StreamSpec* opened = nullptr) const;
  [[nodiscard]] std::size_t thread_count() const;

 private:
  // The file, then the flags. Throws an Error.
  [[nodiscard]] StreamSpec spec() const;
  [[nodiscard]] std::unique_ptr<Session> connect(StreamSpec* opened) const;
};

void add_encoder_path(CLI::App& verb, std::vector<std::string>& path);

}  // namespace phsic
