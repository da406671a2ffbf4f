! What is done through ASSOCIATE names and pointers is done with what they stand for: whole arrays, sections, components,
! with other bounds, in records, through functions. Each procedure has the whole time of one.
module held
  implicit none
  integer, parameter :: n = 4096
  type :: cell
    real(8) :: value, weight
  end type
  type :: grid
    real(8), allocatable :: field(:)
    real(8), pointer :: way(:) => null()
    real(8) :: fixed(n)
  end type
  type, extends(grid) :: wide
    real(8) :: extra(n)
  end type
  real(8), target :: whole(n), aimed(n), swapped(n), other(n), mapped(n), found(n), wayside(n), struck(2 * n), columns(n, 2), &
      sought(n)
  real(8), target, allocatable :: heap(:)
  type(cell), target :: cells(n), named(n)
contains
  subroutine named_component(g, times)
    type(grid), intent(inout) :: g
    integer, intent(in) :: times
    integer :: i, k
    associate (x => g%field(:))
      do k = 1, times
        do i = 2, n
          x(i) = x(i-1) * 0.5d0 + k
        end do
      end do
    end associate
  end subroutine
  subroutine named_fixed(g, times)
    type(grid), intent(inout) :: g
    integer, intent(in) :: times
    integer :: i, k
    associate (f => g%fixed)
      do k = 1, times
        do i = 2, n
          f(i) = f(i-1) * 0.5d0 + k
        end do
      end do
    end associate
  end subroutine
  subroutine named_whole(times)
    integer, intent(in) :: times
    integer :: i, k
    associate (w => whole)
      do k = 1, times
        do i = 2, n
          w(i) = w(i-1) * 0.5d0 + k
        end do
      end do
    end associate
  end subroutine
  subroutine named_strided(times)
    integer, intent(in) :: times
    integer :: i, k
    associate (s => struck(1::2))
      do k = 1, times
        do i = 2, n
          s(i) = s(i-1) * 0.5d0 + k
        end do
      end do
    end associate
  end subroutine
  subroutine named_element(times)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        associate (one => named(i), before => named(i-1))
          one%value = before%value * 0.5d0 + k
        end associate
      end do
    end do
  end subroutine
  subroutine pointed_module(times)
    integer, intent(in) :: times
    real(8), pointer :: p(:)
    integer :: i, k
    p => aimed
    do k = 1, times
      do i = 2, n
        p(i) = p(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine pointed_heap(times)
    integer, intent(in) :: times
    real(8), pointer, contiguous :: h(:)
    integer :: i, k
    h => heap
    do k = 1, times
      do i = 2, n
        h(i) = h(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine pointed_swapped(times)
    integer, intent(in) :: times
    real(8), pointer :: from(:), to(:), third(:)
    integer :: i, k
    from => swapped
    to => other
    do k = 1, times
      do i = 2, n
        to(i) = to(i-1) * 0.5d0 + from(i)
      end do
      third => from
      from => to
      to => third
    end do
  end subroutine
  subroutine pointed_mapped(times)
    integer, intent(in) :: times
    real(8), pointer :: m(:, :)
    integer :: i, j, k
    m(0:63, 1:n / 64) => mapped
    do k = 1, times
      do j = 1, n / 64
        do i = 1, 63
          m(i, j) = m(i-1, j) * 0.5d0 + k
        end do
      end do
    end do
  end subroutine
  subroutine pointed_column(times)
    integer, intent(in) :: times
    real(8), pointer :: c(:)
    integer :: i, k
    c => columns(:, 2)
    do k = 1, times
      do i = 2, n
        c(i) = c(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  function place_of() result(there)
    real(8), pointer :: there(:)
    there => found
  end function
  subroutine find(there)
    real(8), pointer, intent(out) :: there(:)
    there => sought
  end subroutine
  subroutine pointed_by_call(times)
    integer, intent(in) :: times
    real(8), pointer :: r(:)
    integer :: i, k
    call find(r)
    do k = 1, times
      do i = 2, n
        r(i) = r(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine pointed_by_function(times)
    integer, intent(in) :: times
    real(8), pointer :: q(:)
    integer :: i, k
    q => place_of()
    do k = 1, times
      do i = 2, n
        q(i) = q(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine by_component(g, times)
    type(grid), intent(inout) :: g
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        g%way(i) = g%way(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine pointed_field(times)
    integer, intent(in) :: times
    real(8), pointer :: v(:)
    integer :: i, k
    v => cells%value
    do k = 1, times
      do i = 2, n
        v(i) = v(i-1) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine of_class(g, times)
    class(grid), intent(inout) :: g
    integer, intent(in) :: times
    integer :: i, k
    select type (g)
    type is (wide)
      do k = 1, times
        do i = 2, n
          g%extra(i) = g%extra(i-1) * 0.5d0 + k
        end do
      end do
    end select
  end subroutine
end module
program kinds
  use held
  implicit none
  type(grid) :: g
  type(wide) :: w
  integer, parameter :: n_kinds = 15
  character(8), parameter :: names(n_kinds) = [character(8) :: 'field', 'fixed', 'whole', 'struck', 'named', 'aimed', &
      'heap', 'swapped', 'mapped', 'columns', 'found', 'way', 'cells', 'extra', &
      'sought']
  real(8) :: ms(n_kinds), begun, ended
  integer :: i, j, times
  allocate(g%field(n), heap(n))
  g%way => wayside
  g%field = 1; g%fixed = 1; w%extra = 1; heap = 1; whole = 1; aimed = 1; swapped = 1; other = 1; mapped = 1; found = 1
  wayside = 1; struck = 1; columns = 1; sought = 1; cells = cell(1, 1); named = cell(1, 1)
  do i = 1, n_kinds
    times = 20
    ms(i) = 0
    do j = 1, 2
      call cpu_time(begun)
      select case (i)
      case (1); call named_component(g, times)
      case (2); call named_fixed(g, times)
      case (3); call named_whole(times)
      case (4); call named_strided(times)
      case (5); call named_element(times)
      case (6); call pointed_module(times)
      case (7); call pointed_heap(times)
      case (8); call pointed_swapped(times)
      case (9); call pointed_mapped(times)
      case (10); call pointed_column(times)
      case (11); call pointed_by_function(times)
      case (12); call by_component(g, times)
      case (13); call pointed_field(times)
      case (14); call of_class(w, times)
      case (15); call pointed_by_call(times)
      end select
      call cpu_time(ended)
      ms(i) = ms(i) + (ended - begun)
      times = max(1, int(0.08d0 * times / max(ms(i), 1d-6)))
    end do
  end do
  do i = 1, n_kinds
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms)
  end do
  if (ms(1) < 0) print *, whole(7), aimed(7), swapped(7), other(7), mapped(7), found(7), &
      wayside(7), struck(7), columns(7, 1), sought(7)
end program
