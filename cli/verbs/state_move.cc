#include "cli/verbs/state_move.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <utility>

#include "cli/arguments.h"
#include "cli/table/pair_writer.h"
#include "cli/verbs/state.h"
#include "core/error.h"
#include "decide/memory_replay.h"
#include "state/replacement.h"
#include "state/state_lock.h"
#include "state/stream_copy.h"
#include "state/verify.h"
#include "state/whole_file.h"
#include "wire/printable.h"

namespace phsic {
namespace {

constexpr std::size_t kChecksumSize = 8;  // at the end of an archive

void add_output(CLI::App& verb, std::string& output, bool& force) {
  verb.add_option("-o,--output", output, "the portable file to write")
      ->type_name("OUT")
      ->required();
  verb.add_flag("--force", force, "write it even if there is a file of that name");
}

EncoderPath path_of(const std::vector<std::string>& folders) {
  return EncoderPath({folders.begin(), folders.end()});
}

void write_copy(const StreamCopy& copy, const std::string& output, bool force) {
  if (!force) require_no_file(output, ", or --force");
  const auto bytes = serialise(pack(copy));
  write_whole_file(output, bytes);
  fmt::print("{}: stream {}, {} pairs, {} bytes\n", output, printable(copy.name),
             copy.stream->pairs(), bytes.size());
}

// What was decided about the pairs of two streams, in the parts of the first. Its options count.
void merge_parts(StreamCopy& copy, const StreamCopy& other) {
  auto& parts = copy.serving.parts;
  const auto options = parts.find(kDecideOptionsPart);
  const auto spec =
      options == parts.end() ? DecideSpec() : decide_spec_of(parse_options(options->second));
  merge_decisions(parts, other.serving.parts, plan_of(spec, spec_of(copy.options)));
}

}  // namespace

void StateExportArguments::add_to(CLI::App& verb) {
  add_state_file(verb, file);
  verb.add_option("--stream", stream, "which stream of the file (default: its only one)")
      ->type_name("NAME");
  add_output(verb, output, force);
  verb.add_flag("--despite-damage", despite_damage,
                "write what can be read even if pairs are lost");
  add_trust(verb, trust);
  add_encoder_path(verb, encoder_path);
}

void run_state_export(const StateExportArguments& arguments) {
  if (!arguments.force) require_no_file(arguments.output, ", or --force");
  require_other_files("--output", {arguments.output}, {arguments.file});
  const StateMarks marks(arguments.file);
  const bool is_in_use = StateLock::is_held(arguments.file);
  const auto file = open_state_to_read(arguments.file);
  std::vector<std::string> lost;
  if (!is_in_use) lost = find_log_damage(arguments.file);
  StreamCopy copy;
  file.look([&] {
    copy = take_out(file, find_stream(file, arguments.stream), path_of(arguments.encoder_path),
                    trust_of(arguments.trust), marks, remember_decisions);
  });
  const auto decides = decide_options_of(copy.options);
  if (!decides.empty()) copy.serving.parts[kDecideOptionsPart] = options_json(decides);
  for (const auto& problem : lost) fmt::print(stderr, "phsic: {}\n", printable(problem));
  for (const auto& remark : copy.remarks) fmt::print(stderr, "phsic: {}\n", printable(remark));
  if ((copy.lost > 0 || !lost.empty()) && !arguments.despite_damage) {
    throw Error(fmt::format(
        "{}: found pairs of stream {} that cannot be read, expected all; --despite-damage writes "
        "the {} that can",
        arguments.file, copy.name, copy.stream->pairs()));
  }
  write_copy(copy, arguments.output, arguments.force);
}

void StateImportArguments::add_to(CLI::App& verb) {
  verb.add_option("FILE", file, "the state file of a daemon that is not running; made if missing")
      ->required();
  verb.add_option("IN", input, "a portable file")->required();
  verb.add_option("--as", name, "what the stream is to be called (default: as it was)")
      ->type_name("NAME");
  add_trust(verb, trust);
  add_encoder_path(verb, encoder_path);
}

void run_state_import(const StateImportArguments& arguments) {
  if (!arguments.name.empty()) require_stream_name(arguments.name);
  const auto copy = unpack(read_portable(arguments.input), arguments.input,
                           path_of(arguments.encoder_path), trust_of(arguments.trust));
  const auto& name = arguments.name.empty() ? copy.name : arguments.name;
  const StateLock lock(arguments.file);
  finish_replacement(arguments.file);
  if (const auto problems = find_log_damage(arguments.file); !problems.empty()) {
    throw Error(fmt::format("{}; a daemon recovers what can be (phsicd, or phsicd --fresh)",
                            problems.front()));
  }
  StateFile file(arguments.file, Database::Access::kCreate);
  put_in(file, copy, name);
  fmt::print("{}: stream {}, {} pairs\n", arguments.file, printable(name), copy.stream->pairs());
}

void StateMergeArguments::add_to(CLI::App& verb) {
  verb.add_option("IN", inputs, "portable files of streams that learned different pairs")
      ->required()
      ->expected(2, 1 << 20);
  add_output(verb, output, force);
  verb.add_option("--as", name, "what the stream is to be called (default: as the first)")
      ->type_name("NAME");
  add_trust(verb, trust);
  add_encoder_path(verb, encoder_path);
}

void run_state_merge(const StateMergeArguments& arguments) {
  if (!arguments.force) require_no_file(arguments.output, ", or --force");
  if (!arguments.name.empty()) require_stream_name(arguments.name);
  const auto path = path_of(arguments.encoder_path);
  const auto& first = arguments.inputs.front();
  std::optional<StreamCopy> sum;
  std::set<std::string> checksums;
  for (const auto& input : arguments.inputs) {
    const auto portable = read_portable(input);
    if (!checksums.insert(portable.snapshot.substr(portable.snapshot.size() - kChecksumSize))
             .second) {
      throw Error(fmt::format(
          "{}: found what an earlier file has, expected streams that learned different pairs",
          input));
    }
    auto copy = unpack(portable, input, path, trust_of(arguments.trust));
    if (!sum) {
      sum = std::move(copy);
      continue;
    }
    try {
      merge_in(*sum, copy);
      merge_parts(*sum, copy);
    } catch (const Error& problem) {
      throw Error(fmt::format("{} and {}: {}", input, first, problem.what()));
    }
  }
  if (sum->serving.parts.contains(kLearnedPairsPart)) sum->stream->will_judge_learned();
  build_model(*sum->stream);
  if (!arguments.name.empty()) sum->name = arguments.name;
  write_copy(*sum, arguments.output, arguments.force);
}

}  // namespace phsic
