! Blockspan from Fortran: the lowest eigenpairs of a 2-D Laplacian, eight systems with it, and what an
! error looks like. Exits with 0 where all came out right.
!
! gfortran -std=f2008 blockspan_c.f90 blockspan.f90 laplacian.f90 $(pkg-config --libs blockspan)
module watching
  use blockspan
  implicit none
contains
  ! Called after every iteration; not 0 would stop the solve.
  integer(c_int) function watch(user, progress) bind(c)
    type(c_ptr), value :: user
    type(blockspan_progress), intent(in) :: progress
    integer(c_int32_t), pointer :: last
    call c_f_pointer(user, last)
    last = progress%iteration
    watch = 0
  end function

  ! Ends the program where a call failed.
  subroutine check(code)
    integer(c_int32_t), intent(in) :: code
    if (code == blockspan_ok) return
    print "(2a)", "blockspan: ", blockspan_error_text()
    error stop 1
  end subroutine
end module

program laplacian
  use watching
  implicit none
  integer, parameter :: side = 60, n = side * side, wanted = 4, width = 8
  integer(c_int32_t), target :: offsets(n + 1), columns(5 * n), last
  real(c_double), target :: entries(5 * n), x(n, width), b(n, width)
  real(c_double) :: values(wanted), residuals(width), exact
  type(c_ptr) :: context = c_null_ptr, a = c_null_ptr, m = c_null_ptr, bad = c_null_ptr
  type(blockspan_lobpcg_options) :: eigen
  type(blockspan_cg_options) :: cg
  type(blockspan_summary) :: summary
  integer(c_int32_t) :: code
  logical :: right

  call make_laplacian()
  call check(blockspan_context_create(context))
  call check(blockspan_matrix(context, offsets, columns, entries, a))
  call check(blockspan_preconditioner(a, "multigrid", m))

  ! eigenpairs; the columns of x beyond `wanted` are guards
  call blockspan_defaults(eigen)
  eigen%wanted = wanted
  eigen%preconditioner = m
  eigen%monitor = c_funloc(watch)
  eigen%monitor_user = c_loc(last)
  call check(blockspan_lobpcg(a, blockspan_block_of(x), eigen, values, summary=summary))
  exact = 8 * sin(acos(-1d0) / (2 * (side + 1)))**2
  print "(3a, i0, a, i0, a, f0.12, a, f0.12)", "eigenvalues: ", &
      blockspan_status_text(summary%status), " after ", summary%iterations, " iterations (", last, &
      " seen), the first one is ", values(1), ", exactly ", exact
  right = summary%status == blockspan_converged .and. abs(values(1) - exact) < 1d-9

  ! eight right-hand sides at once
  call random_number(b)
  call blockspan_defaults(cg)
  cg%preconditioner = m
  call check(blockspan_solve_spd(a, blockspan_block_of(b), blockspan_block_of(x), cg, residuals, &
      summary=summary))
  print "(3a, i0, a, es7.1)", "systems: ", blockspan_status_text(summary%status), " after ", &
      summary%iterations, " iterations, largest residual ", maxval(residuals)
  right = right .and. summary%status == blockspan_converged .and. maxval(residuals) <= 1d-8

  ! bad input is refused with its place
  columns(7) = 0
  code = blockspan_matrix(context, offsets, columns, entries, bad)
  print "(a, i0, 2a)", "a broken matrix: code ", code, ", ", blockspan_error_text()
  right = right .and. code == blockspan_bad_input

  ! in any order
  call check(blockspan_context_destroy(context))
  call check(blockspan_operator_destroy(a))
  call check(blockspan_operator_destroy(m))
  if (.not. right) error stop 1

contains

  ! The five-point stencil on side x side nodes, zero outside; rows and columns from 1.
  subroutine make_laplacian()
    integer :: i, last_entry
    last_entry = 0
    offsets(1) = 1
    do i = 1, n
      if (i > side) call add(i - side, -1d0, last_entry)
      if (mod(i - 1, side) > 0) call add(i - 1, -1d0, last_entry)
      call add(i, 4d0, last_entry)
      if (mod(i, side) > 0) call add(i + 1, -1d0, last_entry)
      if (i <= n - side) call add(i + side, -1d0, last_entry)
      offsets(i + 1) = last_entry + 1
    end do
  end subroutine

  subroutine add(column, value, last_entry)
    integer, intent(in) :: column
    real(c_double), intent(in) :: value
    integer, intent(inout) :: last_entry
    last_entry = last_entry + 1
    columns(last_entry) = column
    entries(last_entry) = value
  end subroutine
end program
