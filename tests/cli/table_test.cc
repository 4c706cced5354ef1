#include "cli/table/table.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/error.h"
#include "tests/cli/files.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using Texts = std::vector<std::string>;

std::vector<Row> rows_of(std::string_view bytes, const TableOptions& options) {
  const Folder folder;
  return read_rows(folder.write("table", bytes), options);
}

void open_table(std::string_view bytes, const TableOptions& options) {
  const Folder folder;
  const Table table(folder.write("table", bytes), options);
}

std::string problem_of(std::string_view line, const TableOptions& options) {
  return rows_of(line, options).at(0).problem;
}

TableOptions wanting(std::initializer_list<const char*> names) {
  TableOptions options;
  options.columns = columns(names);
  return options;
}

TableOptions with_header(std::initializer_list<const char*> names) {
  TableOptions options = wanting(names);
  options.header = true;
  return options;
}

TEST_CASE("TSV columns are wanted by number, in any order") {
  const auto rows = rows_of("a\tb\tc\nd\te\tf\tg\n", wanting({"3", "1", "3"}));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == Row{"a\tb\tc", 1, "", {"c", "a", "c"}});
  CHECK(rows[1] == Row{"d\te\tf\tg", 2, "", {"f", "d", "f"}});
}

TEST_CASE("TSV columns are wanted by the names in the header") {
  const Folder folder;
  const std::string path = folder.write("table", "\xef\xbb\xbfid\tx\t3\r\n1\tb\tc\r\n");
  Table table(path, with_header({"3", "x", "1"}));
  CHECK(table.header() == "\xef\xbb\xbfid\tx\t3\r");
  CHECK(table.format() == TableFormat::kTsv);
  const auto rows = read_rows(table);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == Row{"1\tb\tc\r", 2, "", {"c", "b", "1"}});
}

TEST_CASE("A row with too few columns has a problem and the others do not") {
  const auto rows = rows_of("a\tb\n\nc\td\te\n", wanting({"1", "3"}));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].problem == "2 columns, expected at least 3");
  CHECK(rows[0].fields.empty());
  CHECK(rows[1].problem == "empty line");
  CHECK(rows[2].fields == Texts{"c", "e"});
  CHECK(problem_of("a", wanting({"2"})) == "1 column, expected at least 2");
}

TEST_CASE("An optional column may be missing") {
  TableOptions options = wanting({"1", "3"});
  options.columns[1].required = false;
  const Folder folder;
  Table table(folder.write("table", "a\nb\tc\t\n"), options);
  RowBatch batch;
  REQUIRE(table.read(batch, 10) == 2);
  CHECK(batch.field(0, 1).empty());
  CHECK_FALSE(batch.has_field(0, 1));
  CHECK(batch.has_field(1, 1));
  options = with_header({"x", "label"});
  options.columns[1].required = false;
  CHECK(rows_of("y\tx\n1\t2\n", options).at(0).fields == Texts{"2", ""});
}

TEST_CASE("Broken UTF-8 is a problem of wanted columns only") {
  CHECK(problem_of("ab\tc\xff\n", wanting({"2"})) == "broken UTF-8 at byte 5");
  CHECK(problem_of("ab\tcd\xe2\x82\n", wanting({"1", "2"})) == "broken UTF-8 at byte 6");
  CHECK(problem_of("\xef\xbb\xbf"
                   "a\xc0\xaf",
                   wanting({"1"})) == "broken UTF-8 at byte 5");
  CHECK(rows_of("ab\tc\xff\n", wanting({"1"})).at(0).fields == Texts{"ab"});
}

TEST_CASE("Carriage returns and zero bytes inside a line are part of its fields") {
  const auto rows = rows_of(std::string("a\0b\tc\rd\r\n", 9), wanting({"1", "2"}));
  CHECK(rows.at(0).fields == Texts{std::string("a\0b", 3), "c\rd"});
  CHECK(rows.at(0).line == std::string("a\0b\tc\rd\r", 8));
}

TEST_CASE("An empty line is a row, also the last") {
  for (const char* end : {"\n", "\r\n"}) {
    const auto rows = rows_of(fmt::format("\n{0}a\tb\n{0}{0}", end), wanting({"1", "2"}));
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].problem == "empty line");
    CHECK(rows[1].problem == "empty line");
    CHECK(rows[2].line == "a\tb");
    CHECK(rows[4].number == 5);
    CHECK(rows[4].problem == "empty line");
  }
  CHECK(rows_of("", wanting({"1"})).empty());
  CHECK(rows_of("\n", wanting({"x"})).size() == 1);
  CHECK(rows_of("\xef\xbb\xbf\n", wanting({"1"})).size() == 1);
  CHECK(rows_of("{\"x\":1}\r\n\r\n", wanting({"x"})).at(1).problem == "empty line");
  CHECK(rows_of("x\n\n", with_header({"x"})).at(0).number == 2);
  CHECK(rows_of(std::string(3000, '\n') + "a\tb\n", wanting({"1", "2"})).size() == 3001);
}

TEST_CASE("A line that is too long is a row without its text, wherever it stands") {
  const std::string long_line(kMaxLine + 1, 'x');
  const Folder folder;
  for (const std::string other : {"a\tb", R"({"1":"a","2":"b"})"}) {
    // The first lines are looked at before they are read.
    const auto text = fmt::format("{0}\n{1}\n{0}", long_line, other);
    TableOptions options = wanting({"1", "2"});
    if (other.front() == '{') options = wanting({"x"});
    const auto rows = read_rows(folder.write("table", compress(text, "zstd")), options, 2);
    REQUIRE(rows.size() == 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].number == i + 1);
      CHECK(rows[i].line == (i % 2 == 0 ? "" : other));
      CHECK((rows[i].problem == "longer than 64 MiB") == (i % 2 == 0));
    }
  }
  CHECK_THROWS_WITH(open_table(long_line, with_header({"x"})),
                    EndsWith("the first line is longer than 64 MiB, expected a header"));
}

TEST_CASE("The format is told by the first line that is not empty") {
  CHECK(rows_of("\n{\"x\":\"a\"}\n", wanting({"x"})).at(1).fields == Texts{"a"});
  CHECK(rows_of("\xef\xbb\xbf{\"x\":\"a\"}\n", wanting({"x"})).at(0).fields == Texts{"a"});
  CHECK(rows_of("a\n{\"x\":1}\n", wanting({"1"})).at(1).fields == Texts{"{\"x\":1}"});
  TableOptions options = wanting({"1"});
  options.format = TableFormat::kTsv;
  CHECK(rows_of("{\"x\":1}\n", options).at(0).fields == Texts{"{\"x\":1}"});
  options = wanting({"x"});
  options.format = TableFormat::kJsonl;
  CHECK_THAT(rows_of("a\tb\n", options).at(0).problem, StartsWith("not a JSON object: "));
}

TEST_CASE("Columns that cannot be are refused with those that there are") {
  CHECK_THROWS_WITH(open_table("a\tb\n", wanting({"text"})),
                    EndsWith("/table: column \"text\" is a name, but the table has no header; "
                             "expected a number from 1 to 2, or --header if the first line has the "
                             "names"));
  CHECK_THROWS_WITH(open_table("a\tb\n", wanting({"0"})),
                    EndsWith("column 0, expected a number from 1 to 2"));
  CHECK_THROWS_WITH(open_table("a\tb\n", wanting({"99999999999999999999999"})),
                    Contains("expected a number from 1 to 2"));
  CHECK_THROWS_WITH(open_table("a\tb\x1b\r\n", with_header({"text"})),
                    EndsWith("no column \"text\" in the header, expected one of \"a\", \"b?\""));
  CHECK_THROWS_WITH(open_table("a\tb\n", with_header({"3"})), Contains("no column \"3\""));
  CHECK_THROWS_WITH(open_table("a\ta\n", with_header({"a"})),
                    EndsWith("column \"a\" appears twice in the header; take one by its number"));
  CHECK_THROWS_WITH(open_table("", with_header({"a"})),
                    EndsWith("the first line is empty, expected a header"));
  CHECK_THROWS_WITH(open_table("\na\n", with_header({"a"})), Contains("expected a header"));
  CHECK_THROWS_WITH(open_table("{\"x\":1,\"y\\n\":2}\n", wanting({"2"})),
                    EndsWith("column 2 is a number, but the table is JSONL; expected a member's "
                             "name: \"x\", \"y?\""));
  CHECK_THROWS_WITH(open_table("{\"x\":1}\n", with_header({"x"})),
                    EndsWith("a header is expected, but the table is JSONL, which has none"));
}

TEST_CASE("JSONL strings are given unescaped") {
  const auto rows = rows_of(R"({"y":"a\tb\n\"\u00e9\ud83d\ude00\u0000","\u0078":"é","z":{"x":[]}})",
                            wanting({"x", "y"}));
  CHECK(rows.at(0).problem.empty());
  CHECK(rows.at(0).fields == Texts{"é", std::string("a\tb\n\"é😀\0", 12)});
}

TEST_CASE("JSONL numbers, booleans and arrays are given as they stand, unless only text will do") {
  const std::string line =
      R"({"a": 1.50 , "b":true, "c":[1, [2] ,"x"] ,"d":12345678901234567890123456789})";
  TableOptions options = wanting({"a", "b", "c", "d", "c"});
  CHECK(rows_of(line, options).at(0).fields == Texts{"1.50", "true", R"([1, [2] ,"x"])",
                                                     "12345678901234567890123456789",
                                                     R"([1, [2] ,"x"])"});
  options = wanting({"a"});
  options.columns[0].text_only = true;
  CHECK(problem_of(line, options) == "member \"a\" is a number, expected a string");
  CHECK(problem_of(R"({"a":[1]})", options) == "member \"a\" is an array, expected a string");
  CHECK(problem_of(R"({"a":true})", options) == "member \"a\" is a boolean, expected a string");
  CHECK(problem_of(R"({"a":{}})", wanting({"a"})) ==
        "member \"a\" is an object, expected a string, a number, a boolean or an array");
}

TEST_CASE("A JSONL member that is null is as good as missing") {
  TableOptions options = wanting({"x", "y"});
  CHECK_THAT(problem_of(R"({"x":"a","y":null})", options), StartsWith("member \"y\" is null"));
  CHECK(problem_of(R"({"x":"a","z":1})", options) == R"(no member "y", found "x", "z")");
  CHECK(problem_of("{}", options) == R"(no member "x")");
  options.columns[1].required = false;
  for (const char* line : {R"({"x":"a","y":null})", R"({"x":"a"})"}) {
    const Folder folder;
    Table table(folder.write("table", line), options);
    RowBatch batch;
    REQUIRE(table.read(batch, 10) == 1);
    CHECK(batch.problem(0).empty());
    CHECK_FALSE(batch.has_field(0, 1));
  }
}

TEST_CASE("A JSONL line that is no JSON object has a problem that says why") {
  const auto problem = [](std::string_view line) {
    return rows_of("{\"x\":\"\"}\n" + std::string(line) + "\n{\"x\":\"\"}\n", wanting({"x"}))
        .at(1)
        .problem;
  };
  CHECK(problem("") == "empty line");
  CHECK(problem(" ") == "empty line");
  CHECK(problem("[1]") == "not a JSON object: begins with '['");
  CHECK(problem("12345678901234567890123") == "not a JSON object: begins with '1'");
  for (const char* line :
       {"{", "{\"x\":\"a\"", "{\"x\":\"a\"}}", "{\"x\":\"a\",}", "{\"x\":tru}", "{\"x\":01}",
        "{\"x\":\"a\",\"z\":tru}", "{\"x\":\"a\"} {}", "{\"x\":\"\\ud800\"}", "{\"x\":\"\\udc00\"}",
        "{\"x\":\"\\ud800\\u0041\"}", "{\"x\":\"a\tb\"}", "{\"x\":1e}", "plain text"}) {
    CAPTURE(line);
    CHECK_THAT(problem(line), StartsWith("not a JSON object: "));
  }
  CHECK(problem("{\"x\":\"a\xff\"}") == "broken UTF-8 at byte 8");
}

TEST_CASE("A wanted JSONL member that appears twice is a problem, another is not") {
  CHECK(problem_of(R"({"x":"a","x":"b"})", wanting({"x"})) == "member \"x\" appears twice");
  CHECK(problem_of(R"({"x":"a","z":"b","z":1})", wanting({"x"})).empty());
}

TEST_CASE("All fields of a TSV row can be wanted") {
  TableOptions options = wanting({"x", "candidates"});
  options.all_fields = true;
  const auto rows = rows_of("a\tb\tc\nd\te\nf\n", options);
  CHECK(rows.at(0).fields == Texts{"a", "b", "c"});
  CHECK(rows.at(1).fields == Texts{"d", "e"});
  CHECK(rows.at(2).problem == "1 column, expected at least 2");
}

TEST_CASE("An item and its candidates are taken from a JSONL row") {
  TableOptions options = wanting({"x", "candidates"});
  options.all_fields = true;
  CHECK(rows_of(R"({"candidates":["b","\u00e9",[1, 2]],"x":"a"})", options).at(0).fields ==
        Texts{"a", "b", "é", "[1, 2]"});
  options.columns[1].text_only = true;
  CHECK(problem_of(R"({"candidates":["b",[1]],"x":"a"})", options) ==
        "item 2 of member \"candidates\" is an array, expected a string");
  CHECK(problem_of(R"({"candidates":[],"x":"a"})", options) == "member \"candidates\" is empty");
  CHECK(problem_of(R"({"candidates":"b","x":"a"})", options) ==
        "member \"candidates\" is a string, expected an array");
  CHECK(problem_of(R"({"x":"a"})", options) == R"(no member "candidates", found "x")");
  options.columns[1].name = "x";
  CHECK_THROWS_WITH(open_table("{}", options),
                    Contains("\"x\" is wanted as the item and as its candidates"));
}

TEST_CASE("A table that has what the output would add is refused") {
  TableOptions options = with_header({"x"});
  options.added = {{"other", "no"}, {"score", "call it another name"}};
  CHECK_THROWS_WITH(open_table("x\tscore\n", options),
                    EndsWith("the header has a column \"score\" already; call it another name"));
  options = wanting({"x"});
  options.added = {{"other", "no"}, {"score", "call it another name"}};
  const Folder folder;
  const std::string good = R"({"x":"a"})";
  // Also where the row has another problem.
  for (const std::string bad : {R"({"x":"b","score":1})", R"({"x":{},"\u0073core":1})"}) {
    Table table(folder.write("table", fmt::format("{0}\n{0}\n{1}\n{0}\n", good, bad)), options);
    RowBatch batch;
    CHECK(table.read(batch, 10) == 2);
    CHECK_THROWS_WITH(
        table.read(batch, 10),
        Contains("/table:3: there is a member \"score\" already; call it another name"));
  }
}

TEST_CASE("The rows before a damaged place are given, then the error") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\tb\n";
  const std::string packed = compress(text, "gzip");
  Table table(folder.write("cut", packed.substr(0, packed.size() / 2)), wanting({"1", "2"}));
  RowBatch batch;
  const std::size_t count = table.read(batch, 1000);
  CHECK(count > 100);
  CHECK(count < 1000);
  CHECK(batch.line(count - 1) == std::to_string(count - 1) + "\tb");
  CHECK_THROWS_WITH(table.read(batch, 1000), EndsWith("/cut: truncated gzip"));
  CHECK(table.read(batch, 1000) == 0);
}

TEST_CASE("Rows of a live pipe can be had without waiting for a full batch") {
  const Pipe pipe;
  pipe.write("a\tb\nc\td\ne");
  Table table(pipe.out(), wanting({"1", "2"}));
  RowBatch batch;
  CHECK(table.read(batch, 100, Table::Wait::kForOne) == 2);
  pipe.write("\tf\n");
  CHECK(table.read(batch, 100, Table::Wait::kForOne) == 1);
  CHECK(batch.line(0) == "e\tf");
}

TEST_CASE("Batches have the size that was asked for and stay in their memory") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += R"({"x":"a\tb","y":["c"]})"
            "\n";
  Table table(folder.write("table", text), wanting({"x", "y"}));
  RowBatch batch;
  REQUIRE(table.read(batch, 100) == 100);
  const char* const place = batch.line(0).data();
  for (int i = 1; i < 10; ++i) {
    REQUIRE(table.read(batch, 100) == 100);
    CHECK(batch.line(0).data() == place);
  }
  CHECK(table.read(batch, 100) == 0);
  CHECK(batch.size() == 0);
}

TEST_CASE("A batch of long lines has fewer rows") {
  const Folder folder;
  std::string line(5 << 20, 'x');
  line.back() = '\n';
  Table table(folder.write("table", line + line + line), wanting({"1"}));
  RowBatch batch;
  CHECK(table.read(batch, 100) == 2);
  CHECK(table.read(batch, 100) == 1);
}

}  // namespace
}  // namespace phsic::test
