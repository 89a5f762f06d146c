! The Fortran module: sizes of structs, all scalars, products, pencils, exact pairs, callbacks.
module callbacks
  use blockspan
  implicit none
  integer :: calls = 0
contains
  ! The line with 2 and -1, column-major.
  integer(c_int) function line(user, x, y) bind(c)
    type(c_ptr), value :: user
    type(blockspan_block), intent(in) :: x, y
    real(c_double), pointer :: from(:, :), to(:, :)
    integer(c_int64_t) :: n
    n = x%rows
    calls = calls + 1
    call c_f_pointer(x%data, from, [x%rows, x%columns])
    call c_f_pointer(y%data, to, [y%rows, y%columns])
    to = 2 * from
    to(2:, :) = to(2:, :) - from(:n - 1, :)
    to(:n - 1, :) = to(:n - 1, :) - from(2:, :)
    line = merge(0, 3, c_associated(user))
  end function
  integer(c_int) function stop_at_two(user, progress) bind(c)
    type(c_ptr), value :: user
    type(blockspan_progress), intent(in) :: progress
    if (c_associated(user)) continue
    stop_at_two = merge(1, 0, progress%iteration >= 2)
  end function
end module

program fortran_test
  use callbacks
  implicit none
  integer, parameter :: n = 120
  integer :: faults = 0
  type(c_ptr) :: context = c_null_ptr, k = c_null_ptr, mass = c_null_ptr
  integer(c_int32_t), target :: offsets(n + 1), columns(3 * n - 2)
  real(c_double), target :: stiffness(3 * n - 2), masses(3 * n - 2)

  call sizes_are_those_of_c()
  call make_line()
  call expect(blockspan_context_create(context) == 0, "a context")
  call expect(blockspan_matrix(context, offsets, columns, stiffness, k) == 0, "a matrix")
  call expect(blockspan_matrix(context, offsets, columns, masses, mass) == 0, "a mass matrix")
  call products_and_pencils()
  call exact_pairs()
  call functions_of_ours()
  call sections()
  call other_scalars()
  call expect(index(blockspan_description(k), "120 x 120 matrix") == 1, "a description")
  call expect(blockspan_operator_destroy(k) == 0, "end")
  call expect(blockspan_operator_destroy(mass) == 0, "end of the mass")
  call expect(blockspan_context_destroy(context) == 0, "end of the context")
  if (faults > 0) error stop 1

contains

  subroutine expect(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    if (truth) return
    faults = faults + 1
    print "(4a)", "wrong: ", what, "; last error: ", blockspan_error_text()
  end subroutine

  subroutine sizes_are_those_of_c()
    integer(c_int32_t) :: sizes(8), own(8), none(1)
    type(blockspan_block) :: a
    type(blockspan_context_options) :: b
    type(blockspan_preconditioner_options) :: c
    type(blockspan_lobpcg_options) :: d
    type(blockspan_cg_options) :: e
    type(blockspan_exact_options) :: f
    type(blockspan_summary) :: g
    type(blockspan_progress) :: h
    own = int([c_sizeof(a), c_sizeof(b), c_sizeof(c), c_sizeof(d), c_sizeof(e), c_sizeof(f), &
        c_sizeof(g), c_sizeof(h)], c_int32_t)
    call expect(blockspan_sizes(sizes, 8) == 0, "sizes")
    call expect(all(sizes == own), "structs have the sizes of C's")
    call expect(g%size == sizes(7), "a summary knows its size")
    call expect(blockspan_sizes(none, 9) == blockspan_bad_input, "there are eight")
    ! fields, not only sizes
    call blockspan_defaults(d)
    call expect(d%wanted == 10 .and. d%digits == 4 .and. d%max_iterations == 10000 .and. &
        d%probe == 1 .and. d%seed == 1 .and. d%time_limit > huge(1d0), "fields of lobpcg")
    call blockspan_defaults(e)
    call expect(e%max_iterations == 10000 .and. e%max_cycles == 6 .and. &
        .not. c_associated(e%preconditioner), "fields of cg")
    call blockspan_defaults(f)
    call expect(f%pairs == 10 .and. f%slice == 128 .and. f%max_steps == 2000 .and. &
        abs(f%tolerance - 1d-11) < 1d-25 .and. f%seed == 1, "fields of exact")
    call blockspan_defaults(c)
    call expect(c%columns == 8 .and. abs(c%ratio) < 1d-300, "fields of preconditioners")
    call blockspan_defaults(b)
    call expect(b%device == -1, "fields of contexts")
  end subroutine

  subroutine make_line()
    integer :: i, last
    last = 0
    offsets(1) = 1
    do i = 1, n
      if (i > 1) call add(i - 1, -1d0, 1d0, last)
      call add(i, 2d0, 4d0, last)
      if (i < n) call add(i + 1, -1d0, 1d0, last)
      offsets(i + 1) = last + 1
    end do
  end subroutine
  subroutine add(column, one, other, last)
    integer, intent(in) :: column
    real(c_double), intent(in) :: one, other
    integer, intent(inout) :: last
    last = last + 1
    columns(last) = column
    stiffness(last) = one
    masses(last) = other / 6
  end subroutine

  real(c_double) function eigenvalue(j)
    integer, intent(in) :: j
    real(c_double) :: t
    t = j * acos(-1d0) / (n + 1)
    eigenvalue = 6 * (1 - cos(t)) / (2 + cos(t))
  end function

  subroutine products_and_pencils()
    real(c_double), target :: x(n, 6), y(n), ones(n), factor
    real(c_double) :: values(3), errors(3)
    integer(c_int32_t) :: statuses(3)
    type(blockspan_lobpcg_options) :: options
    type(blockspan_summary) :: summary
    ones = 1
    y = 5
    factor = 2
    call expect(blockspan_multiply(k, blockspan_block_of(ones), blockspan_block_of(y), &
        alpha=c_loc(factor)) == 0, "a product")
    call expect(abs(y(1) - 2) < 1d-15 .and. abs(y(n) - 2) < 1d-15 .and. all(abs(y(2:n - 1)) < &
        1d-15), "rows sum to zero")
    call blockspan_defaults(options)
    options%wanted = 3
    call expect(blockspan_lobpcg(k, blockspan_block_of(x), options, values, mass, errors, &
        statuses, summary) == 0, "pairs")
    call expect(all(statuses == blockspan_converged) .and. summary%converged == 3, "converged")
    call expect(abs(values(3) / eigenvalue(3) - 1) < 1d-8, "eigenvalues")
    call expect(index(blockspan_report_text(context), '"solver": "lobpcg"') > 0, "a report")
    options%wanted = 7
    call expect(blockspan_lobpcg(k, blockspan_block_of(x), options, values) == &
        blockspan_bad_input, "more than columns")
  end subroutine

  subroutine exact_pairs()
    real(c_double), target :: x(n, 8)
    real(c_double) :: values(8)
    integer(c_int64_t), target :: found
    integer(c_int64_t) :: number
    integer(c_int32_t) :: trusted, code
    type(blockspan_exact_options) :: options
    type(blockspan_summary) :: summary
    call blockspan_defaults(options)
    options%pairs = 4
    code = blockspan_eigenpairs_near(k, eigenvalue(50) + 1d-6, blockspan_block_of(x), options, &
        found, values, mass, summary=summary)
    if (code == blockspan_not_built) return
    call expect(code == 0 .and. found == 4, "pairs near a shift")
    call expect(summary%proof == blockspan_proof_proved, "and the proof")
    code = blockspan_count_eigenvalues(k, eigenvalue(20) + 1d-9, eigenvalue(25) + 1d-9, number, &
        trusted, mass)
    call expect(code == 0 .and. number == 5 .and. trusted == 1, "a count")
    code = blockspan_eigenpairs_in(k, eigenvalue(20) + 1d-9, eigenvalue(25) + 1d-9, &
        blockspan_block_of(x), options, found, values, mass)
    call expect(code == 0 .and. found == 5, "an interval")
    call expect(abs(values(5) - eigenvalue(25)) < 1d-11, "its last eigenvalue")
  end subroutine

  subroutine functions_of_ours()
    type(c_ptr) :: op, none
    type(c_funptr) :: product  ! as an argument gfortran 12 makes a text relocation of c_funloc
    integer, target :: token
    real(c_double), target :: x(n, 6), b(n, 6)
    real(c_double) :: residuals(6)
    type(blockspan_cg_options) :: options
    type(blockspan_summary) :: summary
    op = c_null_ptr
    none = c_null_ptr
    token = 1
    product = c_funloc(line)
    call expect(blockspan_operator_callback(context, blockspan_double, int(n, c_int64_t), &
        product, op, user=c_loc(token), name="line") == 0, "a callback")
    call random_number(b)
    call blockspan_defaults(options)
    call expect(blockspan_solve_spd(op, blockspan_block_of(b), blockspan_block_of(x), options, &
        residuals, summary=summary) == 0, "systems")
    call expect(summary%status == blockspan_converged .and. calls > 1, "converge by our product")
    options%monitor = c_funloc(stop_at_two)
    call expect(blockspan_solve_spd(op, blockspan_block_of(b), blockspan_block_of(x), options, &
        residuals, summary=summary) == 0, "a monitor")
    call expect(blockspan_status_text(summary%status) == "stopped_by_monitor", "that stops")
    call expect(blockspan_operator_destroy(op) == 0, "end of the callback")
    call expect(blockspan_operator_callback(context, blockspan_double, int(n, c_int64_t), &
        product, op) == 0, "without a user")
    call expect(blockspan_solve_spd(op, blockspan_block_of(b), blockspan_block_of(x), options, &
        residuals) == blockspan_callback_failed, "it fails")
    call expect(blockspan_preconditioner(op, "jacobi", none) == blockspan_bad_input, "no matrix")
    call expect(blockspan_operator_destroy(op) == 0, "its end")
  end subroutine

  ! Parts of arrays are where they are: nothing else is read or written.
  subroutine sections()
    real(c_double), target :: big(2 * n, 9), wide(3, 2 * n), all(6 * n)
    real(c_double) :: values(2)
    type(blockspan_block) :: block
    type(blockspan_lobpcg_options) :: options
    type(c_ptr) :: a
    big = 7
    wide = 7
    big(11:10 + n, 3:4) = 1
    call expect(blockspan_multiply(k, blockspan_block_of(big(11:10 + n, 3:4)), &
        blockspan_block_of(big(2:2 * n:2, 5:9:3))) == 0, "a product of sections")
    call expect(abs(big(2, 5) - 1) + abs(big(2 * n, 8) - 1) < 1d-15 .and. &
        maxval(abs(big(4:2 * n - 2:2, 5:8:3))) < 1d-15, "its result")
    call expect(abs(sum(big) - 7d0 * (18 * n - 4 * n) - 2 * n - 4) < 1d-9, "nothing else is written")
    call expect(blockspan_multiply(k, blockspan_block_of(big(11:10 + n, 3)), &
        blockspan_block_of(wide(2, 1:2 * n:2))) == 0, "into a row")
    call expect(abs(wide(2, 1) - 1) < 1d-15 .and. abs(wide(2, 3)) < 1d-15 .and. &
        abs(wide(2, 2) - 7) < 1d-15 .and. all_of(wide(1:3:2, :)), "every other element")
    call blockspan_defaults(options)
    options%wanted = 2
    call expect(blockspan_lobpcg(k, blockspan_block_of(big(n + 1:2 * n, 2:7)), options, values) == &
        0, "pairs into a section")
    call expect(abs(sqrt(sum(big(n + 1:2 * n, 3)**2)) - 1) < 1d-12, "a vector in it")
    block = blockspan_block_of(big(2 * n:n + 1:-1, 1))
    call expect(blockspan_apply_operator(k, block, blockspan_block_of(big(:n, 1))) == &
        blockspan_bad_input, "backward")
    call expect(index(blockspan_error_text(), "may not be negative") > 0, "is said")
    all = 1
    a = c_null_ptr
    call expect(blockspan_matrix(context, offsets, columns, all(1:6 * n - 4:2), a) == &
        blockspan_bad_input, "values that are not contiguous")
    call expect(index(blockspan_error_text(), "not contiguous") > 0, "are told")
  end subroutine
  logical function all_of(x)
    real(c_double), intent(in) :: x(:, :)
    all_of = maxval(abs(x - 7)) < 1d-15
  end function

  ! What the build has works; what it has not is said.
  subroutine other_scalars()
    real(c_float), target :: s(3 * n - 2), xs(n), ys(n)
    complex(c_float_complex), target :: c(3 * n - 2), xc(n), yc(n)
    complex(c_double_complex), target :: z(3 * n - 2), xz(n), yz(n)
    type(c_ptr) :: a
    integer(c_int32_t) :: code
    a = c_null_ptr
    s = real(stiffness, c_float)
    c = cmplx(stiffness, kind=c_float_complex)
    z = cmplx(stiffness, kind=c_double_complex)
    xs = 1
    ys = 0
    yc = 0
    yz = 0
    xc = (0, 1)
    xz = (0, 1)
    if (made(blockspan_matrix(context, offsets, columns, s, a))) then
      code = blockspan_apply_operator(a, blockspan_block_of(xs), blockspan_block_of(ys))
      call expect(code == 0 .and. abs(ys(1) - 1) < 1e-6, "float")
    end if
    if (made(blockspan_matrix(context, offsets, columns, c, a))) then
      code = blockspan_apply_operator(a, blockspan_block_of(xc), blockspan_block_of(yc))
      call expect(code == 0 .and. abs(yc(1) - (0, 1)) < 1e-6, "complex float")
    end if
    if (made(blockspan_matrix(context, offsets, columns, z, a))) then
      code = blockspan_apply_operator(a, blockspan_block_of(xz), blockspan_block_of(yz))
      call expect(code == 0 .and. abs(yz(1) - (0, 1)) < 1e-14, "complex double")
    end if
    call expect(blockspan_operator_destroy(a) == 0, "end")
  end subroutine
  logical function made(code)
    integer(c_int32_t), intent(in) :: code
    made = code == 0
    if (made) return
    call expect(code == blockspan_not_built, "a scalar that is not in the build")
    call expect(index(blockspan_error_text(), "Blockspan_SCALARS") > 0, "names the option")
  end function
end program
