#include "cli/verbs/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "wire/printable.h"

namespace phsic {
namespace {

std::string describe_parts(const JsonObject& answer, std::string_view name,
                           std::string_view title) {
  auto text = fmt::format("\n{}\n", title);
  bool none = true;
  for (const auto element : answer.array(name)) {
    simdjson::dom::object members;
    if (element.get(members) != simdjson::SUCCESS) {
      refuse_member(name, describe(element.type()), "an array of objects");
    }
    const JsonObject part(members);
    text += fmt::format("  {:>+10.4f}  {} | {}\n", part.number("contribution"),
                        quote(part.text("x")), quote(part.text("y")));
    none = false;
  }
  return none ? text + "  none\n" : text;
}

}  // namespace

void ExplainArguments::add_to(CLI::App& verb) {
  constexpr std::uint64_t kMostParts = 100;
  verb.add_option("X", x, "one text")->required();
  verb.add_option("Y", y, "the other")->required();
  verb.add_option("--top", top, "how many learned pairs of each kind, up to 100 (default: 5)")
      ->check(CLI::Range(std::uint64_t{1}, kMostParts))
      ->type_name("N");
  verb.add_flag("--json", json, "print one JSON object instead");
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
  verb.footer(
      "A score is a sum over learned pairs. Prints those of the stream's sample that add most to "
      "it and\nthose that take most from it; each counts for the pairs that the sample stands "
      "for.\n\n"
      "Example:\n"
      "  phsic explain 'how are you' 'fine, thanks' --top 3");
}

std::string describe_explanation(const JsonObject& answer) {
  auto text = fmt::format("score {:.4f}", answer.number("score"));
  if (const auto model = answer.find_count("model")) text += fmt::format(", model {}", *model);
  const auto rest = answer.find_number("rest").value_or(0);
  if (rest != 0) text += fmt::format(", {:.4f} of it by no learned pair", rest);
  return text + '\n' + describe_parts(answer, "raise", "raised by") +
         describe_parts(answer, "lower", "lowered by");
}

void run_explain(const ExplainArguments& arguments) {
  auto client = arguments.daemon.connect();
  RequestWriter request("explain", arguments.daemon.stream);
  const std::string_view x = arguments.x;
  const std::string_view y = arguments.y;
  if (request.add_pairs({{&x, 1}, {&y, 1}, {}}, {}, 0) == 0) {
    throw Error(
        fmt::format("found a pair larger than the {} bytes that are sent to a daemon", kMostBytes));
  }
  request.add_number("top", arguments.top);
  const auto answer = client.ask(request);
  if (arguments.json) {
    fmt::print("{}\n", for_output(answer.answer()));
  } else {
    fmt::print("{}", describe_explanation(answer.root()));
  }
}

}  // namespace phsic
