// Seeds for the fuzz targets of the encoders.
#pragma once

#include <functional>
#include <string>

namespace phsic::fuzz {

// Calls write(target, bytes) for each.
void write_encoder_seeds(
    const std::function<void(const std::string& target, const std::string& bytes)>& write);

}  // namespace phsic::fuzz
