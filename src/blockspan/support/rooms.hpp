#pragma once

/// The private names of a room are in a namespace of its own; names in `blockspan` itself are for
/// users. A room uses the names of the rooms that it is built on, and of no other: the
/// using-directives below are the complete order.
namespace blockspan {

namespace support {}
namespace communication {
using namespace support;
}
namespace blocks {
using namespace communication;
}
namespace multivector {
using namespace blocks;
}
namespace sparse {
using namespace blocks;
}
namespace products {  // spmm/
using namespace sparse;
}
namespace published {
using namespace products;
}
namespace operators {
using namespace products;
using namespace multivector;
}  // namespace operators
namespace levels {  // multigrid/
using namespace operators;
}
namespace distributed {
using namespace levels;
}
namespace solvers {  // what both solvers share
using namespace operators;
}
namespace eigen {  // solvers/lobpcg/, solvers/dense/
using namespace solvers;
}
namespace exact {  // solvers/exact/
using namespace solvers;
}
namespace krylov {  // solvers/cg/
using namespace solvers;
}

}  // namespace blockspan
