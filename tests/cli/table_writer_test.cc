#include "cli/table/table_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <limits>

#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::EndsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What becomes of a table when each row gets these values.
std::string written(std::string_view bytes, WriterOptions options,
                    const std::vector<Value>& values) {
  const Folder folder;
  TableOptions table_options;
  table_options.format = options.format;
  Table table(folder.write("in", bytes), table_options);
  TableWriter writer(folder.path("out"), std::move(options));
  RowBatch batch;
  table.read(batch, 1000);
  for (std::size_t i = 0; i < batch.size(); ++i) writer.row(batch, i, values);
  writer.finish();
  return read_file(folder.path("out"));
}

std::string tsv(std::string_view bytes, const std::vector<Value>& values) {
  return written(bytes, {TableFormat::kTsv, {"score"}, false}, values);
}

std::string jsonl(std::string_view bytes, const std::vector<Value>& values,
                  std::vector<std::string> names = {"score"}) {
  return written(bytes, {TableFormat::kJsonl, std::move(names), false}, values);
}

TEST_CASE("Values are appended to TSV lines, before a carriage return") {
  CHECK(tsv("a\tb\nc\td\r\n\ne", {0.5}) == "a\tb\t0.5\nc\td\t0.5\r\n\t0.5\ne\t0.5\n");
  CHECK(tsv("a\n", {0.5, "text"}) == "a\t0.5\ttext\n");
  CHECK(tsv("\xef\xbb\xbf"
            "a\xff\n",
            {1.0}) ==
        "\xef\xbb\xbf"
        "a\xff\t1\n");
}

TEST_CASE("Numbers have six significant digits") {
  CHECK(tsv("a\n", {1.0 / 3, 1e-7, 123456789.0, -0.25}) ==
        "a\t0.333333\t1e-07\t1.23457e+08\t-0.25\n");
  CHECK(jsonl("{}\n", {1e20}) == "{\"score\":1e+20}\n");
}

TEST_CASE("What is no number is nan in TSV and null in JSONL") {
  CHECK(tsv("a\n", {kNan, std::copysign(kNan, -1.0)}) == "a\tnan\tnan\n");
  CHECK(tsv("a\n", {INFINITY, -INFINITY}) == "a\tinf\t-inf\n");
  CHECK(jsonl("{}\n", {kNan, -INFINITY}, {"a", "b"}) == "{\"a\":null,\"b\":null}\n");
}

TEST_CASE("A text cannot break the line it is put into") {
  CHECK(tsv("a\n", {"b\tc\nd\re"}) == "a\tb c d e\n");
  CHECK(jsonl("{}\n", {"b\"\\\n\xff"}, {"a\"b"}) == "{\"a\\\"b\":\"b\\\"\\\\\\n\xef\xbf\xbd\"}\n");
}

TEST_CASE("Values become the last members of JSONL objects, and all else stays") {
  CHECK(jsonl(R"({ "x" : "}" , "y":{} })"
              "\r\n",
              {0.5}) == R"({ "x" : "}" , "y":{},"score":0.5 })"
                        "\r\n");
  CHECK(jsonl("{}\n{ }\n", {0.5}) == "{\"score\":0.5}\n{\"score\":0.5 }\n");
  CHECK(jsonl("{\"x\":1}\n", {0.5, "b"}, {"s", "t"}) == "{\"x\":1,\"s\":0.5,\"t\":\"b\"}\n");
  CHECK(jsonl("\xef\xbb\xbf{\"x\":[{}]} ", {0.5}) == "\xef\xbb\xbf{\"x\":[{}],\"score\":0.5} \n");
}

TEST_CASE("A JSONL line that is no object is written as it is") {
  CHECK(jsonl("nonsense\n\n[1]\n{\"x\":1,}\n{}\n", {kNan}) ==
        "nonsense\n\n[1]\n{\"x\":1,}\n{\"score\":null}\n");
}

TEST_CASE("Values can be written alone") {
  const std::vector<Value> values = {0.5, kNan};
  for (const auto format : {TableFormat::kTsv, TableFormat::kJsonl}) {
    CHECK(written("{}\r\nx\r\n", {format, {"a", "b"}, true}, values) == "0.5\tnan\n0.5\tnan\n");
  }
}

TEST_CASE("The header gets the names") {
  const Folder folder;
  {
    TableWriter writer(folder.path("a"), {TableFormat::kTsv, {"score", "a\tb"}, false});
    writer.header("x\ty\r");
    TableWriter values(folder.path("b"), {TableFormat::kTsv, {"score", "rank"}, true});
    values.header("x\ty\r");
  }
  CHECK(read_file(folder.path("a")) == "x\ty\tscore\ta b\r\n");
  CHECK(read_file(folder.path("b")) == "score\trank\n");
}

TEST_CASE("A dash is standard output, and flush() hands everything over") {
  const Folder folder;
  const Redirect output(STDOUT_FILENO, folder.path("out"), O_WRONLY | O_CREAT);
  TableWriter writer("-", {TableFormat::kTsv, {"score"}, false});
  writer.header("x");
  CHECK(read_file(folder.path("out")).empty());
  writer.flush();
  CHECK(read_file(folder.path("out")) == "x\tscore\n");
}

TEST_CASE("A full disk is told with its reason") {
  TableWriter writer("/dev/full", {TableFormat::kTsv, {"score"}, false});
  writer.header("x");
  CHECK_THROWS_WITH(writer.flush(), EndsWith("/dev/full: No space left on device"));
  const std::string large(1 << 17, 'x');
  CHECK_THROWS_AS(writer.header(large), WriteError);
}

TEST_CASE("A reader that went away can be told from other errors") {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  TableWriter writer(pipe.in(), {TableFormat::kTsv, {"score"}, false});
  pipe.close_out();
  writer.header("x");
  try {
    writer.finish();
    FAIL("nobody reads");
  } catch (const WriteError& error) {
    CHECK(error.code() == EPIPE);
    CHECK_THAT(error.what(), EndsWith(": Broken pipe"));
  }
  std::signal(SIGPIPE, before);
}

TEST_CASE("A file that cannot be created is named with the reason") {
  const Folder folder;
  const auto create = [](const std::string& path) { const TableWriter writer(path, {}); };
  CHECK_THROWS_WITH(create(folder.path("none/file")), EndsWith(": No such file or directory"));
  CHECK_THROWS_WITH(create(folder.path("")), EndsWith(": Is a directory"));
}

}  // namespace
}  // namespace phsic::test
