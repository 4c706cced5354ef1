#include "cli/table/byte_sink.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define ZLIB_CONST  // zlib's input is const
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "wire/printable.h"

namespace phsic {
namespace {

constexpr std::size_t kSinkBlock = std::size_t{1} << 16;

}  // namespace

// The open file; takes bytes as they are to be there.
class ByteSink::File {
 public:
  explicit File(const std::string& path)
      : name_(path == "-" ? "standard output" : path), owned_(path != "-") {
    constexpr int kMode = 0666;
    fd_ = owned_ ? ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode)
                 : STDOUT_FILENO;
    if (fd_ < 0) fail(std::strerror(errno), errno);
    is_terminal_ = ::isatty(fd_) == 1;
  }
  ~File() {
    if (owned_) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ::ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(std::strerror(errno), errno);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void close() {
    if (!std::exchange(owned_, false)) return;
    // Some file systems tell only now that the disk is full.
    if (::close(fd_) != 0) fail(std::strerror(errno), errno);
  }

  [[noreturn]] void fail(std::string_view why, int code) const {
    throw WriteError(fmt::format("{}: {}", name_, why), code);
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }

 private:
  std::string name_;
  bool owned_;
  int fd_ = -1;
  bool is_terminal_ = false;
};

class ByteSink::Encoder {
 public:
  Encoder() = default;
  virtual ~Encoder() = default;  // writes nothing
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  Encoder(Encoder&&) = delete;
  Encoder& operator=(Encoder&&) = delete;

  virtual void write(std::string_view bytes) = 0;
  virtual void flush() {}
  // Writes the end.
  virtual void finish() {}
};

namespace {

class PlainEncoder : public ByteSink::Encoder {
 public:
  explicit PlainEncoder(ByteSink::File& file) : file_(file) {}
  void write(std::string_view bytes) override {
    if (file_.is_terminal()) {
      file_.write(printable_lines(bytes));
    } else {
      file_.write(bytes);
    }
  }

 private:
  ByteSink::File& file_;
};

// zlib and not libarchive, which cannot flush.
class GzipEncoder : public ByteSink::Encoder {
 public:
  explicit GzipEncoder(ByteSink::File& file) : file_(file), out_(kSinkBlock) {
    constexpr int kOnlyGzip = 16;
    constexpr int kUsualMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kOnlyGzip,
                     kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipEncoder() override { deflateEnd(&stream_); }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;
  GzipEncoder(GzipEncoder&&) = delete;
  GzipEncoder& operator=(GzipEncoder&&) = delete;

  void write(std::string_view bytes) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      bytes.remove_prefix(part.size());
      stream_.next_in = reinterpret_cast<const Bytef*>(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
      deflate_all(Z_NO_FLUSH);
    }
  }
  void flush() override { deflate_all(Z_SYNC_FLUSH); }
  void finish() override { deflate_all(Z_FINISH); }

 private:
  // REQUIRES: a stream that is not damaged, so that deflate() cannot fail.
  void deflate_all(int mode) {
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, mode);
      file_.write({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  ByteSink::File& file_;
  std::vector<char> out_;
  z_stream stream_{};
};

class ArchiveEncoder : public ByteSink::Encoder {
 public:
  // `filter` is libarchive's name of the compression.
  ArchiveEncoder(ByteSink::File& file, const char* filter)
      : file_(file), archive_(archive_write_new()) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive* const opened = archive_.get();
    if (opened == nullptr || entry == nullptr) throw std::bad_alloc();
    check(archive_write_add_filter_by_name(opened, filter));
    check(archive_write_set_format_raw(opened));
    check(archive_write_set_bytes_per_block(opened, static_cast<int>(kSinkBlock)));
    // No padding after the compressed bytes.
    check(archive_write_set_bytes_in_last_block(opened, 1));
    check(archive_write_open(opened, this, nullptr, take, nullptr));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    check(archive_write_header(opened, entry.get()));
  }

  // What is not finished gets no end: what closing would still write is discarded.
  ~ArchiveEncoder() override { discards_ = true; }
  ArchiveEncoder(const ArchiveEncoder&) = delete;
  ArchiveEncoder& operator=(const ArchiveEncoder&) = delete;
  ArchiveEncoder(ArchiveEncoder&&) = delete;
  ArchiveEncoder& operator=(ArchiveEncoder&&) = delete;

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const la_ssize_t count = archive_write_data(archive_.get(), bytes.data(), bytes.size());
      check(count > 0 ? ARCHIVE_OK : ARCHIVE_FATAL);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void finish() override { check(archive_write_close(archive_.get())); }

 private:
  struct Free {
    void operator()(archive* opened) const { archive_write_free(opened); }
  };

  void check(int code) {
    if (broken_) std::rethrow_exception(broken_);
    if (code == ARCHIVE_OK) return;
    const char* why = archive_error_string(archive_.get());
    file_.fail(fmt::format("cannot compress: {}", why != nullptr ? why : "no reason given"), 0);
  }

  // libarchive is C: an exception waits outside until it has returned. libarchive is never told of
  // a failure, after which its compressions leak or are closed twice; check() tells of it.
  static la_ssize_t take(archive* /*opened*/, void* self, const void* bytes, std::size_t size) {
    auto* const encoder = static_cast<ArchiveEncoder*>(self);
    if (!encoder->discards_) {
      try {
        encoder->file_.write({static_cast<const char*>(bytes), size});
      } catch (...) {
        encoder->broken_ = std::current_exception();
        encoder->discards_ = true;
      }
    }
    return static_cast<la_ssize_t>(size);
  }

  ByteSink::File& file_;
  std::exception_ptr broken_;
  bool discards_ = false;
  std::unique_ptr<archive, Free> archive_;  // its end calls take()
};

// Of a name by which one would take plain text for something else.
void tell_if_not_compressed(std::string_view path) {
  for (const char* const ending : {".lz4", ".br", ".zip", ".Z", ".lzma"}) {
    if (!path.ends_with(ending)) continue;
    const auto told =
        fmt::format("phsic: {}: plain text is written, as {} is none of .gz, .bz2, .xz and .zst\n",
                    printable(path), ending);
    std::fputs(told.c_str(), stderr);
  }
}

std::unique_ptr<ByteSink::Encoder> make_encoder(ByteSink::File& file, std::string_view path) {
  if (path.ends_with(".gz")) return std::make_unique<GzipEncoder>(file);
  constexpr std::pair<std::string_view, const char*> kFilters[] = {
      {".bz2", "bzip2"}, {".xz", "xz"}, {".zst", "zstd"}};
  for (const auto& [ending, filter] : kFilters) {
    if (path.ends_with(ending)) return std::make_unique<ArchiveEncoder>(file, filter);
  }
  tell_if_not_compressed(path);
  return std::make_unique<PlainEncoder>(file);
}

}  // namespace

ByteSink::ByteSink(const std::string& path)
    : file_(std::make_unique<File>(path)), encoder_(make_encoder(*file_, path)) {}

ByteSink::~ByteSink() {
  if (finished_ || failure_) return;
  try {
    flush();
  } catch (const std::exception&) {
    // Who wants to know calls finish().
  }
}

template <class Action>
void ByteSink::attempt(const Action& action) {
  if (failure_) throw WriteError(*failure_);
  try {
    action();
  } catch (const WriteError& error) {
    // Nothing is tried again.
    buffer_.clear();
    failure_ = std::make_unique<WriteError>(error);
    throw;
  }
}

void ByteSink::write(std::string_view bytes) {
  attempt([&] {
    buffer_ += bytes;
    if (buffer_.size() >= kSinkBlock) hand_over();
  });
}

void ByteSink::hand_over() {
  encoder_->write(buffer_);
  buffer_.clear();
}

void ByteSink::flush() {
  attempt([&] {
    hand_over();
    encoder_->flush();
  });
}

void ByteSink::finish() {
  if (finished_) return;
  attempt([&] {
    hand_over();
    encoder_->finish();
    file_->close();
  });
  finished_ = true;
}

const std::string& ByteSink::name() const { return file_->name(); }

}  // namespace phsic
