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
  using Options = std::vector<std::pair<std::string, std::string>>;  // with their values

  std::string config;  // a YAML file, see model_file.h
  Options chosen;      // what the stream is
  Options decisions;   // how it is decided about its pairs
  std::vector<std::string> encoder_path;
  std::size_t threads = 0;  // 0: as many as there are processors
  ConnectArguments daemon;  // endpoint empty: a stream of one's own
  bool no_learn = false;    // the daemon's stream is taught nothing
  std::string model;        // a model file, see session/saved_model.h; empty: none
  bool trust = false;       // its encoders may be named by paths

  void add_to(CLI::App& verb);
  // Only what says what a stream is.
  void add_options_to(CLI::App& verb);
  void add_decisions_to(CLI::App& verb);
  void add_threads_to(CLI::App& verb);

  // Nothing is learned from what is scored: there is a model already.
  [[nodiscard]] bool is_fixed() const { return no_learn || !model.empty(); }
  // Throws a CLI::ValidationError unless there is either such a model or something to learn.
  void require_something_to_learn(const std::string& learn) const;

  // A stream of one's own, the one of a model file, or the daemon's. Throws, too, when the model
  // forgets by seconds and the table has no times, or when the stream of file or daemon is not what
  // the flags ask for. `opened` becomes what the stream is, if it is not null.
  [[nodiscard]] std::unique_ptr<Session> open(const TableArguments& table,
                                              StreamSpec* opened = nullptr) const;
  [[nodiscard]] std::size_t thread_count() const;
  [[nodiscard]] EncoderPath path() const;

  // What the YAML file and then the flags say. Throws an Error.
  struct Wanted {
    Options options;
    Options decisions;
    StreamSpec stream;
    DecideSpec decide;
  };
  [[nodiscard]] Wanted wanted() const;

 private:
  void add_view_of(const std::string& encoder);
  // Throws an Error that names the two places where both are.
  void require_encoder_or_views(const StreamSpec& spec) const;
  [[nodiscard]] std::unique_ptr<Session> open_own(const TableArguments& table,
                                                  StreamSpec* opened) const;
  [[nodiscard]] std::unique_ptr<Session> open_model(StreamSpec* opened) const;
  [[nodiscard]] std::unique_ptr<Session> connect(StreamSpec* opened) const;
};

void add_encoder_path(CLI::App& verb, std::vector<std::string>& path);
void add_model_file(CLI::App& verb, std::string& file, bool& trust);

}  // namespace phsic
