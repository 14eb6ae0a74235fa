// What a device does with the values of a tensor, on whichever device.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/device/device.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {

inline std::size_t bytes_of(Dtype dtype, std::size_t elements) {
  return elements * static_cast<std::size_t>(dtype_bytes(dtype));
}

// Elements of every size of a block and its remainder: some NaN and infinities among them are counted, and
// all change their sign.
inline void expect_counted_and_negated(Device& device) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16})
    for (const std::size_t count : {1, 255, 4097, 200'003}) {
      std::vector<float> values(count, 1.5f);
      for (std::size_t i = 0; i < count; i += 7) values[i] = -0.25f;
      values[0] = std::nanf("");
      std::int64_t bad = 1;
      if (count > 100) {
        values[100] = kInfinity, values[count - 1] = -kInfinity;
        bad = 3;
      }
      std::vector<std::byte> stored(bytes_of(dtype, count));
      narrow(dtype, values, stored.data());
      Buffer buffer = device.allocate(stored.size());
      device.upload(stored.data(), buffer);
      EXPECT_EQ(device.count_bad(buffer, dtype, NegativeInfinity::bad), bad);
      EXPECT_EQ(device.count_bad(buffer, dtype, NegativeInfinity::allowed), count > 100 ? bad - 1 : bad);
      device.negate(buffer, dtype);
      EXPECT_EQ(device.count_bad(buffer, dtype, NegativeInfinity::allowed), count > 100 ? bad - 1 : bad)
          << "the other infinity";
      device.download(buffer, stored.data());
      std::vector<float> negated(count);
      widen(dtype, stored.data(), negated);
      for (std::size_t i = 1; i < count; ++i) ASSERT_EQ(negated[i], -values[i]) << i;
      EXPECT_TRUE(std::isnan(negated[0]));
    }
}

}  // namespace hilbench
