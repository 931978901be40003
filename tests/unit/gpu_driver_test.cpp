// What is said when a runtime is not there, or is not one.
#include <gtest/gtest.h>

#include "gpu/device.hpp"
#include "gpu/driver.hpp"

namespace fw::gpu {
namespace {

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(Driver, NamesTheFilesThatAreNotThereAndTheRemedy) {
  const Driver driver({"hip", {"libnowhere.so.7", "libnowhere.so.6"}, "install it", ""});
  EXPECT_TRUE(says(driver.missing(), "libnowhere.so.7")) << driver.missing();
  EXPECT_TRUE(says(driver.missing(), "libnowhere.so.6")) << driver.missing();
  EXPECT_TRUE(says(driver.missing(), ": install it")) << driver.missing();
  EXPECT_TRUE(find_devices(driver, "hip").empty());
}

TEST(Driver, NamesWhatALibraryLacks) {
  const Driver driver({"hip", {"libm.so.6"}, "install it", ""});
  EXPECT_EQ(driver.missing(), "the runtime has no hipInit: install it");
}

}  // namespace
}  // namespace fw::gpu
