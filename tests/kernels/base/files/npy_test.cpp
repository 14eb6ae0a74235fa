#include "kernels/base/files/npy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("hilbench_npy_") + info->name());
    fs::create_directories(folder_);
    file_ = folder_ / "a.npy";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }

  // A version 1.0 file with the header `dict`.
  static std::string array(const std::string& dict, const std::string& data) {
    std::string bytes = "\x93NUMPY";
    bytes += '\x01';
    bytes += '\x00';
    bytes += static_cast<char>(dict.size() & 255);
    bytes += static_cast<char>(dict.size() >> 8);
    return bytes + dict + data;
  }
  static std::string dict(const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  }
  template <class T>
  static std::string raw(std::initializer_list<T> values) {
    std::string bytes;
    for (const T& value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return bytes;
  }

  // The message of the UsageError that `read` throws.
  template <class Read>
  static std::string refusal(Read read) {
    try {
      read();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "(accepted)";
  }
  std::string floats_refusal(const std::string& bytes) {
    write(bytes);
    return refusal([&] { read_npy_floats(file_); });
  }
  std::string integers_refusal(const std::string& bytes) {
    write(bytes);
    return refusal([&] { read_npy_integers(file_); });
  }

  fs::path folder_, file_;
};

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST_F(Npy, FloatsComeBackAsWritten) {
  const std::vector<std::int64_t> shape = {2, 1, 3};
  const std::vector<float> values = {0.0f, -1.5f, 3e38f, 1e-40f, 7.0f, -0.0f};
  write_npy(file_, shape, values);
  const NpyFloats read = read_npy_floats(file_);
  EXPECT_EQ(read.shape, shape);
  EXPECT_EQ(std::memcmp(read.values.data(), values.data(), values.size() * 4), 0);
  EXPECT_EQ(read_npy_shape(file_), shape);
  EXPECT_EQ(check_npy_floats(file_), shape);
  EXPECT_EQ(fs::file_size(file_) % 8, 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "and nothing beside it";
}

TEST_F(Npy, IntegersComeBackAsWrittenAcrossChunks) {
  std::vector<std::int64_t> values(600'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * 7) - 5;
  write_npy(file_, values);
  EXPECT_EQ(read_npy_integers(file_), values);
}

TEST_F(Npy, EmptyArraysAndScalarsAreLegal) {
  write_npy(file_, std::vector<std::int64_t>{});
  EXPECT_TRUE(read_npy_integers(file_).empty());
  write(array(dict("<f4", "()"), raw<float>({2.0f})));
  EXPECT_EQ(read_npy_floats(file_).values, std::vector<float>{2.0f});
}

TEST_F(Npy, EveryFloatWidthAndByteOrderMarkIsRead) {
  write(array(dict("<f2", "(5,)"), raw<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff, 0x0400})));
  EXPECT_EQ(read_npy_floats(file_).values,
            (std::vector<float>{1.0f, -2.0f, std::ldexp(1.0f, -24), 65504.0f, std::ldexp(1.0f, -14)}));
  write(array(dict("=f8", "(2, 1)"), raw<double>({0.5, -3.0})));
  EXPECT_EQ(read_npy_floats(file_).values, (std::vector<float>{0.5f, -3.0f}));
  write(array(dict("|f4", "(1,)"), raw<float>({0.5f})));
  EXPECT_EQ(read_npy_floats(file_).values, (std::vector<float>{0.5f}));
}

TEST_F(Npy, EveryIntegerWidthIsRead) {
  write(array(dict("<i4", "(2,)"), raw<std::int32_t>({-1, 2})));
  EXPECT_EQ(read_npy_integers(file_), (std::vector<std::int64_t>{-1, 2}));
  write(array(dict("<u4", "(1,)"), raw<std::uint32_t>({0xffffffffu})));
  EXPECT_EQ(read_npy_integers(file_), (std::vector<std::int64_t>{0xffffffffLL}));
  write(array(dict("<u8", "(1,)"), raw<std::uint64_t>({5})));
  EXPECT_EQ(read_npy_integers(file_), (std::vector<std::int64_t>{5}));
  EXPECT_SAYS(integers_refusal(array(dict("<u8", "(1,)"), raw<std::uint64_t>({~0ull}))), "above 2^63");
}

TEST_F(Npy, HeaderVersionTwoIsRead) {
  const std::string header = dict("<f4", "(1,)");
  std::string bytes = "\x93NUMPY";
  bytes += '\x02';
  bytes += '\x00';
  bytes += static_cast<char>(header.size());
  bytes += std::string(3, '\0');
  write(bytes + header + raw<float>({4.0f}));
  EXPECT_EQ(read_npy_floats(file_).values, std::vector<float>{4.0f});
}

TEST_F(Npy, RefusesWhatIsNotAFile) {
  EXPECT_SAYS(refusal([&] { read_npy_floats(folder_ / "none.npy"); }), "no such file");
  EXPECT_SAYS(refusal([&] { read_npy_floats(folder_); }), "not a regular file");
  EXPECT_SAYS(refusal([&] { read_npy_floats("/dev/zero"); }), "not a regular file");
  EXPECT_SAYS(refusal([&] { write_npy(folder_ / "no" / "a.npy", std::vector<std::int64_t>{1}); }),
              "cannot write the file");
}

TEST_F(Npy, RefusesForeignAndTruncatedFiles) {
  EXPECT_SAYS(floats_refusal(""), "not a .npy file");
  EXPECT_SAYS(floats_refusal("PK\x03\x04 something else"), "not a .npy file");
  const std::string whole = array(dict("<f4", "(4,)"), raw<float>({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_NE(floats_refusal(whole.substr(0, length)), "(accepted)") << length;
  EXPECT_SAYS(floats_refusal(whole.substr(0, whole.size() - 1)), "truncated");
  EXPECT_SAYS(floats_refusal(whole + "x"), "longer than its header says");
  std::string future = whole;
  future[6] = 9;
  EXPECT_SAYS(floats_refusal(future), "format 9");
  std::string beyond = whole;
  beyond[9] = '\x7f';
  EXPECT_SAYS(floats_refusal(beyond), "truncated");
}

TEST_F(Npy, RefusesHostileShapes) {
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(99999999999999999999999,)"), "")), "overflows");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(4294967296, 4294967296)"), "")), "overflows");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(4294967296, 4294967296, 0)"), "")), "overflows");
  EXPECT_SAYS(floats_refusal(array(dict("<f8", "(576460752303423489,)"), "")), "overflows");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(1000000000000,)"), "")), "truncated");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(-1,)"), "")), "damaged");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(3)"), "")), "damaged");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(1.5,)"), "")), "damaged");
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "1,";
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(" + deep + ")"), "")), "32 dimensions");
}

TEST_F(Npy, BooleansComeInBothOrders) {
  const std::string data = raw<char>({1, 0, 0, 0, 1, 1});
  write(array(dict("|b1", "(2, 3)"), data));
  const NpyBooleans rows = read_npy_booleans(file_, 6);
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(rows.columns, 3);
  EXPECT_EQ(rows.bits, (std::vector<std::uint64_t>{0b001, 0b110}));
  write(array("{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3), }\n", data));
  EXPECT_EQ(read_npy_booleans(file_, 6).bits, (std::vector<std::uint64_t>{0b101, 0b100}));
}

// More elements than are read at once, and rows that end inside a word.
TEST_F(Npy, LargeArraysOfBooleansComeInBothOrders) {
  constexpr std::int64_t kRows = 701, kColumns = 519;
  const auto is_set = [](std::int64_t row, std::int64_t column) { return row * column % 11 == 3; };
  for (const bool fortran : {false, true}) {
    std::string data;
    for (std::int64_t i = 0; i < kRows * kColumns; ++i)
      data += static_cast<char>(fortran ? is_set(i % kRows, i / kRows) : is_set(i / kColumns, i % kColumns));
    write(array(fmt::format("{{'descr': '|b1', 'fortran_order': {}, 'shape': ({}, {}), }}\n",
                            fortran ? "True" : "False", kRows, kColumns),
                data));
    NpyBooleans expected{kRows, kColumns, 9, std::vector<std::uint64_t>(kRows * 9)};
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kColumns; ++column)
        if (is_set(row, column)) expected.set(row, column);
    EXPECT_EQ(read_npy_booleans(file_, kRows * kColumns).bits, expected.bits) << fortran;
  }
}

TEST_F(Npy, RefusesWhatIsNoArrayOfBooleans) {
  const auto booleans = [&](const std::string& bytes) {
    write(bytes);
    return refusal([&] { read_npy_booleans(file_, 4); });
  };
  EXPECT_SAYS(booleans(array(dict("|u1", "(1, 1)"), "a")), "dtype '|u1' where booleans are wanted");
  EXPECT_SAYS(booleans(array(dict("|u1", "(1, 1)"), "a")), "a.astype(bool)");
  EXPECT_SAYS(booleans(array(dict("|b2", "(1, 1)"), "ab")), "'|b2' is not read");
  EXPECT_SAYS(booleans(array(dict("|b1", "(1,)"), raw<char>({1}))), "two dimensions");
  EXPECT_SAYS(booleans(array(dict("|b1", "(1, 5)"), raw<char>({1, 1, 1, 1, 1}))),
              "shape (1, 5) is too large");
  EXPECT_SAYS(booleans(array(dict("|b1", "(2, 2)"), raw<char>({1, 0, 2, 1}))), "byte 2 in booleans");
  EXPECT_SAYS(booleans(array(dict("|b1", "(2, 2)"), raw<char>({1, 0, 1}))), "truncated");
  EXPECT_SAYS(booleans("not one"), "not a .npy file");
  EXPECT_SAYS(refusal([&] { read_npy_booleans(folder_ / "none.npy", 4); }), "no such file");
}

TEST_F(Npy, RefusesOtherTypesAndFortranOrder) {
  EXPECT_SAYS(floats_refusal(array("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", "abcd")),
              "Fortran order");
  EXPECT_SAYS(floats_refusal(array(dict(">f4", "(1,)"), "abcd")), "big-endian");
  EXPECT_SAYS(floats_refusal(array(dict("|O", "(1,)"), "abcd")), "'|O' is not read");
  EXPECT_SAYS(floats_refusal(array(dict("<c8", "(1,)"), "abcdefgh")), "'<c8' is not read");
  EXPECT_SAYS(floats_refusal(array(dict("<i4", "(1,)"), "abcd")), "floats are wanted");
  EXPECT_SAYS(floats_refusal(array(dict("|f1", "(1,)"), "a")), "floats are wanted");
  EXPECT_SAYS(integers_refusal(array(dict("<f4", "(1,)"), "abcd")), "integers are wanted");
  EXPECT_SAYS(integers_refusal(array(dict("<i2", "(1,)"), "ab")), "integers are wanted");
  EXPECT_SAYS(integers_refusal(array(dict("<i4", "(1, 1)"), "abcd")), "one dimension");
  EXPECT_SAYS(
      floats_refusal(array("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
      "damaged");
  EXPECT_SAYS(floats_refusal(array("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", "abcd")), "damaged");
  EXPECT_SAYS(floats_refusal(array("{'descr': '<f4', 'shape': (1,), }", "abcd")), "damaged");
}

TEST_F(Npy, RefusesNanAndInfinityWithTheElement) {
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(3,)"), raw<float>({1, 2, NAN}))), "element 2 of 3");
  EXPECT_SAYS(floats_refusal(array(dict("<f4", "(2,)"), raw<float>({1, -INFINITY}))), "infinity");
  EXPECT_SAYS(floats_refusal(array(dict("<f8", "(1,)"), raw<double>({1e300}))), "beyond fp32");
  EXPECT_SAYS(floats_refusal(array(dict("<f2", "(1,)"), raw<std::uint16_t>({0x7e00}))), "NaN");
  EXPECT_SAYS(refusal([&] { check_npy_floats(file_); }), "NaN");
}

TEST_F(Npy, MutatedFilesAreReadOrRefusedNeverWorse) {
  const std::string whole = array(dict("<f4", "(4,)"), raw<float>({1, 2, 3, 4}));
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    refused += floats_refusal(bytes) != "(accepted)";
    integers_refusal(bytes);
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace hilbench
