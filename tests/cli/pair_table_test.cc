#include "cli/table/pair_table.h"

#include <catch2/catch.hpp>

#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Files = std::vector<std::string>;

TEST_CASE("Two files are pairs like those of a table, and empty lines are no bad lines") {
  const Folder folder;
  const Files files = {folder.write("x", "a\n\nc\tc\r\n\xff\ne\n"),
                       folder.write("y", "A\nB\n\nD\nE\n")};
  PairTable table(files, {});
  CHECK(table.layout().two_files);
  PairBatch batch;
  REQUIRE(table.read(batch, 100));
  CHECK(batch.rows.size() == 5);
  CHECK(batch.row_of == std::vector<std::size_t>{0, 1, 2, 4});
  CHECK(batch.x == std::vector<std::string_view>{"a", "", "c\tc", "e"});
  CHECK(batch.y == std::vector<std::string_view>{"A", "B", "", "E"});
  CHECK(batch.times.empty());
  CHECK_FALSE(table.read(batch, 100));
  CHECK_NOTHROW(table.finish());
}

TEST_CASE("Where bad lines are fatal, the pairs of two files before the first come first") {
  const Folder folder;
  TableArguments arguments;
  arguments.bad_lines = BadLinePolicy::kFail;
  PairTable table(Files{folder.write("x", "a\nb\nc\n"), folder.write("y", "A\n\xff\nC\n")},
                  arguments);
  PairBatch batch;
  REQUIRE(table.read(batch, 100));
  CHECK(batch.rows.size() == 1);
  CHECK_THROWS_AS(table.read(batch, 100), BadLineError);
}

TEST_CASE("Two files of unequal length are refused after all that both have") {
  const Folder folder;
  PairTable table(Files{folder.write("x", "a\nb\n"), folder.write("y", "A\n")}, {});
  PairBatch batch;
  REQUIRE(table.read(batch, 100));
  CHECK(batch.size() == 1);
  CHECK_THROWS_WITH(table.read(batch, 100), Contains("y ends after 1 line, but"));
}

TEST_CASE("What is about columns is refused for two files") {
  const Folder folder;
  const Files files = {folder.write("x", "a\n"), folder.write("y", "A\n")};
  const auto why = [&](const auto& choose) -> std::string {
    TableArguments arguments;
    choose(arguments);
    try {
      const PairTable table(files, arguments);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  CHECK(why([](TableArguments&) {}).empty());
  CHECK_THAT(why([](TableArguments& a) { a.x = "1"; }), Contains("--x: found two files"));
  CHECK_THAT(why([](TableArguments& a) { a.y = "1"; }), Contains("--y: found two files"));
  CHECK_THAT(why([](TableArguments& a) { a.time = "3"; }), Contains("--time: found two files"));
  CHECK_THAT(why([](TableArguments& a) { a.header = true; }), Contains("--header: found two"));
  CHECK_THAT(why([](TableArguments& a) { a.format = TableFormat::kTsv; }),
             Contains("--format: found two files"));
}

TEST_CASE("One file for both x and y is refused by who learns no copies") {
  const Folder folder;
  const std::string file = folder.write("x", "a\n");
  PairTable twice(Files{file, file}, {});
  CHECK_THROWS_WITH(twice.expect_two_texts(), Contains("found one file for both x and y"));
  PairTable other(Files{file, folder.write("y", "a\n")}, {});
  CHECK_NOTHROW(other.expect_two_texts());
  PairTable table(Files{folder.write("tsv", "a\tb\n")}, {});
  CHECK_NOTHROW(table.expect_two_texts());
  CHECK_FALSE(table.layout().two_files);
}

}  // namespace
}  // namespace phsic::test
