#!/usr/bin/env bash
# Installs a build tree under an empty prefix, moves it, and builds and runs the consumers against it, found once by
# find_package and once by pkg-config: tests/install/run.sh BUILD_TREE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix" # what is installed must not know where it was

if [ -x "$work/prefix/bin/flashwave" ]; then
  echo "command"
  "$work/prefix/bin/flashwave" explain "fwd sq8 d8 fp32" > /dev/null
fi

echo "find_package"
cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/cmake" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/cmake/consumer_c"
"$work/cmake/consumer_cpp"

echo "pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name flashwave.pc)")
export PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs flashwave)
library=$(pkg-config --variable=libdir flashwave)
"${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer.c" -o "$work/consumer_c" "${flags[@]}" -lm
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror "$here/consumer.cpp" -o "$work/consumer_cpp" "${flags[@]}"
LD_LIBRARY_PATH=$library "$work/consumer_c"
LD_LIBRARY_PATH=$library "$work/consumer_cpp"
