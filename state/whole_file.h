// Files that are there as a whole or not at all, and stay there when the power fails.
//
// Each throws an Error with the file and what is wrong with it.
#pragma once

#include <string>
#include <string_view>

namespace phsic {

// Throws, too, unless there is nothing of that name yet.
void require_no_file(const std::string& file);

[[nodiscard]] std::string read_whole_file(const std::string& file);
// In place of what was there.
void write_whole_file(const std::string& file, std::string_view bytes);

// A name beside `file` for what is to become it.
[[nodiscard]] std::string name_beside(const std::string& file);
// Makes `made` what `file` is called, durably.
void move_into_place(const std::string& made, const std::string& file);
// Makes durable what names there are in the folder of `file`.
void sync_folder_of(const std::string& file);

}  // namespace phsic
