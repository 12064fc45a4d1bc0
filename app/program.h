#pragma once

namespace umf::app {

/// The whole `umfsim` command; returns its exit status. A program with modules of its own
/// registers them and then calls this (examples/foreign-tier).
int run_program(int argc, char** argv);

} // namespace umf::app
