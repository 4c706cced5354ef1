#include "core/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/blas.h"
#include "core/loops.h"

namespace phsic {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

Eigen::Map<RowMajor> as_matrix(std::vector<double>& values, std::size_t rows, std::size_t cols) {
  return {values.data(), index(rows), index(cols)};
}
Eigen::Map<const RowMajor> as_matrix(const std::vector<double>& values, std::size_t rows,
                                     std::size_t cols) {
  return {values.data(), index(rows), index(cols)};
}
Eigen::Map<Eigen::VectorXd> as_vector(std::vector<double>& values) {
  return {values.data(), index(values.size())};
}
Eigen::Map<const Eigen::VectorXd> as_vector(const std::vector<double>& values) {
  return {values.data(), index(values.size())};
}

void mirror_upper(Eigen::Map<RowMajor> matrix) {
  matrix.triangularView<Eigen::StrictlyLower>() = matrix.transpose();
}

// A block's sum rounds like a random walk of its 256 products, in last digits of a feature.
constexpr double kRoundingDigits = 16;
// Where all its pairs are alike every sum is rounded the same way: the digits add up, and how many
// of them depends on the processor's order of the sum.
constexpr double kAlike = 16;

// No stream's clock shows more: 2^64 pairs, or kMaxTime seconds.
constexpr double kLatest = 2e19;

// A trace up to here is no variance, as a vector shorter than its root counts as zero
// (loops::inverse_length): one over its root, times any ridge and dimension, must be a float.
constexpr double kLeastVariance = 1e-60;

// One scattered addition costs about as much as this many multiply-adds of a GEMM, and adding the
// finished product to the double sums as much as this many further rows (measured; the choice only
// has to be roughly right).
constexpr double kScatterCost = 35;
constexpr double kAddRows = 12;

bool prefer_scatter(double updates, std::size_t rows, double cells) {
  return updates * kScatterCost < cells * (static_cast<double>(rows) + kAddRows);
}

// The entries of a sparse block ordered by index instead of by row: entries at[j] .. at[j + 1] have
// index j. Filled by counting.
struct ByIndex {
  ByIndex(const std::size_t* start, const std::uint32_t* index, std::size_t rows, std::size_t dim,
          std::size_t* at_buffer, std::size_t* row_buffer, std::size_t* entry_buffer)
      : at(at_buffer), row(row_buffer), entry(entry_buffer) {
    std::fill_n(at_buffer, dim + 1, std::size_t{0});
    for (std::size_t e = start[0]; e < start[rows]; ++e) ++at_buffer[index[e] + 1];
    for (std::size_t j = 0; j < dim; ++j) at_buffer[j + 1] += at_buffer[j];
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t e = start[i]; e < start[i + 1]; ++e) {
        const std::size_t place = at_buffer[index[e]]++;
        row_buffer[place] = i;
        entry_buffer[place] = e;
      }
    }
    for (std::size_t j = dim; j > 0; --j) at_buffer[j] = at_buffer[j - 1];
    at_buffer[0] = 0;
  }
  const std::size_t* at;
  const std::size_t* row;
  const std::size_t* entry;
};

}  // namespace

// One side of a block: centred and weighted rows, dense, or sparse with the weights apart.
template <class T>
struct Moments::Side {
  const SparseRows<T>* sparse = nullptr;  // null when dense
  const double* weights = nullptr;        // of the sparse rows; null for all 1
  const T* dense = nullptr;               // rows x dim, times the root of the weight
  std::size_t rows = 0;
  std::size_t dim = 0;

  [[nodiscard]] double weight(std::size_t i) const { return weights == nullptr ? 1 : weights[i]; }
  [[nodiscard]] std::size_t length(std::size_t i) const {
    return sparse->start[i + 1] - sparse->start[i];
  }
  // Dense rows: the ones we have, or the sparse ones spread out into `storage`.
  const T* spread(T* storage) const {
    if (sparse == nullptr) return dense;
    std::fill_n(storage, rows * dim, T(0));
    for (std::size_t i = 0; i < rows; ++i) {
      const auto root = static_cast<T>(std::sqrt(weight(i)));
      for (std::size_t e = sparse->start[i]; e < sparse->start[i + 1]; ++e) {
        storage[i * dim + sparse->index[e]] = root * sparse->value[e];
      }
    }
    return storage;
  }
  [[nodiscard]] std::size_t spread_size() const { return sparse == nullptr ? 0 : rows * dim; }
};

Moments::Moments(std::size_t dim_x, std::size_t dim_y, Parts parts, double half_life)
    : dim_x_(dim_x),
      dim_y_(dim_y),
      parts_(parts),
      half_life_(half_life),
      origin_x_(dim_x),
      origin_y_(dim_y),
      sum_x_(dim_x),
      sum_y_(dim_y),
      xy_(dim_x * dim_y),
      xx_(parts == Parts::kAll ? dim_x * dim_x : 0),
      yy_(parts == Parts::kAll ? dim_y * dim_y : 0) {}

Eigen::VectorXd Moments::origin_x() const { return as_vector(origin_x_); }
Eigen::VectorXd Moments::origin_y() const { return as_vector(origin_y_); }

template <class T>
void Moments::add(const Items<T>& x, const Items<T>& y, const double* weights,
                  Workspace& workspace) {
  const std::size_t rows = row_count(x);
  if (rows == 0) return;
  // What is added is divided by the lazy factor; for the matrices that happens when a product is
  // added, for the sums here.
  const double inverse = 1 / scale_;
  Workspace::Buffer<T> rows_x(workspace, rows * dim_x_);
  Workspace::Buffer<T> rows_y(workspace, rows * dim_y_);
  Workspace::Buffer<T> origin(workspace, std::max(dim_x_, dim_y_));
  Workspace::Buffer<double> sums(workspace, std::max(dim_x_, dim_y_));

  const auto prepare = [&](const Items<T>& items, const std::vector<double>& from, T* storage,
                           std::vector<double>& total) {
    Side<T> side;
    side.rows = rows;
    side.dim = from.size();
    side.weights = weights;
    side.sparse = std::get_if<SparseRows<T>>(&items);
    std::fill_n(sums.data(), side.dim, 0.0);
    if (side.sparse != nullptr) {
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t e = side.sparse->start[i]; e < side.sparse->start[i + 1]; ++e) {
          sums[side.sparse->index[e]] += side.weight(i) * double(side.sparse->value[e]);
        }
      }
    } else {
      const auto& dense = std::get<DenseRows<T>>(items);
      std::copy(from.begin(), from.end(), origin.data());
      for (std::size_t i = 0; i < rows; ++i) {
        loops::centre_row(dense.row(i), origin.data(), side.dim,
                          static_cast<T>(std::sqrt(side.weight(i))), storage + i * side.dim,
                          sums.data());
      }
      side.dense = storage;
    }
    loops::accumulate(sums.data(), side.dim, inverse, total.data());
    return side;
  };
  const Side<T> side_x = prepare(x, origin_x_, rows_x.data(), sum_x_);
  const Side<T> side_y = prepare(y, origin_y_, rows_y.data(), sum_y_);

  for (std::size_t i = 0; i < rows; ++i) {
    const double weight = inverse * side_x.weight(i);
    weight_ += weight;
    squared_weight_ += weight * weight;
  }
  pairs_ += rows;
  rounding_ = std::max(rounding_, kRoundingDigits * std::numeric_limits<T>::epsilon());
  add_cross(side_x, side_y, workspace);
  if (parts_ == Parts::kAll) {
    add_self(side_x, xx_, workspace);
    add_self(side_y, yy_, workspace);
  }
}

template <class T>
void Moments::add_cross(const Side<T>& x, const Side<T>& y, Workspace& workspace) {
  const double inverse = 1 / scale_;
  if (x.sparse != nullptr && y.sparse != nullptr) {
    double updates = 0;
    for (std::size_t i = 0; i < x.rows; ++i) {
      updates += static_cast<double>(x.length(i)) * static_cast<double>(y.length(i));
    }
    if (prefer_scatter(updates, x.rows, static_cast<double>(xy_.size()))) {
      const std::size_t entries = x.sparse->entries();
      Workspace::Buffer<std::size_t> at(workspace, x.dim + 1);
      Workspace::Buffer<std::size_t> row(workspace, entries);
      Workspace::Buffer<std::size_t> entry(workspace, entries);
      const ByIndex by(x.sparse->start, x.sparse->index, x.rows, x.dim, at.data(), row.data(),
                       entry.data());
      for (std::size_t j = 0; j < x.dim; ++j) {
        double* out = xy_.data() + j * dim_y_;
        for (std::size_t k = by.at[j]; k < by.at[j + 1]; ++k) {
          const std::size_t i = by.row[k];
          const double factor = inverse * x.weight(i) * double(x.sparse->value[by.entry[k]]);
          for (std::size_t e = y.sparse->start[i]; e < y.sparse->start[i + 1]; ++e) {
            out[y.sparse->index[e]] += factor * double(y.sparse->value[e]);
          }
        }
      }
      return;
    }
  }
  Workspace::Buffer<T> spread_x(workspace, x.spread_size());
  Workspace::Buffer<T> spread_y(workspace, y.spread_size());
  Workspace::Buffer<T> product(workspace, xy_.size());
  blas::cross_product(dim_x_, dim_y_, x.rows, x.spread(spread_x.data()), y.spread(spread_y.data()),
                      product.data());
  loops::accumulate(product.data(), xy_.size(), inverse, xy_.data());
}

template <class T>
void Moments::add_self(const Side<T>& side, std::vector<double>& sums, Workspace& workspace) {
  const double inverse = 1 / scale_;
  const std::size_t dim = side.dim;
  if (side.sparse != nullptr) {
    double updates = 0;
    for (std::size_t i = 0; i < side.rows; ++i) {
      updates += 0.5 * static_cast<double>(side.length(i)) * static_cast<double>(side.length(i));
    }
    if (prefer_scatter(updates, side.rows, 0.5 * static_cast<double>(sums.size()))) {
      const std::size_t entries = side.sparse->entries();
      Workspace::Buffer<std::size_t> at(workspace, dim + 1);
      Workspace::Buffer<std::size_t> row(workspace, entries);
      Workspace::Buffer<std::size_t> entry(workspace, entries);
      const ByIndex by(side.sparse->start, side.sparse->index, side.rows, dim, at.data(),
                       row.data(), entry.data());
      for (std::size_t j = 0; j < dim; ++j) {
        double* out = sums.data() + j * dim;
        for (std::size_t k = by.at[j]; k < by.at[j + 1]; ++k) {
          const std::size_t i = by.row[k];
          const double factor = inverse * side.weight(i) * double(side.sparse->value[by.entry[k]]);
          // Indices increase: from this entry on, all are in the upper triangle.
          for (std::size_t e = by.entry[k]; e < side.sparse->start[i + 1]; ++e) {
            out[side.sparse->index[e]] += factor * double(side.sparse->value[e]);
          }
        }
      }
      return;
    }
  }
  Workspace::Buffer<T> spread(workspace, side.spread_size());
  Workspace::Buffer<T> product(workspace, sums.size());
  blas::self_product(dim, side.rows, side.spread(spread.data()), product.data());
  for (std::size_t j = 0; j < dim; ++j) {
    loops::accumulate(product.data() + j * dim + j, dim - j, inverse, sums.data() + j * dim + j);
  }
}

void Moments::advance(double later) {
  if (!(later > now_)) return;
  scale_ *= std::exp2((now_ - later) / half_life_);
  now_ = later;
  constexpr double kSmallest = 1e-100;
  if (scale_ < kSmallest) rescale();
}

// Keeps the lazy factor away from where its inverse, or its square, would overflow.
void Moments::rescale() {
  for (auto* sums : {&sum_x_, &sum_y_, &xy_, &xx_, &yy_}) {
    for (double& value : *sums) value *= scale_;
  }
  weight_ *= scale_;
  squared_weight_ *= scale_ * scale_;
  scale_ = 1;
}

void Moments::move_origin(const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  const Eigen::VectorXd dx = as_vector(origin_x_) - x;
  const Eigen::VectorXd dy = as_vector(origin_y_) - y;
  auto sx = as_vector(sum_x_);
  auto sy = as_vector(sum_y_);
  // sum (x + d)(y + e)^T = M + s_x e^T + d s_y^T + W d e^T, d and e being the steps.
  const auto shift = [&](std::vector<double>& sums, const auto& s_left, const auto& s_right,
                         const Eigen::VectorXd& left, const Eigen::VectorXd& right) {
    auto m = as_matrix(sums, static_cast<std::size_t>(left.size()),
                       static_cast<std::size_t>(right.size()));
    m += s_left * right.transpose() + left * s_right.transpose() +
         weight_ * left * right.transpose();
  };
  shift(xy_, sx, sy, dx, dy);
  if (parts_ == Parts::kAll) {
    shift(xx_, sx, sx, dx, dx);
    shift(yy_, sy, sy, dy, dy);
  }
  sx += weight_ * dx;
  sy += weight_ * dy;
  as_vector(origin_x_) = x;
  as_vector(origin_y_) = y;
}

void Moments::merge(const Moments& other) {
  const auto shown = [](const Moments& m) {
    return fmt::format("{} x {} ({}, half-life {})", m.dim_x_, m.dim_y_,
                       m.parts_ == Parts::kAll ? "all" : "cross only", m.half_life_);
  };
  if (shown(other) != shown(*this)) {
    throw Error(
        fmt::format("moments cannot be merged: found {}, expected {}", shown(other), shown(*this)));
  }
  Moments right = other;
  const double now = std::max(now_, right.now_);
  advance(now);
  right.advance(now);
  if (right.origin_x_ != origin_x_ || right.origin_y_ != origin_y_) {
    right.move_origin(as_vector(origin_x_), as_vector(origin_y_));
  }
  const double factor = right.scale_ / scale_;
  const auto add_sums = [&](std::vector<double>& ours, const std::vector<double>& theirs) {
    loops::accumulate(theirs.data(), theirs.size(), factor, ours.data());
  };
  add_sums(sum_x_, right.sum_x_);
  add_sums(sum_y_, right.sum_y_);
  add_sums(xy_, right.xy_);
  add_sums(xx_, right.xx_);
  add_sums(yy_, right.yy_);
  weight_ += factor * right.weight_;
  squared_weight_ += factor * factor * right.squared_weight_;
  pairs_ += right.pairs_;
  rounding_ = std::max(rounding_, right.rounding_);
  is_estimated_ = is_estimated_ || right.is_estimated_;
}

void Moments::transform(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const auto to_x = static_cast<std::size_t>(a.rows());
  const auto to_y = static_cast<std::size_t>(b.rows());
  const auto apply = [](const Eigen::MatrixXd& left, std::vector<double>& sums,
                        const Eigen::MatrixXd& right) {
    RowMajor result = RowMajor::Zero(left.rows(), right.rows());
    if (!sums.empty()) {
      result = left *
               as_matrix(sums, static_cast<std::size_t>(left.cols()),
                         static_cast<std::size_t>(right.cols())) *
               right.transpose();
    }
    sums.assign(result.data(), result.data() + result.size());
  };
  const auto apply_vector = [](const Eigen::MatrixXd& left, std::vector<double>& values) {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(left.rows());
    if (!values.empty()) result = left * as_vector(values);
    values.assign(result.data(), result.data() + result.size());
  };
  apply(a, xy_, b);
  if (parts_ == Parts::kAll) {
    mirror_upper(as_matrix(xx_, dim_x_, dim_x_));
    mirror_upper(as_matrix(yy_, dim_y_, dim_y_));
    apply(a, xx_, a);
    apply(b, yy_, b);
  }
  apply_vector(a, sum_x_);
  apply_vector(b, sum_y_);
  apply_vector(a, origin_x_);
  apply_vector(b, origin_y_);
  dim_x_ = to_x;
  dim_y_ = to_y;
}

void Moments::limit_effective_pairs(double pairs) {
  const double squared = weight_ * weight_ / pairs;
  if (std::isfinite(squared)) squared_weight_ = std::max(squared_weight_, squared);
}

void Moments::correct(const Moments& plus, const Moments& minus) {
  const auto add_difference = [this](std::vector<double>& ours, const std::vector<double>& more,
                                     const std::vector<double>& less) {
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] += (more[i] - less[i]) / scale_;
  };
  add_difference(sum_x_, plus.sum_x_, minus.sum_x_);
  add_difference(sum_y_, plus.sum_y_, minus.sum_y_);
  add_difference(xy_, plus.xy_, minus.xy_);
  add_difference(xx_, plus.xx_, minus.xx_);
  add_difference(yy_, plus.yy_, minus.yy_);
}

void Moments::assign(const Covariance& covariance, const Eigen::VectorXd& origin_x,
                     const Eigen::VectorXd& origin_y) {
  const auto set_vector = [](std::vector<double>& values, const Eigen::VectorXd& vector) {
    values.assign(vector.data(), vector.data() + vector.size());
  };
  const auto set_matrix = [](std::vector<double>& values, const RowMajor& matrix) {
    values.assign(matrix.data(), matrix.data() + matrix.size());
  };
  const Eigen::VectorXd step_x = covariance.mean_x - origin_x;
  const Eigen::VectorXd step_y = covariance.mean_y - origin_y;
  dim_x_ = static_cast<std::size_t>(origin_x.size());
  dim_y_ = static_cast<std::size_t>(origin_y.size());
  set_vector(origin_x_, origin_x);
  set_vector(origin_y_, origin_y);
  set_vector(sum_x_, weight_ * step_x);
  set_vector(sum_y_, weight_ * step_y);
  set_matrix(xy_, weight_ * (covariance.xy + step_x * step_y.transpose()));
  if (parts_ == Parts::kAll) {
    set_matrix(xx_, weight_ * (covariance.xx + step_x * step_x.transpose()));
    set_matrix(yy_, weight_ * (covariance.yy + step_y * step_y.transpose()));
  }
}

Covariance Moments::covariance() const {
  Covariance c;
  c.weight = weight();
  c.effective_pairs = squared_weight_ > 0 ? weight_ * weight_ / squared_weight_ : 0;
  const double inverse = weight_ > 0 ? 1 / weight_ : 0;
  const Eigen::VectorXd step_x = inverse * as_vector(sum_x_);
  const Eigen::VectorXd step_y = inverse * as_vector(sum_y_);
  c.is_estimated = is_estimated_;
  c.mean_x = as_vector(origin_x_) + step_x;
  c.mean_y = as_vector(origin_y_) + step_y;
  // Sums about the mean itself have no rounding to speak of. What is left there when all that
  // varied has faded is less than the features' own digits, and no variance either.
  const double digit = rounding_ / kRoundingDigits;
  const auto noise = [&](const Eigen::VectorXd& step, const Eigen::VectorXd& mean) {
    return std::max({kAlike * rounding_ * step.squaredNorm(), digit * digit * mean.squaredNorm(),
                     kLeastVariance});
  };
  c.noise_x = noise(step_x, c.mean_x);
  c.noise_y = noise(step_y, c.mean_y);
  c.xy = inverse * as_matrix(xy_, dim_x_, dim_y_) - step_x * step_y.transpose();
  if (parts_ == Parts::kAll) {
    const auto symmetric = [inverse](const std::vector<double>& sums, const Eigen::VectorXd& step) {
      const auto dim = static_cast<std::size_t>(step.size());
      Eigen::MatrixXd result = inverse * as_matrix(sums, dim, dim) - step * step.transpose();
      result.triangularView<Eigen::StrictlyLower>() = result.transpose();
      return result;
    };
    c.xx = symmetric(xx_, step_x);
    c.yy = symmetric(yy_, step_y);
  }
  return c;
}

void Moments::save(Writer& writer) const {
  writer.number<std::uint64_t>(dim_x_);
  writer.number<std::uint64_t>(dim_y_);
  writer.number(parts_);
  writer.number(pairs_);
  for (const double value : {half_life_, now_, scale_, weight_, squared_weight_, rounding_}) {
    writer.number(value);
  }
  for (const auto* values : {&origin_x_, &origin_y_, &sum_x_, &sum_y_, &xy_, &xx_, &yy_}) {
    writer.array(*values);
  }
  writer.number<std::uint8_t>(is_estimated_);
}

Moments Moments::load(Reader& reader) {
  const auto dim_x = reader.number_in<std::uint64_t>("moments dim x", 0, kMaxDimension);
  const auto dim_y = reader.number_in<std::uint64_t>("moments dim y", 0, kMaxDimension);
  const Parts parts = reader.enumerator("moments parts", Parts::kCrossOnly);
  Moments moments(0, 0, parts);
  moments.dim_x_ = dim_x;
  moments.dim_y_ = dim_y;
  moments.pairs_ = reader.number<std::uint64_t>("moments pairs");
  moments.half_life_ = reader.number<double>("moments half-life");
  if (!(moments.half_life_ > 0)) {
    reader.refuse("moments half-life",
                  fmt::format("found {}, expected more than 0", moments.half_life_));
  }
  moments.now_ = reader.finite("moments now");
  if (std::abs(moments.now_) > kLatest) {
    reader.refuse("moments now", fmt::format("found {}, expected up to {}", moments.now_, kLatest));
  }
  moments.scale_ = reader.finite("moments scale");
  moments.weight_ = reader.finite("moments weight");
  moments.squared_weight_ = reader.finite("moments squared weight");
  moments.rounding_ = reader.finite("moments rounding");
  if (!(moments.scale_ > 0) || moments.weight_ < 0 || moments.squared_weight_ < 0) {
    reader.refuse("moments weights", "found negative ones, expected 0 or more");
  }
  moments.origin_x_ = reader.finite_array<double>("moments origin x", dim_x);
  moments.origin_y_ = reader.finite_array<double>("moments origin y", dim_y);
  moments.sum_x_ = reader.finite_array<double>("moments sum x", dim_x);
  moments.sum_y_ = reader.finite_array<double>("moments sum y", dim_y);
  moments.xy_ = reader.finite_array<double>("moments xy", dim_x * dim_y);
  const bool all = parts == Parts::kAll;
  moments.xx_ = reader.finite_array<double>("moments xx", all ? dim_x * dim_x : 0);
  moments.yy_ = reader.finite_array<double>("moments yy", all ? dim_y * dim_y : 0);
  if (reader.version() >= kEstimatesSince) moments.is_estimated_ = reader.flag("moments estimated");
  return moments;
}

template void Moments::add(const Items<float>&, const Items<float>&, const double*, Workspace&);
template void Moments::add(const Items<double>&, const Items<double>&, const double*, Workspace&);

}  // namespace phsic
