#include "wire/json_fault.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace phsic {
namespace {

constexpr std::size_t kMostLookedAt = 64U << 10U;

class FaultFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    offset = position == 0 ? 0 : position - 1;
    // "[...] parse error at line 1, column 2: syntax error while parsing ...; last read: '...'"
    constexpr std::string_view kError = "syntax error ";
    reason = problem.what();
    const auto start = reason.find(kError);
    reason =
        start == std::string::npos ? "a number out of range" : reason.substr(start + kError.size());
    reason.resize(std::min(reason.find("; last read"), reason.size()));
    return false;
  }

  std::size_t offset = 0;
  std::string reason;
};

}  // namespace

std::string json_fault(std::string_view text) {
  const auto looked_at = text.substr(0, kMostLookedAt);
  FaultFinder fault;
  if (nlohmann::json::sax_parse(looked_at.begin(), looked_at.end(), &fault)) return {};
  if (looked_at.size() < text.size() && fault.offset >= looked_at.size()) return {};
  return fmt::format("at byte {} ({})", fault.offset, fault.reason);
}

}  // namespace phsic
