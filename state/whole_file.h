// Files that are there as a whole or not at all, and stay there when the power fails.
//
// Each throws an Error with the file and what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace phsic {

// Throws, too, unless there is nothing of that name yet; `remedy` is told then.
void require_no_file(const std::string& file, std::string_view remedy = {});

// Only of a regular file: pipes and devices may have no end. Up to `most` bytes from its beginning.
[[nodiscard]] std::string read_whole_file(const std::string& file, std::size_t most = SIZE_MAX);
// In place of what was there, which must be a regular file, or a link to one.
void write_whole_file(const std::string& name, std::string_view bytes);

// A name beside `file` for what is to become it.
[[nodiscard]] std::string name_beside(const std::string& file);
// Makes `made` what `file` is called, durably.
void move_into_place(const std::string& made, const std::string& file);
// Makes durable what names there are in the folder of `file`.
void sync_folder_of(const std::string& file);

}  // namespace phsic
