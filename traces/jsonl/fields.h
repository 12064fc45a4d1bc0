#pragma once

#include "model/stream/records.h"

#include <concepts>
#include <string_view>
#include <type_traits>

/// The keys of every object, in the order they are written. A visitor is called as
/// visit(key, field, default) and visit.required(key, field); both the writer and the
/// reader are such visitors, so they cannot disagree.
namespace umf::traces::jsonl {

inline constexpr std::string_view kVersionKey = "umfsim-stream";
inline constexpr std::uint64_t kVersion = 1;

template <class Record>
inline constexpr std::string_view kRecordName = "";
template <>
inline constexpr std::string_view kRecordName<stream::Tensor> = "tensor";
template <>
inline constexpr std::string_view kRecordName<stream::Kernel> = "kernel";
template <>
inline constexpr std::string_view kRecordName<stream::Copy> = "copy";
template <>
inline constexpr std::string_view kRecordName<stream::Sync> = "sync";
template <>
inline constexpr std::string_view kRecordName<stream::Alloc> = "alloc";
template <>
inline constexpr std::string_view kRecordName<stream::Free> = "free";
template <>
inline constexpr std::string_view kRecordName<stream::Request> = "request";
template <>
inline constexpr std::string_view kRecordName<stream::Mark> = "mark";
template <>
inline constexpr std::string_view kRecordName<stream::Oddity> = "oddity";

/// T or const T.
template <class Given, class T>
concept Is = std::same_as<std::remove_const_t<Given>, T>;

void fields(auto& visit, Is<stream::StreamId> auto& stream) {
  visit("device", stream.device);
  visit("stream", stream.stream);
}

void fields(auto& visit, Is<stream::Device> auto& device) {
  visit.required("id", device.id);
  visit("name", device.name);
  visit("memory_bytes", device.memory);
  visit("sms", device.sms);
  visit("architecture", device.architecture);
  visit("max_threads_per_sm", device.max_threads_per_sm);
  visit("registers_per_sm", device.registers_per_sm);
  visit("shared_memory_per_sm_bytes", device.shared_memory_per_sm);
  visit("clock_hz", device.clock);
}

void fields(auto& visit, Is<stream::Header> auto& header) {
  visit("format", header.format);
  visit("source", header.source);
  visit("provenance", header.provenance);
  visit("epoch_unix_ns", header.epoch_unix_ns);
  visit("devices", header.devices);
}

void fields(auto& visit, Is<stream::Tensor> auto& tensor) {
  visit.required("id", tensor.id);
  visit("name", tensor.name);
  visit("role", tensor.role);
  visit("dtype", tensor.dtype);
  visit("shape", tensor.shape);
  visit("bytes", tensor.bytes);
  visit("layer", tensor.layer, -1);
}

void fields(auto& visit, Is<stream::Access> auto& access) {
  visit.required("tensor", access.tensor);
  visit("write", access.write);
  visit("rule", access.rule, stream::Rule::unknown);
  visit("pattern", access.pattern);
  visit("offset_bytes", access.offset);
  visit("length_bytes", access.length);
  visit("fraction", access.fraction, 1.0);
  visit("blocks", access.indices);
  visit("block_bytes", access.block_bytes);
  visit("addresses", access.addresses);
}

void fields(auto& visit, Is<stream::Kernel> auto& kernel) {
  visit.required("id", kernel.id);
  visit("name", kernel.name);
  visit("op", kernel.op);
  visit("device", kernel.stream.device);
  visit("stream", kernel.stream.stream);
  visit("issue_ns", kernel.issue_ns);
  visit("start_ns", kernel.start_ns);
  visit("end_ns", kernel.end_ns);
  visit("grid", kernel.grid);
  visit("block", kernel.block);
  visit("registers_per_thread", kernel.registers_per_thread);
  visit("shared_memory_bytes", kernel.shared_memory);
  visit("launch", kernel.launch);
  visit("phase", kernel.phase);
  visit("layer", kernel.layer, -1);
  visit("flops", kernel.flops);
  visit("flops_dtype", kernel.flops_dtype);
  visit("rule", kernel.rule, stream::Rule::unknown);
  visit("accesses", kernel.accesses);
}

void fields(auto& visit, Is<stream::Copy> auto& copy) {
  visit.required("id", copy.id);
  visit("kind", copy.kind);
  visit("device", copy.stream.device);
  visit("stream", copy.stream.stream);
  visit("peer_device", copy.peer_device);
  visit("issue_ns", copy.issue_ns);
  visit("start_ns", copy.start_ns);
  visit("end_ns", copy.end_ns);
  visit("bytes", copy.bytes);
  visit("source_tensor", copy.source);
  visit("destination_tensor", copy.destination);
}

void fields(auto& visit, Is<stream::Sync> auto& sync) {
  visit.required("waiting", sync.waiting);
  visit("awaited", sync.awaited);
  visit("host_waits", sync.host_waits);
  visit("start_ns", sync.start_ns);
  visit("end_ns", sync.end_ns);
}

void fields(auto& visit, Is<stream::Alloc> auto& alloc) {
  visit.required("tensor", alloc.tensor);
}

void fields(auto& visit, Is<stream::Free> auto& free) {
  visit.required("tensor", free.tensor);
  visit("offset_bytes", free.offset);
  visit("length_bytes", free.length);
}

void fields(auto& visit, Is<stream::Request> auto& request) {
  visit.required("id", request.id);
  visit.required("arrival_ns", request.arrival_ns);
  visit("prompt_tokens", request.prompt_tokens);
  visit("output_tokens", request.output_tokens);
  visit("prefix_blocks", request.prefix_blocks);
  visit("service_class", request.service_class);
}

void fields(auto& visit, Is<stream::Mark> auto& mark) {
  visit.required("time_ns", mark.time_ns);
  visit("name", mark.name);
}

void fields(auto& visit, Is<stream::Oddity> auto& oddity) {
  visit.required("code", oddity.code);
  visit("sentence", oddity.sentence);
  visit("count", oddity.count);
  visit("first_place", oddity.first_place);
}

} // namespace umf::traces::jsonl
