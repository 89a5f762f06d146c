! Blockspan from Fortran 2008: the functions of blockspan.h with their names, see there what they do.
!
! - Every function returns a code, 0 for success; blockspan_error_text() says what is wrong.
! - Handles are type(c_ptr), c_null_ptr before they are made.
! - blockspan_matrix takes offsets and columns that count from 1 and copies them; values are used
!   where they are and have to stay there: target, and contiguous. blockspan_matrix_csr is C's, from 0.
! - blockspan_block_of(X) is the block of an array of rank 1 or 2, target, or of a section of one such as
!   X(1:n, 2:5), not copied. Of components of records and of vector subscripts compilers pass copies,
!   which are gone on return: not these.
! - What C takes as an address or NULL is optional here.
! - Arguments whose memory the library keeps or reaches have no intent here: with intent(in) gfortran
!   may assume that what is behind them stays as it is.
! - Callbacks are module procedures with bind(c), passed by c_funloc; internal procedures would need
!   an executable stack.
module blockspan
  use, intrinsic :: iso_c_binding
  use blockspan_c
  implicit none
  private :: text_of, square_matrix, doubles, integers, summary_of, given
  private :: context_create_c, context_create_mpi_c, operator_callback_c, preconditioner_c
  private :: refresh_c, multiply_c, lobpcg_c, solve_spd_c, near_c, inside_c, count_c, text_c
  private :: report_c, last_error_c, status_name_c, strlen

  ! Options with the library's defaults.
  interface blockspan_defaults
    module procedure context_defaults, preconditioner_defaults, lobpcg_defaults, cg_defaults, &
        exact_defaults
  end interface
  private :: context_defaults, preconditioner_defaults, lobpcg_defaults, cg_defaults, exact_defaults

  ! A square matrix in compressed rows, of arrays that count from 1.
  interface blockspan_matrix
    module procedure matrix_s, matrix_d, matrix_c, matrix_z
  end interface
  private :: matrix_s, matrix_d, matrix_c, matrix_z

contains

  function text_of(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    length = int(strlen(c_text))
    call c_f_pointer(c_text, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! What is wrong, of the last call that failed.
  function blockspan_error_text() result(text)
    character(:), allocatable :: text
    text = text_of(last_error_c())
  end function

  function blockspan_status_text(status) result(text)
    integer(c_int32_t), intent(in) :: status
    character(:), allocatable :: text
    text = text_of(status_name_c(status))
  end function

  ! Empty where the call fails.
  function blockspan_description(op) result(text)
    type(c_ptr), intent(in) :: op
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: letters(:)
    integer(c_size_t) :: needed, again
    text = ""
    needed = 0
    if (text_c(op, c_null_ptr, 0_c_size_t, needed) /= 0) return
    allocate (letters(needed))
    if (text_c(op, c_loc(letters), needed, again) == 0) text = text_of(c_loc(letters))
  end function

  function blockspan_report_text(context) result(text)
    type(c_ptr), intent(in) :: context
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: letters(:)
    integer(c_size_t) :: needed, again
    text = ""
    needed = 0
    if (report_c(context, c_null_ptr, 0_c_size_t, needed) /= 0) return
    allocate (letters(needed))
    if (report_c(context, c_loc(letters), needed, again) == 0) text = text_of(c_loc(letters))
  end function

  subroutine context_defaults(options)
    type(blockspan_context_options), intent(out) :: options
    integer(c_int32_t) :: code
    code = blockspan_context_defaults_c(options, c_sizeof(options))
  end subroutine

  subroutine preconditioner_defaults(options)
    type(blockspan_preconditioner_options), intent(out) :: options
    integer(c_int32_t) :: code
    code = blockspan_preconditioner_defaults_c(options, c_sizeof(options))
  end subroutine

  subroutine lobpcg_defaults(options)
    type(blockspan_lobpcg_options), intent(out) :: options
    integer(c_int32_t) :: code
    code = blockspan_lobpcg_defaults_c(options, c_sizeof(options))
  end subroutine

  subroutine cg_defaults(options)
    type(blockspan_cg_options), intent(out) :: options
    integer(c_int32_t) :: code
    code = blockspan_cg_defaults_c(options, c_sizeof(options))
  end subroutine

  subroutine exact_defaults(options)
    type(blockspan_exact_options), intent(out) :: options
    integer(c_int32_t) :: code
    code = blockspan_exact_defaults_c(options, c_sizeof(options))
  end subroutine

  integer(c_int32_t) function matrix_s(context, offsets, columns, values, matrix) result(code)
    type(c_ptr), intent(in) :: context
    integer(c_int32_t), target, contiguous :: offsets(:), columns(:)
    real(c_float), target :: values(:)
    type(c_ptr), intent(inout) :: matrix
    type(c_ptr) :: at
    at = c_null_ptr
    if (size(values) > 0 .and. is_contiguous(values)) at = c_loc(values(1))
    code = square_matrix(context, blockspan_float, offsets, columns, at, matrix)
  end function

  integer(c_int32_t) function matrix_d(context, offsets, columns, values, matrix) result(code)
    type(c_ptr), intent(in) :: context
    integer(c_int32_t), target, contiguous :: offsets(:), columns(:)
    real(c_double), target :: values(:)
    type(c_ptr), intent(inout) :: matrix
    type(c_ptr) :: at
    at = c_null_ptr
    if (size(values) > 0 .and. is_contiguous(values)) at = c_loc(values(1))
    code = square_matrix(context, blockspan_double, offsets, columns, at, matrix)
  end function

  integer(c_int32_t) function matrix_c(context, offsets, columns, values, matrix) result(code)
    type(c_ptr), intent(in) :: context
    integer(c_int32_t), target, contiguous :: offsets(:), columns(:)
    complex(c_float_complex), target :: values(:)
    type(c_ptr), intent(inout) :: matrix
    type(c_ptr) :: at
    at = c_null_ptr
    if (size(values) > 0 .and. is_contiguous(values)) at = c_loc(values(1))
    code = square_matrix(context, blockspan_complex_float, offsets, columns, at, matrix)
  end function

  integer(c_int32_t) function matrix_z(context, offsets, columns, values, matrix) result(code)
    type(c_ptr), intent(in) :: context
    integer(c_int32_t), target, contiguous :: offsets(:), columns(:)
    complex(c_double_complex), target :: values(:)
    type(c_ptr), intent(inout) :: matrix
    type(c_ptr) :: at
    at = c_null_ptr
    if (size(values) > 0 .and. is_contiguous(values)) at = c_loc(values(1))
    code = square_matrix(context, blockspan_complex_double, offsets, columns, at, matrix)
  end function

  integer(c_int32_t) function square_matrix(context, scalar, offsets, columns, values, matrix)
    type(c_ptr), intent(in) :: context, values
    integer(c_int32_t), intent(in) :: scalar
    integer(c_int32_t), target, contiguous :: offsets(:), columns(:)
    type(c_ptr), intent(inout) :: matrix
    integer(c_int64_t) :: rows
    rows = size(offsets, kind=c_int64_t) - 1
    square_matrix = blockspan_matrix_csr_from_one(context, scalar, rows, rows, c_loc(offsets), &
        32, c_loc(columns), values, blockspan_host, matrix)
  end function

  ! One process; options: absent for the defaults.
  integer(c_int32_t) function blockspan_context_create(context, options) result(code)
    type(c_ptr), intent(inout) :: context
    type(blockspan_context_options), optional, target :: options
    type(c_ptr) :: o
    o = c_null_ptr
    if (present(options)) o = c_loc(options)
    code = context_create_c(o, context)
  end function

  ! comm: comm%MPI_VAL of mpi_f08, or the integer of mpif.h and module mpi.
  integer(c_int32_t) function blockspan_context_create_mpi(comm, context, options) result(code)
    integer, intent(in) :: comm
    type(c_ptr), intent(inout) :: context
    type(blockspan_context_options), optional, target :: options
    type(c_ptr) :: o
    o = c_null_ptr
    if (present(options)) o = c_loc(options)
    code = context_create_mpi_c(o, int(comm, c_int32_t), context)
  end function

  ! apply: c_funloc of a bind(c) module procedure; by_columns: X and Y as Fortran has arrays.
  integer(c_int32_t) function blockspan_operator_callback(context, scalar, rows, apply, op, user, &
      by_columns, name, cuts) result(code)
    type(c_ptr), intent(in) :: context
    integer(c_int32_t), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: rows
    type(c_funptr), intent(in) :: apply
    type(c_ptr), intent(inout) :: op
    type(c_ptr), intent(in), optional :: user
    logical, intent(in), optional :: by_columns
    character(*), intent(in), optional :: name
    integer(c_int64_t), intent(in), optional, target, contiguous :: cuts(:)
    type(c_ptr) :: c
    integer(c_int32_t) :: turned
    c = c_null_ptr
    turned = 1
    if (present(cuts)) c = c_loc(cuts)
    if (present(by_columns)) turned = merge(1_c_int32_t, 0_c_int32_t, by_columns)
    if (present(name)) then
      code = operator_callback_c(context, scalar, c, rows, apply, given(user), turned, &
          name // c_null_char, op)
    else
      code = operator_callback_c(context, scalar, c, rows, apply, given(user), turned, &
          "callback" // c_null_char, op)
    end if
  end function

  integer(c_int32_t) function blockspan_preconditioner(matrix, words, preconditioner, options) &
      result(code)
    type(c_ptr), intent(in) :: matrix
    character(*), intent(in) :: words
    type(c_ptr), intent(inout) :: preconditioner
    type(blockspan_preconditioner_options), optional, target :: options
    type(c_ptr) :: o
    o = c_null_ptr
    if (present(options)) o = c_loc(options)
    code = preconditioner_c(matrix, trim(words) // c_null_char, o, preconditioner)
  end function

  ! other_values: c_loc of those, for matrices on ranks.
  integer(c_int32_t) function blockspan_operator_refresh(op, other_values) result(code)
    type(c_ptr), intent(in) :: op
    type(c_ptr), intent(in), optional :: other_values
    code = refresh_c(op, given(other_values))
  end function

  ! y = alpha op(A) x + beta y; alpha, beta: c_loc of numbers of A's scalar, absent for 1 and 0.
  integer(c_int32_t) function blockspan_multiply(matrix, x, y, op, alpha, beta) result(code)
    type(c_ptr), intent(in) :: matrix
    type(blockspan_block) :: x, y
    integer(c_int32_t), intent(in), optional :: op
    type(c_ptr), intent(in), optional :: alpha, beta
    integer(c_int32_t) :: o
    o = blockspan_op_none
    if (present(op)) o = op
    code = multiply_c(matrix, o, given(alpha), x, given(beta), y)
  end function

  integer(c_int32_t) function blockspan_lobpcg(a, x, options, values, mass, backward_errors, &
      statuses, summary) result(code)
    type(c_ptr), intent(in) :: a
    type(blockspan_block) :: x
    type(blockspan_lobpcg_options), target :: options
    real(c_double), intent(inout), target, contiguous :: values(:)
    type(c_ptr), intent(in), optional :: mass
    real(c_double), intent(inout), optional, target, contiguous :: backward_errors(:)
    integer(c_int32_t), intent(inout), optional, target, contiguous :: statuses(:)
    type(blockspan_summary), intent(inout), optional, target :: summary
    code = lobpcg_c(a, given(mass), x, c_loc(options), c_loc(values), doubles(backward_errors), &
        integers(statuses), summary_of(summary))
  end function

  integer(c_int32_t) function blockspan_solve_spd(a, b, x, options, residuals, statuses, &
      iterations, summary) result(code)
    type(c_ptr), intent(in) :: a
    type(blockspan_block) :: b, x
    type(blockspan_cg_options), target :: options
    real(c_double), intent(inout), optional, target, contiguous :: residuals(:)
    integer(c_int32_t), intent(inout), optional, target, contiguous :: statuses(:), iterations(:)
    type(blockspan_summary), intent(inout), optional, target :: summary
    code = solve_spd_c(a, b, x, c_loc(options), doubles(residuals), integers(statuses), &
        integers(iterations), summary_of(summary))
  end function

  integer(c_int32_t) function blockspan_eigenpairs_near(k, sigma, x, options, found, values, m, &
      backward_errors, statuses, summary) result(code)
    type(c_ptr), intent(in) :: k
    real(c_double), intent(in) :: sigma
    type(blockspan_block) :: x
    type(blockspan_exact_options), target :: options
    integer(c_int64_t), intent(inout), target :: found
    real(c_double), intent(inout), target, contiguous :: values(:)
    type(c_ptr), intent(in), optional :: m
    real(c_double), intent(inout), optional, target, contiguous :: backward_errors(:)
    integer(c_int32_t), intent(inout), optional, target, contiguous :: statuses(:)
    type(blockspan_summary), intent(inout), optional, target :: summary
    code = near_c(k, given(m), sigma, x, c_loc(options), c_loc(found), c_loc(values), &
        doubles(backward_errors), integers(statuses), summary_of(summary))
  end function

  integer(c_int32_t) function blockspan_eigenpairs_in(k, from, to, x, options, found, values, m, &
      backward_errors, statuses, summary) result(code)
    type(c_ptr), intent(in) :: k
    real(c_double), intent(in) :: from, to
    type(blockspan_block) :: x
    type(blockspan_exact_options), target :: options
    integer(c_int64_t), intent(inout), target :: found
    real(c_double), intent(inout), target, contiguous :: values(:)
    type(c_ptr), intent(in), optional :: m
    real(c_double), intent(inout), optional, target, contiguous :: backward_errors(:)
    integer(c_int32_t), intent(inout), optional, target, contiguous :: statuses(:)
    type(blockspan_summary), intent(inout), optional, target :: summary
    code = inside_c(k, given(m), from, to, x, c_loc(options), c_loc(found), c_loc(values), &
        doubles(backward_errors), integers(statuses), summary_of(summary))
  end function

  integer(c_int32_t) function blockspan_count_eigenvalues(k, from, to, number, trusted, m, &
      options) result(code)
    type(c_ptr), intent(in) :: k
    real(c_double), intent(in) :: from, to
    integer(c_int64_t), intent(out) :: number
    integer(c_int32_t), intent(out) :: trusted
    type(c_ptr), intent(in), optional :: m
    type(blockspan_exact_options), optional, target :: options
    type(c_ptr) :: o
    o = c_null_ptr
    if (present(options)) o = c_loc(options)
    code = count_c(k, given(m), from, to, o, number, trusted)
  end function

  function given(x) result(p)
    type(c_ptr), intent(in), optional :: x
    type(c_ptr) :: p
    p = c_null_ptr
    if (present(x)) p = x
  end function
  function doubles(x) result(p)
    real(c_double), optional, target, contiguous :: x(:)
    type(c_ptr) :: p
    p = c_null_ptr
    if (present(x)) p = c_loc(x)
  end function
  function integers(x) result(p)
    integer(c_int32_t), optional, target, contiguous :: x(:)
    type(c_ptr) :: p
    p = c_null_ptr
    if (present(x)) p = c_loc(x)
  end function
  function summary_of(x) result(p)
    type(blockspan_summary), optional, target :: x
    type(c_ptr) :: p
    p = c_null_ptr
    if (present(x)) p = c_loc(x)
  end function
end module
