// Compiled into every program that links Blockspan::published: nothing calls its kernels by name,
// so a linker would leave them out, and they enter themselves into the tables of the core here.

namespace blockspan::published {

void register_published_library();

namespace {
[[maybe_unused]] bool const kernels_are_registered = (register_published_library(), true);
}

}  // namespace blockspan::published
