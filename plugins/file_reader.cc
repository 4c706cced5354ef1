#include "plugins/file_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "plugins/path_fault.h"

namespace phsic::plugins {
namespace {

constexpr std::size_t kReadBuffer = std::size_t{1} << 16U;

std::invalid_argument system_fault(const std::string& name) {
  return std::invalid_argument(fmt::format("{}: {}", name, std::strerror(errno)));
}

int open_to_read(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw std::invalid_argument(path_fault(path, errno));
  return descriptor;
}

// Takes the descriptor over.
gzFile_s* open_stream(int descriptor, const std::string& name) {
  auto* file = gzdopen(descriptor, "rb");
  if (file == nullptr) {
    close(descriptor);
    throw std::invalid_argument(fmt::format("{}: zlib cannot open it", name));
  }
  gzbuffer(file, kReadBuffer);
  return file;
}

}  // namespace

FileReader::FileReader(const std::string& path)
    : name_(path), file_(nullptr, gzclose_r), buffer_(kReadBuffer) {
  const int descriptor = open_to_read(path);
  file_.reset(open_stream(descriptor, name_));
  measure(descriptor);
}

void FileReader::measure(int descriptor) {
  // Deflate at its best makes one byte of 1032.
  constexpr std::uint64_t kBestRatio = 1032;
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) throw system_fault(name_);
  most_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  fill();
  if (gzdirect(file_.get()) == 0) most_bytes_ *= kBestRatio;
}

bool FileReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const auto room = std::min(buffer_.size() - end_, kReadBuffer);
  const auto got = gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(room));
  int fault = Z_OK;
  const char* reason = gzerror(file_.get(), &fault);
  if (got <= 0 && fault != Z_OK) {
    if (fault == Z_ERRNO) throw system_fault(name_);
    throw std::invalid_argument(
        fmt::format("{}: byte {} after decompression: found {}, expected whole gzip data", name_,
                    offset_ + end_, fault == Z_BUF_ERROR ? "the end of the file" : reason));
  }
  if (got > 0) end_ += static_cast<std::size_t>(got);
  return got > 0;
}

std::string_view FileReader::peek(std::size_t size) {
  while (end_ - begin_ < size && fill()) {
  }
  return {buffer_.data() + begin_, std::min(size, end_ - begin_)};
}

void FileReader::skip(std::size_t size) {
  begin_ += size;
  offset_ += size;
}

bool FileReader::take_line(std::string_view& line) {
  std::size_t searched = 0;
  auto end = std::string_view::npos;
  for (;;) {
    const std::string_view ahead(buffer_.data() + begin_, end_ - begin_);
    end = ahead.find('\n', searched);
    searched = ahead.size();
    if (std::min(end, searched) > kLongestLine) {
      throw std::invalid_argument(
          fmt::format("{}: byte {}: found a line of more than {} bytes, expected a shorter one",
                      name_, offset_, kLongestLine));
    }
    if (end != std::string_view::npos || !fill()) break;
  }
  if (searched == 0) return false;
  line = {buffer_.data() + begin_, std::min(end, searched)};
  skip(end == std::string_view::npos ? searched : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

}  // namespace phsic::plugins
