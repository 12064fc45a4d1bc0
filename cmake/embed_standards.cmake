# cmake -DFOLDER=hw/dram/standards -DOUT=shipped_standards.cpp -P embed_standards.cmake
# Writes the source file that holds every JSON file of the folder, by name.
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WLE)
  file(READ "${file}" text)
  string(APPEND entries "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE "${OUT}" "#include \"hw/dram/standard.h\"

namespace umf::hw::dram {

std::span<const EmbeddedStandard> shipped_standards() {
  static constexpr EmbeddedStandard all[] = {
${entries}  };
  return all;
}

} // namespace umf::hw::dram
")
