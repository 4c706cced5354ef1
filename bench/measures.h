// The measures, each adding its entries to the report. Throw WrongAnswer when an answer is wrong.
#pragma once

#include "bench/report.h"

namespace phsic::bench {

// Dense 300, explicit features.
void learn_dense(Report& report);
void score_dense(Report& report);
void score_at_rank(Report& report);
// Dense 1024: from covariances to an estimator.
void build_gaussian_pmi(Report& report);
// Dense 300, Gaussian kernel, 100 pivots.
void learn_gaussian(Report& report);
// Sparse 1024, 60 entries a row, against the same rows as dense ones.
void learn_and_score_sparse(Report& report);
// What must not grow with the pairs learned.
void memory_growth(Report& report);
void score_growth(Report& report);
// From text to score, and to learned.
void texts_with_hashing(Report& report);
void texts_with_word_vectors(Report& report);
// Two views of the same texts, against each by itself.
void views_of_texts(Report& report);
// With a judge, against the same without one.
void judge_of_texts(Report& report);
// Beside the published implementation.
void beside_published(Report& report);

// Over the wire, with a phsicd in a process of its own.
void round_trips(Report& report);
void wire_throughput(Report& report);
void refresh_stalls(Report& report);
void feed_delay(Report& report);
void daemon_memory(Report& report);

// What it costs to keep what is learned.
void durable_learning(Report& report);
void durable_latency(Report& report);
void recovery_speed(Report& report);
void snapshot_cost(Report& report);
void snapshot_stalls(Report& report);
void durable_stalls(Report& report);

}  // namespace phsic::bench
