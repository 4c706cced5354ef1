// Collects all that is wrong with a configuration, to tell it at once.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace phsic {

class Problems {
 public:
  // Lines of what came from the command line, and of what nobody wrote.
  static constexpr int kCommandLine = 0;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  // `what` is "found ..., expected ...". What was told before is not told again.
  void add(int line, const std::string& path, const std::string& what);

  [[nodiscard]] bool empty() const { return found_.empty(); }
  // Throws an Error with all of them, a line each, if there are any.
  void throw_if_any() const;

 private:
  std::string file_;
  // In the order of the file; those of the command line last.
  std::set<std::tuple<bool, int, std::string>> found_;
  std::size_t left_out_ = 0;
};

// For a key that is not known: the known one it may have been meant for, or all there are.
[[nodiscard]] std::string expected_key(std::string_view key,
                                       std::span<const std::string_view> known);

}  // namespace phsic
