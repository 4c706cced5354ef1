// vectors: for texts that are vectors already, made by a model elsewhere.
#include <fmt/format.h>

#include <cstdint>

#include "plugins/number_list.h"
#include "plugins/plugin.h"

namespace phsic::plugins {
namespace {

class Vectors {
 public:
  static constexpr Nameplate kNameplate = {"vectors", "1",
                                           "texts that are lists of numbers, taken as they are"};

  static const OptionTable& options() {
    static const OptionTable kTable = {
        {"dim", "null", "how many numbers each text has, 1 to 32768; required"},
    };
    return kTable;
  }

  explicit Vectors(const Options& options)
      : dim_(static_cast<std::uint32_t>(options.integer("dim", 1, PHSIC_MAX_DIMENSION))) {}

  [[nodiscard]] Facts facts() const {
    return {dim_, PHSIC_DENSE, true,
            fmt::format("{} {} dim={}", kNameplate.name, kNameplate.version, dim_)};
  }

  void encode(const phsic_text* texts, std::size_t n, RowWriter& rows) const {
    for (std::size_t i = 0; i < n; ++i) {
      read_number_list({texts[i].bytes, texts[i].size}, dim_, rows.dense_row());
      rows.finish_row();
    }
  }

 private:
  std::uint32_t dim_;
};

}  // namespace
}  // namespace phsic::plugins

PHSIC_ENCODER(phsic::plugins::Vectors);
