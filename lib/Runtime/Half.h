//===- Half.h - 16-bit floats as storage ------------------------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_HALF_H
#define WOK_LIB_RUNTIME_HALF_H

#include <bit>
#include <cstdint>

namespace wok::runtime {

/// bf16: the upper half of an f32. Rounds to nearest even; NaN stays NaN.
struct BFloat16 {
  uint16_t bits;

  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
  static BFloat16 round(float value) {
    uint32_t wide = std::bit_cast<uint32_t>(value);
    if ((wide & 0x7fffffff) > 0x7f800000)
      return {static_cast<uint16_t>(wide >> 16 | 0x40)};
    return {static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16)};
  }
};

/// IEEE binary16. Rounds to nearest even; NaN stays NaN; overflow gives an
/// infinity.
struct Float16 {
  uint16_t bits;

  operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00)
      return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    // Multiplying by 2^112 moves the exponent and normalises denormals,
    // exactly.
    float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  static Float16 round(float value) {
    uint32_t wide = std::bit_cast<uint32_t>(value);
    uint16_t sign = static_cast<uint16_t>(wide >> 16 & 0x8000);
    wide &= 0x7fffffff;
    if (wide > 0x7f800000)
      return {static_cast<uint16_t>(sign | 0x7e00 | (wide >> 13 & 0x3ff))};
    if (wide >= 0x477ff000) // 65520: the first value that rounds to infinity.
      return {static_cast<uint16_t>(sign | 0x7c00)};
    if (wide < 0x38800000) { // Below 2^-14: let the addition of 0.5 round to
                             // multiples of 2^-24.
      float shifted = std::bit_cast<float>(wide) + 0.5f;
      return {static_cast<uint16_t>(
          sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000))};
    }
    uint32_t rounded = wide + 0xfff + (wide >> 13 & 1) - 0x38000000;
    return {static_cast<uint16_t>(sign | rounded >> 13)};
  }
};

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_HALF_H
