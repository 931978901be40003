# The libLLVM that the emulator opens at run time, newest first; gfx950 is known from 20 on.
set(CDNA_LLVM_LIBRARIES libLLVM.so.22.1 libLLVM-22.so libLLVM.so.21.1 libLLVM.so.20.1 libLLVM.so.19.1 libLLVM-19.so)
# Its tests compile, assemble and read code objects.
set(CDNA_TEST_PROGRAMS clang++-22 ld.lld-22 llvm-mc-22 llvm-readelf-22)
