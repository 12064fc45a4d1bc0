#include "app/validate/published.h"

#include "model/base/json.h"
#include "model/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace umf::app {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void wrong(Place place, const std::string& pointer, const std::string& what) {
  place.pointer = pointer;
  throw UserError(place, what);
}

std::string text_of(const JsonValue& value, const std::string& pointer) {
  if (!value.is_text() || value.text().empty())
    wrong(value.place(), pointer, value.found() + ", expected a text");
  return value.text();
}

double number_of(const JsonValue& value, const std::string& pointer) {
  double number = 0;
  const std::string& text = value.text();
  if (!value.is_number() ||
      std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{})
    wrong(value.place(), pointer, value.found() + ", expected a number");
  return number;
}

double positive_of(const JsonValue& value, const std::string& pointer) {
  const double number = number_of(value, pointer);
  if (!(number > 0)) wrong(value.place(), pointer, value.found() + ", expected one above 0");
  return number;
}

/// An object whose members are known by name.
class Members {
public:
  Members(const JsonValue& value, std::string pointer, const std::vector<std::string>& known)
      : value_(value), pointer_(std::move(pointer)) {
    if (!value.is_object()) wrong(value.place(), pointer_, value.found() + ", expected an object");
    for (const auto& member : value.members())
      if (std::find(known.begin(), known.end(), member.name) == known.end())
        wrong(member.place, at(member.name), "an unknown key, " + suggestion(member.name, known));
  }
  std::string at(const std::string& name) const { return pointer_ + "/" + pointer_token(name); }
  const JsonValue* find(const std::string& name) const { return value_.find(name); }
  const JsonValue& need(const std::string& name) const {
    const JsonValue* value = find(name);
    if (value == nullptr)
      wrong(value_.place(), pointer_, fmt::format("no {}, expected one", in_quotes(name)));
    return *value;
  }
  std::string text(const std::string& name) const { return text_of(need(name), at(name)); }
  std::string text_or(const std::string& name, const std::string& otherwise) const {
    return find(name) == nullptr ? otherwise : text(name);
  }

private:
  const JsonValue& value_;
  std::string pointer_;
};

/// Calls `read` with each member of an object, or each item of a list, and its pointer.
template <class Read>
void each_member(const JsonValue* value, const std::string& pointer, Read read) {
  if (value == nullptr) return;
  if (!value->is_object()) wrong(value->place(), pointer, value->found() + ", expected an object");
  for (const auto& member : value->members())
    read(member.name, member.value, pointer + "/" + pointer_token(member.name));
}

template <class Read>
void each_item(const JsonValue* value, const std::string& pointer, Read read) {
  if (value == nullptr) return;
  if (!value->is_array()) wrong(value->place(), pointer, value->found() + ", expected a list");
  std::size_t n = 0;
  for (const auto& item : value->items())
    read(item, pointer + "/" + std::to_string(n++));
}

std::vector<std::string> texts_of(const JsonValue* value, const std::string& pointer) {
  std::vector<std::string> texts;
  each_item(value, pointer, [&](const JsonValue& item, const std::string& at) {
    texts.push_back(text_of(item, at));
  });
  return texts;
}

Published::Machine machine_of(const JsonValue& value, const std::string& pointer,
                              const fs::path& beside) {
  const Members members(value, pointer, {"scenario", "sets", "why"});
  const fs::path path = (beside / members.text("scenario")).lexically_normal();
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    wrong(members.need("scenario").place(), members.at("scenario"),
          fmt::format("no file {}, expected a scenario, named from this file's folder",
                      in_quotes(path.string())));
  Published::Machine machine{path.string(), texts_of(members.find("sets"), members.at("sets"))};
  if (!machine.sets.empty()) members.text("why"); // a setting of the machine needs a reason
  return machine;
}

Gate gate_of(const JsonValue& value, const std::string& pointer) {
  const Members members(value, pointer, {"rows", "limit", "of", "reason"});
  Gate gate;
  gate.rows = members.text("rows");
  gate.limit = positive_of(members.need("limit"), members.at("limit"));
  const std::string of = members.text("of");
  if (of != "mean" && of != "each")
    wrong(members.need("of").place(), members.at("of"),
          fmt::format("{}, expected \"mean\" or \"each\"", in_quotes(of)));
  gate.of = of == "mean" ? Gate::Of::mean : Gate::Of::each;
  gate.reason = members.text_or("reason", "");
  return gate;
}

PublishedRow row_of(const JsonValue& value, const std::string& pointer) {
  const Members members(value, pointer, {"id", "group", "what", "value", "unit", "source", "peak"});
  PublishedRow row;
  row.id = members.text("id");
  row.group = members.text("group");
  row.what = members.text("what");
  row.unit = members.text("unit");
  row.source = members.text("source");
  row.value = positive_of(members.need("value"), members.at("value"));
  if (const JsonValue* peak = members.find("peak"))
    row.peak = positive_of(*peak, members.at("peak"));
  row.place = value.place();
  row.place.pointer = pointer;
  return row;
}

} // namespace

namespace {

/// "NAME/3..17" stands for those numbers behind "NAME/".
bool in_range(const std::string& id, const std::string& range) {
  const std::size_t slash = range.rfind('/'), dots = range.find("..", slash);
  if (slash == std::string::npos || dots == std::string::npos) return false;
  if (id.compare(0, slash + 1, range, 0, slash + 1) != 0) return false;
  std::uint64_t number = 0, from = 0, to = 0;
  const auto read = [](const char* begin, const char* end, std::uint64_t& value) {
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc{} && stop == end;
  };
  return read(id.data() + slash + 1, id.data() + id.size(), number) &&
         read(range.data() + slash + 1, range.data() + dots, from) &&
         read(range.data() + dots + 2, range.data() + range.size(), to) && number >= from &&
         number <= to;
}

} // namespace

bool Published::fitted(const std::string& id) const {
  for (const Fit& fit : fits)
    for (const std::string& ids : fit.rows)
      if ((ids.ends_with('*') ? id.starts_with(ids.substr(0, ids.size() - 1)) : id == ids) ||
          in_range(id, ids))
        return true;
  return false;
}

const Published::Machine& Published::machine(const std::string& name) const {
  const auto found = machines.find(name);
  if (found == machines.end())
    throw UserError(Place{.file = file, .pointer = "/machines"},
                    fmt::format("no machine {}, expected one", in_quotes(name)));
  return found->second;
}

double Published::figure(const std::string& name) const {
  const auto found = figures.find(name);
  if (found == figures.end())
    throw UserError(Place{.file = file, .pointer = "/figures"},
                    fmt::format("no figure {}, expected one", in_quotes(name)));
  return found->second;
}

Published read_published(const fs::path& folder, const std::string& suite) {
  const fs::path path = folder / (suite + ".json");
  const JsonValue document = read_json_file(path);
  const Members members(
      document, "", {"title", "source", "data", "machines", "figures", "gates", "fitted", "rows"});
  Published published;
  published.suite = suite;
  published.file = path.string();
  published.title = members.text("title");
  published.source = members.text("source");
  each_member(members.find("data"), "/data",
              [&](const std::string& name, const JsonValue& value, const std::string& at) {
                published.data[name] = text_of(value, at);
              });
  each_member(members.find("machines"), "/machines",
              [&](const std::string& name, const JsonValue& value, const std::string& at) {
                published.machines[name] = machine_of(value, at, folder);
              });
  each_member(members.find("figures"), "/figures",
              [&](const std::string& name, const JsonValue& value, const std::string& at) {
                const Members figure(value, at, {"value", "source"});
                figure.text("source");
                published.figures[name] = number_of(figure.need("value"), figure.at("value"));
              });
  each_item(&members.need("gates"), "/gates", [&](const JsonValue& value, const std::string& at) {
    published.gates.push_back(gate_of(value, at));
  });
  each_item(members.find("fitted"), "/fitted", [&](const JsonValue& value, const std::string& at) {
    const Members fit(value, at, {"parameter", "rows"});
    published.fits.push_back({fit.text("parameter"), texts_of(&fit.need("rows"), fit.at("rows"))});
  });
  std::set<std::string> ids;
  each_item(members.find("rows"), "/rows", [&](const JsonValue& value, const std::string& at) {
    published.rows.push_back(row_of(value, at));
    if (!ids.insert(published.rows.back().id).second)
      wrong(value.place(), at,
            fmt::format("{} is there twice, expected an id a row",
                        in_quotes(published.rows.back().id)));
  });
  return published;
}

} // namespace umf::app
