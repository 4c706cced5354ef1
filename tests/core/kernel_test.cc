#include "core/kernel.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/bandwidth.h"
#include "core/kernel_columns.h"
#include "core/spectrum.h"
#include "tests/core/oracle.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

TEST_CASE("A kernel's notation is read and written alike") {
  for (const char* notation :
       {"linear", "cosine", "gaussian:sigma=1.5", "gaussian:sigma=median", "gaussian:sigma=scott",
        "gaussian:sigma=silverman", "laplacian:gamma=0.25",
        "polynomial:degree=3,gamma=0.5,offset=0", "spectrum:n=4",
        "sum(cosine,polynomial:degree=2,gamma=1,offset=1,linear)",
        "product(sum(cosine,linear),gaussian:sigma=2)"}) {
    CAPTURE(notation);
    CHECK(Kernel::parse(notation).to_string() == notation);
  }
  CHECK(Kernel::parse(" sum( cosine , polynomial:degree=2 )").to_string() ==
        "sum(cosine,polynomial:degree=2,gamma=1,offset=1)");
  CHECK(Kernel::parse("gaussian").to_string() == "gaussian:sigma=median");
}

TEST_CASE("A wrong notation is refused with what was found and expected") {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "expected a name"},
      {"gausian", "found 'gausian', expected one of linear, cosine"},
      {"gaussian:sigma=0", "expected a positive number"},
      {"gaussian:sigma=-1", "expected a positive number"},
      {"gaussian:sigma=nan", "expected a positive number"},
      {"gaussian:sigma=wide", "expected a number"},
      {"gaussian:sigma", "expected sigma=VALUE"},
      {"gaussian:width=1", "gaussian has no option 'width'"},
      {"laplacian:gamma=0", "expected a positive number"},
      {"polynomial:degree=0", "expected 1 to 32"},
      {"polynomial:degree=1.5", "expected a whole number"},
      {"polynomial:offset=-1", "expected 0 or more"},
      {"spectrum:n=0", "expected 1 to 16"},
      {"sum", "expected sum(k,...)"},
      {"sum(cosine", "expected one"},
      {"cosine)", "expected the end"},
      {"sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(cosine))))))))))", "nested deeper"}};
  for (const auto& [notation, message] : wrong) {
    CAPTURE(notation);
    CHECK_THROWS_WITH(Kernel::parse(notation), Catch::Contains(message));
  }
}

TEST_CASE("A kernel is refused on items it does not take") {
  CHECK_THROWS_WITH(Kernel::cosine().require_fits({ItemKind::kText, 0}),
                    Catch::Contains("found texts, expected vectors"));
  CHECK_THROWS_WITH(Kernel::spectrum(3).require_fits({ItemKind::kDense, 4}),
                    Catch::Contains("found dense vectors of dimension 4, expected texts"));
  const Kernel mixed = Kernel::parse("sum(cosine,spectrum)");
  CHECK_THROWS(mixed.require_fits({ItemKind::kText, 0}));
  CHECK_THROWS(mixed.require_fits({ItemKind::kDense, 4}));
}

TEST_CASE("A kernel that is not fitted cannot be evaluated") {
  const auto item = block_of_row<double>({1, 2});
  CHECK_THROWS_WITH(KernelColumns<double>(Kernel::parse("gaussian"), item),
                    Catch::Contains("not fitted"));
}

TEST_CASE("The median bandwidth is the median distance") {
  ItemBlock<double> items({ItemKind::kDense, 1});
  for (const double value : {0.0, 1.0, 3.0, 7.0}) {
    REQUIRE(items.append(DenseRows<double>{&value, 1, 1}, 0) == Fault::kNone);
  }
  // Distances 1 2 3 4 6 7.
  CHECK(median_distance(items.view(), {1, 1, 1, 1}, 1) == Approx(3.5));
  // All weight on the first two items.
  CHECK(median_distance(items.view(), {1, 1, 0, 0}, 1) == Approx(1));
  // Random pairs of many items find about the same as all pairs.
  const auto many = make_stream<double>({.pairs = 1000}, 3).x;
  std::vector<std::size_t> some(150);
  for (std::size_t i = 0; i < some.size(); ++i) some[i] = i;
  CHECK(median_distance(many.view(), std::vector<double>(1000, 1), 1) ==
        Approx(median_distance(many.select(some).view(), std::vector<double>(150, 1), 1))
            .epsilon(0.1));
}

TEST_CASE("Bandwidths of identical items are defined") {
  const auto row = block_of_row<double>({2, 3});
  const auto same = row.select({0, 0, 0, 0});
  CHECK(median_distance(same.view(), {1, 1, 1, 1}, 1) == 1);
  CHECK(inverse_bandwidths(same.view(), 0.9) == std::vector<double>{0, 0});
  const Kernel kernel = Kernel::parse("gaussian:sigma=scott").fitted(same.view(), {1, 1, 1, 1}, 1);
  std::vector<double> values(4);
  Workspace workspace;
  KernelColumns<double>(kernel, same).evaluate(row.view(), values.data(), workspace);
  CHECK(values == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("Mostly duplicates still give a positive median") {
  ItemBlock<double> items({ItemKind::kDense, 1});
  for (const double value : {5.0, 5.0, 5.0, 5.0, 5.0, 9.0}) {
    REQUIRE(items.append(DenseRows<double>{&value, 1, 1}, 0) == Fault::kNone);
  }
  CHECK(median_distance(items.view(), std::vector<double>(6, 1), 1) == Approx(4));
}

TEST_CASE("A zero vector under cosine has kernel 0 with everything") {
  ItemBlock<double> items = block_of_row<double>({0, 0, 0});
  items.append_all(block_of_row<double>({1, 2, 2}));
  std::vector<double> values(4);
  Workspace workspace;
  KernelColumns<double>(Kernel::cosine(), items).evaluate(items.view(), values.data(), workspace);
  CHECK(values[0] == 0);
  CHECK(values[1] == 0);
  CHECK(values[2] == 0);
  CHECK(values[3] == Approx(1));
  CHECK(self_kernel(Kernel::cosine(), items.view(), 0) == 0);
}

TEST_CASE("Close items far from the origin keep their distances in float") {
  // 1000 +- 1 in 50 dimensions: |x|^2 is 5e7, distances are about 10.
  const auto near_zero = make_stream<double>({.dim_x = 50, .pairs = 20}, 4).x;
  const auto far = make_stream<double>({.dim_x = 50, .pairs = 20, .offset = 1000}, 4).x;
  const Kernel kernel = Kernel::gaussian(10);
  const Eigen::MatrixXd expected = gram(kernel, near_zero, near_zero);
  const ItemBlock<float> items = far.cast<float>();
  std::vector<float> values(400);
  Workspace workspace;
  KernelColumns<float>(kernel, items).evaluate(items.view(), values.data(), workspace);
  for (Eigen::Index i = 0; i < 20; ++i) {
    for (Eigen::Index j = 0; j < 20; ++j) {
      CHECK(double(values[std::size_t(20 * i + j)]) == Approx(expected(i, j)).margin(2e-3));
    }
  }
}

TEST_CASE("Clusters far apart keep the distances within them in float") {
  ItemBlock<double> items({ItemKind::kDense, 10});
  for (const double offset : {0.0, 1000.0}) {
    items.append_all(make_stream<double>({.dim_x = 10, .pairs = 15, .offset = offset}, 4).x);
  }
  const Kernel kernel = Kernel::gaussian(2);
  const Eigen::MatrixXd expected = gram(kernel, items, items);
  const ItemBlock<float> rounded = items.cast<float>();
  std::vector<float> values(900);
  Workspace workspace;
  KernelColumns<float>(kernel, rounded).evaluate(rounded.view(), values.data(), workspace);
  for (Eigen::Index i = 0; i < 30; ++i) {
    for (Eigen::Index j = 0; j < 30; ++j) {
      CHECK(double(values[std::size_t(30 * i + j)]) == Approx(expected(i, j)).margin(2e-3));
    }
  }
}

TEST_CASE("Texts share n-grams") {
  const auto texts = block_of_texts({"abc", "abc", "xyz", "", "a", "日本語", "日本"});
  std::vector<double> values(49);
  Workspace workspace;
  KernelColumns<double>(Kernel::spectrum(3), texts)
      .evaluate(texts.view(), values.data(), workspace);
  const auto k = [&](std::size_t i, std::size_t j) { return values[7 * i + j]; };
  CHECK(k(0, 1) == Approx(1));
  CHECK(k(0, 2) == 0);
  CHECK(k(3, 3) == 0);
  CHECK(k(4, 4) == Approx(1));
  // |日本 is shared by three and two grams: 1 / sqrt(3 * 2).
  CHECK(k(5, 6) == Approx(1 / std::sqrt(6)));
}

TEST_CASE("UTF-8 is told from what is not") {
  for (const char* good :
       {"", "a", "é", "水", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    CHECK(is_utf8(good));
  }
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe6\xb0", "a\xc3(", "\xf0\x9f\x98"}) {
    CHECK_FALSE(is_utf8(bad));
  }
  CHECK(is_utf8(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace phsic::test
