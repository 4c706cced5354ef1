// From a file of word vectors to a WordTable. The table is mapped from a cache that an earlier
// start left. If there is none, the file is read, and a cache is left for the next start.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/word_table.h"

namespace phsic::plugins {

// The first `limit` words of the model, 0 for all.
//
// `cache` says where to keep the table: "off", the path of a folder, or "auto": beside the model,
// in $XDG_CACHE_HOME/phsic or ~/.cache/phsic, or in /var/cache/phsic, the first that can be
// written. A cache is used when the model has the size and the time of change that the cache
// recorded, and its own hashes are right; otherwise it is made anew. Where none can be written the
// table lives in memory. Any number of processes may do this at once.
//
// Throws std::invalid_argument when the model cannot be read.
[[nodiscard]] WordTable load_word_table(const std::string& path, std::uint64_t limit,
                                        const std::string& cache);

}  // namespace phsic::plugins
