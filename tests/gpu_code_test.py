"""GPU code is compiled anew if one byte of what it is made of changes, and only then (.cmake/device_code.cmake).

Usage: gpu_code_test.py BUILD

Configures a copy of the tree as BUILD is configured. Skipped if BUILD's GPU code is not as tracked, so that there is
nothing to begin with.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77
HEADER = "kernels/cuda/shared/element.cuh"
UNTRACKED = "kernels/cuda/shared/new_kernel.cu"

sys.path.insert(0, str(TREE / ".cmake"))
import stub  # noqa: E402


def cached(name):
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else ""


def is_as_tracked():
    return "stub.cpp" in (BUILD / "build.ninja").read_text()


class RecompilationTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree, self.build = pathlib.Path(self.folder.name, "tree"), pathlib.Path(self.folder.name, "build")
        names = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--", ".", ":!reports/published"],
                               check=True, capture_output=True, text=True).stdout
        for name in names.strip("\0").split("\0"):
            target = self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (TREE / name).exists():
                shutil.copy(TREE / name, target)

    def configure(self):
        options = [f"-D{name}={cached(name)}" for name in ("CMAKE_BUILD_TYPE", "CMAKE_CUDA_COMPILER", "CMAKE_CXX_COMPILER")
                   if cached(name)]
        done = subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DHILBENCH_TESTS=OFF",
                               "-DHILBENCH_CUDA=ON", "-DHILBENCH_DEVICE_CODE=IF_CHANGED", *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.search(r"^-- GPU code is (.*)$", done.stdout, re.MULTILINE).group(1)

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", self.build, *arguments], capture_output=True, text=True)

    def cuda_objects(self):
        return len(re.findall(r"Building CUDA object", self.ninja("-n", "hilbench").stdout))

    def test_one_byte_of_a_header(self):
        self.assertIn("stubs stand in for it", self.configure())
        self.assertEqual(self.cuda_objects(), 0)

        header = self.tree / HEADER
        sound = header.read_bytes()
        place = sound.index(b"hilbench")
        header.write_bytes(sound[:place] + b"#" + sound[place + 1:])  # no C++ any more
        self.assertEqual(self.configure(), f"compiled; changed: {HEADER}")
        units = list(self.tree.glob("kernels/cuda/*/*.cu")) + list(self.tree.glob("baselines/*/*.cu"))
        self.assertEqual(self.cuda_objects(), len(units))
        failed = self.ninja("kernels/CMakeFiles/hilbench_cuda_any.dir/cuda/shared/clear.cu.o")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("element.cuh", failed.stdout)

        header.write_bytes(sound)
        self.assertIn("stubs stand in for it", self.configure())
        self.assertEqual(self.cuda_objects(), 0)

    def test_a_source_that_is_not_tracked_is_compiled(self):
        (self.tree / UNTRACKED).write_text("namespace hilbench::cuda {}\n")
        lists = self.tree / "kernels/CMakeLists.txt"
        text = lists.read_text()
        self.assertIn("cuda/shared/pack.cu\n", text)
        lists.write_text(text.replace("cuda/shared/pack.cu\n", "cuda/shared/pack.cu\n    cuda/shared/new_kernel.cu\n"))
        self.configure()
        self.assertEqual(self.cuda_objects(), 1)


class StubTest(unittest.TestCase):
    SOURCE = """// A kernel.
#include <vector>

#include "kernels/cuda/shared/a.cuh"
#include "kernels/cuda/shared/a.hpp"

namespace hilbench::cuda {
namespace {

void hidden(int x) {
  use(x);
}

}  // namespace

void launch(const std::vector<int>& rows, int count,
            cudaStream_t stream) {
  if (count > 0) {
    hidden(count);
  }
}

std::unique_ptr<Kernel> make(const Shape& shape) {
  return std::make_unique<Kernel>(shape);
}

}  // namespace hilbench::cuda
"""

    def test_defines_what_the_linker_sees_and_nothing_else(self):
        text = stub.stub_of("a.cu", self.SOURCE)
        self.assertRegex(text, r"\nvoid launch\(const std::vector<int>& rows, int count,\n +cudaStream_t stream\) \{\n  refuse\(\);\n\}\n")
        self.assertIn("\nstd::unique_ptr<Kernel> make(const Shape& shape) {\n  refuse();\n}\n", text)
        self.assertNotIn("hidden", text)
        self.assertNotIn("a.cuh", text)
        self.assertIn('#include "kernels/cuda/shared/a.hpp"\n', text)

    def test_a_source_without_functions_is_refused(self):
        with self.assertRaises(SystemExit):
            stub.stub_of("a.cu", "namespace hilbench::cuda {\n}\n")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    if not is_as_tracked():
        print(f"skipped: the GPU code of {BUILD} is compiled")
        sys.exit(SKIPPED)
    unittest.main()
