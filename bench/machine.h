// What the measurements were made on.
#pragma once

#include <string>

namespace phsic::bench {

// CPU, cores, OpenBLAS and compiler, a line each.
[[nodiscard]] std::string describe_machine();

// The memory this process has in use, in MiB: VmRSS. 0 where the system does not tell.
[[nodiscard]] double resident_mib();

}  // namespace phsic::bench
