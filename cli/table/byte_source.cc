#include "cli/table/byte_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST  // zlib's input is const
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "core/error.h"

namespace phsic {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr int kLook = 100;  // milliseconds between two looks for more

constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr std::string_view kArchiveMagics[] = {{"BZh", 3},
                                               {"\xfd"
                                                "7zXZ\0",
                                                6},
                                               {"\x28\xb5\x2f\xfd", 4}};

// Whether the beginning `bytes` is a magic, or may become one when more bytes come.
[[nodiscard]] bool is_magic(std::string_view bytes, std::string_view magic) {
  return bytes.starts_with(magic);
}
[[nodiscard]] bool may_be_magic(std::string_view bytes, std::string_view magic) {
  return bytes.size() < magic.size() && magic.starts_with(bytes);
}

}  // namespace

// The open file; gives its bytes as they are.
class ByteSource::File {
 public:
  File(const std::string& path, Following following)
      : following_(std::move(following)),
        name_(path == "-" ? "standard input" : path),
        owned_(path != "-"),
        fd_(owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO),
        block_(kBlock) {
    if (fd_ < 0) fail(errno);
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail_and_close(errno);
    if (S_ISDIR(status.st_mode)) fail_and_close(EISDIR);
    if (S_ISREG(status.st_mode)) {
      const auto place = std::max<::off_t>(::lseek(fd_, 0, SEEK_CUR), 0);
      size_ = static_cast<std::uint64_t>(std::max<::off_t>(status.st_size - place, 0));
    }
  }
  ~File() {
    if (owned_) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;

  // The first bytes, enough of them to tell whether they are a magic. They are given again by the
  // first fetch().
  std::string_view peek() {
    const auto undecided = [&] {
      const std::string_view bytes(block_.data(), peeked_);
      return may_be_magic(bytes, kGzipMagic) ||
             std::any_of(std::begin(kArchiveMagics), std::end(kArchiveMagics),
                         [&](std::string_view magic) { return may_be_magic(bytes, magic); });
    };
    while (undecided()) {
      const std::size_t count = read_some(peeked_);
      if (count == 0) break;
      peeked_ += count;
    }
    return {block_.data(), peeked_};
  }

  // What one read(2) gives; nothing at the end. Valid until the next call.
  std::string_view fetch() {
    if (peeked_ > 0) return {block_.data(), std::exchange(peeked_, 0)};
    return {block_.data(), read_some(0)};
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(fmt::format("{}: {}", name_, why));
  }
  [[noreturn]] void fail(int code) const { fail(std::strerror(code)); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

 private:
  [[noreturn]] void fail_and_close(int code) const {
    if (owned_) ::close(fd_);
    fail(code);
  }

  std::size_t read_some(std::size_t at) {
    while (wait_for_input()) {
      const ::ssize_t count = ::read(fd_, block_.data() + at, block_.size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(errno);
      if (count == 0 && size_ && following_.past_the_end) {
        wait_for_growth();
        continue;
      }
      bytes_read_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    return 0;
  }

  // False if there is nothing yet and it should end.
  bool wait_for_input() {
    if (!following_.should_end) return true;
    ::pollfd input{fd_, POLLIN, 0};
    do {
      if (following_.should_end()) return false;
    } while (::poll(&input, 1, kLook) <= 0);
    return true;
  }

  // At the end of a regular file, which poll(2) takes for input.
  void wait_for_growth() {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail(errno);
    if (status.st_size < ::lseek(fd_, 0, SEEK_CUR)) {
      fail("the file has become shorter, expected it to grow");
    }
    ::poll(nullptr, 0, kLook);
  }

  Following following_;
  std::string name_;
  bool owned_;
  int fd_;
  std::vector<char> block_;
  std::size_t peeked_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::optional<std::uint64_t> size_;
};

class ByteSource::Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&&) = delete;
  Decoder& operator=(Decoder&&) = delete;

  [[nodiscard]] virtual std::string_view read() = 0;
};

namespace {

class PlainDecoder : public ByteSource::Decoder {
 public:
  explicit PlainDecoder(ByteSource::File& file) : file_(file) {}
  std::string_view read() override { return file_.fetch(); }

 private:
  ByteSource::File& file_;
};

// zlib and not libarchive, which neither checks gzip's checksum nor gives what it decoded before a
// damaged place.
class GzipDecoder : public ByteSource::Decoder {
 public:
  explicit GzipDecoder(ByteSource::File& file) : file_(file), out_(kBlock) {
    constexpr int kOnlyGzip = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kOnlyGzip) != Z_OK) file_.fail("zlib does not start");
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  GzipDecoder(GzipDecoder&&) = delete;
  GzipDecoder& operator=(GzipDecoder&&) = delete;

  std::string_view read() override {
    while (damaged_ || have_input()) {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int code = damaged_ ? Z_DATA_ERROR : inflate(&stream_, Z_NO_FLUSH);
      const std::size_t count = out_.size() - stream_.avail_out;
      if (code == Z_STREAM_END) {
        inside_ = false;
        inflateReset(&stream_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        // What came before it is given first.
        damaged_ = true;
        if (count == 0) fail();
      }
      if (count > 0) return {out_.data(), count};
    }
    return {};
  }

 private:
  [[noreturn]] void fail() const {
    file_.fail(fmt::format("damaged gzip: {}", stream_.msg != nullptr ? stream_.msg : "no reason"));
  }

  // Gets more input if there is none left. Between two members zero bytes are padding.
  bool have_input() {
    while (true) {
      if (!inside_) {
        while (stream_.avail_in > 0 && *stream_.next_in == 0) {
          ++stream_.next_in;
          --stream_.avail_in;
        }
        inside_ = stream_.avail_in > 0;
      }
      // Output that did not fit waits inside of zlib, also when all input is taken.
      if (stream_.avail_in > 0 || (inside_ && stream_.avail_out == 0)) return true;
      const std::string_view bytes = file_.fetch();
      if (bytes.empty() && inside_) file_.fail("truncated gzip");
      if (bytes.empty()) return false;
      stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
      stream_.avail_in = static_cast<uInt>(bytes.size());
    }
  }

  ByteSource::File& file_;
  std::vector<char> out_;
  z_stream stream_{};
  bool inside_ = true;  // of a member
  bool damaged_ = false;
};

class ArchiveDecoder : public ByteSource::Decoder {
 public:
  explicit ArchiveDecoder(ByteSource::File& file) : file_(file), archive_(archive_read_new()) {
    if (archive_ == nullptr) throw std::bad_alloc();
  }

  std::string_view read() override {
    if (!open_ && !open()) return {};
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    while (size == 0) {
      if (!check(archive_read_data_block(archive_.get(), &block, &size, &offset))) return {};
    }
    return {static_cast<const char*>(block), size};
  }

 private:
  struct Free {
    void operator()(archive* opened) const { archive_read_free(opened); }
  };

  // False if there is nothing inside.
  bool open() {
    archive* const opened = archive_.get();
    archive_entry* entry = nullptr;
    archive_read_support_filter_none(opened);
    archive_read_support_filter_bzip2(opened);
    archive_read_support_filter_xz(opened);
    archive_read_support_filter_zstd(opened);
    archive_read_support_format_raw(opened);
    archive_read_support_format_empty(opened);
    if (!check(archive_read_open(opened, this, nullptr, fetch, nullptr))) return false;
    open_ = check(archive_read_next_header(opened, &entry));
    return open_;
  }

  // False at the end.
  [[nodiscard]] bool check(int code) {
    if (code == ARCHIVE_EOF) return false;
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return true;
    if (broken_) std::rethrow_exception(broken_);
    const char* why = archive_error_string(archive_.get());
    file_.fail(fmt::format("cannot decompress: {}", why != nullptr ? why : "damaged"));
  }

  // libarchive is C: an exception waits outside until it has returned.
  static la_ssize_t fetch(archive* /*opened*/, void* self, const void** block) {
    auto* const decoder = static_cast<ArchiveDecoder*>(self);
    try {
      const std::string_view bytes = decoder->file_.fetch();
      *block = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      decoder->broken_ = std::current_exception();
      return ARCHIVE_FATAL;
    }
  }

  ByteSource::File& file_;
  std::unique_ptr<archive, Free> archive_;
  bool open_ = false;
  std::exception_ptr broken_;
};

std::unique_ptr<ByteSource::Decoder> make_decoder(ByteSource::File& file) {
  const std::string_view beginning = file.peek();
  if (is_magic(beginning, kGzipMagic)) return std::make_unique<GzipDecoder>(file);
  for (const std::string_view magic : kArchiveMagics) {
    if (is_magic(beginning, magic)) return std::make_unique<ArchiveDecoder>(file);
  }
  return std::make_unique<PlainDecoder>(file);
}

}  // namespace

ByteSource::ByteSource(const std::string& path, Following following)
    : file_(std::make_unique<File>(path, std::move(following))) {}
ByteSource::~ByteSource() = default;

std::string_view ByteSource::read() {
  if (!decoder_) decoder_ = make_decoder(*file_);
  return decoder_->read();
}

const std::string& ByteSource::name() const { return file_->name(); }
std::uint64_t ByteSource::bytes_read() const { return file_->bytes_read(); }
std::optional<std::uint64_t> ByteSource::size() const { return file_->size(); }

}  // namespace phsic
