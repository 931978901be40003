// Which lane and register holds which element of a matrix, by the closed formulas of the ISA manuals.
#pragma once

namespace cdna {

// `blocks` independent products of M x K by K x M (every MFMA is square in its output).
template <int m, int k, int blocks, int height = 4>
struct MatrixLayout {
  static constexpr int M = m, K = k, B = blocks;
  static constexpr int kGroups = 64 / (M * B) > 0 ? 64 / (M * B) : 1;  // groups of lanes along K
  static constexpr int kPerLane = K / kGroups;                         // inputs a lane
  static constexpr int kOutputs = M * M * B / 64;                      // outputs a lane

  // Inputs: item n of a lane.
  static constexpr int input_row(int lane) { return lane % M; }
  static constexpr int input_block(int lane) { return lane / M % B; }
  static constexpr int input_k(int lane, int n) { return lane / M / B * kPerLane + n; }

  // Outputs come in groups of H consecutive rows.
  static constexpr int H = height;
  static constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
  static constexpr int kBlocksPerItem = ceil_div(64, M* M / H);
  static constexpr int kRowsPerItem = 64 / kBlocksPerItem / M;
  static constexpr int kRowGroups = M / (H * kRowsPerItem);

  // Item n, lanes column + M * part.
  static constexpr int output_block(int n, int part) {
    return n / (H * kRowGroups) * kBlocksPerItem + part / kRowsPerItem;
  }
  static constexpr int output_row(int n, int part) {
    return n % H + H * (part % kRowsPerItem + kRowsPerItem * (n / H % kRowGroups));
  }
  static constexpr int kParts = 64 / M;
};

}  // namespace cdna
