# Compiles the rows of kernels.tsv, each for each of its architectures, to a code object of its own, and writes the
# table (amd/embedded.cpp in the build tree) that embeds them. Sets amd_kernel_sources and amd_code_objects.
set(amd_table ${CMAKE_CURRENT_SOURCE_DIR}/amd/kernels.tsv)
set(amd_build ${CMAKE_CURRENT_BINARY_DIR}/amd)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${amd_table})

set(FLASHWAVE_ARCHS "gfx90a;gfx942;gfx950" CACHE STRING
    "AMD architectures to build kernels for: any of gfx90a, gfx942, gfx950, or nothing")
option(FLASHWAVE_REQUIRE_ARCHS "Fail when an architecture of FLASHWAVE_ARCHS cannot be built" OFF)
string(REPLACE "," ";" amd_wanted "${FLASHWAVE_ARCHS}")
foreach(arch IN LISTS amd_wanted)
  if(NOT arch MATCHES "^(gfx90a|gfx942|gfx950)$")
    message(FATAL_ERROR "FLASHWAVE_ARCHS names \"${arch}\"; there are kernels for gfx90a, gfx942 and gfx950")
  endif()
endforeach()

# No device library, no vendor header, no fused sums but those that are written; straight-line code is not to be
# packed into vectors, for the kernels place their packed instructions themselves.
set(amd_flags -x hip --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -fuse-cuid=none
    -mcode-object-version=5 -O3 -std=c++20 -ffp-contract=off -fno-slp-vectorize)

# The compiler, and which of the architectures it really compiles and links for.
find_program(FLASHWAVE_HIP_COMPILER NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++
             DOC "A Clang that knows AMD GPUs, 19 or later (20 for gfx950), with its lld")
set(amd_archs)
foreach(arch IN LISTS amd_wanted)
  if(FLASHWAVE_HIP_COMPILER AND NOT "${FLASHWAVE_HIP_COMPILER}" STREQUAL "${amd_compiler_tried_${arch}}")
    file(WRITE ${amd_build}/probe.hip "__attribute__((global)) void probe() {}\n")
    execute_process(COMMAND ${FLASHWAVE_HIP_COMPILER} ${amd_flags} --offload-arch=${arch} -c ${amd_build}/probe.hip
                            -o ${amd_build}/probe.co RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    set(amd_compiler_tried_${arch} "${FLASHWAVE_HIP_COMPILER}" CACHE INTERNAL "")
    set(amd_compiler_failed_${arch} "${failed}" CACHE INTERNAL "")
  endif()
  if(FLASHWAVE_HIP_COMPILER AND "${amd_compiler_failed_${arch}}" STREQUAL "0")
    list(APPEND amd_archs ${arch})
  endif()
endforeach()
set(amd_left_out ${amd_wanted})
list(REMOVE_ITEM amd_left_out ${amd_archs})
if(amd_left_out)
  list(JOIN amd_left_out ", " text)
  set(how WARNING)
  if(FLASHWAVE_REQUIRE_ARCHS)
    set(how FATAL_ERROR)
  endif()
  message(${how} "AMD kernels for ${text} are left out: they need clang and lld 19 or later (20 for gfx950); "
                 "scripts/setup gpu installs them, -DFLASHWAVE_ARCHS= asks for none")
endif()

# A name for each column of a row.
function(amd_read_row line)
  string(REPLACE "\t" ";" fields "${line}")
  list(LENGTH fields count)
  list(LENGTH amd_columns expected)
  if(NOT count EQUAL expected)
    message(FATAL_ERROR "kernels.tsv: \"${line}\" has ${count} columns, not ${expected}")
  endif()
  foreach(column value IN ZIP_LISTS amd_columns fields)
    set(row_${column} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()

file(GLOB amd_headers CONFIGURE_DEPENDS amd/kernels/*.hpp meaning/*.hpp)
set(amd_code_objects)
set(amd_symbols "")
set(amd_rows "")
set(amd_launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
file(STRINGS ${amd_table} amd_lines REGEX "^[^#]")
list(POP_FRONT amd_lines amd_columns)
string(REPLACE "\t" ";" amd_columns "${amd_columns}")
foreach(line IN LISTS amd_lines)
  amd_read_row("${line}")
  string(REPLACE "," ";" archs "${row_archs}")
  string(REPLACE "any" "none" dtype ${row_dtype})
  set(defines)
  if(NOT row_defines STREQUAL "-")
    string(REGEX REPLACE " +" ";-D" defines "-D${row_defines}")
  endif()
  foreach(arch IN LISTS archs)
    if(NOT arch IN_LIST amd_archs)
      continue()
    endif()
    set(object ${amd_build}/${arch}/${row_name}.co)
    add_custom_command(OUTPUT ${object}
      COMMAND ${amd_launcher} ${FLASHWAVE_HIP_COMPILER} ${amd_flags} --offload-arch=${arch}
              -DFLASHWAVE_TARGET=${arch} -DFLASHWAVE_KERNEL=${row_name} ${defines} -I ${CMAKE_CURRENT_SOURCE_DIR}
              -c ${CMAKE_CURRENT_SOURCE_DIR}/amd/kernels/${row_source} -o ${object}
      DEPENDS amd/kernels/${row_source} ${amd_headers} COMMENT "Building AMD kernel ${arch}/${row_name}" VERBATIM)
    file(MAKE_DIRECTORY ${amd_build}/${arch})
    list(APPEND amd_code_objects ${object})
    set(symbol flashwave_amd_${row_name}_${arch})
    string(APPEND amd_symbols "EMBED(${symbol}, \"${object}\")\n")
    string(APPEND amd_rows "    {{\"${arch}\", \"${row_name}\", ${symbol}, ${symbol}_end}, Kind::${row_kind}, "
      "DType::${dtype}, ${row_dim_qk}, ${row_dim_v}, ${row_rows}, ${row_keys}, ${row_threads}},\n")
  endforeach()
endforeach()
list(JOIN amd_archs "\", \"" amd_arch_list)
configure_file(amd/embedded.cpp.in ${amd_build}/embedded.cpp @ONLY)
set_source_files_properties(${amd_build}/embedded.cpp PROPERTIES OBJECT_DEPENDS "${amd_code_objects}")
set(amd_kernel_sources ${amd_build}/embedded.cpp)
