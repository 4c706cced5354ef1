#include <fmt/format.h>

#include "core/random.h"
#include "core/refresh.h"

int main() {
  // A stream of pairs of 8 numbers each; y says in its own way what x says.
  phsic::StreamConfig config;
  config.x = {{phsic::ItemKind::kDense, 8}, phsic::Kernel::parse("cosine"), 0};
  config.y = {{phsic::ItemKind::kDense, 8}, phsic::Kernel::parse("gaussian:sigma=median"), 32};
  phsic::Learner<float> learner(config);

  phsic::Random random(1);
  float x[8];
  float y[8];
  const phsic::DenseRows<float> row_x{x, 1, 8};
  const phsic::DenseRows<float> row_y{y, 1, 8};
  for (int i = 0; i < 5000; ++i) {
    for (float& value : x) value = static_cast<float>(random.normal());
    for (int j = 0; j < 8; ++j) y[j] = x[7 - j] + 0.5F * static_cast<float>(random.normal());
    learner.learn(row_x, row_y, nullptr, nullptr, nullptr);
  }

  // An immutable model of what was learned, by the estimator that does best on held-back pairs. To
  // go on learning, adopt the refresh's pivots: if (r.pivots) learner.adopt(*r.pivots).
  phsic::EstimatorSpec spec;
  spec.kind = std::nullopt;
  const auto model = refresh(learner, spec, phsic::Learner<float>::Extent::kAll).model;

  // Score the last pair as it is, and with the sign of y turned.
  phsic::ScoreScratch<float> scratch;
  for (const char* name : {"matched", "mismatched"}) {
    double score = 0;
    model->score(row_x, row_y, &score, nullptr, scratch);
    fmt::print("{:<10} score {:4.0f}, as high in {:.2f} of random pairings\n", name, score,
               model->calibration().p_value(score).value());
    for (float& value : y) value = -value;
  }
  fmt::print("self-AUC {:.2f} with {}\n", model->facts().accuracy->auc,
             name_of(model->estimator()->kind()));
}
