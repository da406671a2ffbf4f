! What each line touches: names after "touches".
module names
  implicit none
  type grid
    real(8), allocatable :: u(:,:)
    real(8), pointer :: q(:)
    real(8) :: w(10)
  end type
  real(8), allocatable :: spread_out(:)
  real(8) :: fixed(100)
contains
  subroutine by_shape(a, b, c, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(:), c(n)
    real(8), allocatable, intent(inout) :: b(:)
    integer :: i
    do i = 1, n
      a(i) = a(i) + b(i) * c(i) ! touches names::by_shape::a names::by_shape::b names::by_shape::c
    end do
    spread_out = spread_out * 2 ! touches names::spread_out
    fixed(1:n) = spread_out(1:n) + 1 ! touches names::fixed names::spread_out
  end subroutine
  subroutine components(g, k)
    type(grid), intent(inout) :: g
    integer, intent(in) :: k
    integer :: i, j
    real(8) :: own(k)
    own = 1 ! touches names::components::own
    do j = 1, k
      do i = 1, k
        g%u(i,j) = g%u(i,j) * 3 + g%w(1) + own(i) ! touches grid::u grid::w names::components::own
      end do
    end do
    g%q = g%q + 1 ! touches grid::q
  end subroutine
  function product_of(x, y, n) result(r)
    integer, value :: n
    real(8) :: x(*), y(*), r
    integer :: i
    r = 0
!$omp parallel do reduction(+:r)
    do i = 1, n
      r = r + x(i) * y(i) ! touches names::product_of::x names::product_of::y
    end do
  end function
end module
program demo
  use names
  implicit none
  real(8) :: x(8), y(8)
  real(8), allocatable :: z(:)
  x = 1 ! touches demo::x
  y = 2 ! touches demo::y
  allocate(z(8))
  z = 3
  allocate(spread_out(100))
  spread_out = 0
  call by_shape(x, z, y, 8)
  if (product_of(x, y, 8) < 0) stop 1
end program
