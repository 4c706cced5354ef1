#include "cli/verbs/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/session/saved_model.h"
#include "decide/memory_replay.h"
#include "engine/damage.h"
#include "wire/explanation_json.h"
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
    text += fmt::format("  {:>+10.4f}  {} | {}", part.number("contribution"), quote(part.text("x")),
                        quote(part.text("y")));
    if (const auto view = part.find_text("view")) text += fmt::format("  ({})", printable(*view));
    text += '\n';
    none = false;
  }
  return none ? text + "  none\n" : text;
}

// What each of several views says; nothing where there is one.
std::string describe_views(const JsonObject& answer) {
  const auto views = answer.find_array("views");
  if (!views) return {};
  std::string text = "\nviews\n";
  for (const auto element : *views) {
    simdjson::dom::object members;
    if (element.get(members) != simdjson::SUCCESS) {
      refuse_member("views", describe(element.type()), "an array of objects");
    }
    const JsonObject view(members);
    text +=
        fmt::format("  {}, weight {:.2g}: ", printable(view.text("name")), view.number("weight"));
    if (const auto score = view.find_number("score")) {
      text += fmt::format("score {:.4f}", *score);
      if (const auto above = view.find_number("standardised")) {
        text += fmt::format(", {:.2f} deviations above random pairings", *above);
      }
      if (const auto message = view.find_text("message")) {
        text += fmt::format(", {}", printable(*message));
      }
      text += '\n';
    } else {
      text += fmt::format("{}\n", printable(view.find_text("message").value_or("no score")));
    }
  }
  return text;
}

// The words of one text that raise and lower the score.
std::string describe_side(const SideWords& side, std::string_view name) {
  auto text = fmt::format("\nwords of {}\n", name);
  for (const auto* parts : {&side.raise, &side.lower}) {
    for (const auto& part : *parts) {
      text += fmt::format("  {:>+10.4f}  {}\n", part.contribution, quote(part.word));
    }
  }
  if (side.raise.empty() && side.lower.empty()) text += "  none\n";
  if (side.unexamined > 0) {
    text += fmt::format("  {} of {} words were not examined\n", side.unexamined, side.count);
  }
  return text;
}

std::string describe_words(const JsonObject& answer) {
  const auto words = read_words(answer);
  return words ? describe_side(words->x, "x") + describe_side(words->y, "y") : std::string();
}

// What the judge's expert says for the damage that the pair looks most like.
std::string describe_expert(const JsonObject& answer) {
  const auto expert = read_expert(answer);
  if (!expert) return {};
  auto text = fmt::format("\nof all damage it looks most like {}: {}\n", printable(expert->damage),
                          printable(expert->about));
  text += fmt::format("  {:>+10.4f}  log odds that it is not, lowered by\n", expert->log_odds);
  for (const auto& part : expert->components) {
    text += fmt::format("  {:>+10.4f}  {}: {}, {:+.2f} deviations\n", part.contribution,
                        printable(part.name), printable(part.about), part.deviations);
  }
  return text;
}

// What is known of the pair beside its score.
std::string describe_meaning(const JsonObject& answer) {
  std::string text;
  if (const auto percentile = answer.find_number("percentile")) {
    text += fmt::format("percentile {:.6g}\n", *percentile);
  }
  if (const auto p_value = answer.find_number("p_value")) {
    text += fmt::format("p-value {:.6g}\n", *p_value);
  }
  if (const auto decision = answer.find_text("decision")) {
    text += fmt::format("decision {}", printable(*decision));
    if (const auto reason = answer.find_text("reason")) {
      text += fmt::format(", reason {}", printable(*reason));
    }
    text += '\n';
  }
  if (const auto quality = answer.find_number("quality")) {
    text += fmt::format("quality {:.6g}\n", *quality);
  }
  return text;
}

// A pair as the model in use, or that of a file, sees it.
std::string describe_judged(const JsonObject& answer) {
  auto text = fmt::format("score {:.4f}", answer.number("score"));
  if (const auto model = answer.find_count("model")) text += fmt::format(", model {}", *model);
  const auto rest = answer.find_number("rest").value_or(0);
  if (rest != 0) text += fmt::format(", {:.4f} of it by no learned pair", rest);
  const auto own = answer.find_number("own_share").value_or(0);
  if (own != 0) text += fmt::format(", without {:.4f} that the pair itself has taught", own);
  text += '\n' + describe_meaning(answer) + describe_views(answer) + describe_expert(answer) +
          describe_words(answer);
  return text + describe_parts(answer, "raise", "raised by") +
         describe_parts(answer, "lower", "lowered by");
}

// A pair that was dropped, with the numbers of that moment.
std::string describe_dropped(const JsonObject& dropped) {
  std::string text = "dropped";
  if (const auto x = dropped.find_text("x")) {
    text += fmt::format(": {} | {}", quote(*x), quote(dropped.text("y")));
  }
  text += '\n';
  if (const auto score = dropped.find_number("score"))
    text += fmt::format("score {:.4f}, ", *score);
  text += fmt::format("model {}\n", dropped.count("model"));
  return text + describe_meaning(dropped);
}

using ExplainJson = nlohmann::ordered_json;

ExplainJson number_or_nothing(double number) {
  return std::isfinite(number) ? ExplainJson(number) : ExplainJson();
}

// The members that a daemon's answer has.
std::string explain_offline(const ExplainArguments& arguments) {
  const auto& folders = arguments.encoder_path;
  auto model = read_model(arguments.model, EncoderPath({folders.begin(), folders.end()}),
                          arguments.trust ? Trust::kPathsToo : Trust::kNamesOnly);
  const auto decide = decide_spec_of(model.decide_options);
  const auto session = open_session(model, decide, 1);
  session->set_own_share(false);
  const std::string_view x = arguments.x;
  const std::string_view y = arguments.y;
  PairResults results;
  session->score({{&x, 1}, {&y, 1}, {}}, results);
  if (!results.problems.empty()) throw Error(results.problems.front().message);
  ExplainJson answer;
  answer["score"] = number_or_nothing(results.scores[0]);
  answer["percentile"] = number_or_nothing(results.percentiles[0]);
  answer["p_value"] = number_or_nothing(results.p_values[0]);
  const auto& [verdict, reason] = results.decisions[0];
  answer["decision"] = name_of(verdict);
  answer["reason"] = reason == reasons::kNone ? ExplainJson() : ExplainJson(name_of_reason(reason));
  const auto found = session->explain(x, y, arguments.top);
  if (!found) {
    throw Error(
        fmt::format("{}: found no texts of learned pairs, expected a model file that "
                    "`phsic learn` or `phsic save` wrote",
                    arguments.model));
  }
  if (found->judgement) {
    answer["quality"] = number_or_nothing(quality_of(results.decisions[0], results.qualities[0]));
    answer["damage"] = damage_kinds()[found->judgement->kind].name;
  }
  answer["own_share"] = number_or_nothing(found->own_share);
  answer["rest"] = number_or_nothing(found->rest);
  auto text = answer.dump();
  text.pop_back();
  append_grounds(*found, text);
  return text + '}';
}

Message ask_daemon(const ExplainArguments& arguments) {
  auto client = arguments.daemon.connect();
  RequestWriter request("explain", arguments.daemon.stream);
  if (!arguments.id.empty()) {
    request.add_text("pair_id", arguments.id);
  } else {
    const std::string_view x = arguments.x;
    const std::string_view y = arguments.y;
    if (request.add_pairs({{&x, 1}, {&y, 1}, {}}, {}, 0) == 0) {
      throw Error(fmt::format("found a pair larger than the {} bytes that are sent to a daemon",
                              kMostBytes));
    }
  }
  request.add_number("top", arguments.top);
  return client.ask(request);
}

}  // namespace

void ExplainArguments::add_to(CLI::App& verb) {
  constexpr std::uint64_t kMostParts = 100;
  auto* one = verb.add_option("X", x, "one text");
  auto* other = verb.add_option("Y", y, "the other");
  auto* by_id = verb.add_option("--id", id,
                                "instead of texts: the id of a pair that the daemon has dropped "
                                "not long ago; the numbers are those of that moment");
  by_id->type_name("ID")->excludes(one)->excludes(other);
  one->needs(other);
  verb.add_option("--top", top,
                  "how many words and learned pairs of each kind, up to 100 (default: 5)")
      ->check(CLI::Range(std::uint64_t{1}, kMostParts))
      ->type_name("N");
  verb.add_flag("--json", json, "print one JSON object instead");
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
  add_model_file(verb, model, trust);
  add_encoder_path(verb, encoder_path);
  verb.get_option("--encoder-path")->needs("--model");
  for (const char* remote : {"--connect", "--stream", "--timeout", "--id"}) {
    verb.get_option("--model")->excludes(remote);
  }
  verb.footer(
      "Prints the words of X and of Y without which the score would be lower or higher. A score is "
      "also a\nsum over learned pairs: prints those of the stream's sample that add most to it and "
      "those that\ntake most from it; each counts for the pairs that the sample stands for.\n\n"
      "Examples:\n"
      "  phsic explain 'how are you' 'fine, thanks' --top 3\n"
      "  phsic explain --model m.phsic 'wie geht es dir' 'how are you'\n"
      "  phsic explain --id 4711");
}

std::string describe_explanation(const JsonObject& answer) {
  if (const auto dropped = answer.find_object("dropped")) {
    auto text = describe_dropped(*dropped);
    // There may be no model in use, and vectors are not explained.
    if (answer.find_number("score")) text += "\nby the model in use:\n" + describe_judged(answer);
    return text;
  }
  return describe_judged(answer);
}

void run_explain(const ExplainArguments& arguments) {
  if (arguments.id.empty() && arguments.y.empty() && arguments.x.empty()) {
    throw CLI::ValidationError("X Y", "expected two texts, or --id ID");
  }
  const auto answer =
      arguments.model.empty() ? ask_daemon(arguments) : Message(explain_offline(arguments));
  if (arguments.json) {
    fmt::print("{}\n", for_output(answer.answer()));
  } else {
    fmt::print("{}", describe_explanation(answer.root()));
  }
}

}  // namespace phsic
