// Logistic regression against gradient descent on the documented objective, which shares no code.
#include "core/logistic.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/random.h"
#include "tests/core/reduced.h"

namespace phsic::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of two overlapping classes, each with a weight.
struct Labelled {
  Labelled(Eigen::Index count, Eigen::Index columns, std::uint64_t seed) : rows(count, columns) {
    Random random(seed);
    for (Eigen::Index i = 0; i < count; ++i) {
      const bool is_positive = random.uniform() < 0.4;
      positive.push_back(is_positive ? 1 : 0);
      weights.push_back(random.uniform() < 0.1 ? 0 : 0.1 + 3 * random.uniform());
      for (Eigen::Index j = 0; j < columns; ++j) {
        const double lead = is_positive ? 0.5 * static_cast<double>(j) : 0;
        rows(i, j) = random.normal() + lead;
      }
    }
  }
  RowMatrix rows;
  std::vector<unsigned char> positive;
  std::vector<double> weights;
};

// Goes down the gradient of: the weighted mean of log(1 + e^-m) + penalty / 2 * the sum of squared
// coefficients without the intercept. The intercept comes last.
std::vector<double> descend(const Labelled& data, double penalty) {
  const auto columns = static_cast<std::size_t>(data.rows.cols());
  std::vector<double> at(columns + 1, 0);
  double sum = 0;
  double longest = 0;
  for (Eigen::Index i = 0; i < data.rows.rows(); ++i) {
    sum += data.weights[static_cast<std::size_t>(i)];
    longest = std::max(longest, data.rows.row(i).squaredNorm() + 1);
  }
  const double rate = 1 / (0.25 * longest + penalty);
  for (int step = 0; step < 200000; ++step) {
    std::vector<double> slope(columns + 1, 0);
    for (std::size_t j = 0; j < columns; ++j) slope[j] = penalty * at[j];
    for (Eigen::Index i = 0; i < data.rows.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      double score = at[columns];
      for (std::size_t j = 0; j < columns; ++j) {
        score += at[j] * data.rows(i, static_cast<Eigen::Index>(j));
      }
      const double miss = 1 / (1 + std::exp(-score)) - data.positive[row];
      const double share = data.weights[row] / sum * miss;
      for (std::size_t j = 0; j < columns; ++j) {
        slope[j] += share * data.rows(i, static_cast<Eigen::Index>(j));
      }
      slope[columns] += share;
    }
    double largest = 0;
    for (std::size_t j = 0; j <= columns; ++j) {
      at[j] -= rate * slope[j];
      largest = std::max(largest, std::abs(slope[j]));
    }
    if (largest < 1e-10) break;
  }
  return at;
}

void check_fit(const Logistic& found, const std::vector<double>& expected, double margin = 1e-6) {
  REQUIRE(found.weights.size() + 1 == expected.size());
  for (std::size_t j = 0; j < found.weights.size(); ++j) {
    CHECK(found.weights[j] == Approx(expected[j]).margin(margin));
  }
  CHECK(found.intercept == Approx(expected.back()).margin(margin));
}

TEST_CASE("A regression is where plain descent on its objective ends", "[oracle]") {
  for (const double penalty : {0.002, 0.02, 0.5}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(penalty, seed);
      const Labelled data(40, 3, seed);
      check_fit(fit_logistic(data.rows, data.positive, data.weights, penalty),
                descend(data, penalty));
    }
  }
}

TEST_CASE("Where the search for a regression begins makes no difference") {
  const Labelled data(60, 4, 1);
  const auto expected = fit_logistic(data.rows, data.positive, data.weights, 0.02);
  const Logistic begins[] = {{{40, -30, 0, 9}, -50}, {{-1, 1, -1, 1}, 3}, {{1, 2}, 8}, expected};
  for (const auto& begin : begins) {
    const auto found = fit_logistic(data.rows, data.positive, data.weights, 0.02, begin);
    auto coefficients = expected.weights;
    coefficients.push_back(expected.intercept);
    check_fit(found, coefficients);
  }
}

TEST_CASE("A row that weighs twice as much counts as if it came twice, and one without none") {
  Labelled data(30, 2, 3);
  Labelled repeated(31, 2, 3);
  std::fill(data.weights.begin(), data.weights.end(), 1);
  repeated.rows.topRows(30) = data.rows;
  repeated.rows.row(30) = data.rows.row(7);
  repeated.positive = data.positive;
  repeated.positive.push_back(data.positive[7]);
  repeated.weights.assign(31, 1);
  repeated.weights[12] = 0;
  data.weights[7] = 2;
  data.weights[12] = 0;
  data.rows.row(12).setConstant(50);
  const auto found = fit_logistic(data.rows, data.positive, data.weights, 0.02);
  const auto expected = fit_logistic(repeated.rows, repeated.positive, repeated.weights, 0.02);
  CHECK(found.weights[0] == Approx(expected.weights[0]));
  CHECK(found.weights[1] == Approx(expected.weights[1]));
  CHECK(found.intercept == Approx(expected.intercept));
}

TEST_CASE("The same rows give the same regression to the bit") {
  const Labelled data(80, 5, 4);
  const auto once = fit_logistic(data.rows, data.positive, data.weights, 0.02);
  CHECK(fit_logistic(data.rows, data.positive, data.weights, 0.02) == once);
}

TEST_CASE("Rows of one label, that can be parted, or that weigh nothing give finite regressions") {
  Labelled data(40, 3, 5);
  const auto is_finite = [&](double penalty) {
    const auto found = fit_logistic(data.rows, data.positive, data.weights, penalty);
    for (const double weight : found.weights) {
      if (!std::isfinite(weight)) return false;
    }
    return std::isfinite(found.intercept);
  };
  const auto mixed = data.positive;
  for (const auto label : std::to_array<unsigned char>({0, 1})) {
    std::fill(data.positive.begin(), data.positive.end(), label);
    CHECK(is_finite(0.02));
    const auto found = fit_logistic(data.rows, data.positive, data.weights, 0.02);
    const std::vector<double> middle(3, 0);
    CHECK((found.log_odds(middle.data()) > 3) == (label == 1));
  }
  data.positive = mixed;
  std::fill(data.weights.begin(), data.weights.end(), 0);
  CHECK(is_finite(0.02));
  std::fill(data.weights.begin(), data.weights.end(), 1);
  for (Eigen::Index i = 0; i < 40; ++i) {
    data.rows(i, 0) = data.positive[static_cast<std::size_t>(i)] != 0 ? 5 : -5;
  }
  CHECK(is_finite(0.02));
  CHECK(is_finite(1e-9));
}

TEST_CASE("Log odds are the weighted sum of a row and the intercept") {
  const Logistic logistic{{2, -1, 0.5}, 0.25};
  const double row[] = {1, 3, -4};
  CHECK(logistic.log_odds(row) == 2 - 3 - 2 + 0.25);
}

TEST_CASE("Columns become deviations from their weighted means, those that are constant 0") {
  RowMatrix rows(4, 3);
  rows << 1, 1e9, 7,  //
      3, -1e9, 7,     //
      5, 1e9, 7,      //
      1000, 5, 8;     // weighs nothing
  const std::vector<double> weights = {1, 2, 1, 0};
  const Standardiser standardiser(rows, weights);
  REQUIRE(standardiser.columns() == 3);
  double out[3];
  standardiser.apply(rows.row(0).data(), out);
  // Mean 3, deviation sqrt((4 + 0 + 4) / 4).
  CHECK(out[0] == Approx(-2 / std::sqrt(2.0)));
  CHECK(out[1] == Approx(1));
  CHECK(out[2] == 0);
  standardiser.apply(rows.row(3).data(), out);
  CHECK(out[2] == 0);
}

TEST_CASE("What a mean and a deviation are made of is all rows by their weights", "[oracle]") {
  const Labelled data(reduced(400), 3, 6);
  const Standardiser standardiser(data.rows, data.weights);
  double sum = 0;
  std::vector<double> means(3, 0);
  std::vector<double> squares(3, 0);
  for (Eigen::Index i = 0; i < data.rows.rows(); ++i) {
    const double weight = data.weights[static_cast<std::size_t>(i)];
    std::vector<double> out(3);
    standardiser.apply(data.rows.row(i).data(), out.data());
    sum += weight;
    for (std::size_t j = 0; j < 3; ++j) means[j] += weight * out[j];
    for (std::size_t j = 0; j < 3; ++j) squares[j] += weight * out[j] * out[j];
  }
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(means[j] / sum == Approx(0).margin(1e-12));
    CHECK(squares[j] / sum == Approx(1));
  }
}

TEST_CASE("Values far away are clipped, and what is not finite becomes the mean") {
  RowMatrix rows(3, 2);
  rows << 0, 0, 2, kNan, 4, 6;
  const Standardiser standardiser(rows, std::vector<double>{1, 1, 1});
  double row[] = {1e6, 3};
  standardiser.apply(row, row);
  CHECK(row[0] == Standardiser::kMostDeviations);
  CHECK(std::isfinite(row[1]));
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    double strange[] = {value, value};
    standardiser.apply(strange, strange);
    CHECK(strange[0] == 0);
    CHECK(strange[1] == 0);
  }
  double low[] = {-1e300, 0};
  standardiser.apply(low, low);
  CHECK(low[0] == -Standardiser::kMostDeviations);
}

TEST_CASE("Of no rows, or of rows that weigh nothing, every column is 0") {
  RowMatrix rows(2, 2);
  rows << 1, 2, 3, 4;
  const Standardiser weightless(rows, std::vector<double>{0, 0});
  double out[] = {9, 9};
  weightless.apply(out, out);
  CHECK(out[0] == 0);
  CHECK(out[1] == 0);
  const Standardiser empty(RowMatrix(0, 2), {});
  double row[] = {9, -9};
  empty.apply(row, row);
  CHECK(row[0] == 0);
  CHECK(row[1] == 0);
}

template <class T, class Load>
T reloaded(const T& saved, const Load& load) {
  Writer writer;
  saved.save(writer);
  Reader reader(writer.bytes());
  auto again = load(reader);
  reader.finish();
  return again;
}

TEST_CASE("Standardisers and regressions come back as they were saved") {
  const Labelled data(40, 3, 7);
  const Standardiser standardiser(data.rows, data.weights);
  CHECK(reloaded(standardiser, [](Reader& reader) { return Standardiser::load(reader); }) ==
        standardiser);
  const auto logistic = fit_logistic(data.rows, data.positive, data.weights, 0.02);
  CHECK(reloaded(logistic, [](Reader& reader) { return Logistic::load(reader, 3); }) == logistic);
}

TEST_CASE("Saved regressions that are no numbers, or of other columns, are refused") {
  const Logistic bad[] = {
      {{1, kNan, 3}, 0}, {{1, 2, kInfinity}, 0}, {{1, 2, 3}, kNan}, {{1, 2}, 0}};
  for (const auto& logistic : bad) {
    Writer writer;
    logistic.save(writer);
    Reader reader(writer.bytes());
    CHECK_THROWS_AS(Logistic::load(reader, 3), Error);
  }
  for (const auto& [means, scales] :
       std::vector<std::pair<std::vector<double>, std::vector<double>>>{
           {{kNan}, {1}}, {{1}, {kInfinity}}, {{1, 2}, {1}}}) {
    Writer writer;
    writer.array(means);
    writer.array(scales);
    Reader reader(writer.bytes());
    CHECK_THROWS_AS(Standardiser::load(reader), Error);
  }
}

}  // namespace
}  // namespace phsic::test
