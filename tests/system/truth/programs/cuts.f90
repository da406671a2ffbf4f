! Array statements that the Fortran library carries out: what they do with dummy arguments, they do with what callers pass.
! Each procedure has the whole time of one.
module held
  implicit none
  integer, parameter :: n = 100, m = n * n
contains
  subroutine shift_ends(u, v, times)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: v(:, :)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = eoshift(v, 1) ! @ends
    end do
  end subroutine
  subroutine shift_round(u, v, times)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: v(:, :)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = cshift(v, 1, 2)
    end do
  end subroutine
  subroutine spread_out(u, v, times)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: v(:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = spread(v, 1, n)
    end do
  end subroutine
  subroutine pack_up(u, v, mask, times)
    real(8), intent(inout) :: u(m)
    real(8), intent(in) :: v(m)
    logical, intent(in) :: mask(m)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = pack(v, mask, v)
    end do
  end subroutine
  subroutine unpack_all(u, v, mask, field, times)
    integer, intent(in) :: times
    real(8), intent(inout) :: u(:)
    real(8), intent(in) :: v(:), field(:)
    logical, intent(in) :: mask(:)
    integer :: k
    do k = 1, times
      u = unpack(v, mask, field)
    end do
  end subroutine
  subroutine merge_both(u, v, w, mask, times)
    integer, intent(in) :: times
    real(8), intent(inout) :: u(:)
    real(8), intent(in) :: v(:), w(:)
    logical, intent(in) :: mask(:)
    integer :: k
    do k = 1, times
      u = merge(v, w, mask)
    end do
  end subroutine
  subroutine turn(u, v, times)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: v(:, :)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = transpose(v)
    end do
  end subroutine
  subroutine form(u, v, times)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: v(:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = reshape(v, [n, n])
    end do
  end subroutine
  subroutine products(x, u, v, times)
    real(8), intent(inout) :: x
    real(8), intent(in) :: u(:), v(:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      x = x + dot_product(u, v)
    end do
  end subroutine
  subroutine norms(u, v, times)
    real(8), intent(inout) :: u(:)
    real(8), intent(in) :: v(:, :)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = norm2(v, 1)
    end do
  end subroutine
  subroutine counts(u, v, times)
    integer, intent(inout) :: u(:)
    logical, intent(in) :: v(:, :)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      u = count(v, 2)
    end do
  end subroutine
end module
program cuts
  use held
  implicit none
  integer, parameter :: n_kinds = 11
  character(8), parameter :: names(n_kinds) = [character(8) :: 'shifted', 'rounded', 'spreadto', 'packed', 'filled', &
      'mixed', 'turned', 'formed', 'factor', 'lengths', 'numbers']
  real(8), allocatable :: shifted(:, :), ends(:, :), rounded(:, :), circle(:, :), spreadto(:, :), line(:), packed(:), &
      loose(:), filled(:), drawn(:), ground(:), mixed(:), left(:), right(:), turned(:, :), origin(:, :), formed(:, :), &
      flat(:), factor(:), other(:), lengths(:), sides(:, :)
  logical, allocatable :: mask(:), flags(:, :)
  integer, allocatable :: numbers(:)
  real(8) :: ms(n_kinds), begun, ended, x
  integer :: i, j, times
  allocate(shifted(n, n), ends(n, n), rounded(n, n), circle(n, n), spreadto(n, n), line(n), packed(m), loose(m), filled(m), &
      drawn(m), ground(m), mixed(m), left(m), right(m), turned(n, n), origin(n, n), formed(n, n), flat(m), factor(m), &
      other(m), lengths(n), sides(n, n), mask(m), flags(n, n), numbers(n))
  shifted = 1; ends = 1; rounded = 1; circle = 1; spreadto = 1; line = 1; packed = 1; loose = 1; filled = 1; drawn = 1
  ground = 1; mixed = 1; left = 1; right = 1; turned = 1; origin = 1; formed = 1; flat = 1; factor = 1; other = 1
  lengths = 1; sides = 1; flags = .true.; numbers = 1; x = 0
  mask = [(mod(i, 3) == 0, i = 1, m)]
  do i = 1, n_kinds
    times = 20
    ms(i) = 0
    do j = 1, 2
      call cpu_time(begun)
      select case (i)
      case (1); call shift_ends(shifted, ends, times)
      case (2); call shift_round(rounded, circle, times)
      case (3); call spread_out(spreadto, line, times)
      case (4); call pack_up(packed, loose, mask, times)
      case (5); call unpack_all(filled, drawn, mask, ground, times)
      case (6); call merge_both(mixed, left, right, mask, times)
      case (7); call turn(turned, origin, times)
      case (8); call form(formed, flat, times)
      case (9); call products(x, factor, other, times)
      case (10); call norms(lengths, sides, times)
      case (11); call counts(numbers, flags, times)
      end select
      call cpu_time(ended)
      ms(i) = ms(i) + (ended - begun)
      times = max(1, int(0.08d0 * times / max(ms(i), 1d-6)))
    end do
  end do
  do i = 1, n_kinds
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms)
  end do
  if (x < 0) print *, shifted(7, 7), rounded(7, 7), spreadto(7, 7), packed(7), filled(7), mixed(7), turned(7, 7), &
      formed(7, 7), lengths(7), numbers(7)
end program
