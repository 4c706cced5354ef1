#include "cli/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace phsic {

bool LineReader::next(std::string_view& line) {
  while (!ready()) {
    if (buffer_.size() - begin_ > kMaxLine || !fill()) break;
  }
  if (scanned_ < buffer_.size()) {
    take(scanned_, line);
    begin_ = ++scanned_;
    return true;
  }
  if (begin_ == buffer_.size()) return false;
  take(buffer_.size(), line);
  begin_ = buffer_.size();
  return true;
}

bool LineReader::ready() {
  scanned_ = std::min(buffer_.find('\n', scanned_), buffer_.size());
  return ended_ || scanned_ < buffer_.size();
}

// False at the end.
bool LineReader::fill() {
  // An Error ends the lines; a line that it cut is not given.
  ended_ = true;
  const std::size_t kept = buffer_.size() - begin_;
  buffer_.erase(0, std::exchange(begin_, 0));
  scanned_ = kept;
  std::string_view bytes;
  try {
    bytes = source_.read();
  } catch (...) {
    buffer_.clear();
    scanned_ = 0;
    throw;
  }
  buffer_ += bytes;
  ended_ = bytes.empty();
  return !ended_;
}

void LineReader::take(std::size_t end, std::string_view& line) {
  ++line_number_;
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  if (line.size() <= kMaxLine) return;
  ended_ = true;
  buffer_.clear();
  begin_ = scanned_ = 0;
  throw Error(
      fmt::format("{}:{}: a line longer than {} MiB", name(), line_number_, kMaxLine >> 20));
}

}  // namespace phsic
