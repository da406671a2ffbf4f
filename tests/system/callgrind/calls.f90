! Calls of every kind that Fortran has: module and contained procedures, elemental, recursive, through an interface and a procedure pointer,
! type-bound, assumed shape, a generic name, early return, entry by a do concurrent loop.
module calls_module
  implicit none
  integer, save :: total = 0
  type :: counter
    integer :: n = 0
  contains
    procedure :: add => counter_add
  end type
  interface twice
    procedure twice_integer, twice_real
  end interface
  abstract interface
    integer function unary(x)
      integer, intent(in) :: x
    end function
  end interface
contains
  subroutine counter_add(self, n)
    class(counter), intent(inout) :: self
    integer, intent(in) :: n
    if (n < 0) return
    self%n = self%n + n
  end subroutine
  integer function twice_integer(x) result(y)
    integer, intent(in) :: x
    y = 2 * x
  end function
  real function twice_real(x) result(y)
    real, intent(in) :: x
    y = 2 * x
  end function
  elemental real function shrink(x)
    real, intent(in) :: x
    shrink = x / (1 + x)
  end function
  recursive integer function hanoi(n) result(moves)
    integer, intent(in) :: n
    if (n == 0) then
      moves = 0
    else
      moves = hanoi(n - 1) + 1 + hanoi(n - 1)
    end if
  end function
  integer function apply(f, x)
    procedure(unary) :: f
    integer, intent(in) :: x
    apply = f(x)
  end function
  subroutine scale(a, by)
    real, intent(inout) :: a(:, :)
    real, intent(in) :: by
    a = shrink(a) * by
  end subroutine
end module

program calls
  use calls_module
  implicit none
  type(counter) :: c
  real :: a(20, 10)
  integer :: i
  procedure(unary), pointer :: f
  a = 1
  f => inner
  do i = -3, 12
    call c%add(i)
    call scale(a(1:20:2, :), 1.5)
    total = total + twice(i) + int(twice(real(i))) + apply(f, i) + apply(inner, i)
  end do
  call cycle_through(5)
  print '(i0, 1x, i0, 1x, i0, 1x, f0.5)', c%n, total, hanoi(8), sum(a)
contains
  integer function inner(x)
    integer, intent(in) :: x
    inner = x + c%n
  end function
  recursive subroutine cycle_through(n)
    integer, intent(in) :: n
    if (n == 0) return
    call c%add(n)
    call cycle_through(n - 1)
  end subroutine
end program
