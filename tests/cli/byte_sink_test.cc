#include "cli/table/byte_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>

#include "cli/table/byte_source.h"
#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;

constexpr const char* kEndings[] = {"", ".gz", ".bz2", ".xz", ".zst"};

// Bytes that compress badly, in lines of many lengths.
std::string many_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t state = 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56U);
  }
  bytes.back() = '\n';
  return bytes;
}

// What can be decompressed of a file, and the Error after it, if there is one.
struct Decompressed {
  std::string bytes;
  std::string error;
};

Decompressed decompress(const std::string& path) {
  Decompressed result;
  ByteSource source(path);
  try {
    for (auto bytes = source.read(); !bytes.empty(); bytes = source.read()) result.bytes += bytes;
  } catch (const Error& error) {
    result.error = error.what();
  }
  return result;
}

class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredPipeSignal() { std::signal(SIGPIPE, before_); }
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal(IgnoredPipeSignal&&) = delete;
  IgnoredPipeSignal& operator=(IgnoredPipeSignal&&) = delete;

 private:
  void (*before_)(int);
};

// Writes enough to fill every buffer and gives the errno with which that failed, and again.
int code_of_failure(ByteSink& sink) {
  const std::string bytes = many_bytes(std::size_t{1} << 20);
  int code = 0;
  try {
    sink.write(bytes);
    sink.finish();
  } catch (const WriteError& error) {
    CHECK_THAT(error.what(), Contains(sink.name() + ": "));
    code = error.code();
  }
  CHECK_THROWS_AS(sink.write("x\n"), WriteError);
  CHECK_THROWS_AS(sink.flush(), WriteError);
  CHECK_THROWS_AS(sink.finish(), WriteError);
  return code;
}

TEST_CASE("What is written compressed is read back, whatever the pieces") {
  const Folder folder;
  const std::string large = many_bytes((std::size_t{3} << 20) + 7);
  for (const std::string ending : kEndings) {
    for (const std::size_t piece : {std::size_t{1000}, large.size()}) {
      CAPTURE(ending, piece);
      const std::string path = folder.path("file" + ending);
      ByteSink sink(path);
      for (std::size_t at = 0; at < large.size(); at += piece) {
        sink.write(std::string_view(large).substr(at, piece));
      }
      sink.finish();
      sink.finish();  // again does nothing
      const auto result = decompress(path);
      CHECK(result.error.empty());
      CHECK((result.bytes == large));
      CHECK((read_file(path) == large) == ending.empty());
    }
  }
}

TEST_CASE("Each ending has the format that its programs read") {
  const Folder folder;
  const std::pair<const char*, std::string> beginnings[] = {{".gz", "\x1f\x8b"},
                                                            {".bz2", "BZh"},
                                                            {".xz",
                                                             "\xfd"
                                                             "7zXZ"},
                                                            {".zst", "\x28\xb5\x2f\xfd"}};
  for (const auto& [ending, beginning] : beginnings) {
    const std::string path = folder.path(std::string("file") + ending);
    ByteSink sink(path);
    sink.write("text\n");
    sink.finish();
    CHECK(read_file(path).substr(0, beginning.size()) == beginning);
  }
  ByteSink plain(folder.path("gz"));
  plain.write("text\n");
  plain.finish();
  CHECK(read_file(folder.path("gz")) == "text\n");
}

TEST_CASE("A sink without bytes makes a file without bytes inside") {
  const Folder folder;
  for (const std::string ending : kEndings) {
    CAPTURE(ending);
    const std::string path = folder.write("file" + ending, "what was there before");
    ByteSink sink(path);
    sink.flush();
    sink.finish();
    const auto result = decompress(path);
    CHECK(result.error.empty());
    CHECK(result.bytes.empty());
  }
}

TEST_CASE("After flush() plain bytes and gzip can be read up to there") {
  const Folder folder;
  for (const std::string ending : {"", ".gz"}) {
    const std::string path = folder.path("file" + ending);
    ByteSink sink(path);
    std::string written;
    for (const std::string line : {"one\n", "two\n", "", "three\n"}) {
      sink.write(line);
      written += line;
      sink.flush();
      CHECK(decompress(path).bytes == written);
    }
    sink.finish();
    CHECK(decompress(path).error.empty());
    CHECK(decompress(path).bytes == written);
  }
}

TEST_CASE("A compressed file that was not finished is told from a whole one") {
  const Folder folder;
  const std::string large = many_bytes(std::size_t{1} << 20);
  for (const std::string ending : kEndings) {
    CAPTURE(ending);
    const std::string path = folder.path("file" + ending);
    { ByteSink(path).write(large); }
    const auto result = decompress(path);
    CHECK((result.error.empty() && result.bytes == large) == ending.empty());
    CHECK(large.starts_with(result.bytes));
    if (ending.empty() || ending == ".gz") CHECK((result.bytes == large));
  }
}

TEST_CASE("A full disk is told for every compression, once and ever after") {
  const Folder folder;
  for (const std::string ending : kEndings) {
    CAPTURE(ending);
    const std::string path = folder.path("full" + ending);
    std::filesystem::create_symlink("/dev/full", path);
    ByteSink sink(path);
    CHECK(code_of_failure(sink) == ENOSPC);
    // Also a few bytes, which wait until the end.
    ByteSink small(path);
    small.write("x\n");
    CHECK_THROWS_WITH(small.finish(), EndsWith(path + ": No space left on device"));
  }
}

TEST_CASE("A reader that went away is told for every compression") {
  const IgnoredPipeSignal ignored;
  const Folder folder;
  for (const std::string ending : kEndings) {
    CAPTURE(ending);
    Pipe pipe;
    const std::string path = folder.path("pipe" + ending);
    std::filesystem::create_symlink(pipe.in(), path);
    ByteSink sink(path);
    pipe.close_out();
    CHECK(code_of_failure(sink) == EPIPE);
  }
}

TEST_CASE("A sink that cannot be created is named with the reason") {
  const Folder folder;
  const auto create = [](const std::string& path) { const ByteSink sink(path); };
  for (const std::string ending : kEndings) {
    CHECK_THROWS_WITH(create(folder.path("none/file" + ending)),
                      EndsWith("/none/file" + ending + ": No such file or directory"));
  }
  CHECK_THROWS_WITH(create(folder.path("")), EndsWith(": Is a directory"));
  const std::string closed = folder.path("closed.gz");
  std::filesystem::create_directory(closed);
  CHECK_THROWS_AS(create(closed), WriteError);
  if (::geteuid() != 0) {
    std::filesystem::permissions(closed, std::filesystem::perms::owner_read);
    CHECK_THROWS_WITH(create(closed + "/file"), EndsWith("/closed.gz/file: Permission denied"));
  }
}

TEST_CASE("Standard output is never compressed") {
  const Folder folder;
  const Redirect output(STDOUT_FILENO, folder.path("out.gz"), O_WRONLY | O_CREAT);
  ByteSink sink("-");
  CHECK(sink.name() == "standard output");
  sink.write("text\n");
  sink.finish();
  CHECK(read_file(folder.path("out.gz")) == "text\n");
}

}  // namespace
}  // namespace phsic::test
