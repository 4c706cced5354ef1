#include "cli/table/pair_writer.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/table/aligned_files.h"
#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;

const PairLayout kTwoFiles{true, TableFormat::kTsv, {}};

std::string decompressed(const std::string& path) {
  ByteSource source(path);
  std::string all;
  for (auto bytes = source.read(); !bytes.empty(); bytes = source.read()) all += bytes;
  return all;
}

constexpr std::string_view kLinesX = "\xef\xbb\xbfone\ntwo\there\r\n\nfo\rur\nbad\xff\n";
constexpr std::string_view kLinesY = "un\ndeux\n\r\nqua\ttre\r\n\tcinq\n";

// Every row of two files, the values being its number and a reason.
void write_all(const Folder& folder, PairWriter& writer) {
  AlignedFiles files(folder.write("x", kLinesX), folder.write("y", kLinesY));
  RowBatch batch;
  writer.header();
  while (files.read(batch, 2) > 0) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Value values[] = {static_cast<double>(batch.line_number(i)), "why\tnot"};
      writer.row(batch, i, values);
    }
  }
  writer.finish();
}

TEST_CASE("The lines of two files go to two files byte for byte, compressed by their names") {
  const Folder folder;
  for (const std::string ending : {"", ".gz", ".bz2", ".xz", ".zst"}) {
    CAPTURE(ending);
    const std::string x = folder.path("kept.x" + ending);
    const std::string y = folder.path("kept.y" + ending);
    PairWriter writer("--output", {x, y}, kTwoFiles, {"number", "reason"});
    write_all(folder, writer);
    CHECK(decompressed(x) == kLinesX);
    CHECK(decompressed(y) == kLinesY);
  }
}

TEST_CASE("A third file gets the values, one line a pair") {
  const Folder folder;
  PairWriter writer("--rejected", {folder.path("a"), folder.path("b"), folder.path("c")}, kTwoFiles,
                    {"number", "reason"});
  write_all(folder, writer);
  CHECK(read_file(folder.path("a")) == kLinesX);
  CHECK(read_file(folder.path("b")) == kLinesY);
  CHECK(read_file(folder.path("c")) ==
        "1\twhy not\n2\twhy not\n3\twhy not\n4\twhy not\n5\twhy not\n");
}

TEST_CASE("Two files go to one as a TSV whose columns never shift") {
  const Folder folder;
  PairWriter writer("--output", {folder.path("out")}, kTwoFiles, {"number", "reason"});
  write_all(folder, writer);
  CHECK(read_file(folder.path("out")) ==
        "one\tun\t1\twhy not\ntwo here\tdeux\t2\twhy not\n\t\t3\twhy not\n"
        "fo ur\tqua tre\t4\twhy not\nbad\xff\t cinq\t5\twhy not\n");
}

TEST_CASE("The values of two files can be written alone") {
  const Folder folder;
  PairWriter writer("--output", {folder.path("out")}, kTwoFiles, {"number", "reason"}, true);
  write_all(folder, writer);
  CHECK(read_file(folder.path("out")) ==
        "1\twhy not\n2\twhy not\n3\twhy not\n4\twhy not\n5\twhy not\n");
}

TEST_CASE("A table is written as TableWriter writes it, with its header") {
  const Folder folder;
  TableOptions options;
  options.header = true;
  Table table(folder.write("in", "x\ty\r\na\tb\r\nc\td\n"), options);
  PairWriter kept("--output", {folder.path("kept.gz")}, {false, table.format(), table.header()});
  PairWriter rejected("--rejected", {folder.path("rejected")},
                      {false, table.format(), table.header()}, {"reason"});
  kept.header();
  rejected.header();
  RowBatch batch;
  REQUIRE(table.read(batch, 100) == 2);
  kept.row(batch, 0);
  const Value reason = "cut";
  rejected.row(batch, 1, {&reason, 1});
  rejected.flush();
  CHECK(read_file(folder.path("rejected")) == "x\ty\treason\r\nc\td\tcut\n");
  kept.finish();
  rejected.finish();
  CHECK(decompressed(folder.path("kept.gz")) == "x\ty\r\na\tb\r\n");
}

TEST_CASE("A JSONL row without values is written as it was") {
  const Folder folder;
  TableOptions options;
  options.format = TableFormat::kJsonl;
  Table table(folder.write("in", "{ \"x\" : 1 } \r\n{}\nnonsense\n"), options);
  PairWriter kept("--output", {folder.path("kept")}, {false, table.format(), {}});
  RowBatch batch;
  REQUIRE(table.read(batch, 100) == 3);
  for (std::size_t i = 0; i < batch.size(); ++i) kept.row(batch, i);
  kept.finish();
  CHECK(read_file(folder.path("kept")) == "{ \"x\" : 1 } \r\n{}\nnonsense\n");
}

TEST_CASE("Too many files, too few or one twice are refused before anything is created") {
  const Folder folder;
  const std::string a = folder.path("a");
  const std::string b = folder.path("b");
  const std::string c = folder.path("c");
  const auto open = [](const std::vector<std::string>& paths, bool two_files,
                       std::vector<std::string> names = {}, bool values_only = false) {
    const PairWriter writer("--output", paths, {two_files, TableFormat::kTsv, {}}, std::move(names),
                            values_only);
  };
  CHECK_THROWS_WITH(open({a, b}, false),
                    "--output: found 2 files, expected one, as the input is one table");
  CHECK_THROWS_WITH(open({}, false), Contains("found 0 files, expected one"));
  CHECK_THROWS_WITH(open({}, true), Contains("found 0 files, expected one or two"));
  CHECK_THROWS_WITH(open({a, b, c}, true), Contains("found 3 files, expected one or two"));
  CHECK_THROWS_WITH(open({a, b, c, a + b}, true, {"reason"}),
                    Contains("found 4 files, expected one to three"));
  CHECK_THROWS_WITH(open({a, b}, true, {"score"}, true), Contains("as no texts are written"));
  CHECK_THROWS_WITH(open({a, a}, true), Contains(a + " twice, expected different files"));
  // Another name of a file that is not there yet.
  const std::string again = folder.path("./a");
  CHECK_THROWS_WITH(open({a, again}, true), Contains(again + " twice"));
  const std::string near = std::filesystem::proximate(a).string();
  CHECK_THROWS_WITH(open({a, near}, true), Contains(near + " twice"));
  CHECK_THROWS_WITH(require_distinct("--output", {"phsic.none", "./phsic.none"}),
                    "--output: found ./phsic.none twice, expected different files");
  CHECK_FALSE(std::filesystem::exists(a));
  CHECK_FALSE(std::filesystem::exists(b));
  folder.write("a", "kept");
  std::filesystem::create_symlink(a, b);
  CHECK_THROWS_WITH(open({a, b}, true), Contains(b + " twice"));
  CHECK(read_file(a) == "kept");
  CHECK_NOTHROW(open({"/dev/null", "/dev/null"}, true));
  CHECK_NOTHROW(require_distinct("--output", {a, "", c, ""}));
}

TEST_CASE("An output that is an input is refused") {
  const Folder folder;
  const std::string in = folder.write("in", "a\n");
  const std::string link = folder.path("link");
  std::filesystem::create_symlink(in, link);
  CHECK_THROWS_WITH(require_other_files("--output", {folder.path("new"), link}, {"-", in}),
                    EndsWith("the same file as the input " + in + ", expected another"));
  CHECK_NOTHROW(require_other_files("--output", {"-", "", folder.path("new")}, {in, ""}));
}

TEST_CASE("A full disk under any of the outputs is told at the end") {
  const Folder folder;
  for (std::size_t full = 0; full < 3; ++full) {
    CAPTURE(full);
    std::vector<std::string> paths = {folder.path("a"), folder.path("b"), folder.path("c")};
    paths[full] = "/dev/full";
    PairWriter writer("--rejected", paths, kTwoFiles, {"number", "reason"});
    CHECK_THROWS_WITH(write_all(folder, writer), "/dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace phsic::test
