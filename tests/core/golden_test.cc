// Scores of the PHSIC authors' published implementation, met through the whole path: learner,
// refresh, model.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/refresh.h"

namespace phsic {
namespace {

using Json = nlohmann::json;

Json golden() {
  std::ifstream file(PHSIC_GOLDEN_FILE);
  return Json::parse(file);
}

ItemBlock<double> block_of(const Json& rows) {
  ItemBlock<double> block({ItemKind::kDense, static_cast<std::uint32_t>(rows[0].size())});
  for (const Json& row : rows) {
    const auto values = row.get<std::vector<double>>();
    REQUIRE(block.append(DenseRows<double>{values.data(), 1, values.size()}, 0) == Fault::kNone);
  }
  return block;
}

// ["Gaussian", "1.0"] and the like, in our notation.
Kernel kernel_of(const Json& kernel) {
  const auto name = kernel[0].get<std::string>();
  const auto parameter = kernel.size() > 1 ? kernel[1].get<std::string>() : "";
  if (name == "Linear") return Kernel::linear();
  if (name == "Cos") return Kernel::cosine();
  if (name == "Gaussian") return Kernel::parse("gaussian:sigma=" + parameter);
  REQUIRE(name == "Laplacian");
  return Kernel::parse("laplacian:gamma=" + parameter);
}

SideConfig side_of(const ItemBlock<double>& items, const Json& kernel, const Json& dim) {
  SideConfig side;
  side.items = items.shape();
  side.kernel = kernel_of(kernel);
  side.pivots = dim.is_null() ? 0 : dim.get<std::uint32_t>();
  return side;
}

// The rows of `items` that became pivots, in order.
std::vector<int> pivot_rows(const FeatureMap<double>& map, const ItemBlock<double>& items) {
  std::vector<int> rows;
  const auto pivots = std::get<DenseRows<double>>(map.pivots()->items.view());
  const auto all = std::get<DenseRows<double>>(items.view());
  for (std::size_t p = 0; p < pivots.rows; ++p) {
    for (std::size_t i = 0; i < all.rows; ++i) {
      if (std::equal(pivots.row(p), pivots.row(p) + pivots.dim, all.row(i))) {
        rows.push_back(static_cast<int>(i));
      }
    }
  }
  return rows;
}

void require_scores(const Model<double>& model, const ItemBlock<double>& x,
                    const ItemBlock<double>& y, const Json& expected) {
  std::vector<double> scores(x.size());
  ScoreScratch<double> scratch;
  REQUIRE(model.score(x.view(), y.view(), scores.data(), nullptr, scratch) == x.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    CAPTURE(i);
    REQUIRE(scores[i] == Approx(expected[i].get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("The published implementation's scores are met to 1e-9") {
  const Json reference = golden();
  const ItemBlock<double> train_x = block_of(reference["train"]["x"]);
  const ItemBlock<double> train_y = block_of(reference["train"]["y"]);
  const ItemBlock<double> test_x = block_of(reference["test"]["x"]);
  const ItemBlock<double> test_y = block_of(reference["test"]["y"]);
  REQUIRE(reference["cases"].size() == 9);

  for (const Json& wanted : reference["cases"]) {
    CAPTURE(wanted["x_kernel"].dump(), wanted["y_kernel"].dump(), wanted["centered"].dump());
    StreamConfig config;
    config.x = side_of(train_x, wanted["x_kernel"], wanted["x_dim"]);
    config.y = side_of(train_y, wanted["y_kernel"], wanted["y_dim"]);
    config.pivot_rule = PivotRule::kGreedy;
    Learner<double> learner(config);
    REQUIRE(learner.learn(train_x.view(), train_y.view(), nullptr, nullptr, nullptr) == 60);

    EstimatorSpec spec;
    spec.kind = EstimatorKind::kPhsic;
    spec.centered = wanted["centered"].get<bool>();
    const auto refreshed = refresh(learner, spec, Learner<double>::Extent::kAll);
    if (!wanted["x_pivots"].is_null()) {
      CHECK(pivot_rows(*refreshed.model->map_x(), train_x) ==
            wanted["x_pivots"].get<std::vector<int>>());
      CHECK(pivot_rows(*refreshed.model->map_y(), train_y) ==
            wanted["y_pivots"].get<std::vector<int>>());
    }
    CHECK(refreshed.model->facts().dependence.hsic ==
          Approx(wanted["hsic"].get<double>()).epsilon(1e-9));
    require_scores(*refreshed.model, train_x, train_y, wanted["train_scores"]);
    require_scores(*refreshed.model, test_x, test_y, wanted["test_scores"]);
  }
}

}  // namespace
}  // namespace phsic
