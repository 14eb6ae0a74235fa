#include "harness/measure/gradient_probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "baselines/tolerance.hpp"
#include "harness/measure/key_probe.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

constexpr double kMostPairs = 0x1p30;  // of windows, whose pairs are enumerated
// Of half a unit of the dtype. A rounding that is the same in all terms: of P, dS, the gradient, and D.
// Roundings that differ from term to term average out: this many times the root of the sum of squares is
// beyond 6 sigma.
constexpr double kAlike = 5, kApart = 7;

// The rows of a batch entry and K/V head, by position: number in a ProbedGradient, -1 if it is not compared.
using Numbers = std::vector<std::int32_t>;

// A list of keys, and the queries that see its first keys, all of them without a causal mask.
struct Stretch {
  std::int64_t first_key = 0, step = 1, keys = 0;
  std::int64_t first_query = 0, query_step = 1, queries = 0;
  bool causal = false;
  std::int64_t key(std::int64_t number) const { return first_key + number * step; }
  std::int64_t query(std::int64_t number) const { return first_query + number * query_step; }
  std::int64_t seen_by(std::int64_t position) const {  // keys that the query at this position sees
    if (!causal) return keys;
    return position < first_key ? 0 : std::min(keys, (position - first_key) / step + 1);
  }
};

std::vector<Stretch> stretches_of(const Case& work, std::int64_t head) {
  std::vector<Stretch> stretches;
  for (std::size_t b = 0; b < work.pattern.size(); ++b) {
    if (!head_runs_branch(work, head, static_cast<std::int64_t>(b))) continue;
    const Branch& branch = work.pattern[b];
    const std::int64_t offset = offset_of(work, b, kv_head_of(work, head));
    for (std::int64_t segment = 0; segment < segment_count(work, branch); ++segment) {
      const std::int64_t begin = segment_begin(branch, segment);
      const std::int64_t length = segment_end(work, branch, segment) - begin;
      const bool dense = work.queries == Queries::dense;
      Stretch stretch{.first_key = begin + offset,
                      .step = branch.dilation,
                      .keys = selected_count(length, offset, branch.dilation),
                      .first_query = dense ? begin : begin + offset,
                      .query_step = dense ? 1 : branch.dilation,
                      .causal = work.mask == Mask::causal};
      stretch.queries = dense ? length : stretch.keys;
      if (stretch.keys > 0) stretches.push_back(stretch);
    }
  }
  return stretches;
}

// Sums over the keys that a query sees.
struct SignedSums {
  std::vector<double> one, signed_one;  // of rows, and of rows times their key's sign
  // What roundings that are the same for all keys of a sign are proportional to: of each branch, added up,
  // because the result of a branch may be rounded.
  std::vector<double> size;
};

// What one head has of a batch entry.
class HeadProbe {
 public:
  HeadProbe(const Case& work, const InputTensors& inputs, std::int64_t batch, std::int64_t head,
            const std::vector<float>& common, const std::vector<float>& signs)
      : work_(work),
        inputs_(inputs),
        batch_(batch),
        head_(head),
        width_(static_cast<std::size_t>(work.head_dim)),
        scale_(1 / std::sqrt(static_cast<double>(work.head_dim))),
        unit_(half_unit(work.dtype)),
        signs_(signs),
        count_(static_cast<std::size_t>(work.sequence_length)),
        mean_(count_.size()),
        weight_(count_.size()) {
    if (has_windows(work))
      sum_windows();
    else
      sum_stretches();
    std::vector<float> d_o(width_);
    for (std::size_t t = 0; t < count_.size(); ++t) {
      if (count_[t] == 0) continue;
      mean_[t] /= count_[t];
      read(Tensor::d_o, t, d_o);
      for (std::size_t d = 0; d < width_; ++d) weight_[t] += static_cast<double>(d_o[d]) * common[d];
    }
  }

  void add_queries(const Numbers& number, ProbedGradient& d_q) const {
    if (has_windows(work_)) return add_queries_of_windows(number, d_q);
    std::map<std::int32_t, SignedSums> sums;
    for (const Stretch& stretch : stretches_of(work_, head_)) add_queries_of(stretch, number, sums);
    for (const auto& [row, of_row] : sums) finish_query(d_q, row, of_row);
    for (std::size_t t = 0; t < number.size(); ++t)
      if (number[t] >= 0 && count_[t] == 0) d_q.telling[static_cast<std::size_t>(number[t])] = 1;
  }

  // Adds to `sums` what this head brings to the keys that are compared.
  struct KeySums {
    std::vector<double> k = {}, v = {};  // sums  // of head_dim elements, if there are pairs
    std::vector<double> k_size = {},
                        v_size = {};  // those of branches and heads, added up without their signs
    double k_square = 0,
           v_square = 0;  // what roundings of their terms are proportional to, squared and summed
    double least = std::numeric_limits<double>::infinity();  // smallest |dO| / n of a query that sees it
    std::int64_t pairs = 0;

    void add_part(const KeySums& part) {
      for (auto* each : {&k, &v, &k_size, &v_size}) each->resize(part.k.size());
      for (std::size_t d = 0; d < part.k.size(); ++d) {
        k[d] += part.k[d], k_size[d] += std::abs(part.k[d]);
        v[d] += part.v[d], v_size[d] += std::abs(part.v[d]);
      }
      k_square += part.k_square, v_square += part.v_square;
      least = std::min(least, part.least);
      pairs += part.pairs;
    }
  };
  void add_keys(const Numbers& number, std::vector<KeySums>& sums) const {
    if (has_windows(work_)) return add_keys_of_windows(number, sums);
    for (const Stretch& stretch : stretches_of(work_, head_)) add_keys_of(stretch, number, sums);
  }

 private:
  void read(Tensor which, std::size_t position, std::span<float> to) const {
    const bool of_query = which == Tensor::q || which == Tensor::d_o;
    const std::int64_t heads = of_query ? work_.heads : work_.kv_heads;
    const std::int64_t head = of_query ? head_ : kv_head_of(work_, head_);
    const std::int64_t row =
        (batch_ * work_.sequence_length + static_cast<std::int64_t>(position)) * heads + head;
    inputs_.read(which, row * work_.head_dim, to);
  }

  // Sums of signs in mean_, of keys in count_.
  void sum_stretches() {
    for (const Stretch& stretch : stretches_of(work_, head_)) {
      std::vector<double> running(static_cast<std::size_t>(stretch.keys) + 1);
      for (std::int64_t j = 0; j < stretch.keys; ++j)
        running[static_cast<std::size_t>(j) + 1] =
            running[static_cast<std::size_t>(j)] + signs_[static_cast<std::size_t>(stretch.key(j))];
      for (std::int64_t i = 0; i < stretch.queries; ++i) {
        const auto t = static_cast<std::size_t>(stretch.query(i));
        const std::int64_t seen = stretch.seen_by(stretch.query(i));
        count_[t] += static_cast<double>(seen);
        mean_[t] += running[static_cast<std::size_t>(seen)];
      }
    }
  }
  void sum_windows() {
    for (std::size_t t = 0; t < count_.size(); ++t)
      for (const std::int64_t key : visible_keys(work_, head_, 0, static_cast<std::int64_t>(t))) {
        ++count_[t];
        mean_[t] += signs_[static_cast<std::size_t>(key)];
      }
  }

  void add_queries_of(const Stretch& stretch, const Numbers& number,
                      std::map<std::int32_t, SignedSums>& sums) const {
    std::vector<double> one(width_), signed_one(width_);
    std::vector<float> k(width_);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < stretch.queries; ++i) {
      const std::int64_t position = stretch.query(i);
      const std::int32_t row = number[static_cast<std::size_t>(position)];
      if (row < 0) continue;
      for (const std::int64_t end = stretch.seen_by(position); next < end; ++next) {
        const auto key = static_cast<std::size_t>(stretch.key(next));
        read(Tensor::k, key, k);
        for (std::size_t d = 0; d < width_; ++d) one[d] += k[d], signed_one[d] += signs_[key] * k[d];
      }
      if (next == 0) continue;
      add_sums(one, signed_one, mean_[static_cast<std::size_t>(position)], sums[row]);
    }
  }
  void add_sums(const std::vector<double>& one, const std::vector<double>& signed_one, double m,
                SignedSums& to) const {
    to.one.resize(width_), to.signed_one.resize(width_), to.size.resize(width_);
    for (std::size_t d = 0; d < width_; ++d) {
      const double plus = (one[d] + signed_one[d]) / 2, minus = one[d] - plus;
      to.one[d] += one[d];
      to.signed_one[d] += signed_one[d];
      to.size[d] += (1 - m) * std::abs(plus) + (1 + m) * std::abs(minus) + std::abs(m * one[d]);
    }
  }
  void add_queries_of_windows(const Numbers& number, ProbedGradient& d_q) const {
    std::vector<float> k(width_);
    for (std::size_t t = 0; t < number.size(); ++t) {
      if (number[t] < 0) continue;
      std::vector<double> one(width_), signed_one(width_);
      for (const std::int64_t key : visible_keys(work_, head_, 0, static_cast<std::int64_t>(t))) {
        read(Tensor::k, static_cast<std::size_t>(key), k);
        for (std::size_t d = 0; d < width_; ++d)
          one[d] += k[d], signed_one[d] += signs_[static_cast<std::size_t>(key)] * k[d];
      }
      SignedSums sums;
      add_sums(one, signed_one, mean_[t], sums);
      finish_query(d_q, number[t], sums);
    }
  }
  // A rounding of P and dS is the same for all keys of one sign, and dS of one sign is the same for all of
  // them.
  void finish_query(ProbedGradient& d_q, std::int32_t number, const SignedSums& sums) const {
    const auto row = static_cast<std::size_t>(number);
    const auto t = static_cast<std::size_t>(d_q.rows[row].position);
    if (count_[t] == 0) {
      d_q.telling[row] = 1;  // must be 0
      return;
    }
    const double n = count_[t], m = mean_[t], unit = scale_ * std::abs(weight_[t]) / n;
    const double relative = kAlike * unit_ + lse_slack(n), floor = std::max(0.125, n * 0x1p-22);
    for (std::size_t d = 0; d < width_; ++d) {
      d_q.values[row * width_ + d] = scale_ * weight_[t] / n * (sums.signed_one[d] - m * sums.one[d]);

      const double allowed =
          relative * sums.size[d] + (work_.dtype == Dtype::fp32 ? n * 0x1p-22 + 0x1p-18 : floor / 16);
      d_q.allowed[row * width_ + d] = unit * allowed;
      if (d % 2 == 1 && 1 - std::abs(m) > 2 * allowed) d_q.telling[row] = 1;
    }
  }

  double lse_slack(double n) const {
    return lse_roundings(work_) * 0x1p-24 * std::max(1.0, std::log(n)) + unit_roundoff(work_.dtype) / 32;
  }

  struct Terms {
    std::vector<double> weighted, with_mean, d_o;  // of Q times g/n, of Q times g m/n, of dO / n
    double k_square = 0, v_square = 0, least = std::numeric_limits<double>::infinity();
    std::int64_t pairs = 0;
  };
  Terms no_terms() const {
    return {std::vector<double>(width_), std::vector<double>(width_), std::vector<double>(width_)};
  }
  void add_term(std::size_t query, Terms& terms, std::vector<float>& row) const {
    const double n = count_[query], m = mean_[query], g = weight_[query] / n;
    read(Tensor::q, query, row);
    for (std::size_t d = 0; d < width_; ++d)
      terms.weighted[d] += g * row[d], terms.with_mean[d] += g * m * row[d];
    read(Tensor::d_o, query, row);
    for (std::size_t d = 0; d < width_; ++d) terms.d_o[d] += row[d] / n;
    const double moved = std::abs(g) * (1 + 2 * std::abs(m));
    terms.k_square += moved * moved;
    const double size = std::abs(row.back()) / n;  // that of every element, but for the first
    terms.v_square += size * size;
    terms.least = std::min(terms.least, size);
    ++terms.pairs;
  }
  void add_terms(const Terms& terms, std::size_t key, KeySums& sums) const {
    if (terms.pairs == 0) return;
    sums.k.resize(width_), sums.v.resize(width_);
    for (std::size_t d = 0; d < width_; ++d) {
      sums.k[d] += scale_ * (signs_[key] * terms.weighted[d] - terms.with_mean[d]);
      sums.v[d] += terms.d_o[d];
    }
    sums.k_square += scale_ * scale_ * terms.k_square;
    sums.v_square += terms.v_square;
    sums.least = std::min(sums.least, terms.least);
    sums.pairs += terms.pairs;
  }
  void add_keys_of(const Stretch& stretch, const Numbers& number, std::vector<KeySums>& sums) const {
    Terms terms = no_terms();
    std::vector<float> row(width_);
    std::int64_t next = stretch.queries;  // queries from here on are in `terms`
    for (std::int64_t j = stretch.keys; j-- > 0;) {
      const auto key = static_cast<std::size_t>(stretch.key(j));
      if (number[key] < 0) continue;
      while (next > 0 && (!stretch.causal || stretch.query(next - 1) >= stretch.key(j)))
        add_term(static_cast<std::size_t>(stretch.query(--next)), terms, row);
      KeySums part;
      add_terms(terms, key, part);
      if (part.pairs > 0) sums[static_cast<std::size_t>(number[key])].add_part(part);
    }
  }
  void add_keys_of_windows(const Numbers& number, std::vector<KeySums>& sums) const {
    std::vector<float> row(width_);
    std::vector<KeySums> parts(sums.size());
    for (std::size_t t = 0; t < count_.size(); ++t) {
      Terms terms = no_terms();
      for (const std::int64_t key : visible_keys(work_, head_, 0, static_cast<std::int64_t>(t))) {
        const std::int32_t to = number[static_cast<std::size_t>(key)];
        if (to < 0) continue;
        if (terms.pairs == 0) add_term(t, terms, row);
        add_terms(terms, static_cast<std::size_t>(key), parts[static_cast<std::size_t>(to)]);
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (parts[i].pairs > 0) sums[i].add_part(parts[i]);
  }

  const Case& work_;
  const InputTensors& inputs_;
  const std::int64_t batch_, head_;
  const std::size_t width_;
  const double scale_, unit_;
  const std::vector<float>& signs_;            // of the K/V head, by position
  std::vector<double> count_, mean_, weight_;  // of each query: n, m and g
};

ProbedGradient probed(const Case& work, Gradient which, std::uint64_t seed) {
  ProbedGradient probed{.rows = probed_rows(rows_of(work, which), seed)};
  probed.values.resize(probed.rows.size() * static_cast<std::size_t>(work.head_dim));
  probed.allowed.resize(probed.values.size());
  probed.telling.resize(probed.rows.size());
  return probed;
}

Numbers numbers_of(const Case& work, const ProbedGradient& probed, std::int64_t batch, std::int64_t head) {
  Numbers numbers(static_cast<std::size_t>(work.sequence_length), -1);
  for (std::size_t i = 0; i < probed.rows.size(); ++i)
    if (probed.rows[i].batch == batch && probed.rows[i].head == head)
      numbers[static_cast<std::size_t>(probed.rows[i].position)] = static_cast<std::int32_t>(i);
  return numbers;
}

void finish_keys(const Case& work, const HeadProbe::KeySums& sums, std::size_t row, ProbedGradient& d_k,
                 ProbedGradient& d_v) {
  const auto width = static_cast<std::size_t>(work.head_dim);
  if (sums.pairs == 0) {
    d_k.telling[row] = d_v.telling[row] = 1;  // must be 0
    return;
  }
  const double unit = half_unit(work.dtype);
  const double slack = kAlike * unit + unit_roundoff(work.dtype) / 32 + lse_roundings(work) * 0x1p-20;
  const double apart = kApart * unit + std::sqrt(static_cast<double>(sums.pairs)) * 0x1p-21;
  const auto finish = [&](const std::vector<double>& values, const std::vector<double>& sizes, double square,
                          double least, ProbedGradient& to) {
    for (std::size_t d = 0; d < width; ++d) {
      const double allowed = slack * sizes[d] + apart * std::sqrt(square);
      to.values[row * width + d] = values[d];
      to.allowed[row * width + d] = allowed;
      if (least > 2 * allowed) to.telling[row] = 1;
    }
  };
  finish(sums.k, sums.k_size, sums.k_square, sums.least / std::sqrt(static_cast<double>(work.head_dim)) / 2,
         d_k);
  finish(sums.v, sums.v_size, sums.v_square, sums.least, d_v);
}

}  // namespace

GradientProbe make_gradient_probe(const Case& work, const InputTensors& inputs, std::uint64_t seed,
                                  int threads) {
  const bool too_many = has_windows(work) && count_work(work).pairs > kMostPairs;
  GradientProbe probe{.left_out = too_many || drops(dropout_of(work))};
  if (probe.left_out) return probe;
  ProbedGradient& d_q = probe.gradients[number_of(Gradient::q)] = probed(work, Gradient::q, seed);
  ProbedGradient& d_k = probe.gradients[number_of(Gradient::k)] = probed(work, Gradient::k, mix(seed));
  ProbedGradient& d_v = probe.gradients[number_of(Gradient::v)] = d_k;
  const auto width = static_cast<std::size_t>(work.head_dim);
  std::vector<HeadProbe::KeySums> sums(d_k.rows.size());
  const std::int64_t pairs = work.batch * work.kv_heads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t pair = 0; pair < pairs; ++pair) {  // each has rows of its own
    const std::int64_t batch = pair / work.kv_heads, kv_head = pair % work.kv_heads;
    // A row of V is its sign times the common row, of which element 0 tells the sign.
    std::vector<float> signs(static_cast<std::size_t>(work.sequence_length)), common(width);
    const auto row = [&](std::size_t t) {
      return ((batch * work.sequence_length + static_cast<std::int64_t>(t)) * work.kv_heads + kv_head) *
             work.head_dim;
    };
    for (std::size_t t = 0; t < signs.size(); ++t)
      inputs.read(Tensor::v, row(t), std::span(signs).subspan(t, 1));
    inputs.read(Tensor::v, row(0), common);
    for (float& element : common) element *= signs[0];
    const Numbers keys = numbers_of(work, d_k, batch, kv_head);
    for (std::int64_t head = 0; head < work.heads; ++head) {
      if (kv_head_of(work, head) != kv_head) continue;
      const HeadProbe of_head(work, inputs, batch, head, common, signs);
      of_head.add_queries(numbers_of(work, d_q, batch, head), d_q);
      of_head.add_keys(keys, sums);
    }
  }
  for (std::size_t row = 0; row < sums.size(); ++row) finish_keys(work, sums[row], row, d_k, d_v);
  return probe;
}

}  // namespace hilbench
