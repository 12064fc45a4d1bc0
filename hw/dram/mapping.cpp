#include "hw/dram/mapping.h"

#include "hw/dram/mapping_text.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace umf::hw::dram {

namespace {

constexpr std::uint32_t kFields = 6;
constexpr std::size_t kMostSteps = AddressMap::kMostSteps, kMostHashes = AddressMap::kMostHashes;

std::uint32_t log2_of(std::uint64_t power_of_two) {
  ensure(std::has_single_bit(power_of_two), "an address field is no power of two");
  return static_cast<std::uint32_t>(std::countr_zero(power_of_two));
}

std::uint64_t ones(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// Where each field's bits stand in the packed word, in the order of MapField.
struct Shape {
  std::array<std::uint32_t, kFields> width{}, base{};

  explicit Shape(const AddressMapOptions& options) {
    const Organisation& org = options.organisation;
    width[index(MapField::unit)] = log2_of(options.units);
    width[index(MapField::bank)] = log2_of(org.banks);
    width[index(MapField::group)] = log2_of(org.bank_groups);
    width[index(MapField::rank)] = log2_of(org.ranks);
    width[index(MapField::column)] = log2_of(org.columns());
    width[index(MapField::row)] = static_cast<std::uint32_t>(std::bit_width(org.rows - 1U));
    const auto place = [&](MapField field, std::uint32_t at, std::uint32_t end) {
      base[index(field)] = at;
      ensure(at + bits(field) <= end, "a memory too large to map");
    };
    place(MapField::unit, 0, AddressMap::kBankAt);
    place(MapField::bank, AddressMap::kBankAt, AddressMap::kColumnAt);
    place(MapField::group, at(MapField::bank) + bits(MapField::bank), AddressMap::kColumnAt);
    place(MapField::rank, at(MapField::group) + bits(MapField::group), AddressMap::kColumnAt);
    place(MapField::column, AddressMap::kColumnAt, AddressMap::kRowAt);
    place(MapField::row, AddressMap::kRowAt, 64);
  }

  std::uint32_t bits(MapField field) const { return width[index(field)]; }
  std::uint32_t at(MapField field) const { return base[index(field)]; }
  static std::size_t index(MapField field) { return static_cast<std::size_t>(field); }
};

/// The texts of one list; each fault is a fault of the list's member of the scenario.
template <class Item, class Parse>
std::vector<Item> parse_all(const std::vector<std::string>& texts, Parse parse, std::size_t most,
                            const std::string& pointer, KeyContext& context) {
  std::vector<Item> items;
  if (texts.size() > most) {
    context.fault(context.place_of(pointer),
                  fmt::format("{} entries, expected at most {}", texts.size(), most));
    return items;
  }
  for (const std::string& text : texts) {
    try {
      items.push_back(parse(text));
    } catch (const UserError& fault) {
      context.fault(context.place_of(pointer), fault.what());
    }
  }
  return items;
}

/// What is wrong with the bits of one field; empty when nothing is.
std::string fault_of(MapField field, const std::vector<MapEntry>& entries, const Shape& shape,
                     std::uint32_t rows) {
  std::uint32_t given = 0, open = 0;
  for (const MapEntry& entry : entries) {
    if (entry.field != field) continue;
    given += entry.bits.value_or(0);
    open += entry.bits ? 0 : 1;
  }
  const std::uint32_t width = shape.bits(field);
  if (open > 1)
    return fmt::format("\"{}\" stands {} times without \":bits\", expected once", name_of(field),
                       open);
  if (field == MapField::row) {
    if (entries.empty() || entries.front().field != field || entries.front().bits)
      return "the row takes what is left on top, expected \"row\" first";
    if (given < 32 && rows % (std::uint32_t{1} << given) == 0) return {};
    return fmt::format("{} rows do not divide into the {} low bits of \"row:{}\"", rows, given,
                       given);
  }
  if (given > width)
    return fmt::format("{} bits of \"{}\" are mapped, expected its {}", given, name_of(field),
                       width);
  if (open == 0 && given < width)
    return fmt::format("{} of the {} bits of \"{}\" are not mapped, expected \"{}\" or \"{}:{}\" "
                       "in the list",
                       width - given, width, name_of(field), name_of(field), name_of(field),
                       width - given);
  return {};
}

/// The entries with every number of bits filled in; none after a fault.
std::vector<MapEntry> resolved(const AddressMapOptions& options, const Shape& shape,
                               const std::string& pointer, KeyContext& context) {
  std::vector<MapEntry> entries =
      parse_all<MapEntry>(options.mapping, parse_map_entry, kMostSteps, pointer, context);
  if (entries.size() != options.mapping.size()) return {};
  bool sound = true;
  std::array<std::uint32_t, kFields> left = shape.width;
  for (std::uint32_t i = 0; i < kFields; ++i) {
    const std::string fault = fault_of(MapField{i}, entries, shape, options.organisation.rows);
    if (!fault.empty()) context.fault(context.place_of(pointer), fault);
    sound = sound && fault.empty();
  }
  if (!sound) return {};
  for (const MapEntry& entry : entries)
    left[Shape::index(entry.field)] -= entry.bits.value_or(0);
  for (MapEntry& entry : entries)
    if (!entry.bits)
      entry.bits = entry.field == MapField::row ? 64 : left[Shape::index(entry.field)];
  return entries;
}

std::vector<MapHash> hashes(const std::vector<std::string>& texts, const Shape& shape,
                            const std::string& pointer, KeyContext& context) {
  std::vector<MapHash> all =
      parse_all<MapHash>(texts, parse_map_hash, kMostHashes, pointer, context);
  std::erase_if(all, [&](const MapHash& hash) {
    const std::uint32_t target = shape.bits(hash.target), source = shape.bits(hash.source);
    if (hash.bit < target && hash.shift < source) return false;
    context.fault(context.place_of(pointer),
                  fmt::format("\"{}>>{}^{}>>{}\" changes nothing: {} has {} bit(s) and {} has {}",
                              name_of(hash.target), hash.bit, name_of(hash.source), hash.shift,
                              name_of(hash.target), target, name_of(hash.source), source));
    return true;
  });
  return all;
}

} // namespace

std::vector<std::string> bank_hash(const Organisation& organisation) {
  const auto row_bits = static_cast<std::uint32_t>(std::bit_width(organisation.rows - 1U));
  std::vector<std::string> list;
  std::uint32_t shift = 0;
  const auto add = [&](const char* field, std::uint32_t count) {
    if (count == 1 || shift >= row_bits || list.size() == kMostHashes) return;
    list.push_back(fmt::format("{}^row>>{}", field, shift));
    shift += log2_of(count);
  };
  for (std::uint32_t before = row_bits; before != shift;) {
    before = shift;
    add("bank", organisation.banks);
    add("rank", organisation.ranks);
  }
  return list;
}

AddressMap::AddressMap(const AddressMapOptions& options, const std::string& pointer,
                       KeyContext& context)
    : stacks_(options.stacks), units_(options.units),
      bytes_(options.organisation.bytes() * options.units * options.stacks) {
  ensure(stacks_ > 0, "an address map without stacks");
  const Shape shape(options);
  set_interleave(options, pointer + "/interleave", context);

  access_bits_ = log2_of(options.organisation.access_bytes);
  std::uint32_t from = access_bits_;
  std::array<std::uint32_t, kFields> done{};
  const std::vector<MapEntry> entries = resolved(options, shape, pointer + "/mapping", context);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const std::size_t field = Shape::index(entry->field);
    add_step({ones(*entry->bits), from, shape.base[field] + done[field]});
    done[field] += *entry->bits;
    from += *entry->bits;
  }

  for (const MapHash& hash : hashes(options.hash, shape, pointer + "/hash", context)) {
    const std::uint32_t bits =
        std::min(shape.bits(hash.target) - hash.bit, shape.bits(hash.source) - hash.shift);
    hashes_[hash_count_++] = {ones(bits), shape.at(hash.source) + hash.shift,
                              shape.at(hash.target) + hash.bit};
  }

  ensure(bytes_ / stacks_ <= std::uint64_t{1} << (8 * kChunks + access_bits_),
         "a memory too large to map");
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk)
    for (std::uint64_t byte = 0; byte < 256; ++byte)
      packed_by_chunk_[chunk][byte] = pack(byte << (8 * chunk + access_bits_));
  // The map is linear, so one address a bit tells.
  while (together_ < options.organisation.columns() &&
         std::uint64_t{together_} << access_bits_ <
             (stacks_ > 1 ? options.interleave.count : bytes_) &&
         locate(std::uint64_t{together_} << access_bits_) == Location{0, 0, 0, together_})
    together_ *= 2;
}

std::uint64_t AddressMap::pack(std::uint64_t local) const {
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < step_count_; ++i)
    packed |= steps_[i].of(local);
  for (std::size_t i = 0; i < hash_count_; ++i)
    packed ^= hashes_[i].of(packed);
  return packed;
}

void AddressMap::set_interleave(const AddressMapOptions& options, const std::string& pointer,
                                KeyContext& context) {
  const std::uint64_t size = options.interleave.count;
  const Bytes access{options.organisation.access_bytes};
  if (!std::has_single_bit(size) || size < access.count || bytes_ / stacks_ % size != 0)
    return context.fault(context.place_of(pointer),
                         fmt::format("{} does not divide the memory evenly, expected a power of "
                                     "two from {} on",
                                     print(options.interleave), print(access)));
  interleave_shift_ = log2_of(size);
  interleave_mask_ = size - 1;
  // chunk / stacks = (chunk · reciprocal) >> 64, exact while chunk < 2^64 / stacks (Granlund and
  // Montgomery, PLDI 1994).
  reciprocal_ = ~std::uint64_t{0} / stacks_ + 1;
  ensure(bytes_ >> interleave_shift_ < ~std::uint64_t{0} / stacks_, "a memory too large to map");
}

void AddressMap::add_step(const Step& step) {
  if (step.mask == 0) return;
  if (step_count_ > 0) {
    Step& last = steps_[step_count_ - 1];
    const auto bits = static_cast<std::uint32_t>(std::popcount(last.mask));
    if (last.from + bits == step.from && last.to + bits == step.to) {
      last.mask |= step.mask << bits; // the row's mask may run over: nothing is above it
      return;
    }
  }
  steps_[step_count_++] = step;
}

std::uint64_t AddressMap::address_of(const Location& location) const {
  const std::uint64_t stack = location.unit / units_;
  std::uint64_t packed = location.unit % units_ | std::uint64_t{location.bank} << kBankAt |
                         std::uint64_t{location.column} << kColumnAt |
                         std::uint64_t{location.row} << kRowAt;
  for (std::size_t i = hash_count_; i-- > 0;)
    packed ^= hashes_[i].of(packed);
  std::uint64_t local = 0;
  for (std::size_t i = 0; i < step_count_; ++i)
    local |= steps_[i].back(packed);
  if (stacks_ == 1) return local;
  const std::uint64_t chunk = (local >> interleave_shift_) * stacks_ + stack;
  return chunk << interleave_shift_ | (local & interleave_mask_);
}

} // namespace umf::hw::dram
