#include "bench/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace phsic::bench {

namespace {

// Name, value, unit, goal, met.
constexpr const char* kLine = "  {:<62} {:>9} {:<8} {:<8} {}\n";

}  // namespace

Report::Report() { fmt::print(kLine, "measure", "value", "unit", "goal", "met"); }

void Report::note(const std::string& text) {
  fmt::print("\n{}\n", text);
  std::fflush(stdout);
}

void Report::add(const std::string& name, double value, const std::string& unit,
                 std::optional<Goal> goal) {
  std::string aim;
  std::string met;
  if (goal) {
    aim = fmt::format("{} {:g}", goal->sense == Goal::Sense::kAtLeast ? ">=" : "<=", goal->value);
    met = goal->is_met(value) ? "yes" : "no";
  }
  // Large numbers without decimals, small ones to four digits.
  const std::string number =
      value < 1e4 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
  fmt::print(kLine, name, number, unit, aim, met);
  std::fflush(stdout);
  entries_.push_back({name, value, unit, goal});
}

void Report::write_json(const std::string& path) const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Entry& entry : entries_) {
    nlohmann::ordered_json object = {
        {"name", entry.name}, {"value", entry.value}, {"unit", entry.unit}};
    if (entry.goal) {
      object["goal"] = entry.goal->value;
      object["met"] = entry.goal->is_met(entry.value);
    }
    list.push_back(std::move(object));
  }
  std::ofstream file(path);
  file << list.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: could not be written", path));
}

}  // namespace phsic::bench
