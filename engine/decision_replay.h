// What was decided about pairs, as a journal keeps it, and who takes it back from there.
//
// The bytes are those of decide/decision.h. Journals keep them without knowing what they mean.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace phsic {

struct DecisionCode {
  std::uint8_t verdict = 0;  // keep
  std::uint8_t reason = 0;   // none

  static constexpr std::uint8_t kLastVerdict = 2;
  bool operator==(const DecisionCode&) const = default;
};

// Parts of saved state, each under a name and in a form of its own.
using StateParts = std::map<std::string, std::string>;

// Whoever remembers decisions, told of those of a snapshot and a journal in the order in which they
// were made. Nothing is decided again. One thread at a time.
class DecisionReplay {
 public:
  DecisionReplay() = default;
  virtual ~DecisionReplay() = default;
  DecisionReplay(const DecisionReplay&) = delete;
  DecisionReplay& operator=(const DecisionReplay&) = delete;
  DecisionReplay(DecisionReplay&&) = delete;
  DecisionReplay& operator=(DecisionReplay&&) = delete;

  // Begins with what was saved, or with nothing if there is no such part. Throws an Error, and
  // nothing changes, if it is damaged.
  virtual void open(const StateParts& parts) = 0;
  // A pair was learned.
  virtual void learned(std::string_view x, std::string_view y, const DecisionCode& decision) = 0;
  virtual void learned(std::span<const float> x, std::span<const float> y,
                       const DecisionCode& decision) = 0;
  // A pair was not learned, for what it is or because it came before.
  virtual void rejected(const DecisionCode& decision) = 0;
  // A model came into use.
  virtual void adopted() = 0;
  // A cut was chosen; `note` is what the journal has of it. Throws an Error if it is damaged.
  virtual void cut(std::string_view note) = 0;
  // Puts what is remembered into the parts.
  virtual void save(StateParts& parts) const = 0;
};

}  // namespace phsic
