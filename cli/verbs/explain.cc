#include "cli/verbs/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/session/saved_model.h"
#include "decide/memory_replay.h"
#include "engine/damage.h"
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
  text += '\n' + describe_meaning(answer) + describe_views(answer);
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

ExplainJson parts_json(const std::vector<PairExplanation::Part>& parts) {
  auto list = ExplainJson::array();
  for (const auto& part : parts) {
    list.push_back({{"contribution", number_or_nothing(part.contribution)},
                    {"x", part.x},
                    {"y", part.y},
                    {"number", part.number}});
    if (!part.view.empty()) list.back()["view"] = part.view;
  }
  return list;
}

ExplainJson views_json(const std::vector<PairExplanation::View>& views) {
  auto list = ExplainJson::array();
  for (const auto& view : views) {
    list.push_back({{"name", view.name},
                    {"weight", view.weight},
                    {"score", number_or_nothing(view.score)},
                    {"standardised", number_or_nothing(view.standardised)}});
    if (!view.problem.empty()) list.back()["message"] = view.problem;
  }
  return list;
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
  const auto found = session->stream().explain(x, y, arguments.top);
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
  // What the pair itself has taught is no part of its score.
  answer["own_share"] = number_or_nothing(found->score - results.scores[0]);
  answer["rest"] = number_or_nothing(found->rest);
  if (!found->views.empty()) answer["views"] = views_json(found->views);
  answer["raise"] = parts_json(found->raise);
  answer["lower"] = parts_json(found->lower);
  return answer.dump(-1, ' ', false, ExplainJson::error_handler_t::replace);
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
  verb.add_option("--top", top, "how many learned pairs of each kind, up to 100 (default: 5)")
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
      "A score is a sum over learned pairs. Prints those of the stream's sample that add most to "
      "it and\nthose that take most from it; each counts for the pairs that the sample stands "
      "for.\n\n"
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
