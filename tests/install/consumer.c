/* A C program that uses the installed library: two queries, two keys, checked by hand. */
#include <flashwave/flashwave.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static flashwave_tensor tensor(float* data, int64_t seq, int64_t dim) {
  flashwave_tensor t = {data, FLASHWAVE_FP32, 4, {1, seq, 1, dim}, {seq * dim, dim, dim, 1}};
  return t;
}

static int fail(const char* what) {
  printf("consumer.c: %s: %s\n", what, flashwave_message());
  return 1;
}

int main(void) {
  float q[2] = {1, 2}, k[2] = {1, 3}, v[2] = {10, 20}, out[2] = {0, 0};
  flashwave_attention call = FLASHWAVE_INIT(flashwave_attention);
  call.q = tensor(q, 2, 1);
  call.k = tensor(k, 2, 1);
  call.v = tensor(v, 2, 1);
  call.out = tensor(out, 2, 1);
  call.has_window = 1;
  call.window_left = FLASHWAVE_OPEN;
  call.window_right = 0;
  if (flashwave_run(&call) != FLASHWAVE_OK) return fail("run");
  /* Causal: row 0 sees key 0, row 1 both, with scores 2 and 6. */
  const double weight = 1 / (1 + exp(2.0 - 6.0));
  if (out[0] != 10) return fail("row 0");
  if (fabs(out[1] - (10 + 10 * weight)) > 1e-4) return fail("row 1");

  call.k.shape[2] = 3; /* 1 q head over 3 kv heads */
  if (flashwave_run(&call) != FLASHWAVE_INVALID) return fail("a wrong head count was not refused");
  if (!strlen(flashwave_message()) || !strlen(flashwave_rule())) return fail("no sentence");
  printf("consumer.c: flashwave %s works\n", flashwave_version());
  return 0;
}
