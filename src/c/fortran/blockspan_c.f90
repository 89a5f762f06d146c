! blockspan.h in Fortran 2008: constants, structs and functions as they are in C, and blocks of arrays.
! Programs use the module blockspan, which stands on this one.
module blockspan_c
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int32_t), parameter :: &
      blockspan_ok = 0, blockspan_bad_input = 1, blockspan_out_of_memory = 2, &
      blockspan_not_built = 3, blockspan_callback_failed = 4, blockspan_internal = 5, &
      blockspan_not_definite = 6
  integer(c_int32_t), parameter :: &
      blockspan_float = 1, blockspan_double = 2, blockspan_complex_float = 3, &
      blockspan_complex_double = 4
  integer(c_int32_t), parameter :: blockspan_host = 0, blockspan_device = 1
  integer(c_int32_t), parameter :: &
      blockspan_op_none = 0, blockspan_op_transpose = 1, blockspan_op_conjugate = 2, &
      blockspan_op_adjoint = 3
  integer(c_int32_t), parameter :: blockspan_smallest = 0, blockspan_largest = 1
  integer(c_int32_t), parameter :: &
      blockspan_digits = 0, blockspan_backward = 1, blockspan_relative = 2
  integer(c_int32_t), parameter :: &
      blockspan_path_automatic = 0, blockspan_path_iterative = 1, blockspan_path_dense = 2
  integer(c_int32_t), parameter :: &
      blockspan_cg_automatic = 0, blockspan_cg_pseudo_block = 1, blockspan_cg_block = 2
  integer(c_int32_t), parameter :: blockspan_for_systems = 0, blockspan_for_eigenpairs = 1
  integer(c_int32_t), parameter :: blockspan_normal = 0, blockspan_buckling = 1, &
      blockspan_cayley = 2
  integer(c_int32_t), parameter :: &
      blockspan_proof_none = 0, blockspan_proof_proved = 1, blockspan_proof_tied = 2, &
      blockspan_proof_missing = 3, blockspan_proof_uncountable = 4
  integer(c_int32_t), parameter :: &
      blockspan_converged = 0, blockspan_zero_rhs = 1, blockspan_zero_eigenvalue = 2, &
      blockspan_attainable_limit = 3, blockspan_max_iterations = 4, blockspan_time_limit = 5, &
      blockspan_stagnated = 6, blockspan_not_converged = 7, blockspan_operator_not_finite = 8, &
      blockspan_operator_not_hermitian = 9, blockspan_mass_not_positive_definite = 10, &
      blockspan_mass_singular = 11, blockspan_missing_pairs = 12, blockspan_singular_pencil = 13, &
      blockspan_stopped_by_monitor = 14, blockspan_out_of_range = 15, &
      blockspan_nonfinite_rhs = 16, blockspan_negative_curvature = 17, blockspan_singular = 18, &
      blockspan_inconsistent = 19, blockspan_preconditioner_not_spd = 20

  ! The structs of blockspan.h, field by field; a test compares their sizes.
  type, bind(c) :: blockspan_block
    type(c_ptr) :: data
    integer(c_int64_t) :: rows, columns, row_stride, column_stride
    integer(c_int32_t) :: scalar, space
  end type
  type, bind(c) :: blockspan_context_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: threads, device
    type(c_ptr) :: stream
  end type
  type, bind(c) :: blockspan_preconditioner_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: purpose, block_size, adaptive, columns
    real(c_double) :: ratio
    type(c_ptr) :: near_null, coordinates, mass
  end type
  type, bind(c) :: blockspan_summary
    integer(c_size_t) :: size = 40
    integer(c_int32_t) :: status = -1, iterations = 0, converged = 0, proof = 0
    integer(c_int64_t) :: operator_applications = 0
    real(c_double) :: seconds = 0
  end type
  type, bind(c) :: blockspan_progress
    integer(c_size_t) :: size
    integer(c_int32_t) :: iteration, converged, wanted, columns
    type(c_ptr) :: values, residuals
  end type
  type, bind(c) :: blockspan_lobpcg_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: wanted, block, widest_block, which, criterion, digits, path, &
        max_iterations, guess_columns, probe, check_hermitian, certify
    real(c_double) :: tolerance, time_limit
    integer(c_int64_t) :: seed
    type(c_ptr) :: preconditioner, constraints
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type
  type, bind(c) :: blockspan_cg_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: method, max_iterations, use_guess, widest_block, max_cycles, &
        single_reduction
    real(c_double) :: tolerance, absolute_tolerance, time_limit
    type(c_ptr) :: preconditioner, null_space
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type
  type, bind(c) :: blockspan_exact_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: pairs, block, basis, slice, count, form, max_steps, reserved
    real(c_double) :: tolerance, time_limit
    integer(c_int64_t) :: memory_limit, seed
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type

  ! The block of an array of rank 1 or 2, or of a section of one, where it is.
  interface blockspan_block_of
    module procedure block_s1, block_s2, block_d1, block_d2, block_c1, block_c2, block_z1, block_z2
  end interface
  private :: block_s1, block_s2, block_d1, block_d2, block_c1, block_c2, block_z1, block_z2
  private :: block_at

  ! Functions of C that serve as they are.
  interface
    integer(c_int32_t) function blockspan_version(major, minor, patch) bind(c)
      import :: c_int32_t
      integer(c_int32_t), intent(out) :: major, minor, patch
    end function
    integer(c_int32_t) function blockspan_sizes(sizes, count) bind(c)
      import :: c_int32_t
      integer(c_int32_t), intent(out) :: sizes(*)
      integer(c_int32_t), value :: count
    end function
    integer(c_int32_t) function blockspan_context_destroy(context) bind(c)
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: context
    end function
    integer(c_int32_t) function blockspan_matrix_csr(context, scalar, rows, columns, offsets, &
        offset_bits, column_indices, values, space, matrix) bind(c)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, offsets, column_indices, values
      integer(c_int32_t), value :: scalar, offset_bits, space
      integer(c_int64_t), value :: rows, columns
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int32_t) function blockspan_matrix_csr_from_one(context, scalar, rows, columns, &
        offsets, offset_bits, column_indices, values, space, matrix) bind(c)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, offsets, column_indices, values
      integer(c_int32_t), value :: scalar, offset_bits, space
      integer(c_int64_t), value :: rows, columns
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int32_t) function blockspan_matrix_distributed(context, scalar, cuts, own_offsets, &
        own_columns, own_values, other_offsets, other_columns, other_values, matrix) bind(c)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, own_values, other_values
      integer(c_int32_t), value :: scalar
      integer(c_int64_t), intent(in) :: cuts(*), other_columns(*)
      integer(c_int32_t), target :: own_offsets(*), own_columns(*), other_offsets(*)
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int32_t) function blockspan_operator_destroy(op) bind(c)
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int32_t) function blockspan_apply_operator(op, x, y) bind(c)
      import :: c_int32_t, c_ptr, blockspan_block
      type(c_ptr), value :: op
      type(blockspan_block) :: x, y
    end function
    integer(c_int32_t) function blockspan_context_defaults_c(options, size) &
        bind(c, name="blockspan_context_defaults")
      import :: c_int32_t, c_size_t, blockspan_context_options
      type(blockspan_context_options), intent(out) :: options
      integer(c_size_t), value :: size
    end function
    integer(c_int32_t) function blockspan_preconditioner_defaults_c(options, size) &
        bind(c, name="blockspan_preconditioner_defaults")
      import :: c_int32_t, c_size_t, blockspan_preconditioner_options
      type(blockspan_preconditioner_options), intent(out) :: options
      integer(c_size_t), value :: size
    end function
    integer(c_int32_t) function blockspan_lobpcg_defaults_c(options, size) &
        bind(c, name="blockspan_lobpcg_defaults")
      import :: c_int32_t, c_size_t, blockspan_lobpcg_options
      type(blockspan_lobpcg_options), intent(out) :: options
      integer(c_size_t), value :: size
    end function
    integer(c_int32_t) function blockspan_cg_defaults_c(options, size) &
        bind(c, name="blockspan_cg_defaults")
      import :: c_int32_t, c_size_t, blockspan_cg_options
      type(blockspan_cg_options), intent(out) :: options
      integer(c_size_t), value :: size
    end function
    integer(c_int32_t) function blockspan_exact_defaults_c(options, size) &
        bind(c, name="blockspan_exact_defaults")
      import :: c_int32_t, c_size_t, blockspan_exact_options
      type(blockspan_exact_options), intent(out) :: options
      integer(c_size_t), value :: size
    end function
  end interface

  ! Functions of C whose NULL is an absent argument below.
  interface
    integer(c_int32_t) function context_create_c(options, context) &
        bind(c, name="blockspan_context_create")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: context
    end function
    integer(c_int32_t) function context_create_mpi_c(options, comm, context) &
        bind(c, name="blockspan_context_create_mpi_fortran")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int32_t), value :: comm
      type(c_ptr), intent(inout) :: context
    end function
    integer(c_int32_t) function operator_callback_c(context, scalar, cuts, local_rows, apply, &
        user, by_columns, name, op) bind(c, name="blockspan_operator_callback")
      import :: c_int32_t, c_int64_t, c_ptr, c_funptr, c_char
      type(c_ptr), value :: context, cuts, user
      integer(c_int32_t), value :: scalar, by_columns
      integer(c_int64_t), value :: local_rows
      type(c_funptr), value :: apply
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int32_t) function preconditioner_c(matrix, words, options, preconditioner) &
        bind(c, name="blockspan_preconditioner")
      import :: c_int32_t, c_ptr, c_char
      type(c_ptr), value :: matrix, options
      character(kind=c_char), intent(in) :: words(*)
      type(c_ptr), intent(inout) :: preconditioner
    end function
    integer(c_int32_t) function refresh_c(op, other_values) &
        bind(c, name="blockspan_operator_refresh")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: op, other_values
    end function
    integer(c_int32_t) function multiply_c(matrix, op, alpha, x, beta, y) &
        bind(c, name="blockspan_multiply")
      import :: c_int32_t, c_ptr, blockspan_block
      type(c_ptr), value :: matrix, alpha, beta
      integer(c_int32_t), value :: op
      type(blockspan_block) :: x, y
    end function
    integer(c_int32_t) function lobpcg_c(a, mass, x, options, values, backward_errors, statuses, &
        summary) bind(c, name="blockspan_lobpcg")
      import :: c_int32_t, c_ptr, blockspan_block
      type(c_ptr), value :: a, mass, options, values, backward_errors, statuses, summary
      type(blockspan_block) :: x
    end function
    integer(c_int32_t) function solve_spd_c(a, b, x, options, residuals, statuses, iterations, &
        summary) bind(c, name="blockspan_solve_spd")
      import :: c_int32_t, c_ptr, blockspan_block
      type(c_ptr), value :: a, options, residuals, statuses, iterations, summary
      type(blockspan_block) :: b, x
    end function
    integer(c_int32_t) function near_c(k, m, sigma, x, options, found, values, backward_errors, &
        statuses, summary) bind(c, name="blockspan_eigenpairs_near")
      import :: c_int32_t, c_ptr, c_double, blockspan_block
      type(c_ptr), value :: k, m, options, found, values, backward_errors, statuses, summary
      real(c_double), value :: sigma
      type(blockspan_block) :: x
    end function
    integer(c_int32_t) function inside_c(k, m, from, to, x, options, found, values, &
        backward_errors, statuses, summary) bind(c, name="blockspan_eigenpairs_in")
      import :: c_int32_t, c_ptr, c_double, blockspan_block
      type(c_ptr), value :: k, m, options, found, values, backward_errors, statuses, summary
      real(c_double), value :: from, to
      type(blockspan_block) :: x
    end function
    integer(c_int32_t) function count_c(k, m, from, to, options, number, trusted) &
        bind(c, name="blockspan_count_eigenvalues")
      import :: c_int32_t, c_int64_t, c_ptr, c_double
      type(c_ptr), value :: k, m, options
      real(c_double), value :: from, to
      integer(c_int64_t), intent(out) :: number
      integer(c_int32_t), intent(out) :: trusted
    end function
    integer(c_int32_t) function text_c(handle, text, capacity, needed) &
        bind(c, name="blockspan_operator_describe")
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle, text
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int32_t) function report_c(handle, text, capacity, needed) &
        bind(c, name="blockspan_report")
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle, text
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: needed
    end function
    type(c_ptr) function last_error_c() bind(c, name="blockspan_last_error")
      import :: c_ptr
    end function
    type(c_ptr) function status_name_c(status) bind(c, name="blockspan_status_name")
      import :: c_ptr, c_int32_t
      integer(c_int32_t), value :: status
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Of elements of `bytes` bytes at the places of (1, 1), (2, 1) and (1, 2); without the second or third
  ! these are that of the first.
  function block_at(places, rows, columns, bytes, scalar) result(b)
    type(c_ptr), intent(in) :: places(3)
    integer(c_int64_t), intent(in) :: rows, columns, bytes
    integer(c_int32_t), intent(in) :: scalar
    type(blockspan_block) :: b
    integer(c_intptr_t) :: at(3)
    at = transfer(places, at)
    b = blockspan_block(places(1), rows, columns, 1_c_int64_t, max(rows, 1_c_int64_t), scalar, &
        blockspan_host)
    if (rows > 1) b%row_stride = (at(2) - at(1)) / bytes
    if (columns > 1) b%column_stride = (at(3) - at(1)) / bytes
    if (any(mod(at - at(1), bytes) /= 0)) b%data = c_null_ptr  ! refused: between elements
  end function

  function block_s1(x) result(b)
    real(c_float), target :: x(:)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1)), c_loc(x(min(2, size(x)))), c_loc(x(1))]
    b = block_at(at, size(x, 1, c_int64_t), 1_c_int64_t, 4_c_int64_t, blockspan_float)
  end function
  function block_s2(x) result(b)
    real(c_float), target :: x(:, :)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1, 1)), c_loc(x(min(2, size(x, 1)), 1)), &
        c_loc(x(1, min(2, size(x, 2))))]
    b = block_at(at, size(x, 1, c_int64_t), size(x, 2, c_int64_t), 4_c_int64_t, blockspan_float)
  end function

  function block_d1(x) result(b)
    real(c_double), target :: x(:)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1)), c_loc(x(min(2, size(x)))), c_loc(x(1))]
    b = block_at(at, size(x, 1, c_int64_t), 1_c_int64_t, 8_c_int64_t, blockspan_double)
  end function
  function block_d2(x) result(b)
    real(c_double), target :: x(:, :)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1, 1)), c_loc(x(min(2, size(x, 1)), 1)), &
        c_loc(x(1, min(2, size(x, 2))))]
    b = block_at(at, size(x, 1, c_int64_t), size(x, 2, c_int64_t), 8_c_int64_t, blockspan_double)
  end function

  function block_c1(x) result(b)
    complex(c_float_complex), target :: x(:)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1)), c_loc(x(min(2, size(x)))), c_loc(x(1))]
    b = block_at(at, size(x, 1, c_int64_t), 1_c_int64_t, 8_c_int64_t, blockspan_complex_float)
  end function
  function block_c2(x) result(b)
    complex(c_float_complex), target :: x(:, :)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1, 1)), c_loc(x(min(2, size(x, 1)), 1)), &
        c_loc(x(1, min(2, size(x, 2))))]
    b = block_at(at, size(x, 1, c_int64_t), size(x, 2, c_int64_t), 8_c_int64_t, blockspan_complex_float)
  end function

  function block_z1(x) result(b)
    complex(c_double_complex), target :: x(:)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1)), c_loc(x(min(2, size(x)))), c_loc(x(1))]
    b = block_at(at, size(x, 1, c_int64_t), 1_c_int64_t, 16_c_int64_t, blockspan_complex_double)
  end function
  function block_z2(x) result(b)
    complex(c_double_complex), target :: x(:, :)
    type(blockspan_block) :: b
    type(c_ptr) :: at(3)
    at = c_null_ptr
    if (size(x) > 0) at = [c_loc(x(1, 1)), c_loc(x(min(2, size(x, 1)), 1)), &
        c_loc(x(1, min(2, size(x, 2))))]
    b = block_at(at, size(x, 1, c_int64_t), size(x, 2, c_int64_t), 16_c_int64_t, blockspan_complex_double)
  end function
end module
