#include "cli/verbs/save.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/session/saved_model.h"
#include "cli/table/pair_writer.h"
#include "cli/verbs/state.h"
#include "core/error.h"
#include "decide/memory_replay.h"
#include "state/state_lock.h"
#include "state/whole_file.h"
#include "wire/answer_reader.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// The state file of the daemon, as this machine sees it.
std::string find_state(Client& client) {
  const auto stats = client.ask(RequestWriter("stats", ""));
  const auto state = stats.root().object("daemon").find_object("state");
  auto file = state ? std::string(state->find_text("file").value_or("")) : std::string();
  if (file.empty()) {
    throw Error(
        fmt::format("{}: found a daemon that keeps no state, expected one with `state` in "
                    "its configuration",
                    client.endpoint()));
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) || !StateLock::is_held(file)) {
    throw Error(fmt::format(
        "{}: found no such file that a daemon has open, expected the state of the daemon at {}; "
        "on the machine of the daemon, `phsic save` can read it",
        printable(file), client.endpoint()));
  }
  return file;
}

}  // namespace

void SaveArguments::add_to(CLI::App& verb) {
  verb.add_option("-o,--output", output, "the model file to write")->type_name("FILE")->required();
  verb.add_flag("--force", force, "replace a file of that name");
  add_trust(verb, trust);
  add_encoder_path(verb, encoder_path);
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
  verb.footer(
      "Has the daemon write a snapshot and reads the stream from its state file, so it works on "
      "the daemon's\nmachine only, for who may read that file.\n\n"
      "Example:\n"
      "  phsic save --stream de-en -o de-en.phsic");
}

void run_save(const SaveArguments& arguments) {
  if (!arguments.force) require_no_file(arguments.output, ", or --force");
  auto client = arguments.daemon.connect();
  const auto streams = client.ask(RequestWriter("streams", ""));
  const auto stream = choose_stream(read_streams(streams.root()), arguments.daemon.stream,
                                    arguments.daemon.endpoint);
  const auto state = find_state(client);
  require_other_files("--output", {arguments.output}, {state});
  static_cast<void>(client.ask(RequestWriter("snapshot", stream.name), Patience::kLong));
  const StateMarks marks(state);
  const auto file = open_state_to_read(state);
  const auto& folders = arguments.encoder_path;
  SavedModel model;
  file.look([&] {
    model.copy = take_out(file, find_stream(file, stream.name),
                          EncoderPath({folders.begin(), folders.end()}), trust_of(arguments.trust),
                          marks, remember_decisions);
  });
  for (const auto& remark : model.copy.remarks) {
    fmt::print(stderr, "phsic: {}\n", printable(remark));
  }
  if (model.copy.lost > 0) {
    throw Error(fmt::format("{}: found pairs of stream {} that cannot be read, expected all",
                            printable(state), printable(stream.name)));
  }
  model.decide_options = decide_options_of(stream.options);
  // Which pairs its model holds is not known: the newest ones are held back, or came after it.
  const auto bytes = write_model(arguments.output, model);
  fmt::print("{}: stream {}, {} pairs, {} bytes\n", printable(arguments.output),
             printable(model.copy.name), model.copy.stream->pairs(), bytes);
}

}  // namespace phsic
