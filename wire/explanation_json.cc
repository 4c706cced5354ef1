#include "wire/explanation_json.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "wire/json_text.h"
#include "wire/printable.h"

namespace phsic {
namespace {

void append_member(std::string_view name, double value, std::string& out) {
  if (out.back() != '{') out += ',';
  fmt::format_to(std::back_inserter(out), "\"{}\":", name);
  append_json_number(out, value);
}

void append_member(std::string_view name, std::string_view text, std::string& out) {
  if (out.back() != '{') out += ',';
  fmt::format_to(std::back_inserter(out), "\"{}\":{}", name, to_json(text));
}

void append_count(std::string_view name, std::uint64_t count, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", out.back() == '{' ? "" : ",", name, count);
}

// "name":[{...},...], where append_members writes what is between the braces.
template <class Element, class Append>
void append_objects(std::string_view name, const std::vector<Element>& elements,
                    const Append& append_members, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", name);
  for (const auto& element : elements) {
    if (out.back() != '[') out += ',';
    out += '{';
    append_members(element);
    out += '}';
  }
  out += ']';
}

void append_parts(std::string_view name, const std::vector<PairExplanation::Part>& parts,
                  std::string& out) {
  append_objects(
      name, parts,
      [&](const PairExplanation::Part& part) {
        append_member("contribution", part.contribution, out);
        append_member("x", part.x, out);
        append_member("y", part.y, out);
        append_count("number", part.number, out);
        if (!part.view.empty()) append_member("view", part.view, out);
      },
      out);
}

void append_views(const std::vector<PairExplanation::View>& views, std::string& out) {
  if (views.empty()) return;
  append_objects(
      "views", views,
      [&](const PairExplanation::View& view) {
        append_member("name", view.name, out);
        append_member("weight", view.weight, out);
        append_member("score", view.score, out);
        append_member("standardised", view.standardised, out);
        if (!view.problem.empty()) append_member("message", view.problem, out);
      },
      out);
}

void append_expert(const ExpertOpinion& expert, std::string& out) {
  out += ",\"expert\":{";
  append_member("damage", expert.damage, out);
  append_member("about", expert.about, out);
  append_member("log_odds", expert.log_odds, out);
  append_objects(
      "components", expert.components,
      [&](const ExpertOpinion::Component& component) {
        append_member("contribution", component.contribution, out);
        append_member("deviations", component.deviations, out);
        append_member("name", component.name, out);
        append_member("about", component.about, out);
      },
      out);
  out += '}';
}

void append_side(std::string_view name, const SideWords& side, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"{}\":{{", name);
  append_count("count", side.count, out);
  if (side.unexamined > 0) append_count("unexamined", side.unexamined, out);
  const auto append_word = [&](const SideWords::Part& part) {
    append_member("contribution", part.contribution, out);
    append_member("word", part.word, out);
    append_count("place", part.place, out);
  };
  append_objects("raise", side.raise, append_word, out);
  append_objects("lower", side.lower, append_word, out);
  out += '}';
}

// Calls read() with each element of the array.
template <class Read>
void for_each_object(const JsonObject& object, std::string_view name, const Read& read) {
  for (const auto element : object.array(name)) {
    simdjson::dom::object members;
    if (element.get(members) != simdjson::SUCCESS) {
      refuse_member(name, describe(element.type()), "an array of objects");
    }
    read(JsonObject(members));
  }
}

SideWords read_side(const JsonObject& object) {
  SideWords side;
  side.count = object.count("count");
  side.unexamined = object.find_count("unexamined").value_or(0);
  if (side.unexamined > side.count) {
    refuse_member("unexamined", fmt::format("{} of {} words", side.unexamined, side.count),
                  "no more than there are");
  }
  const auto read = [&](std::string_view name, std::vector<SideWords::Part>& parts) {
    for_each_object(object, name, [&](const JsonObject& part) {
      const auto place = part.count("place");
      if (place >= side.count) {
        refuse_member("place", fmt::format("{} of {} words", place, side.count), "one of them");
      }
      parts.push_back({part.number("contribution"), place, std::string(part.text("word"))});
    });
  };
  read("raise", side.raise);
  read("lower", side.lower);
  return side;
}

}  // namespace

void append_grounds(const PairExplanation& explanation, std::string& out) {
  append_views(explanation.views, out);
  if (explanation.expert) append_expert(*explanation.expert, out);
  if (explanation.words) {
    out += ",\"words\":{";
    append_side("x", explanation.words->x, out);
    out += ',';
    append_side("y", explanation.words->y, out);
    out += '}';
  }
  append_parts("raise", explanation.raise, out);
  append_parts("lower", explanation.lower, out);
}

std::optional<PairWords> read_words(const JsonObject& answer) {
  const auto words = answer.find_object("words");
  if (!words) return std::nullopt;
  return PairWords{read_side(words->object("x")), read_side(words->object("y"))};
}

std::optional<ExpertOpinion> read_expert(const JsonObject& answer) {
  const auto found = answer.find_object("expert");
  if (!found) return std::nullopt;
  ExpertOpinion expert;
  expert.damage = found->text("damage");
  expert.about = found->text("about");
  expert.log_odds = found->number("log_odds");
  for_each_object(*found, "components", [&](const JsonObject& component) {
    expert.components.push_back({component.number("contribution"), component.number("deviations"),
                                 std::string(component.text("name")),
                                 std::string(component.text("about"))});
  });
  return expert;
}

}  // namespace phsic
