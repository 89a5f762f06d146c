// Compiled into every program that links Blockspan::published. Nothing calls its kernels by name,
// so a linker would drop them; here they are registered in the tables of the core.

namespace blockspan::published {

void register_published_library();

namespace {
[[maybe_unused]] bool const kernels_are_registered = (register_published_library(), true);
}

}  // namespace blockspan::published
