// What was measured: printed as a table while it grows, and written as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace phsic::bench {

struct Goal {
  enum class Sense { kAtLeast, kAtMost };
  Sense sense;
  double value;

  [[nodiscard]] bool is_met(double found) const {
    return sense == Sense::kAtLeast ? found >= value : found <= value;
  }
};

[[nodiscard]] inline Goal at_least(double value) { return {Goal::Sense::kAtLeast, value}; }
[[nodiscard]] inline Goal at_most(double value) { return {Goal::Sense::kAtMost, value}; }

class Report {
 public:
  Report();

  // A line of its own that says what the next entries are about.
  void note(const std::string& text);
  void add(const std::string& name, double value, const std::string& unit,
           std::optional<Goal> goal = std::nullopt);

  // [{"name", "value", "unit", "goal", "met"}, ...], the last two where there is a goal. Throws
  // when the file cannot be written.
  void write_json(const std::string& path) const;

 private:
  struct Entry {
    std::string name;
    double value;
    std::string unit;
    std::optional<Goal> goal;
  };
  std::vector<Entry> entries_;
};

}  // namespace phsic::bench
