#include "tests/plugins/loaded_encoder.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace phsic::tests {
namespace {

constexpr std::size_t kErrorSize = 1024;

std::vector<phsic_text> views_of(const std::vector<std::string>& texts) {
  std::vector<phsic_text> views;
  views.reserve(texts.size());
  for (const auto& text : texts) {
    views.push_back({text.empty() ? nullptr : text.data(), text.size()});
  }
  return views;
}

}  // namespace

std::string shipped(const std::string& name) { return PHSIC_PLUGIN_DIR "/" + name + ".so"; }

EncoderLibrary::EncoderLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
        if (handle != nullptr) dlclose(handle);
      }) {
  if (handle_) {
    plugin_ = static_cast<const phsic_encoder_plugin*>(dlsym(handle_.get(), "phsic_encoder"));
  }
  if (plugin_ == nullptr) throw std::runtime_error(dlerror());  // NOLINT(concurrency-mt-unsafe)
  if (plugin_->abi_version != PHSIC_ENCODER_ABI) throw std::runtime_error("another ABI");
}

LoadedEncoder::LoadedEncoder(const std::string& library, const std::string& options)
    : library_(library), instance_(nullptr, plugin().close) {
  std::array<char, kErrorSize> error{};
  instance_.reset(plugin().open(options.c_str(), error.data(), error.size()));
  if (!instance_) throw std::runtime_error(error.data());
}

phsic_encoder_facts LoadedEncoder::facts() const {
  phsic_encoder_facts facts{};
  plugin().describe(instance(), &facts);
  return facts;
}

Outcome LoadedEncoder::encode_once(const std::vector<std::string>& texts,
                                   std::size_t capacity) const {
  const auto views = views_of(texts);
  const std::size_t dim = dimension();
  const bool is_sparse = facts().layout == PHSIC_SPARSE;
  capacity = is_sparse ? std::max(capacity, dim) : 0;
  // Filled with nonsense: every value must be written.
  std::vector<float> values(is_sparse ? capacity : views.size() * dim, 12345.F);
  std::vector<std::uint32_t> indices(capacity);
  std::vector<std::size_t> ends(is_sparse ? views.size() : 0);
  std::array<char, kErrorSize> error{};
  phsic_rows rows{values.data(), is_sparse ? indices.data() : nullptr,
                  is_sparse ? ends.data() : nullptr, capacity, 99};
  Outcome outcome;
  outcome.status =
      plugin().encode(instance(), views.data(), views.size(), &rows, error.data(), error.size());
  outcome.error = error.data();
  for (std::size_t i = 0; i < rows.done; ++i) {
    Row row(dim);
    if (is_sparse) {
      const auto first = i == 0 ? 0 : ends[i - 1];
      for (auto k = first; k < ends[i]; ++k) {
        if (k > first && indices[k] <= indices[k - 1]) throw std::logic_error("indices descend");
        row.at(indices[k]) = values[k];
      }
    } else {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * dim), dim, row.begin());
    }
    outcome.rows.push_back(std::move(row));
  }
  return outcome;
}

std::vector<Row> LoadedEncoder::encode(const std::vector<std::string>& texts,
                                       std::size_t capacity) const {
  std::vector<Row> rows;
  std::vector<std::string> rest = texts;
  while (!rest.empty()) {
    auto outcome = encode_once(rest, capacity);
    if (outcome.status != PHSIC_OK && outcome.status != PHSIC_FULL) {
      throw std::runtime_error(outcome.error);
    }
    if (outcome.rows.empty()) throw std::logic_error("no row was made");
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(outcome.rows.size()));
    std::move(outcome.rows.begin(), outcome.rows.end(), std::back_inserter(rows));
  }
  return rows;
}

Row LoadedEncoder::encode(const std::string& text) const {
  return encode(std::vector<std::string>{text}).front();
}

std::string opening_error(const std::string& library, const std::string& options) {
  try {
    const LoadedEncoder encoder(library, options);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  throw std::logic_error("the encoder opened");
}

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double cosine(const Row& a, const Row& b) { return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)); }

}  // namespace phsic::tests
