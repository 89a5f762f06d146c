#pragma once

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>
