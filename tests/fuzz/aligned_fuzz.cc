// Two files of any bytes, compressed or not, read as pairs: each row is one line of each, sound or
// with a problem, and both are written back as they were. The two first bytes of the input say
// where the one file ends and the other begins.
#include <algorithm>

#include "cli/table/aligned_files.h"
#include "cli/table/pair_writer.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"
#include "wire/printable.h"

namespace phsic::fuzz {
namespace {

std::size_t count_newlines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void check_row(const RowBatch& batch, std::size_t i) {
  const std::size_t count = batch.field_count(i);
  require(count_newlines(batch.line(i)) == 1, "a row is two lines");
  require(count == (batch.problem(i).empty() ? 2U : 0U), "a row has its texts or a problem");
  for (std::size_t c = 0; c < count; ++c) {
    const std::string_view field = batch.field(i, c);
    require(utf8_prefix(field) == field.size(), "texts are well-formed");
    require(field.find('\n') == field.npos, "a text is of one line");
  }
}

void check_files(std::string_view x, std::string_view y) {
  const MemoryFile input_x(x);
  const MemoryFile input_y(y);
  const MemoryFile kept_x;
  const MemoryFile kept_y;
  const MemoryFile numbers;
  AlignedFiles files(input_x.path(), input_y.path());
  PairWriter writer("--output", {kept_x.path(), kept_y.path(), numbers.path()},
                    {true, TableFormat::kTsv, {}}, {"number"});
  RowBatch batch;
  std::string lines_x;
  std::string lines_y;
  std::size_t rows = 0;
  // A few bytes may be a text of gigabytes.
  constexpr std::size_t kEnough = std::size_t{1} << 22;
  try {
    while (lines_x.size() + lines_y.size() < kEnough && files.read(batch, 7) > 0) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        check_row(batch, i);
        require(batch.line_number(i) == ++rows, "rows are numbered without a gap");
        const auto [line_x, line_y] = AlignedFiles::lines_of(batch, i);
        lines_x.append(line_x).append("\n");
        lines_y.append(line_y).append("\n");
        const Value number = static_cast<double>(rows);
        writer.row(batch, i, {&number, 1});
      }
    }
  } catch (const Error&) {
    require(files.read(batch, 7) == 0, "there is nothing after an Error");
  }
  writer.finish();
  require(kept_x.read() == lines_x && kept_y.read() == lines_y, "lines come back as they were");
  require(count_newlines(numbers.read()) == rows, "each row has its line of values");
}

}  // namespace
}  // namespace phsic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = std::min<std::size_t>(data[0] * 256U + data[1], bytes.size());
  phsic::fuzz::check_files(bytes.substr(0, cut), bytes.substr(cut));
  return 0;
}
