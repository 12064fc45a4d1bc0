#include "app/program.h"

int main(int argc, char** argv) {
  return umf::app::run_program(argc, argv);
}
