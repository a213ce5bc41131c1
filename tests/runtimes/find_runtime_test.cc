// A process that has mapped what calls itself libjvm.so.
#include "runtimes/find_runtime.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process/module.h"
#include "tests/runtimes/fake_vm.h"
#include "tests/runtimes/symbol_file.h"

namespace offcpu {
namespace {

constexpr uint64_t kBias = 0x4000;

class FindRuntimeTest : public ::testing::Test {
 protected:
  // A file that exports what the virtual machine does.
  std::vector<std::byte> Library() const {
    SymbolFile file;
    for (const auto& [name, address] : vm_.symbols()) file.Add("gHotSpotVM" + name, address - kBias);
    return file.Bytes();
  }
  FoundRuntime Find(const std::vector<std::byte>& library, const std::string& path = "/usr/lib/jvm/lib/libjvm.so") {
    auto module = std::make_shared<Module>();
    module->path = path;
    module->file = OwnedFd(memfd_create("find_runtime_test", MFD_CLOEXEC));
    EXPECT_EQ(write(module->file.get(), library.data(), library.size()), static_cast<ssize_t>(library.size()));
    MappedCode code = {.begin = 0x400000, .end = 0x401000, .module = std::move(module)};
    code.bias = kBias;
    return FindRuntime(AddressSpace({code}), vm_.memory(), {});
  }

  FakeVm vm_{25};
};

TEST_F(FindRuntimeTest, VirtualMachineIsServed) {
  const FoundRuntime found = Find(Library());
  EXPECT_EQ(found.form, RuntimeForm::kServed);
  ASSERT_NE(found.runtime, nullptr);
  EXPECT_EQ(found.runtime->bounds(), (CodeRange{.begin = FakeVm::kCodeLow, .end = FakeVm::kCodeHigh}));
}

TEST_F(FindRuntimeTest, OtherLibrariesAreNone) {
  const FoundRuntime found = Find(Library(), "/usr/lib/libjvm.so.1");
  EXPECT_EQ(found.form, RuntimeForm::kNone);
  EXPECT_EQ(found.runtime, nullptr);
}

TEST_F(FindRuntimeTest, OneWithoutCodeIsNotServedYet) {
  vm_.Put(vm_.call_stub_return(), uint64_t{0});
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kNotYet);
}

// It is mapped, and its tables are not where they say yet.
TEST_F(FindRuntimeTest, OneThatIsNotRelocatedIsNotServedYet) {
  vm_.Put(vm_.symbols().find("Structs")->second, uint64_t{0x100});
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kNotYet);
}

TEST_F(FindRuntimeTest, OneThatLeavesOutWhatIsNeededIsUnknown) {
  vm_.Rename("ConstantPool::_pool_holder", "_owner");
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kUnknown);
}

TEST_F(FindRuntimeTest, OneWithoutTablesIsUnknown) {
  EXPECT_EQ(Find(SymbolFile().Bytes()).form, RuntimeForm::kUnknown);
  EXPECT_EQ(Find(std::vector<std::byte>(100)).form, RuntimeForm::kUnknown);
}

}  // namespace
}  // namespace offcpu
