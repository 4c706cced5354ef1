#include "cli/table/aligned_files.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/error.h"
#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;

struct PairRow {
  std::string line_x;
  std::string line_y;
  std::uint64_t number = 0;
  std::string problem;
  std::string x;
  std::string y;
};

struct PairRows {
  std::vector<PairRow> rows;
  std::string error;
};

PairRows read_pairs(const std::string& x, const std::string& y, std::size_t batch_rows = 3) {
  PairRows result;
  AlignedFiles files(x, y);
  RowBatch batch;
  try {
    while (files.read(batch, batch_rows) > 0) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto lines = AlignedFiles::lines_of(batch, i);
        const auto texts = AlignedFiles::texts_of(batch, i);
        PairRow row{std::string(lines.first), std::string(lines.second),
                    batch.line_number(i),     std::string(batch.problem(i)),
                    std::string(texts.first), std::string(texts.second)};
        if (row.problem.empty()) {
          REQUIRE(batch.field_count(i) == 2);
          CHECK(batch.field(i, 0) == row.x);
          CHECK(batch.field(i, 1) == row.y);
        } else {
          CHECK(batch.field_count(i) == 0);
        }
        result.rows.push_back(row);
      }
    }
  } catch (const Error& error) {
    result.error = error.what();
    CHECK(files.read(batch, batch_rows) == 0);  // nothing comes after an Error
  }
  return result;
}

// The lines of a file, by the plainest means.
std::vector<std::string> split_at_newlines(const std::string& bytes) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : bytes) {
    if (c == '\n') {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += c;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

TEST_CASE("Line k of one file comes with line k of the other") {
  const Folder folder;
  const auto result =
      read_pairs(folder.write("en", "one\n\ntab\there\r\nfour\n\n"),
                 folder.write("fr", "un\ndeux\n\r\nquatre\t\n\n"), GENERATE(1, 2, 100));
  CHECK(result.error.empty());
  REQUIRE(result.rows.size() == 5);
  const PairRow expected[] = {{"one", "un", 1, "", "one", "un"},
                              {"", "deux", 2, "", "", "deux"},
                              {"tab\there\r", "\r", 3, "", "tab\there", ""},
                              {"four", "quatre\t", 4, "", "four", "quatre\t"},
                              {"", "", 5, "", "", ""}};
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    CAPTURE(i);
    CHECK(result.rows[i].line_x == expected[i].line_x);
    CHECK(result.rows[i].line_y == expected[i].line_y);
    CHECK(result.rows[i].number == expected[i].number);
    CHECK(result.rows[i].problem.empty());
    CHECK(result.rows[i].x == expected[i].x);
    CHECK(result.rows[i].y == expected[i].y);
  }
}

TEST_CASE("Files of unequal length give what both have, then an error that names both") {
  const Folder folder;
  const std::string shorter = folder.write("short", "1\n2\n3\n");
  const std::string longer = folder.write("long", "1\n2\n3\n4\n5\n");
  for (const std::size_t batch_rows : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
    const auto first = read_pairs(shorter, longer, batch_rows);
    CHECK(first.rows.size() == 3);
    CHECK_THAT(first.error, Contains(shorter + " ends after 3 lines, but " + longer +
                                     " has a line 4; expected as many in both"));
    const auto second = read_pairs(longer, shorter, batch_rows);
    CHECK(second.rows.size() == 3);
    CHECK_THAT(second.error, Contains(shorter + " ends after 3 lines"));
  }
  const std::string none = folder.write("none", "");
  CHECK(read_pairs(none, none).error.empty());
  CHECK_THAT(read_pairs(none, shorter).error, Contains("ends after 0 lines"));
  // An empty line is a line.
  CHECK_THAT(read_pairs(folder.write("a", "x\n\n"), folder.write("b", "x\n")).error,
             Contains("ends after 1 line, but"));
  // What follows the last newline is one, too.
  CHECK(read_pairs(folder.write("a", "x\ny"), folder.write("b", "x\ny\n")).error.empty());
}

TEST_CASE("Any lines come back byte for byte and never shift") {
  const Folder folder;
  std::mt19937 random(11);
  const std::string alphabet("ab\n\n\r\t\xc3\xa4\xff{\0", 11);
  const auto text = [&] {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = alphabet[random() % alphabet.size()];
    return bytes;
  };
  for (int trial = 0; trial < 500; ++trial) {
    const std::string x = text();
    const std::string y = text();
    CAPTURE(x, y);
    const auto lines_x = split_at_newlines(x);
    const auto lines_y = split_at_newlines(y);
    const auto result = read_pairs(folder.write("x", x), folder.write("y", y), 1 + random() % 5);
    REQUIRE(result.rows.size() == std::min(lines_x.size(), lines_y.size()));
    CHECK(result.error.empty() == (lines_x.size() == lines_y.size()));
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      CHECK(result.rows[i].line_x == lines_x[i]);
      CHECK(result.rows[i].line_y == lines_y[i]);
      CHECK(result.rows[i].number == i + 1);
    }
  }
}

TEST_CASE("A byte order mark is no part of the first text and comes back with its line") {
  const Folder folder;
  const auto result = read_pairs(folder.write("x",
                                              "\xef\xbb\xbf"
                                              "a\n\xef\xbb\xbf"
                                              "b\n"),
                                 folder.write("y", "\xef\xbb\xbf\r\nc\n"));
  REQUIRE(result.rows.size() == 2);
  CHECK(result.rows[0].x == "a");
  CHECK(result.rows[0].y.empty());
  CHECK(result.rows[0].line_x ==
        "\xef\xbb\xbf"
        "a");
  CHECK(result.rows[0].line_y == "\xef\xbb\xbf\r");
  CHECK(result.rows[1].x ==
        "\xef\xbb\xbf"
        "b");
}

TEST_CASE("Broken UTF-8 is a problem of its row alone, and names the file") {
  const Folder folder;
  const std::string x = folder.write("x", "a\nb\n\xff\n");
  const std::string y = folder.write("y", "a\nb\xc3\nc\n");
  const auto result = read_pairs(x, y);
  REQUIRE(result.rows.size() == 3);
  CHECK(result.rows[0].problem.empty());
  CHECK(result.rows[1].problem == "broken UTF-8 at byte 2 of " + y);
  CHECK(result.rows[1].line_y == "b\xc3");
  CHECK(result.rows[2].problem == "broken UTF-8 at byte 1 of " + x);
  CHECK(result.error.empty());
}

TEST_CASE("Each file may be compressed in its own way, and damage comes after the rows before it") {
  const Folder folder;
  std::string x;
  std::string y;
  for (int i = 0; i < 20000; ++i) {
    x += "x" + std::to_string(i) + "\n";
    y += "y" + std::to_string(i) + "\n";
  }
  for (const char* const how : kCompressions) {
    CAPTURE(how);
    const std::string packed = compress(y, how);
    const auto whole =
        read_pairs(folder.write("x", compress(x, "zstd")), folder.write("y", packed), 4096);
    CHECK(whole.error.empty());
    REQUIRE(whole.rows.size() == 20000);
    CHECK(whole.rows.back().line_x == "x19999");
    CHECK(whole.rows.back().line_y == "y19999");
    const auto cut = read_pairs(folder.write("x", x),
                                folder.write("cut", packed.substr(0, packed.size() - 9)), 4096);
    CHECK_THAT(cut.error, Contains("cut: "));
    for (std::size_t i = 0; i < cut.rows.size(); ++i) {
      REQUIRE(cut.rows[i].line_y.substr(1) == cut.rows[i].line_x.substr(1));
    }
  }
}

TEST_CASE("A line longer than 64 MiB is a problem of its row, and nothing shifts") {
  const Folder folder;
  const std::string longest(kMaxLine + 1, 'x');
  const std::string y = folder.write("y", compress("a\n" + longest + "\nc\n", "zstd"));
  const auto result = read_pairs(folder.write("x", "1\n2\n3\n"), y);
  REQUIRE(result.rows.size() == 3);
  CHECK(result.rows[1].problem == "longer than 64 MiB in " + y);
  CHECK(result.rows[1].line_x == "2");
  CHECK(result.rows[1].line_y.empty());
  CHECK(result.rows[2].line_y == "c");
}

TEST_CASE("A pair of live pipes comes as soon as both lines are written") {
  Pipe x;
  Pipe y;
  AlignedFiles files(x.out(), y.out());
  CHECK_FALSE(files.size().has_value());
  RowBatch batch;
  x.write("a\nb\nc\n");
  y.write("A\nB\n");
  CHECK(files.read(batch, 100, RowSource::Wait::kForOne) == 2);
  y.write("C\n");
  CHECK(files.read(batch, 100, RowSource::Wait::kForOne) == 1);
  CHECK(batch.field(0, 1) == "C");
  x.close_in();
  y.close_in();
  CHECK(files.read(batch, 100, RowSource::Wait::kForOne) == 0);
}

TEST_CASE("Of two files it is known how much has been read") {
  const Folder folder;
  AlignedFiles files(folder.write("x", "a\n"), folder.write("y", "bcd\n"));
  CHECK(files.size() == 6);
  RowBatch batch;
  CHECK(files.read(batch, 100) == 1);
  CHECK(files.bytes_read() == 6);
  CHECK_THAT(files.name(), EndsWith("/y"));
  CHECK_THAT(files.name(), Contains("/x + "));
}

TEST_CASE("Two files that cannot be read together are refused") {
  const Folder folder;
  const std::string file = folder.write("x", "a\n");
  const auto open = [](const std::string& x, const std::string& y) { AlignedFiles files(x, y); };
  CHECK_THROWS_WITH(open(file, folder.path("none")), EndsWith("none: No such file or directory"));
  CHECK_THROWS_WITH(open(folder.path("none"), file), EndsWith("none: No such file or directory"));
  CHECK_THROWS_WITH(open("-", "-"), Contains("standard input for both"));
}

}  // namespace
}  // namespace phsic::test
