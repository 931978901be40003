#!/usr/bin/env python3
"""Fits the polynomials of src/cpu/simd/math.hpp: 2^x on [-1/2, 1/2], exactly 1 at 0, least largest relative error.

Needs numpy. Prints degree, error in double, error when evaluated in fp32, and the coefficients from x on.
"""
import numpy


def fit(degree):
    """Lawson's algorithm: least squares whose weights follow the error until it is level."""
    x = numpy.linspace(-0.5, 0.5, 20001)
    wanted = 2.0**x
    columns = numpy.stack([x**k for k in range(1, degree + 1)], 1) / wanted[:, None]
    target = (wanted - 1) / wanted
    weights = numpy.ones_like(x)
    for _ in range(3000):
        root = numpy.sqrt(weights)
        coefficients = numpy.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0]
        error = abs(columns @ coefficients - target)
        weights = weights * (error / error.max() + 1e-12)
        weights /= weights.mean()
    return coefficients, error.max()


def error_in_fp32(coefficients):
    x = numpy.linspace(-0.5, 0.5, 200001).astype(numpy.float32)
    p = numpy.zeros_like(x)
    for c in [*reversed(coefficients.astype(numpy.float32)), numpy.float32(1)]:
        p = (p.astype(numpy.float64) * x + c).astype(numpy.float32)  # one rounding, as a fused multiply-add
    return abs(p.astype(numpy.float64) / 2.0 ** x.astype(numpy.float64) - 1).max()


for degree in (3, 5):
    coefficients, error = fit(degree)
    print(degree, f"{error:.2e}", f"{error_in_fp32(coefficients):.2e}",
          [f"{float(c):.10g}f" for c in coefficients.astype(numpy.float32)])
