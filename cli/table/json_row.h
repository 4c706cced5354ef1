// One line of JSONL: checked as a whole, its wanted members taken out.
//
// Keeps its memory from line to line. Not thread-safe.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/row_batch.h"
#include "cli/table/table.h"

namespace phsic {

class JsonRow {
 public:
  // REQUIRES: with all_fields there are two columns.
  explicit JsonRow(const TableOptions& options);

  // Parses the last row of the batch from offset `begin` on, and gives it its fields or its
  // problem. A wanted member that appears twice is a problem; what other members hold does not
  // matter as long as it is JSON. Gives the first column that the output would add and that is
  // there as a member; null if there is none.
  const AddedColumn* parse(RowBatch& batch, std::size_t begin);

  // The names of the members, for a message; empty if the line is no JSON object.
  [[nodiscard]] std::string members(std::string_view line);

 private:
  struct Member {
    bool seen = false;
    RowBatch::Span text;
  };

  bool check(RowBatch& batch, std::string_view body);
  const AddedColumn* walk(RowBatch& batch, std::string_view body);
  void take(RowBatch& batch, std::string_view key, simdjson::ondemand::value value);
  void take_list(RowBatch& batch, simdjson::ondemand::value value);
  [[nodiscard]] RowBatch::Span text_of(RowBatch& batch, simdjson::ondemand::value value,
                                       simdjson::ondemand::json_type type);
  void look_for_missing();
  void complain(std::string problem);

  std::vector<Column> columns_;
  bool all_fields_;
  std::vector<AddedColumn> added_;
  simdjson::dom::parser whole_;
  simdjson::ondemand::parser parts_;
  // Of the line at hand.
  std::vector<Member> members_;  // of each column
  std::vector<RowBatch::Span> list_;
  std::string problem_;  // the first one
};

}  // namespace phsic
