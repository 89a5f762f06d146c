// A program for the configuration: links where nothing is missing.
#include "mumps.h"

int main() {
  auto* const handle = blockspan_mumps_create(1);
  int one = 1;
  double entry = 1;
  blockspan_mumps_analyse(handle, 1, 1, &one, &one, 1);
  blockspan_mumps_factor(handle, &entry);
  blockspan_mumps_solve(handle, &entry, 1);
  blockspan_mumps_destroy(handle);
}
