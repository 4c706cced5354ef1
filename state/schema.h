// The tables of a state file, and how those of earlier versions become them.
#pragma once

#include "state/database.h"

namespace phsic {

inline constexpr std::int64_t kApplicationId = 0x50485343;  // "PHSC"

// Both within a transaction.
void create_schema(const Database& database);
// Takes a database of an earlier version to the present one, version by version.
void migrate_schema(const Database& database, int version);

}  // namespace phsic
