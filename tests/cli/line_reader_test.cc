#include "cli/table/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/random.h"
#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using Lines = std::vector<std::string>;

// The lines, and what was thrown at their end.
struct Outcome {
  Lines lines;
  std::string error;
};

Outcome read_lines(const std::string& path) {
  Outcome outcome;
  LineReader reader(path);
  std::string_view line;
  try {
    while (reader.next(line)) outcome.lines.emplace_back(line);
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  CHECK_FALSE(reader.next(line));
  return outcome;
}

std::string many_lines() {
  std::string text;
  Random random(1);
  for (int i = 0; i < 60000; ++i) text += std::to_string(random.bits()) + "\n";
  return text;
}

Lines split_lines(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_CASE("Lines come without their newline, the last one also if it has none") {
  const Folder folder;
  CHECK(read_lines(folder.write("a", "one\n\ntwo\r\nthree")).lines ==
        Lines{"one", "", "two\r", "three"});
  CHECK(read_lines(folder.write("b", "one\n")).lines == Lines{"one"});
  CHECK(read_lines(folder.write("c", "\n")).lines == Lines{""});
  CHECK(read_lines(folder.write("d", "")).lines.empty());
  CHECK(read_lines(folder.write("e", std::string("a\0b\n\xff", 5))).lines ==
        Lines{std::string("a\0b", 3), "\xff"});
}

TEST_CASE("Compressed files are known by their content, not their name") {
  const Folder folder;
  const std::string text = many_lines();
  for (const std::string how : kCompressions) {
    CAPTURE(how);
    const Outcome outcome = read_lines(folder.write("plain.txt", compress(text, how)));
    CHECK(outcome.error.empty());
    CHECK(outcome.lines == split_lines(text));
    CHECK(read_lines(folder.write("empty", compress("", how))).lines.empty());
  }
  CHECK(read_lines(folder.write("text.gz", "one\n")).lines == Lines{"one"});
}

TEST_CASE("A text that begins like a compressed file is still a text") {
  const Folder folder;
  for (const std::string text : {"BZ", "BZh", "BZhello and more than that", "\x1f", "\3757zX"}) {
    CHECK(read_lines(folder.write("text", text)).lines == Lines{text});
  }
}

TEST_CASE("Compressed files one after the other are one file") {
  const Folder folder;
  for (const std::string how : kCompressions) {
    CAPTURE(how);
    const std::string both = compress("one\ntw", how) + compress("o\nthree\n", how);
    CHECK(read_lines(folder.write("both", both)).lines == Lines{"one", "two", "three"});
  }
  const std::string padded = compress("one\n", "gzip") + std::string(600, '\0');
  CHECK(read_lines(folder.write("padded", padded)).lines == Lines{"one"});
}

TEST_CASE("A cut compressed file gives its lines up to the cut, then an error") {
  const Folder folder;
  const std::string text = many_lines();
  const Lines lines = split_lines(text);
  for (const std::string how : kCompressions) {
    CAPTURE(how);
    const std::string packed = compress(text, how);
    const std::string path = folder.write("cut", packed.substr(0, packed.size() * 3 / 4));
    const Outcome outcome = read_lines(path);
    CHECK_THAT(outcome.error, Contains(path + ": "));
    CHECK(outcome.lines.size() > lines.size() / 8);
    REQUIRE(outcome.lines.size() < lines.size());
    CHECK(std::equal(outcome.lines.begin(), outcome.lines.end(), lines.begin()));
  }
}

TEST_CASE("gzip cut or changed at any place gives an error and no wrong ending") {
  const Folder folder;
  const std::string text = "one\ntwo\nthree\n";
  const std::string packed = compress(text, "gzip");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    CAPTURE(size);
    CHECK_THAT(read_lines(folder.write("cut", packed.substr(0, size))).error,
               Contains("truncated gzip"));
  }
  constexpr std::size_t kHeader = 10;
  for (std::size_t at = kHeader; at < packed.size(); ++at) {
    CAPTURE(at);
    std::string bent = packed;
    bent[at] = static_cast<char>(bent[at] ^ 0x11);
    CHECK_THAT(read_lines(folder.write("bent", bent)).error, Contains("gzip"));
  }
  const Outcome outcome = read_lines(folder.write("tail", packed + "something else"));
  CHECK(outcome.lines == Lines{"one", "two", "three"});
  CHECK_THAT(outcome.error, Contains("damaged gzip: incorrect header check"));
}

TEST_CASE("Damaged compressed files give an error with what the library said") {
  const Folder folder;
  for (const std::string how : {"bzip2", "xz", "zstd"}) {
    CAPTURE(how);
    std::string packed = compress(many_lines(), how);
    // A large hole: zstd has a checksum only if its writer wanted one.
    packed.replace(packed.size() / 2, packed.size() / 4, packed.size() / 4, '\0');
    const std::string path = folder.write("bent", packed);
    CHECK_THAT(read_lines(path).error, Contains(path + ": cannot decompress: "));
  }
}

TEST_CASE("A file that cannot be opened is named with the reason") {
  const Folder folder;
  const auto open = [](const std::string& path) { const LineReader reader(path); };
  CHECK_THROWS_WITH(open(folder.path("none")), EndsWith("/none: No such file or directory"));
  CHECK_THROWS_WITH(open(folder.path("")), EndsWith(": Is a directory"));
  const std::string path = folder.write("closed", "x");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (::geteuid() != 0) CHECK_THROWS_WITH(open(path), EndsWith("/closed: Permission denied"));
}

TEST_CASE("A line longer than 64 MiB comes empty, and the others as they are") {
  const Folder folder;
  const std::string longest(kMaxLine, 'x');
  const Outcome good = read_lines(folder.write("good", compress("a\n" + longest + "\nb", "zstd")));
  CHECK(good.error.empty());
  REQUIRE(good.lines.size() == 3);
  CHECK(good.lines[1].size() == kMaxLine);
  for (const std::string end : {"x\nb\n", "x\n\n", "x\n", "x"}) {
    LineReader reader(folder.write("bad", compress("a\n" + longest + end, "zstd")));
    std::string_view line;
    REQUIRE(reader.next(line));
    CHECK_FALSE(reader.was_too_long());
    REQUIRE(reader.next(line));
    CHECK(line.empty());
    CHECK(reader.was_too_long());
    CHECK(reader.line_number() == 2);
    Lines rest;
    while (reader.next(line)) {
      CHECK_FALSE(reader.was_too_long());
      rest.emplace_back(line);
    }
    CHECK(rest == split_lines(end.substr(std::min<std::size_t>(2, end.size()))));
  }
}

TEST_CASE("A line of a live pipe comes as soon as it is written") {
  Pipe pipe;
  LineReader reader(pipe.out());
  std::string_view line;
  CHECK_FALSE(reader.size().has_value());
  pipe.write("a\n");
  REQUIRE(reader.next(line));
  CHECK(line == "a");
  CHECK_FALSE(reader.ready());
  pipe.write("b\nc");
  REQUIRE(reader.next(line));
  CHECK(line == "b");
  CHECK_FALSE(reader.ready());
  pipe.write("c\nd\n");
  REQUIRE(reader.next(line));
  CHECK(line == "cc");
  CHECK(reader.ready());
  REQUIRE(reader.next(line));
  CHECK(line == "d");
  CHECK(reader.line_number() == 4);
  pipe.close_in();
  CHECK_FALSE(reader.next(line));
  CHECK(reader.ready());
}

TEST_CASE("A line of a live compressed pipe comes when its part is complete") {
  Pipe pipe;
  LineReader reader(pipe.out());
  std::string_view line;
  pipe.write(compress("one\n", "gzip"));
  REQUIRE(reader.next(line));
  CHECK(line == "one");
}

TEST_CASE("It is known how much of a file has been read") {
  const Folder folder;
  const std::string packed = compress(many_lines(), "gzip");
  LineReader reader(folder.write("file", packed));
  CHECK(reader.size() == packed.size());
  CHECK(reader.bytes_read() == 0);
  std::string_view line;
  REQUIRE(reader.next(line));
  CHECK(reader.bytes_read() > 0);
  CHECK(reader.bytes_read() < packed.size());
  while (reader.next(line)) continue;
  CHECK(reader.bytes_read() == packed.size());
}

TEST_CASE("A dash is standard input") {
  const Folder folder;
  const Redirect input(STDIN_FILENO, folder.write("in", "one\ntwo\n"), O_RDONLY);
  CHECK(read_lines("-").lines == Lines{"one", "two"});
  LineReader reader("-");
  CHECK(reader.name() == "standard input");
  CHECK(reader.size() == 0);  // nothing is left of it
}

TEST_CASE("A file that is still being written is followed until its end is wanted") {
  const Folder folder;
  const auto path = folder.write("log", "one\ntw");
  const Lines more = {"", "o\n", "three\nfour"};
  std::size_t asked = 0;
  const auto write_and_end = [&] {
    if (asked == more.size()) return true;
    std::ofstream(path, std::ios::app) << more[asked++];
    return false;
  };
  LineReader reader(path, {true, write_and_end});
  std::string_view line;
  Lines lines;
  while (reader.next(line)) lines.emplace_back(line);
  CHECK(lines == Lines{"one", "two", "three", "four"});
}

TEST_CASE("A pipe that is followed ends when its end is wanted, or with its writer") {
  Pipe pipe;
  pipe.write("one\n");
  int asked = 0;
  LineReader reader(pipe.out(), {true, [&] { return ++asked == 3; }});
  std::string_view line;
  CHECK(reader.next(line));
  CHECK_FALSE(reader.next(line));
  CHECK(asked == 3);
  pipe.close_in();
  LineReader ended(pipe.out(), {true, [] { return false; }});
  CHECK_FALSE(ended.next(line));
}

TEST_CASE("A followed file that becomes shorter is refused") {
  const Folder folder;
  const auto path = folder.write("log", "one\n");
  int asked = 0;
  LineReader reader(path, {true, [&] {
                             if (++asked == 2) std::filesystem::resize_file(path, 1);
                             return asked > 100;
                           }});
  std::string_view line;
  CHECK(reader.next(line));
  CHECK_THROWS_WITH(reader.next(line), Contains("log: the file has become shorter"));
}

}  // namespace
}  // namespace phsic::test
