#include "bench/machine.h"

#include <cblas.h>
#include <fmt/format.h>

#include <fstream>
#include <string_view>
#include <thread>

namespace phsic::bench {
namespace {

// The rest of the first line that begins with `key`, after the colon.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t value = line.find_first_not_of(": \t", line.find(':'));
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace

std::string describe_machine() {
  const std::string model = field_of("/proc/cpuinfo", "model name");
  return fmt::format(
      "cpu       {}, {} cores, one used\n"
      "blas      {}, kernels for {}\n"
      "compiler  {}\n",
      model.empty() ? "unknown" : model, std::thread::hardware_concurrency(), openblas_get_config(),
      openblas_get_corename(),
#if defined(__clang__)
      __VERSION__
#else
      "g++ " __VERSION__
#endif
  );
}

double resident_mib() {
  const std::string kib = field_of("/proc/self/status", "VmRSS");
  return kib.empty() ? 0 : std::stod(kib) / 1024;
}

}  // namespace phsic::bench
