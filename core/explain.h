// Why a pair has its score: what each learned pair contributes to it.
//
// The part of a score that comes from x and y together is a sum over the learned pairs i, of
// weights w_i that sum to W:
//
//   sum_i w_i / W (u . u_i) (v . v_i)
//
//   phsic exact   u = phi(x) - m_x, v = psi(y) - m_y: the terms k~(x, x_i) l~(y, y_i) of the sum
//                 that defines PHSIC (Yokoi et al., 2018, equation 9)
//   rank r        u and v are the r coordinates of the estimator, phsic or whitened
//   gaussian-pmi  the same, but those of the pair explained divided by sqrt(1 - rho^2) each
//   uncentred     no means are subtracted
//
// The rest, c - sum q (u^2 + v^2) / 2, is 0 except for gaussian-pmi. It says how usual x and y are,
// each by itself, and no learned pair has a share in it.
//
// The sum is taken over a sample of the learned pairs, W being its weight. If the sample is all
// that the moments hold (refresh.h, reservoir.h: nothing displaced, nothing held back or forgotten,
// no pivots carried over) and no correlation was cut to kMaxCorrelation, then rest + sum of the
// contributions = score, but for rounding, at every rank and ridge: P_x^T C_xy P_y is then diagonal
// and holds the very weights of the score. Otherwise the sum is an estimate of score - rest.
//
// An Explainer is built for one model and one sample, which costs a projection of the sample, and
// never changes: any number of threads may explain with it, each with a scratch of its own.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/items.h"
#include "core/model.h"
#include "core/reservoir.h"

namespace phsic {

struct Explanation {
  Fault fault = Fault::kNone;
  double score = std::numeric_limits<double>::quiet_NaN();
  double rest = std::numeric_limits<double>::quiet_NaN();
};

template <class T>
class Explainer {
 public:
  using Sample = typename Reservoir<T>::Sample;

  // The sample need not outlive this. Throws unless it has as many x as y and weights, of the
  // shapes that the model scores, and weights that are finite and not negative.
  Explainer(std::shared_ptr<const Model<T>> model, const Sample& sample);

  [[nodiscard]] const std::shared_ptr<const Model<T>>& model() const { return model_; }
  // How many pairs the sample has.
  [[nodiscard]] std::size_t size() const { return shares_.size(); }

  // contributions[i], of size() many, is what pair i of the sample adds to the score of the one row
  // of x with the one row of y. All are 0 for a model that has learned nothing. After a fault (see
  // Model::score()) score and rest are NaN, and the contributions mean nothing.
  [[nodiscard]] Explanation explain(const Items<T>& x, const Items<T>& y, double* contributions,
                                    ScoreScratch<T>& scratch) const;

 private:
  // Where the sample's pairs are on one side.
  struct Side {
    std::size_t dim = 0;       // of the coordinates
    std::vector<double> mean;  // of the coordinates
    std::vector<T> rows;       // size() x dim, the mean subtracted
    // Instead of `rows` where the features are sparse: with the mean subtracted they would be
    // dense.
    ItemBlock<T> sparse;
  };

  [[nodiscard]] bool is_exact() const { return model_->estimator()->is_exact(); }
  [[nodiscard]] Side place(const Items<T>& items, bool is_x) const;
  void locate(const Items<T>& features, bool is_x, const Side& side, T* coordinates,
              Workspace& workspace) const;
  double set_apart(T* u, T* v) const;
  void multiply(const Side& side, const T* u, double* products, Workspace& workspace) const;

  std::shared_ptr<const Model<T>> model_;
  std::vector<double> shares_;  // w_i / W
  Side x_;
  Side y_;
};

// The pairs that matter most, by their places in a list of contributions.
struct StrongestPairs {
  std::vector<std::size_t> raising;   // the largest contributions above 0, largest first
  std::vector<std::size_t> lowering;  // the smallest ones below 0, smallest first
};

// At most `top` of each; of equal ones the first. NaN is never among them.
[[nodiscard]] StrongestPairs strongest(std::span<const double> contributions, std::size_t top);

}  // namespace phsic
