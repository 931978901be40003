// Workspace and memory: what a call is given, and what it asks for itself.
#include <cstdlib>
#include <cstring>

#include "lab/lab.hpp"

namespace {

using namespace lab;

class Workspace : public testing::Test {
 protected:
  // A decode that needs room for partial results.
  Call decode() {
    Call call = lab_.inputs(bf16, {.batch = 2, .seq_q = 2, .seq_k = 300, .heads_q = 4, .heads_k = 2});
    call.num_splits = 4;
    call.out = lab_.unwritten(bf16, {2, 2, 4, 64});
    call.lse = lab_.unwritten(fp32, {2, 4, 2});
    return call;
  }
  Lab lab_;
};

TEST_F(Workspace, ContentsDoNotMatter) {
  Call call = decode();
  std::size_t bytes = 0;
  ASSERT_EQ(flashwave_workspace_size(&call, &bytes), FLASHWAVE_OK) << flashwave_message();
  ASSERT_GT(bytes, 0u);
  std::vector<unsigned char> first;
  for (const int byte : {0x00, 0xff, 0x7f, 0xa5}) {
    call.workspace = lab_.arena().add_bytes(bytes);
    call.workspace_bytes = bytes;
    std::memset(call.workspace, byte, bytes);
    ASSERT_EQ(flashwave_run(&call), FLASHWAVE_OK) << flashwave_message();
    const auto got = bits({call.out, call.lse});
    if (first.empty()) first = got;
    EXPECT_EQ(got, first);
  }
  call.workspace = nullptr;
  call.workspace_bytes = 0;
  ASSERT_EQ(flashwave_run(&call), FLASHWAVE_OK) << flashwave_message();
  EXPECT_EQ(bits({call.out, call.lse}), first);
}

TEST_F(Workspace, TooSmallOrAskewIsRefused) {
  Call call = decode();
  ASSERT_EQ(flashwave_workspace_size(&call, &call.workspace_bytes), FLASHWAVE_OK) << flashwave_message();
  auto* memory = static_cast<unsigned char*>(lab_.arena().add_bytes(call.workspace_bytes + 256));
  call.workspace = memory + 64;
  expect_refused(call, "workspace-aligned", "256");
  call.workspace = memory;
  call.workspace_bytes -= 1;
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_INVALID);
  EXPECT_NE(std::string(flashwave_message()).find("workspace"), std::string::npos) << flashwave_message();
}

struct Counted {
  int taken = 0, returned = 0;
  static void* take(void* self, std::size_t bytes, std::size_t alignment) {
    ++static_cast<Counted*>(self)->taken;
    void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (block) std::memset(block, 0xff, bytes);
    return block;
  }
  static void give_back(void* self, void* block) {
    ++static_cast<Counted*>(self)->returned;
    std::free(block);
  }
  static void* nothing(void*, std::size_t, std::size_t) { return nullptr; }
};

TEST_F(Workspace, ComesFromTheCallersAllocator) {
  Call call = decode();
  ASSERT_EQ(flashwave_run(&call), FLASHWAVE_OK);
  const auto want = bits({call.out, call.lse});
  Counted counted;
  call.allocate = Counted::take;
  call.release = Counted::give_back;
  call.allocator_context = &counted;
  ASSERT_EQ(flashwave_run(&call), FLASHWAVE_OK) << flashwave_message();
  EXPECT_GT(counted.taken, 0);
  EXPECT_EQ(counted.returned, counted.taken);
  EXPECT_EQ(bits({call.out, call.lse}), want);

  call.release = nullptr;
  expect_refused(call, "allocator-pair", "release");
}

TEST_F(Workspace, ThatCannotBeHadIsAnErrorAndNoCrash) {
  Call call = decode();
  Counted counted;
  call.allocate = Counted::nothing;
  call.release = Counted::give_back;
  call.allocator_context = &counted;
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_EXHAUSTED) << flashwave_message();
}

}  // namespace
