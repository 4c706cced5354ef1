#include "core/logistic.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace phsic {
namespace {

constexpr int kMostSteps = 30;
constexpr double kSmallStep = 1e-6;

// log(1 + exp(-m)) without overflow.
double loss_of(double margin) {
  return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

// One fit on its way: the coefficients, the intercept last.
class Search {
 public:
  Search(const RowMatrix& rows, std::span<const unsigned char> positive,
         std::span<const double> weights, double penalty)
      : rows_(rows), penalty_(penalty), signs_(rows.rows()), weights_(rows.rows()) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      signs_[i] = positive[k] != 0 ? 1 : -1;
      weights_[i] = sum > 0 ? weights[k] / sum : 0;
    }
  }

  [[nodiscard]] double objective(const Eigen::VectorXd& at) const {
    const Eigen::VectorXd scores = scores_at(at);
    double sum = 0.5 * penalty_ * at.head(rows_.cols()).squaredNorm();
    for (Eigen::Index i = 0; i < rows_.rows(); ++i) {
      sum += weights_[i] * loss_of(signs_[i] * scores[i]);
    }
    return sum;
  }

  // Where Newton's method goes from here.
  [[nodiscard]] Eigen::VectorXd step(const Eigen::VectorXd& at) const {
    const Eigen::Index columns = rows_.cols();
    const Eigen::VectorXd scores = scores_at(at);
    Eigen::VectorXd slope(rows_.rows());
    Eigen::VectorXd bend(rows_.rows());
    for (Eigen::Index i = 0; i < rows_.rows(); ++i) {
      const double miss = 1 / (1 + std::exp(signs_[i] * scores[i]));
      slope[i] = -weights_[i] * signs_[i] * miss;
      bend[i] = weights_[i] * miss * (1 - miss);
    }
    Eigen::VectorXd gradient(columns + 1);
    gradient.head(columns) = rows_.transpose() * slope + penalty_ * at.head(columns);
    gradient[columns] = slope.sum();
    const RowMatrix bent = bend.cwiseSqrt().asDiagonal() * rows_;
    Eigen::MatrixXd hessian(columns + 1, columns + 1);
    hessian.topLeftCorner(columns, columns) = bent.transpose() * bent;
    hessian.topLeftCorner(columns, columns).diagonal().array() += penalty_;
    hessian.col(columns).head(columns) = rows_.transpose() * bend;
    hessian.row(columns).head(columns) = hessian.col(columns).head(columns).transpose();
    hessian(columns, columns) = bend.sum() + kFloor;
    return hessian.ldlt().solve(gradient);
  }

 private:
  // The intercept is not penalised; this keeps the system regular where all rows are of one kind.
  static constexpr double kFloor = 1e-9;

  [[nodiscard]] Eigen::VectorXd scores_at(const Eigen::VectorXd& at) const {
    Eigen::VectorXd scores = rows_ * at.head(rows_.cols());
    scores.array() += at[rows_.cols()];
    return scores;
  }

  const RowMatrix& rows_;
  double penalty_;
  Eigen::VectorXd signs_;
  Eigen::VectorXd weights_;  // add up to 1
};

}  // namespace

Standardiser::Standardiser(const RowMatrix& rows, std::span<const double> weights) {
  const auto columns = static_cast<std::size_t>(rows.cols());
  mean_.assign(columns, 0);
  scale_.assign(columns, 0);
  std::vector<double> squares(columns, 0);
  double sum = 0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double weight = weights[static_cast<std::size_t>(i)];
    if (weight == 0) continue;
    sum += weight;
    for (std::size_t j = 0; j < columns; ++j) {
      const double value = rows(i, static_cast<Eigen::Index>(j));
      const double away = std::isfinite(value) ? value - mean_[j] : 0;
      mean_[j] += away * weight / sum;
      squares[j] += weight * away * (away - away * weight / sum);
    }
  }
  for (std::size_t j = 0; j < columns && sum > 0; ++j) {
    const double deviation = std::sqrt(std::max(squares[j] / sum, 0.0));
    if (deviation > 1e-9 * (1 + std::abs(mean_[j]))) scale_[j] = 1 / deviation;
  }
}

void Standardiser::apply(const double* row, double* out) const {
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    const double away = (row[j] - mean_[j]) * scale_[j];
    out[j] = std::isfinite(away) ? std::clamp(away, -kMostDeviations, kMostDeviations) : 0;
  }
}

void Standardiser::save(Writer& writer) const {
  writer.array(mean_);
  writer.array(scale_);
}

Standardiser Standardiser::load(Reader& reader) {
  Standardiser standardiser;
  standardiser.mean_ = reader.finite_array<double>("means of components");
  standardiser.scale_ = reader.finite_array<double>("scales of components", standardiser.columns());
  return standardiser;
}

double Logistic::log_odds(const double* standardised) const {
  double sum = intercept;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * standardised[j];
  return sum;
}

void Logistic::save(Writer& writer) const {
  writer.array(weights);
  writer.number(intercept);
}

Logistic Logistic::load(Reader& reader, std::size_t columns) {
  Logistic logistic;
  logistic.weights = reader.finite_array<double>("weights of an expert", columns);
  logistic.intercept = reader.finite("intercept of an expert");
  double most = std::abs(logistic.intercept);
  for (const double weight : logistic.weights)
    most += Standardiser::kMostDeviations * std::abs(weight);
  if (!std::isfinite(most)) {
    reader.refuse("weights of an expert", "found log odds that overflow, expected finite ones");
  }
  return logistic;
}

Logistic fit_logistic(const RowMatrix& rows, std::span<const unsigned char> positive,
                      std::span<const double> weights, double penalty, const Logistic& begin) {
  const Eigen::Index columns = rows.cols();
  const Search search(rows, positive, weights, penalty);
  Eigen::VectorXd at = Eigen::VectorXd::Zero(columns + 1);
  if (begin.weights.size() == static_cast<std::size_t>(columns)) {
    at.head(columns) = Eigen::Map<const Eigen::VectorXd>(begin.weights.data(), columns);
    at[columns] = begin.intercept;
  }
  double best = search.objective(at);
  for (int i = 0; i < kMostSteps; ++i) {
    Eigen::VectorXd step = search.step(at);
    if (!step.allFinite()) break;
    // Newton's method may overshoot far from the optimum.
    Eigen::VectorXd next = at - step;
    double found = search.objective(next);
    for (int halvings = 0; found > best && halvings < kMostSteps; ++halvings) {
      step *= 0.5;
      next = at - step;
      found = search.objective(next);
    }
    if (!(found <= best)) break;
    at = next;
    best = found;
    if (step.cwiseAbs().maxCoeff() < kSmallStep) break;
  }
  Logistic logistic;
  logistic.weights.assign(at.data(), at.data() + columns);
  logistic.intercept = at[columns];
  return logistic;
}

}  // namespace phsic
