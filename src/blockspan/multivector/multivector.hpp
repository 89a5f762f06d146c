#pragma once

// Includes all operations on blocks of vectors.
#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/multivector/combine.hpp>
#include <blockspan/multivector/convert.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/multivector/gram.hpp>
#include <blockspan/multivector/orthonormalize.hpp>
