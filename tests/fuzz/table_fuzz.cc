// Tables of any bytes: each row is sound or has a problem, and is written back with its score. The
// first byte of the input chooses the options.
#include <nlohmann/json.hpp>

#include "cli/table/table_writer.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"
#include "wire/printable.h"

namespace phsic::fuzz {
namespace {

using nlohmann::json;

constexpr double kScore = 0.5;

TableOptions options_of(unsigned choice) {
  const auto chosen = [&](unsigned bit) { return ((choice >> bit) & 1U) != 0; };
  constexpr TableFormat kFormats[] = {TableFormat::kAuto, TableFormat::kTsv, TableFormat::kJsonl,
                                      TableFormat::kAuto};
  TableOptions options;
  options.format = kFormats[choice & 3U];
  options.header = chosen(2);
  options.all_fields = chosen(3);
  options.columns = {{chosen(4) ? "2" : "x", true, chosen(5)},
                     {chosen(4) ? "1" : "y", chosen(6) || chosen(3), chosen(5)}};
  if (!chosen(7)) options.added = {{"score", "rename it"}};
  return options;
}

void check_row(const RowBatch& batch, std::size_t i, const TableOptions& options) {
  const std::size_t count = batch.field_count(i);
  require(batch.line(i).find('\n') == std::string_view::npos, "a row is one line");
  if (!batch.problem(i).empty()) {
    require(count == 0, "a row with a problem has no fields");
    return;
  }
  require(options.all_fields ? count >= 2 : count == 2, "a sound row has all its fields");
  for (std::size_t c = 0; c < count; ++c) {
    const std::string_view field = batch.field(i, c);
    require(utf8_prefix(field) == field.size(), "fields are well-formed");
  }
}

void check_line(std::string_view input, std::string_view output, bool is_object) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (!is_object) {
    if (input.ends_with('\r')) input.remove_suffix(1);
    require(output.starts_with(input), "the output begins with its line");
    return;
  }
  if (input.starts_with(kMark)) {
    input.remove_prefix(kMark.size());
    output.remove_prefix(kMark.size());
  }
  json before = json::parse(input, nullptr, false);
  const json after = json::parse(output, nullptr, false);
  require(!before.is_discarded() && !after.is_discarded(), "what is taken for JSON is JSON");
  before["score"] = kScore;
  require(before == after, "the output is the input and its score");
}

void check_table(std::string_view bytes, const TableOptions& options) {
  const MemoryFile input(bytes);
  const MemoryFile output;
  Table table(input.path(), options);
  TableWriter writer(output.path(), {table.format(), {"score"}, false});
  RowBatch batch;
  std::vector<std::pair<std::string, bool>> lines;
  const Value score = kScore;
  while (table.read(batch, 7) > 0) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      check_row(batch, i, options);
      lines.emplace_back(batch.line(i), batch.is_object(i));
      writer.row(batch, i, {&score, 1});
    }
  }
  writer.finish();
  const std::string written = output.read();
  std::string_view rest = written;
  for (const auto& [line, is_object] : lines) {
    const std::size_t end = rest.find('\n');
    require(end != rest.npos, "a row is written as a line");
    check_line(line, rest.substr(0, end), is_object);
    rest.remove_prefix(end + 1);
  }
  require(rest.empty(), "nothing else is written");
}

}  // namespace
}  // namespace phsic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    phsic::fuzz::check_table(bytes, phsic::fuzz::options_of(data[0]));
  } catch (const phsic::Error&) {
    return 0;  // refused, not crashed
  }
  return 0;
}
