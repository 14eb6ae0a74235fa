// Vectors whose new elements nobody has set. Growing one touches no memory, so the threads that write the
// elements take its pages from the system, all at the same time. C++17 and no fmt.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace hilbench {

template <class T>
struct Untouched : std::allocator<T> {
  Untouched() = default;
  template <class U>
  Untouched(const Untouched<U>&) noexcept {}
  template <class U>
  struct rebind {
    using other = Untouched<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... From>
  void construct(U* at, From&&... from) {
    ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
  }
};

// Of numbers and of structures without initialisers.
template <class T>
using UntouchedVector = std::vector<T, Untouched<T>>;

}  // namespace hilbench
