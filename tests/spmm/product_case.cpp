#include "spmm/product_case.hpp"

#include "spmm/reference.hpp"
#include "support/extended.hpp"
#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar, class Exec>
void expect_product(Exec const& exec, Storages storages, ProductCase<Scalar> const& c,
                    std::type_identity_t<Multiply<Scalar, Exec>> const& multiply) {
  auto const x_values = c.X();
  auto const y_values = c.Y();
  auto const X = make_block(exec, storages.X, x_values);
  auto const Y = make_block(exec, storages.Y, y_values);
  multiply(X.const_view(), Y.view);
  exec.fence("Blockspan::test");
  EXPECT_TRUE(
      matches(Y.values(), reference_product(c.op, c.alpha, c.A, x_values, c.beta, y_values)))
      << c.words() << ", X " << to_string(storages.X) << ", Y " << to_string(storages.Y)
      << ", alpha " << magnitude(c.alpha) << ", beta " << magnitude(c.beta);
  EXPECT_TRUE(Y.surroundings_intact()) << c.words();
}

#define INSTANTIATE(Scalar, Exec)                                                 \
  template void expect_product(Exec const&, Storages, ProductCase<Scalar> const&, \
                               Multiply<Scalar, Exec> const&);
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
