#include "cli/table/line_reader.h"

#include <algorithm>
#include <utility>

namespace phsic {

bool LineReader::next(std::string_view& line) {
  too_long_ = false;
  while (!ready()) {
    if (too_long_ || buffer_.size() - begin_ > kMaxLine) pass_over();
    if (!fill()) break;
  }
  if (scanned_ < buffer_.size()) {
    take(scanned_, line);
    begin_ = ++scanned_;
    return true;
  }
  if (begin_ == buffer_.size() && !too_long_) return false;
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

// Forgets what there is of a line that is too long.
void LineReader::pass_over() {
  too_long_ = true;
  buffer_.clear();
  begin_ = scanned_ = 0;
}

void LineReader::take(std::size_t end, std::string_view& line) {
  ++line_number_;
  too_long_ = too_long_ || end - begin_ > kMaxLine;
  line = too_long_ ? std::string_view() : std::string_view(buffer_).substr(begin_, end - begin_);
}

}  // namespace phsic
