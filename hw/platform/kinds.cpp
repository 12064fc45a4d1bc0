#include "hw/platform/kinds.h"

#include "hw/cxl/cxl_device.h"
#include "hw/cxl/cxl_link.h"
#include "hw/foreign/foreign_tier.h"
#include "hw/hbm/hbm.h"
#include "hw/host/host.h"
#include "hw/nvlink/nvlink_link.h"
#include "hw/pcie/pcie.h"
#include "hw/sram/sram.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace umf::hw {

namespace {

struct HbmSpec : TierSpec {
  HbmConfig config;
  dram::Media media;
  void resolve(const dram::Standards& standards, KeyContext& context) override {
    media = hbm_media(config, standards.find(config.standard, pointer + "/standard", context));
    if (media.standard == nullptr) return;
    check_hbm(config, media, pointer, context);
    dram::check_media(media, pointer, context);
  }
  std::optional<Line> line() const override { return Line{media, {}, config.controller_latency}; }
  policy::TierClass tier_class() const override { return policy::TierClass::hbm; }
  Bytes capacity() const override { return config.capacity; }
  bool on_package() const override { return true; }
  DramFlow::Given given() const { return given_of(config); }
  BytesPerSecond at_most() const override { return DramFlow::at_most(media, given()); }
  Femtoseconds read_latency() const override { return DramFlow::latency(media, given()); }
  void lift() override {
    media.bandwidth = {kEndlessRate};
    config.read_efficiency = 1;
    config.mix_loss = 0;
    config.batch = {};
    config.media_latency = Femtoseconds{};
  }
  std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                    const std::string& instance) const override {
    return std::make_unique<Hbm>(module.c_str(), clock, config, media, instance);
  }
};

/// Stacks of another GPU: a pool behind links.
struct PeerSpec : HbmSpec {
  policy::TierClass tier_class() const override { return policy::TierClass::pool; }
  bool on_package() const override { return false; }
};

struct SramSpec : TierSpec {
  SramConfig config;
  std::optional<Banks> banks() const override {
    Banks banks;
    banks.clock = {std::max<std::int64_t>(1, std::llround(1e15 / config.clock.value))};
    banks.one_way = config.port_latency;
    const std::int64_t clock = banks.clock.count;
    banks.config = {.banks = config.banks,
                    .word = static_cast<std::uint32_t>(std::ceil(config.bank_width.value)),
                    .latency =
                        static_cast<std::uint64_t>((config.bank_latency.count + clock - 1) / clock),
                    .ports = config.ports};
    return banks;
  }
  policy::TierClass tier_class() const override { return policy::TierClass::sram; }
  Bytes capacity() const override { return config.capacity; }
  bool on_package() const override { return true; }
  BytesPerSecond at_most() const override {
    const double ports = config.ports == SramPorts::separate ? 2 : 1;
    return {sram_peak(config).value * ports};
  }
  Femtoseconds read_latency() const override {
    return config.bank_latency + config.port_latency * 2;
  }
  void lift() override {
    config.clock = {kEndlessRate}; // words keep their width
    config.bank_latency = config.port_latency = {};
  }
  std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                    const std::string& instance) const override {
    return std::make_unique<Sram>(module.c_str(), clock, config, instance);
  }
};

struct CxlSpec : TierSpec {
  CxlDeviceConfig config;
  dram::Media media;
  void resolve(const dram::Standards& standards, KeyContext& context) override {
    media = cxl_media(config, standards.find(config.media, pointer + "/media", context));
    if (media.standard == nullptr) return;
    check_cxl_device(config, media, pointer, context);
    dram::check_media(media, pointer, context);
  }
  std::optional<Line> line() const override {
    return Line{media, config.controller_latency, config.queue_latency};
  }
  policy::TierClass tier_class() const override { return policy::TierClass::pool; }
  Bytes capacity() const override { return config.capacity; }
  std::string behind() const override { return config.behind.value_or(""); }
  std::optional<BytesPerSecond> asked() const override { return config.bandwidth; }
  DramFlow::Given given() const { return given_of(config); }
  BytesPerSecond at_most() const override { return DramFlow::at_most(media, given()); }
  Femtoseconds read_latency() const override {
    return config.controller_latency + DramFlow::latency(media, given());
  }
  void lift() override {
    media.bandwidth = {kEndlessRate};
    config.efficiency = 1;
    config.mix_loss = 0;
    config.controller_latency = {};
    config.media_latency = Femtoseconds{};
  }
  std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                    const std::string& instance) const override {
    return std::make_unique<CxlDevice>(module.c_str(), clock, config, media, instance);
  }
};

struct HostSpec : TierSpec {
  HostConfig config;
  std::optional<Plain> plain() const override {
    return Plain{{config.channels * config.channel_bandwidth.value * config.efficiency},
                 config.media_latency};
  }
  policy::TierClass tier_class() const override { return policy::TierClass::host; }
  Bytes capacity() const override { return config.capacity; }
  BytesPerSecond at_most() const override { return plain()->bandwidth; }
  Femtoseconds read_latency() const override { return config.media_latency; }
  void lift() override {
    config.channel_bandwidth = {kEndlessRate};
    config.efficiency = 1;
    config.media_latency = {};
  }
  std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                    const std::string& instance) const override {
    return std::make_unique<Host>(module.c_str(), clock, config, instance);
  }
};

struct ForeignSpec : TierSpec {
  ForeignConfig config;
  policy::TierClass tier_class() const override {
    using policy::TierClass;
    constexpr TierClass classes[] = {TierClass::hbm, TierClass::sram, TierClass::pool,
                                     TierClass::host};
    return classes[static_cast<std::size_t>(config.stands_for)];
  }
  Bytes capacity() const override { return config.capacity; }
  bool on_package() const override {
    return config.stands_for == StandsFor::hbm || config.stands_for == StandsFor::sram;
  }
  std::string behind() const override { return config.behind.value_or(""); }
  bool liftable() const override { return false; }
  void lift() override {}
  std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                    const std::string& instance) const override {
    return std::make_unique<ForeignTier>(module.c_str(), clock, config, instance);
  }
};

template <class Spec, class Config>
std::unique_ptr<TierSpec> read_tier(const Component<Config>& keys, const JsonValue& object,
                                    KeyContext& context) {
  auto spec = std::make_unique<Spec>();
  spec->config = keys.read(object, context);
  return spec;
}

std::unique_ptr<TierSpec> read_hbm(const JsonValue& object, KeyContext& context) {
  return read_tier<HbmSpec>(hbm_component(), object, context);
}

std::unique_ptr<TierSpec> read_peer(const JsonValue& object, KeyContext& context) {
  return read_tier<PeerSpec>(peer_component(), object, context);
}

std::unique_ptr<TierSpec> read_cxl(const JsonValue& object, KeyContext& context) {
  return read_tier<CxlSpec>(cxl_device_component(), object, context);
}

std::unique_ptr<TierSpec> read_sram(const JsonValue& object, KeyContext& context) {
  return read_tier<SramSpec>(sram_component(), object, context);
}

std::unique_ptr<TierSpec> read_foreign(const JsonValue& object, KeyContext& context) {
  auto spec = read_tier<ForeignSpec>(foreign_component(), object, context);
  check_foreign(static_cast<const ForeignSpec&>(*spec).config, object.place().pointer, context);
  return spec;
}

std::unique_ptr<TierSpec> read_host(const JsonValue& object, KeyContext& context) {
  return read_tier<HostSpec>(host_component(), object, context);
}

LinkSpec read_pcie(const JsonValue& object, const std::string& name, KeyContext& context) {
  const PcieLinkConfig config = pcie_link_component().read(object, context);
  check_link_bandwidth(config.bandwidth, pcie_read_bound(config), config.count,
                       "PCIe Gen" + std::to_string(config.generation) + " x" +
                           std::to_string(config.width) + " link(s)",
                       object.place().pointer, context);
  Link::Options options = pcie_link(config, name);
  add_changes(options, config.training, config.generation, config.width,
              object.place().pointer + "/training", context);
  return {name,         object.place().pointer, config.from,
          config.to,    std::move(options),     pcie_read_bound(config),
          config.count, line_of(config),        requester_of(config)};
}

LinkSpec read_cxl_link(const JsonValue& object, const std::string& name, KeyContext& context) {
  const CxlLinkConfig config = cxl_link_component().read(object, context);
  check_link_bandwidth(config.bandwidth, cxl_read_bound(config), config.count,
                       "CXL Gen" + std::to_string(config.generation) + " x" +
                           std::to_string(config.width) + " link(s)",
                       object.place().pointer, context);
  Link::Options options = cxl_link(config, name);
  add_changes(options, config.training, config.generation, config.width,
              object.place().pointer + "/training", context);
  return {name,         object.place().pointer, config.from,
          config.to,    std::move(options),     cxl_read_bound(config),
          config.count, line_of(config),        requester_of(config)};
}

LinkSpec read_nvlink(const JsonValue& object, const std::string& name, KeyContext& context) {
  const NvlinkLinkConfig config = nvlink_link_component().read(object, context);
  return {name,         object.place().pointer,    config.from,
          config.to,    nvlink_link(config, name), nvlink_read_bound(config),
          config.count, line_of(config),           requester_of(config)};
}

} // namespace

std::span<const TierKind> tier_kinds() {
  static const std::array kinds = {
      TierKind{&hbm_component().info(), read_hbm},
      TierKind{&sram_component().info(), read_sram},
      TierKind{&cxl_device_component().info(), read_cxl},
      TierKind{&host_component().info(), read_host},
      TierKind{&peer_component().info(), read_peer},
      TierKind{&foreign_component().info(), read_foreign},
  };
  return kinds;
}

std::span<const LinkKind> link_kinds() {
  static const std::array kinds = {
      LinkKind{&pcie_link_component().info(), read_pcie},
      LinkKind{&cxl_link_component().info(), read_cxl_link},
      LinkKind{&nvlink_link_component().info(), read_nvlink},
  };
  return kinds;
}

} // namespace umf::hw
