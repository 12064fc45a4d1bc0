#pragma once

#include <systemc>
#include <tlm>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Third parties' TLM-2.0 targets that scenarios may name.
namespace umf::hw {

/// Makes a module called `name` and binds `socket` to its target socket. One call a tier, and
/// one a GPU for memory on the package.
using MakeForeign = std::function<std::unique_ptr<sc_core::sc_module>(
    const char* name, tlm::tlm_initiator_socket<>& socket)>;

/// From here on `"kind": "foreign", "model": MODEL` in a scenario means what `make` makes.
/// To be called before the scenario is read; a second module of one name is an InvariantError.
void register_foreign_module(const std::string& model, MakeForeign make);

/// Null: none of that name.
const MakeForeign* foreign_module(const std::string& model);
/// In alphabetical order.
std::vector<std::string> foreign_models();

} // namespace umf::hw
