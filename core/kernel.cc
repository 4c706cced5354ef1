#include "core/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/bandwidth.h"

namespace phsic {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxParts = 16;
constexpr int kMaxDegree = 32;
constexpr int kMaxGramLength = 16;
// One over the square of a sigma must be a finite float.
constexpr double kLeastSigma = 1e-15;
constexpr double kMostSigma = 1e15;

constexpr std::array<std::string_view, 8> kNames = {
    "linear", "cosine", "gaussian", "laplacian", "polynomial", "spectrum", "sum", "product"};
constexpr std::array<std::string_view, 4> kBandwidths = {"", "median", "scott", "silverman"};

std::string_view name_of(Kernel::Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

// All simple kernels in it. Each costs a product, and for sparse pivots a table.
std::size_t count_leaves(const std::vector<Kernel>& parts) {
  std::size_t leaves = 0;
  for (const Kernel& part : parts) {
    leaves += part.parts().empty() ? 1 : count_leaves(part.parts());
  }
  return leaves;
}

void require_parts(std::string_view what, const std::vector<Kernel>& parts) {
  const std::size_t leaves = count_leaves(parts);
  if (leaves < 1 || leaves > kMaxParts) {
    throw Error(fmt::format("{}: found {} kernels, expected 1 to {}", what, leaves, kMaxParts));
  }
}

void require_positive(std::string_view what, double value) {
  if (!std::isfinite(value) || value <= 0) {
    throw Error(fmt::format("{}: found {}, expected a positive number", what, value));
  }
}

// Reads the notation of kernel.h by recursive descent.
class NotationParser {
 public:
  explicit NotationParser(std::string_view notation) : whole_(notation), rest_(notation) {}

  Kernel parse_all() {
    Kernel kernel = parse_kernel(0);
    skip_blanks();
    if (!rest_.empty()) fail(fmt::format("found '{}', expected the end", rest_));
    return kernel;
  }

 private:
  using Options = std::vector<std::pair<std::string, std::string>>;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(fmt::format("kernel '{}', at character {}: {}", whole_,
                            whole_.size() - rest_.size() + 1, why));
  }

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  bool accept(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string take_word() {
    skip_blanks();
    const std::size_t length = std::min(rest_.find_first_of(" :,=()"), rest_.size());
    if (length == 0) fail("found nothing, expected a name or a value");
    std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return word;
  }

  // After a comma: is it one more option of this kernel, or the next kernel of a sum?
  [[nodiscard]] bool option_follows() const {
    const std::size_t mark = rest_.find_first_of(":,=()");
    return mark != std::string_view::npos && rest_[mark] == '=';
  }

  Options parse_options() {
    Options options;
    if (!accept(':')) return options;
    while (true) {
      std::string key = take_word();
      if (!accept('=')) fail(fmt::format("option '{}' has no value, expected {}=VALUE", key, key));
      options.emplace_back(std::move(key), take_word());
      const std::string_view before_comma = rest_;
      if (!accept(',')) return options;
      if (!option_follows()) {
        rest_ = before_comma;
        return options;
      }
    }
  }

  double to_number(const std::string& key, const std::string& value) const {
    double number = 0;
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) {
      fail(fmt::format("{}: found '{}', expected a number", key, value));
    }
    return number;
  }

  int to_int(const std::string& key, const std::string& value) const {
    const double number = to_number(key, value);
    if (number != std::floor(number) || std::abs(number) > 1e6) {
      fail(fmt::format("{}: found '{}', expected a whole number", key, value));
    }
    return static_cast<int>(number);
  }

  Kernel parse_kernel(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("nested deeper than {} levels", kMaxDepth));
    const std::string name = take_word();
    if (name == "sum" || name == "product") {
      std::vector<Kernel> parts;
      if (!accept('(')) fail(fmt::format("found no '(' after {}, expected {}(k,...)", name, name));
      do {
        parts.push_back(parse_kernel(depth + 1));
      } while (accept(','));
      if (!accept(')')) fail("found no ')', expected one");
      return name == "sum" ? Kernel::sum(std::move(parts)) : Kernel::product(std::move(parts));
    }
    return make_leaf(name, parse_options());
  }

  Kernel make_leaf(const std::string& name, const Options& options) const {
    double gamma = 1;
    double offset = 1;
    int degree = 2;
    int n = 3;
    std::string sigma = "median";
    for (const auto& [key, value] : options) {
      if (name == "gaussian" && key == "sigma") {
        sigma = value;
      } else if ((name == "laplacian" || name == "polynomial") && key == "gamma") {
        gamma = to_number(key, value);
      } else if (name == "polynomial" && key == "offset") {
        offset = to_number(key, value);
      } else if (name == "polynomial" && key == "degree") {
        degree = to_int(key, value);
      } else if (name == "spectrum" && key == "n") {
        n = to_int(key, value);
      } else {
        fail(fmt::format("{} has no option '{}'", name, key));
      }
    }
    if (name == "linear") return Kernel::linear();
    if (name == "cosine") return Kernel::cosine();
    if (name == "laplacian") return Kernel::laplacian(gamma);
    if (name == "polynomial") return Kernel::polynomial(degree, gamma, offset);
    if (name == "spectrum") return Kernel::spectrum(n);
    if (name == "gaussian") {
      for (std::size_t i = 1; i < kBandwidths.size(); ++i) {
        if (sigma == kBandwidths[i]) return Kernel::gaussian(static_cast<Kernel::Bandwidth>(i));
      }
      return Kernel::gaussian(to_number("sigma (a number, median, scott or silverman)", sigma));
    }
    fail(fmt::format("found '{}', expected one of {}", name, fmt::join(kNames, ", ")));
  }

  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace

Kernel Kernel::linear() { return Kernel(Kind::kLinear); }

Kernel Kernel::cosine() { return Kernel(Kind::kCosine); }

Kernel Kernel::gaussian(double sigma) {
  require_positive("gaussian sigma", sigma);
  if (sigma < kLeastSigma || sigma > kMostSigma) {
    throw Error(
        fmt::format("gaussian sigma: found {}, expected {} to {}", sigma, kLeastSigma, kMostSigma));
  }
  Kernel kernel(Kind::kGaussian);
  kernel.sigma_ = sigma;
  return kernel;
}

Kernel Kernel::gaussian(Bandwidth bandwidth) {
  if (bandwidth == Bandwidth::kGiven) throw Error("gaussian: sigma is missing");
  Kernel kernel(Kind::kGaussian);
  kernel.bandwidth_ = bandwidth;
  return kernel;
}

Kernel Kernel::laplacian(double gamma) {
  require_positive("laplacian gamma", gamma);
  Kernel kernel(Kind::kLaplacian);
  kernel.gamma_ = gamma;
  return kernel;
}

Kernel Kernel::polynomial(int degree, double gamma, double offset) {
  require_positive("polynomial gamma", gamma);
  if (degree < 1 || degree > kMaxDegree) {
    throw Error(fmt::format("polynomial degree: found {}, expected 1 to {}", degree, kMaxDegree));
  }
  if (!std::isfinite(offset) || offset < 0) {
    throw Error(fmt::format("polynomial offset: found {}, expected 0 or more", offset));
  }
  Kernel kernel(Kind::kPolynomial);
  kernel.degree_ = degree;
  kernel.gamma_ = gamma;
  kernel.offset_ = offset;
  return kernel;
}

Kernel Kernel::spectrum(int n) {
  if (n < 1 || n > kMaxGramLength) {
    throw Error(fmt::format("spectrum n: found {}, expected 1 to {}", n, kMaxGramLength));
  }
  Kernel kernel(Kind::kSpectrum);
  kernel.gram_length_ = n;
  return kernel;
}

Kernel Kernel::sum(std::vector<Kernel> parts) {
  require_parts("sum", parts);
  Kernel kernel(Kind::kSum);
  kernel.parts_ = std::move(parts);
  return kernel;
}

Kernel Kernel::product(std::vector<Kernel> parts) {
  require_parts("product", parts);
  Kernel kernel(Kind::kProduct);
  kernel.parts_ = std::move(parts);
  return kernel;
}

Kernel Kernel::parse(std::string_view notation) { return NotationParser(notation).parse_all(); }

std::string Kernel::to_string() const {
  switch (kind_) {
    case Kind::kLinear:
    case Kind::kCosine: return std::string(name_of(kind_));
    case Kind::kGaussian:
      return bandwidth_ == Bandwidth::kGiven
                 ? fmt::format("gaussian:sigma={}", sigma_)
                 : fmt::format("gaussian:sigma={}",
                               kBandwidths[static_cast<std::size_t>(bandwidth_)]);
    case Kind::kLaplacian: return fmt::format("laplacian:gamma={}", gamma_);
    case Kind::kPolynomial:
      return fmt::format("polynomial:degree={},gamma={},offset={}", degree_, gamma_, offset_);
    case Kind::kSpectrum: return fmt::format("spectrum:n={}", gram_length_);
    case Kind::kSum:
    case Kind::kProduct: break;
  }
  std::vector<std::string> shown;
  for (const Kernel& part : parts_) shown.push_back(part.to_string());
  return fmt::format("{}({})", name_of(kind_), fmt::join(shown, ","));
}

bool Kernel::is_explicit() const { return kind_ == Kind::kLinear || kind_ == Kind::kCosine; }

bool Kernel::is_fitted() const {
  if (kind_ == Kind::kGaussian) return sigma_ > 0 || !scales_.empty();
  return std::all_of(parts_.begin(), parts_.end(), [](const Kernel& k) { return k.is_fitted(); });
}

bool Kernel::is_bounded() const {
  switch (kind_) {
    case Kind::kCosine:
    case Kind::kGaussian:
    case Kind::kLaplacian:
    case Kind::kSpectrum: return true;
    case Kind::kLinear:
    case Kind::kPolynomial: return false;
    case Kind::kSum: return parts_.size() == 1 && parts_.front().is_bounded();
    case Kind::kProduct: break;
  }
  return std::all_of(parts_.begin(), parts_.end(), [](const Kernel& k) { return k.is_bounded(); });
}

bool Kernel::grows() const {
  if (kind_ == Kind::kLinear || kind_ == Kind::kPolynomial) return true;
  return std::any_of(parts_.begin(), parts_.end(), [](const Kernel& k) { return k.grows(); });
}

bool Kernel::needs_fitting() const {
  if (kind_ == Kind::kGaussian) return bandwidth_ != Bandwidth::kGiven;
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Kernel& k) { return k.needs_fitting(); });
}

bool Kernel::takes_texts() const {
  return parts_.empty() ? kind_ == Kind::kSpectrum : parts_.front().takes_texts();
}

void Kernel::require_fits(const ItemShape& shape) const {
  if (!parts_.empty()) {
    for (const Kernel& part : parts_) part.require_fits(shape);
    return;
  }
  if (takes_texts() != (shape.kind == ItemKind::kText)) {
    throw Error(fmt::format("kernel {}: found {}, expected {}", to_string(), shape.to_string(),
                            takes_texts() ? "texts" : "vectors"));
  }
  if (!scales_.empty() && scales_.size() != shape.dim) {
    throw Error(fmt::format("kernel {}: found {}, expected the {} dimensions it was fitted to",
                            to_string(), shape.to_string(), scales_.size()));
  }
}

Kernel Kernel::fitted(const Items<double>& items, const std::vector<double>& weights,
                      std::uint64_t seed) const {
  Kernel kernel = *this;
  for (Kernel& part : kernel.parts_) part = part.fitted(items, weights, seed);
  if (kind_ != Kind::kGaussian || bandwidth_ == Bandwidth::kGiven) return kernel;
  if (bandwidth_ == Bandwidth::kMedian) {
    kernel.sigma_ = std::clamp(median_distance(items, weights, seed), kLeastSigma, kMostSigma);
  } else {
    const double factor = bandwidth_ == Bandwidth::kScott ? 1.059 : 0.9;
    kernel.scales_ = inverse_bandwidths(items, factor);
  }
  return kernel;
}

double Kernel::bandwidth_ratio(const Kernel& other) const {
  double largest = 1;
  if (kind_ == Kind::kGaussian && scales_.empty() && other.scales_.empty()) {
    largest = std::max(sigma_ / other.sigma_, other.sigma_ / sigma_);
  } else if (kind_ == Kind::kGaussian) {
    // The typical dimension's ratio. A dimension that is constant on one side only counts as much
    // as one that has changed by this factor.
    constexpr double kMost = 8;
    double logs = 0;
    double counted = 0;
    for (std::size_t j = 0; j < std::min(scales_.size(), other.scales_.size()); ++j) {
      const double a = scales_[j];
      const double b = other.scales_[j];
      if (a == 0 && b == 0) continue;
      const double ratio = a > 0 && b > 0 ? std::max(a / b, b / a) : kMost;
      logs += std::log(std::min(ratio, kMost));
      counted += 1;
    }
    largest = counted > 0 ? std::exp(logs / counted) : 1;
  }
  for (std::size_t i = 0; i < std::min(parts_.size(), other.parts_.size()); ++i) {
    largest = std::max(largest, parts_[i].bandwidth_ratio(other.parts_[i]));
  }
  return largest;
}

void Kernel::save(Writer& writer) const {
  writer.number(kind_);
  writer.number(bandwidth_);
  writer.number(sigma_);
  writer.number(gamma_);
  writer.number(offset_);
  writer.number<std::int32_t>(degree_);
  writer.number<std::int32_t>(gram_length_);
  writer.array(scales_);
  writer.number(static_cast<std::uint32_t>(parts_.size()));
  for (const Kernel& part : parts_) part.save(writer);
}

Kernel Kernel::load_nested(Reader& reader, int depth) {
  if (depth > kMaxDepth) {
    reader.refuse("kernel", fmt::format("nested deeper than {} levels", kMaxDepth));
  }
  Kernel raw(reader.enumerator("kernel kind", Kind::kProduct));
  raw.bandwidth_ = reader.enumerator("kernel bandwidth", Bandwidth::kSilverman);
  raw.sigma_ = reader.finite("kernel sigma");
  raw.gamma_ = reader.finite("kernel gamma");
  raw.offset_ = reader.finite("kernel offset");
  raw.degree_ = reader.number<std::int32_t>("kernel degree");
  raw.gram_length_ = reader.number<std::int32_t>("kernel gram length");
  raw.scales_ = reader.array<double>("kernel scales");
  const auto parts = reader.number_in<std::uint32_t>("kernel parts", 0, kMaxParts);
  for (std::uint32_t i = 0; i < parts; ++i) raw.parts_.push_back(load_nested(reader, depth + 1));

  // Rebuild it with the public functions, so that nothing gets in that they would refuse.
  const auto rebuilt = [&]() -> Kernel {
    switch (raw.kind_) {
      case Kind::kLinear: return linear();
      case Kind::kCosine: return cosine();
      case Kind::kGaussian:
        return raw.bandwidth_ == Bandwidth::kGiven ? gaussian(raw.sigma_)
                                                   : gaussian(raw.bandwidth_);
      case Kind::kLaplacian: return laplacian(raw.gamma_);
      case Kind::kPolynomial: return polynomial(raw.degree_, raw.gamma_, raw.offset_);
      case Kind::kSpectrum: return spectrum(raw.gram_length_);
      case Kind::kSum: return sum(raw.parts_);
      case Kind::kProduct: return product(raw.parts_);
    }
    return linear();
  };
  Kernel kernel = rebuilt();
  kernel.sigma_ = raw.sigma_;
  kernel.scales_ = raw.scales_;
  const bool scales_fit = std::all_of(raw.scales_.begin(), raw.scales_.end(),
                                      [](double s) { return std::isfinite(s) && s >= 0; });
  if (kernel != raw || raw.sigma_ < 0 || !scales_fit) {
    reader.refuse("kernel", "found parameters that do not belong to " + kernel.to_string());
  }
  return kernel;
}

}  // namespace phsic
