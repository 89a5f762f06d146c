#include "suite/clocks.hpp"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

#include <Kokkos_Core.hpp>

namespace blockspan::perf {

namespace {

using apps::Json;

#ifdef KOKKOS_ENABLE_CUDA

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

/// Reasons that count: power cap, hardware and thermal slowdowns, power brake. Idle and the clocks
/// that someone set do not.
constexpr unsigned long throttled = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

void add_accelerator(Json& json) {
  char bus[32] = "";
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess)
    return;
  std::string const query =
      "nvidia-smi --query-gpu=clocks.sm,clocks.mem,temperature.gpu,"
      "clocks_throttle_reasons.active --format=csv,noheader,nounits -i " +
      std::string(bus) + " 2>/dev/null";
  std::unique_ptr<std::FILE, ClosePipe> const pipe(popen(query.c_str(), "r"));
  int sm = 0, memory = 0, temperature = 0;
  unsigned long reasons = 0;
  if (!pipe || std::fscanf(pipe.get(), "%d, %d, %d, %lx", &sm, &memory, &temperature, &reasons) < 4)
    return;
  json["sm_mhz"] = sm;
  json["memory_mhz"] = memory;
  json["temperature"] = temperature;
  json["throttled"] = (reasons & throttled) != 0;
}

#else
void add_accelerator(Json&) {}
#endif

void add_host(Json& json) {
  std::ifstream cpus("/proc/cpuinfo");
  double sum = 0;
  int count = 0;
  for (std::string line; std::getline(cpus, line);) {
    if (line.rfind("cpu MHz", 0) != 0) continue;
    sum += std::stod(line.substr(line.find(':') + 1));
    ++count;
  }
  if (count > 0) json["cpu_mhz"] = static_cast<int>(sum / count);
  double load = 0;
  if (std::ifstream("/proc/loadavg") >> load) json["load"] = load;
}

}  // namespace

std::string utc(std::time_t seconds) {
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  return text;
}

std::string now_utc() { return utc(std::time(nullptr)); }

Json read_clocks() {
  Json json{{"when", now_utc()}};
  add_accelerator(json);
  add_host(json);
  return json;
}

}  // namespace blockspan::perf
