// Random tables: what was written is read, and what comes out belongs to what went in.
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/table/table.h"
#include "cli/table/table_writer.h"
#include "core/random.h"
#include "tests/cli/files.h"
#include "wire/printable.h"

namespace phsic::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t kTables = 60;

std::string random_bytes(Random& random, std::string_view without) {
  std::string text;
  for (auto left = random.below(30); left > 0; --left) {
    const char c = static_cast<char>(random.below(256));
    if (without.find(c) == without.npos) text += c;
  }
  return text;
}

void append_code_point(std::string& to, std::uint32_t point) {
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += static_cast<char>(0xc0 | (point >> 6));
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    to += static_cast<char>(0xe0 | (point >> 12));
    to += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | (point >> 18));
    to += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    to += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  }
}

// Code points of every length, control characters among them.
std::string random_text(Random& random, std::string_view without) {
  constexpr std::uint32_t kLimits[] = {0x20, 0x80, 0x800, 0x10000, 0x110000};
  std::string text;
  for (auto left = random.below(20); left > 0; --left) {
    const auto point = static_cast<std::uint32_t>(random.below(kLimits[random.below(5)]));
    const bool is_surrogate = point >= 0xd800 && point < 0xe000;
    const bool is_excluded = point < 0x80 && without.find(static_cast<char>(point)) != without.npos;
    if (!is_surrogate && !is_excluded) append_code_point(text, point);
  }
  return text;
}

json random_value(Random& random, int depth) {
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0: return nullptr;
    case 1: return random.below(2) == 0;
    case 2: return static_cast<std::int64_t>(random.bits());
    case 3: return random.normal();
    case 4: return random_text(random, "");
    case 5: {
      json list = json::array();
      for (auto left = random.below(4); left > 0; --left) {
        list.push_back(random_value(random, depth - 1));
      }
      return list;
    }
    default: {
      json object = json::object();
      for (auto left = random.below(4); left > 0; --left) {
        object[random_text(random, "")] = random_value(random, depth - 1);
      }
      return object;
    }
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Appends to each row its line's number, in batches of a random size.
std::vector<std::string> number_rows(const Folder& folder, const std::string& path,
                                     const TableOptions& options, Random& random) {
  Table table(path, options);
  TableWriter writer(folder.path("out"), {table.format(), {"score"}, false});
  RowBatch batch;
  while (table.read(batch, 1 + random.below(40)) > 0) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Value number = static_cast<double>(batch.line_number(i));
      writer.row(batch, i, {&number, 1});
    }
  }
  writer.finish();
  return lines_of(read_file(folder.path("out")));
}

// Lines as make() makes them, or empty, some with a carriage return; empty ones at the end, too.
std::vector<std::string> random_lines(Random& random, const std::function<std::string()>& make) {
  std::vector<std::string> lines;
  for (auto left = 1 + random.below(80); left > 0; --left) {
    lines.push_back(random.below(6) == 0 ? "" : make());
  }
  for (auto left = random.below(4); left > 0; --left) lines.emplace_back();
  const bool is_crlf = random.below(3) == 0;
  for (std::string& line : lines) {
    if (is_crlf || random.below(9) == 0) line += '\r';
  }
  return lines;
}

// A last line that is not empty may go without its '\n'.
std::string text_of(const std::vector<std::string>& lines, Random& random) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  if (!lines.back().empty() && random.below(2) == 0) text.pop_back();
  return text;
}

std::string with_column(std::string line, const std::string& value) {
  const bool has_return = line.ends_with('\r');
  if (has_return) line.pop_back();
  return line + '\t' + value + (has_return ? "\r" : "");
}

TEST_CASE("The fields of a TSV are read as they were written") {
  const Folder folder;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::size_t width = 2 + random.below(4);
    std::string text;
    std::vector<std::vector<std::string>> expected(1 + random.below(100));
    for (auto& fields : expected) {
      const char* const end = random.below(2) == 0 ? "\n" : "\r\n";
      for (std::size_t c = 0; c < width; ++c) {
        const bool is_last = c + 1 == width;
        // The mark keeps the first field from looking like something else, such as JSON.
        std::string& field = fields.emplace_back(c == 0 ? "x" : "");
        field += random_text(random, is_last ? "\t\n\r" : "\t\n");
        text += field + (is_last ? end : "\t");
      }
    }
    TableOptions options;
    for (std::size_t c = 0; c < width; ++c) options.columns.push_back({std::to_string(c + 1)});
    const std::string how = kCompressions[random.below(4)];
    const std::string path =
        folder.write("table", random.below(2) == 0 ? text : compress(text, how));
    const auto rows = read_rows(path, options, 1 + random.below(40));
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(rows[i].problem.empty());
      REQUIRE(rows[i].fields == expected[i]);
    }
  }
}

TEST_CASE("Line k of the output belongs to line k of the input, whatever its bytes") {
  const Folder folder;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto lines = random_lines(random, [&] {
      return random_bytes(random, "\n\r") + (random.below(3) == 0 ? "\t" : "") +
             random_bytes(random, "\n\r");
    });
    const auto text = text_of(lines, random);
    TableOptions options;
    options.format = TableFormat::kTsv;
    options.columns = columns({"2"});
    const std::string path = folder.write("table", text);
    const auto rows = read_rows(path, options);
    REQUIRE(rows.size() == lines.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(rows[i].line == lines[i]);
      for (const std::string& field : rows[i].fields) {
        REQUIRE(utf8_prefix(field) == field.size());
      }
    }
    const auto output = number_rows(folder, path, options, random);
    REQUIRE(output.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      REQUIRE(output[i] == with_column(lines[i], std::to_string(i + 1)));
    }
  }
}

TEST_CASE("Line k of JSONL stays line k, objects, rubbish and empty lines alike") {
  const Folder folder;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto lines = random_lines(random, [&]() -> std::string {
      switch (random.below(3)) {
        case 0: return json{{"x", random_text(random, "")}}.dump();
        case 1: return random_bytes(random, "\n\r{");
        default: return R"({"x":"half)";
      }
    });
    TableOptions options;
    options.format = TableFormat::kJsonl;
    options.columns = columns({"x"});
    const auto path = folder.write("table", text_of(lines, random));
    const auto rows = read_rows(path, options);
    const auto output = number_rows(folder, path, options, random);
    REQUIRE(rows.size() == lines.size());
    REQUIRE(output.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      REQUIRE(rows[i].line == lines[i]);
      if (!rows[i].problem.empty()) {
        REQUIRE(output[i] == lines[i]);
      } else {
        REQUIRE(json::parse(output[i])["score"] == i + 1);
      }
    }
  }
}

TEST_CASE("JSONL that was written is the JSONL that was read and the score") {
  const Folder folder;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<json> objects(1 + random.below(60));
    std::string text;
    for (json& object : objects) {
      for (auto left = random.below(4); left > 0; --left) {
        object[random_text(random, "") + "_"] = random_value(random, 3);
      }
      object["x"] = random_text(random, "");
      object["y"] = random_text(random, "");
      text += object.dump(-1, ' ', random.below(2) == 0) + (random.below(4) == 0 ? " \r\n" : "\n");
    }
    TableOptions options;
    options.columns = columns({"x", "y"});
    options.added = {{"score", "rename it"}};
    const std::string path = folder.write("table", text);
    const auto rows = read_rows(path, options, 1 + random.below(40));
    const auto output = number_rows(folder, path, options, random);
    REQUIRE(rows.size() == objects.size());
    REQUIRE(output.size() == objects.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(rows[i].problem.empty());
      REQUIRE(rows[i].fields[0] == objects[i]["x"].get<std::string>());
      REQUIRE(rows[i].fields[1] == objects[i]["y"].get<std::string>());
      objects[i]["score"] = i + 1;
      REQUIRE(json::parse(output[i]) == objects[i]);
    }
  }
}

}  // namespace
}  // namespace phsic::test
