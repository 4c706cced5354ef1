#include "tests/core/oracle.h"

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

namespace phsic::test {
namespace {

Eigen::VectorXd dense_row(const ItemBlock<double>& items, std::size_t i) {
  Eigen::VectorXd row = Eigen::VectorXd::Zero(items.shape().dim);
  const Items<double> view = items.view();
  if (const auto* dense = std::get_if<DenseRows<double>>(&view)) {
    for (std::size_t j = 0; j < dense->dim; ++j) row(Eigen::Index(j)) = dense->row(i)[j];
  } else {
    const auto& sparse = std::get<SparseRows<double>>(view);
    for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
      row(Eigen::Index(sparse.index[e])) = sparse.value[e];
    }
  }
  return row;
}

// The text cut into code points, each as its bytes, between two boundary marks if `bounded`.
std::vector<std::string> code_points(std::string_view text, bool bounded) {
  std::vector<std::string> points;
  if (bounded) points.emplace_back("<");
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (continues) {
      points.back() += c;
    } else {
      points.emplace_back(1, c);
    }
  }
  if (bounded) points.emplace_back(">");
  return points;
}

// How often each n-gram, written as its bytes, occurs in a text.
using Counts = std::map<std::string, double>;

Counts gram_counts(std::string_view text, std::size_t n) {
  Counts counts;
  const auto points = code_points(text, n > 1);
  if (text.empty()) return counts;
  for (std::size_t i = 0; i + n <= points.size(); ++i) {
    std::string gram;
    for (std::size_t j = i; j < i + n; ++j) gram += points[j];
    counts[gram] += 1;
  }
  return counts;
}

double dot(const Counts& p, const Counts& q) {
  double sum = 0;
  for (const auto& [key, count] : p) {
    const auto found = q.find(key);
    if (found != q.end()) sum += count * found->second;
  }
  return sum;
}

// The cosines between the n-gram counts of texts, which are counted once and not for each pair.
Eigen::MatrixXd spectrum_gram(std::size_t n, const TextRows& a, const TextRows& b) {
  const auto count_all = [n](const TextRows& texts) {
    std::vector<Counts> counts;
    for (std::size_t i = 0; i < texts.rows; ++i) counts.push_back(gram_counts(texts.text(i), n));
    return counts;
  };
  const std::vector<Counts> left = count_all(a);
  const std::vector<Counts> right = count_all(b);
  const auto norms = [](const std::vector<Counts>& counts) {
    Eigen::VectorXd all(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      all(Eigen::Index(i)) = std::sqrt(dot(counts[i], counts[i]));
    }
    return all;
  };
  const Eigen::VectorXd left_norms = norms(left);
  const Eigen::VectorXd right_norms = norms(right);
  Eigen::MatrixXd k(left.size(), right.size());
  for (Eigen::Index i = 0; i < k.rows(); ++i) {
    for (Eigen::Index j = 0; j < k.cols(); ++j) {
      const double norm = left_norms(i) * right_norms(j);
      k(i, j) = norm > 0 ? dot(left[std::size_t(i)], right[std::size_t(j)]) / norm : 0;
    }
  }
  return k;
}

// Of a kernel of numbers that is no sum or product.
double value(const Kernel& kernel, const ItemBlock<double>& a, std::size_t i,
             const ItemBlock<double>& b, std::size_t j) {
  using Kind = Kernel::Kind;
  const Eigen::VectorXd p = dense_row(a, i);
  const Eigen::VectorXd q = dense_row(b, j);
  switch (kernel.kind()) {
    case Kind::kLinear: return p.dot(q);
    case Kind::kCosine: {
      const double norm = p.norm() * q.norm();
      return norm > 0 ? p.dot(q) / norm : 0;
    }
    case Kind::kGaussian: {
      if (kernel.scales().empty()) {
        return std::exp(-(p - q).squaredNorm() / (2 * kernel.sigma() * kernel.sigma()));
      }
      double squares = 0;
      for (std::size_t d = 0; d < kernel.scales().size(); ++d) {
        squares += std::pow((p(Eigen::Index(d)) - q(Eigen::Index(d))) * kernel.scales()[d], 2);
      }
      return std::exp(-squares / 2);
    }
    case Kind::kLaplacian: return std::exp(-kernel.gamma() * (p - q).lpNorm<1>());
    default: return std::pow(kernel.gamma() * p.dot(q) + kernel.offset(), kernel.degree());
  }
}

}  // namespace

Eigen::MatrixXd gram(const Kernel& kernel, const ItemBlock<double>& a, const ItemBlock<double>& b) {
  using Kind = Kernel::Kind;
  if (kernel.kind() == Kind::kSum || kernel.kind() == Kind::kProduct) {
    const bool sum = kernel.kind() == Kind::kSum;
    Eigen::MatrixXd result = Eigen::MatrixXd::Constant(a.size(), b.size(), sum ? 0 : 1);
    for (const Kernel& part : kernel.parts()) {
      const Eigen::MatrixXd next = gram(part, a, b);
      result = sum ? Eigen::MatrixXd(result + next) : Eigen::MatrixXd(result.cwiseProduct(next));
    }
    return result;
  }
  if (kernel.kind() == Kind::kSpectrum) {
    return spectrum_gram(static_cast<std::size_t>(kernel.gram_length()),
                         std::get<TextRows>(a.view()), std::get<TextRows>(b.view()));
  }
  Eigen::MatrixXd k(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      k(Eigen::Index(i), Eigen::Index(j)) = value(kernel, a, i, b, j);
    }
  }
  return k;
}

std::vector<double> data_space_phsic(const Kernel& kernel_x, const Kernel& kernel_y,
                                     const ItemBlock<double>& train_x,
                                     const ItemBlock<double>& train_y,
                                     const std::vector<double>& weights,
                                     const ItemBlock<double>& test_x,
                                     const ItemBlock<double>& test_y) {
  Eigen::VectorXd w =
      Eigen::Map<const Eigen::VectorXd>(weights.data(), Eigen::Index(weights.size()));
  w /= w.sum();
  const auto centred = [&](const Kernel& kernel, const ItemBlock<double>& train,
                           const ItemBlock<double>& test) -> Eigen::MatrixXd {
    const Eigen::MatrixXd k = gram(kernel, test, train);
    const Eigen::MatrixXd among = gram(kernel, train, train);
    const Eigen::VectorXd test_mean = k * w;
    const Eigen::VectorXd train_mean = among * w;
    Eigen::MatrixXd result = k;
    result.colwise() -= test_mean;
    result.rowwise() -= train_mean.transpose();
    result.array() += w.dot(train_mean);
    return result;
  };
  const Eigen::MatrixXd k = centred(kernel_x, train_x, test_x);
  const Eigen::MatrixXd l = centred(kernel_y, train_y, test_y);
  const Eigen::VectorXd scores = k.cwiseProduct(l) * w;
  return {scores.data(), scores.data() + scores.size()};
}

double data_space_hsic(const Eigen::MatrixXd& k, const Eigen::MatrixXd& l) {
  const auto n = static_cast<double>(k.rows());
  const Eigen::MatrixXd h = Eigen::MatrixXd::Identity(k.rows(), k.rows()) -
                            Eigen::MatrixXd::Constant(k.rows(), k.rows(), 1 / n);
  return (k * h * l * h).trace() / (n * n);
}

Covariance two_pass_covariance(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y,
                               const std::vector<double>& weights) {
  const Eigen::VectorXd w =
      Eigen::Map<const Eigen::VectorXd>(weights.data(), Eigen::Index(weights.size()));
  Covariance c;
  c.weight = w.sum();
  c.effective_pairs = c.weight * c.weight / w.squaredNorm();
  c.mean_x = x.transpose() * w / c.weight;
  c.mean_y = y.transpose() * w / c.weight;
  const Eigen::MatrixXd dx = x.rowwise() - c.mean_x.transpose();
  const Eigen::MatrixXd dy = y.rowwise() - c.mean_y.transpose();
  c.xy = dx.transpose() * w.asDiagonal() * dy / c.weight;
  c.xx = dx.transpose() * w.asDiagonal() * dx / c.weight;
  c.yy = dy.transpose() * w.asDiagonal() * dy / c.weight;
  return c;
}

double log_normal_density(const Eigen::VectorXd& z, const Eigen::VectorXd& m,
                          const Eigen::MatrixXd& c) {
  const Eigen::LDLT<Eigen::MatrixXd> factor(c);
  const Eigen::VectorXd step = z - m;
  const double log_determinant = factor.vectorD().array().log().sum();
  return -0.5 * (step.dot(factor.solve(step)) + log_determinant +
                 static_cast<double>(z.size()) * std::log(2 * std::numbers::pi));
}

}  // namespace phsic::test
