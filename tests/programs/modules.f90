! Modules, derived types, allocatable and assumed-shape arrays.
module particles
  implicit none
  type particle
     real :: x
     real :: velocity(3)
  end type particle
  real, allocatable :: grid(:,:)
contains
  subroutine step(a, b, n, p)
    integer, intent(in) :: n
    real, intent(inout) :: a(:)
    real, intent(in) :: b(n)
    type(particle), intent(inout) :: p(n)
    integer :: i
    do i = 1, n                  ! loop
       a(i) = b(i) * a(i) + &
              p(i)%x
       p(i)%velocity(2) = grid(i,1)
    end do
  end subroutine step
  real function energy(p)
    type(particle), intent(in) :: p(:)
    integer :: i
    energy = 0
    do i = 1, size(p)            ! loop
       energy = energy + p(i)%x ** 2
    end do
  end function energy
end module particles

program main
  use particles
  implicit none
  real :: a(4), b(4)
  type(particle) :: p(4)
  allocate(grid(4,4))
  grid = 1.0                     ! loop
  a = 2.0                        ! loop
  b = 3.0                        ! loop
  p%x = 0                        ! loop
  call step(a, b, 4, p)
  write (*, *) energy(p)
  deallocate(grid)
end program main
