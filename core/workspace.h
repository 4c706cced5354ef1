// Scratch memory that is kept between calls, so that the hot path does not allocate.
//
// A Workspace belongs to one thread at a time. Buffers are handed out and taken back in stack
// order; after the first few calls of the same shape no call allocates. Copying a Workspace yields
// an empty one: scratch is not state.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace phsic {

class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) noexcept {}
  Workspace& operator=(const Workspace&) noexcept { return *this; }
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = default;
  ~Workspace() = default;

  // `size` values of unspecified content, given back when the buffer goes out of scope.
  template <class S>
  class Buffer {
   public:
    Buffer(Workspace& owner, std::size_t size) : owner_(owner) {
      auto& pool = owner.pool<S>();
      if (!pool.empty()) {
        values_ = std::move(pool.back());
        pool.pop_back();
      }
      if (values_.size() < size) values_.resize(size);
    }
    ~Buffer() { owner_.pool<S>().push_back(std::move(values_)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&&) = delete;
    Buffer& operator=(Buffer&&) = delete;

    [[nodiscard]] S* data() { return values_.data(); }
    S& operator[](std::size_t i) { return values_[i]; }

   private:
    Workspace& owner_;
    std::vector<S> values_;
  };

 private:
  template <class S>
  std::vector<std::vector<S>>& pool() {
    if constexpr (std::is_same_v<S, float>) {
      return floats_;
    } else if constexpr (std::is_same_v<S, double>) {
      return doubles_;
    } else {
      static_assert(std::is_same_v<S, std::size_t>);
      return sizes_;
    }
  }

  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<double>> doubles_;
  std::vector<std::vector<std::size_t>> sizes_;
};

}  // namespace phsic
