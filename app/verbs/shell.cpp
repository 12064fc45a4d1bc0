#include "app/verbs/verbs.h"

#include "app/run/variants.h"
#include "app/version.h"
#include "hw/platform/scenario.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "model/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

/// Shell completion and the man page, from the declarations the parser itself works by.
namespace umf::app {

namespace {

using Out = std::back_insert_iterator<std::string>;

struct Flag {
  std::vector<std::string> names; ///< with their dashes
  std::string help, value;        ///< value: empty for a switch
  std::vector<std::string> choices;
};

struct Verb {
  std::string name, help;
  std::vector<Flag> flags;
  std::string positional; ///< "TRACE..."; empty: takes none
  std::string positional_help;
  std::vector<std::string> choices; ///< of the positional; none: files
};

/// CLI11 keeps a closed list of values in the type's name: "TEXT:{a,b}".
std::vector<std::string> listed(const std::string& type) {
  std::vector<std::string> values;
  const auto open = type.find('{');
  const auto close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return values;
  for (std::size_t at = open + 1; at < close;) {
    const auto end = std::min(type.find(',', at), close);
    values.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return values;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto& kind : policy::kinds())
    names.emplace_back(kind_of(*kind.info));
  return names;
}

std::vector<std::string> component_names() {
  std::vector<std::string> names;
  for (const auto& section : hw::scenario_sections())
    for (const auto* component : section.components)
      if (names.empty() || names.back() != component->name) names.push_back(component->name);
  return names;
}

Flag flag_of(const CLI::Option& option) {
  Flag flag;
  for (const auto& name : option.get_snames())
    flag.names.push_back("-" + name);
  for (const auto& name : option.get_lnames())
    flag.names.push_back("--" + name);
  flag.help = option.get_description();
  if (option.get_items_expected_max() == 0) return flag;
  flag.value = "VALUE";
  flag.choices = listed(option.get_type_name());
  const bool against = option.check_lname("against");
  if (option.check_lname("policy") || against) flag.choices = policy_names();
  if (against) flag.choices.insert(flag.choices.end(), {kBound, "all"});
  return flag;
}

Verb verb_of(const CLI::App& app) {
  Verb verb;
  verb.name = app.get_name();
  verb.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      verb.flags.push_back(flag_of(*option));
      continue;
    }
    const bool many = option->get_items_expected_max() > 1;
    verb.positional += (verb.positional.empty() ? "" : " ") + option->get_name(true);
    if (many) verb.positional += "...";
    verb.positional_help = option->get_description();
    verb.choices = listed(option->get_type_name());
    if (option->get_name(true) == "COMPONENT") verb.choices = component_names();
  }
  return verb;
}

std::vector<Verb> verbs_of(const CLI::App& root) {
  std::vector<Verb> verbs;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb_of(*app));
  return verbs;
}

std::vector<std::string> names_of(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const auto& verb : verbs)
    names.push_back(verb.name);
  return names;
}

std::string flag_words(const Verb& verb) {
  std::vector<std::string> words;
  for (const auto& flag : verb.flags)
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash(const std::vector<Verb>& verbs) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out,
                 "# bash completion of umfsim {}; load it with: source <(umfsim completion bash)\n"
                 "_umfsim() {{\n"
                 "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
                 "  local verb=${{COMP_WORDS[1]}} flags= values=\n"
                 "  COMPREPLY=()\n"
                 "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                 "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
                 "    return\n"
                 "  fi\n"
                 "  case $verb,$prev in\n",
                 kVersion, fmt::join(names_of(verbs), " "));
  for (const auto& verb : verbs)
    for (const auto& flag : verb.flags)
      if (!flag.choices.empty())
        for (const auto& name : flag.names)
          fmt::format_to(out, "    {},{}) values='{}' ;;\n", verb.name, name,
                         fmt::join(flag.choices, " "));
  fmt::format_to(out, "  esac\n  case $verb in\n");
  for (const auto& verb : verbs) {
    fmt::format_to(out, "    {})\n      flags='{}'\n", verb.name, flag_words(verb));
    if (!verb.choices.empty())
      fmt::format_to(out, "      [[ $prev == -* || -n $values ]] || values='{}'\n",
                     fmt::join(verb.choices, " "));
    fmt::format_to(out, "      ;;\n");
  }
  fmt::format_to(out, "  esac\n"
                      "  if [[ $cur == -* ]]; then\n"
                      "    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
                      "  elif [ -n \"$values\" ]; then\n"
                      "    COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
                      "  else\n"
                      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                      "  fi\n"
                      "}}\n"
                      "complete -o filenames -F _umfsim umfsim\n");
  return text;
}

/// Quoted for zsh's _arguments and _describe, inside single quotes.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted;
}

std::string zsh_action(const std::vector<std::string>& choices) {
  return choices.empty() ? "_files" : fmt::format("({})", fmt::join(choices, " "));
}

std::string zsh(const std::vector<Verb>& verbs) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out,
                 "#compdef umfsim\n"
                 "# zsh completion of umfsim {}; put it as _umfsim into a folder of $fpath\n"
                 "_umfsim() {{\n"
                 "  local -a verbs\n"
                 "  verbs=(\n",
                 kVersion);
  for (const auto& verb : verbs)
    fmt::format_to(out, "    '{}:{}'\n", verb.name, zsh_quoted(verb.help));
  fmt::format_to(out, "  )\n"
                      "  if (( CURRENT == 2 )); then\n"
                      "    _describe 'verb' verbs\n"
                      "    return\n"
                      "  fi\n"
                      "  local verb=$words[2]\n"
                      "  shift words\n"
                      "  (( CURRENT-- ))\n"
                      "  case $verb in\n");
  for (const auto& verb : verbs) {
    fmt::format_to(out, "    {})\n      _arguments", verb.name);
    for (const auto& flag : verb.flags)
      for (const auto& name : flag.names)
        fmt::format_to(out, " \\\n        '*{}[{}]{}'", name, zsh_quoted(flag.help),
                       flag.value.empty() ? "" : ":value:" + zsh_action(flag.choices));
    if (!verb.positional.empty())
      fmt::format_to(out, " \\\n        '*:{}:{}'", zsh_quoted(verb.positional),
                     zsh_action(verb.choices));
    fmt::format_to(out, "\n      ;;\n");
  }
  fmt::format_to(out, "  esac\n}}\n"
                      "if [ \"$funcstack[1]\" = _umfsim ]; then _umfsim; else compdef _umfsim "
                      "umfsim; fi\n");
  return text;
}

/// Text for roff: no line begins a request, dashes can be searched for.
std::string roff(const std::string& text) {
  std::string quoted = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      quoted += "\\e";
    else if (c == '-')
      quoted += "\\-";
    else
      quoted += c;
  }
  return quoted;
}

void man_verb(Out out, const Verb& verb) {
  fmt::format_to(out, ".SS umfsim {} {}\n{}.\n", roff(verb.name), roff(verb.positional),
                 roff(verb.help));
  if (!verb.positional.empty())
    fmt::format_to(out, ".TP\n.I {}\n{}.\n", roff(verb.positional), roff(verb.positional_help));
  for (const auto& flag : verb.flags) {
    std::string names = fmt::format("{}", fmt::join(flag.names, ", "));
    fmt::format_to(out, ".TP\n.BR {}", "\"" + roff(names) + "\"");
    if (!flag.value.empty()) fmt::format_to(out, " \" \" {}", roff(flag.value));
    fmt::format_to(out, "\n{}.", roff(flag.help));
    if (!flag.choices.empty())
      fmt::format_to(out, " One of: {}.", roff(fmt::format("{}", fmt::join(flag.choices, ", "))));
    fmt::format_to(out, "\n");
  }
}

std::string man(const std::vector<Verb>& verbs, const std::string& what) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out,
                 ".TH UMFSIM 1 \"\" \"umfsim {}\" \"User Commands\"\n"
                 ".SH NAME\numfsim \\- {}\n"
                 ".SH SYNOPSIS\n.B umfsim\n.I VERB\n[\n.I OPTION\\fR...\n]\n"
                 ".SH DESCRIPTION\n"
                 "Replays GPU kernel traces on a simulated machine whose memory scheduler places "
                 "pages over HBM, on-die SRAM, a CXL pool and host memory, and tells where the "
                 "time went. Machines are scenario files (JSON);\n.B umfsim describe\nlists their "
                 "keys.\n.SH VERBS\n",
                 kVersion, roff(what));
  for (const auto& verb : verbs)
    man_verb(out, verb);
  fmt::format_to(out, ".SH EXIT STATUS\n"
                      ".TP\n0\nAll well.\n"
                      ".TP\n1\nThe run finished and a check failed.\n"
                      ".TP\n2\nWrong usage or input, or a placement that cannot hold the trace; "
                      "one line a fault on standard error.\n"
                      ".TP\n3\nThe machine lacks what was asked.\n"
                      ".TP\n130\nInterrupted; nothing was written.\n"
                      ".SH FILES\nResults go to\n.I umfsim\\-out/\nunless\n.B \\-\\-out\nsays "
                      "otherwise: summary.json, kernels.csv, run.json and what README.md lists.\n");
  return text;
}

} // namespace

Action add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Completion script for a shell");
  verb->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  return [&app, shell] {
    const auto verbs = verbs_of(app);
    print(*shell == "bash" ? bash(verbs) : zsh(verbs));
    return Exit::ok;
  };
}

Action add_man(CLI::App& app) {
  app.add_subcommand("man", "Manual page, as roff: umfsim man | man -l -");
  return [&app] {
    print(man(verbs_of(app), app.get_description().substr(app.get_description().find(": ") + 2)));
    return Exit::ok;
  };
}

} // namespace umf::app
