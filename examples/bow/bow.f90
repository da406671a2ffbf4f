! The example of Irvin and Miller's mapping papers, with coarrays in place of CM Fortran: arrays that
! are spread over images, a function that sums one, takes the maximum of another, and sends corners
! to its neighbour.
module bow
  implicit none
  integer, parameter :: n = 1000
  real(8), allocatable :: a(:)[:], b(:)[:]
  real(8) :: tot(n)[*]
contains
  subroutine corner()
    real(8) :: asum, bmax
    asum = sum(a)
    call co_sum(asum)
    bmax = maxval(b)
    call co_max(bmax)
    if (this_image() < num_images()) b(1:10)[this_image() + 1] = a(1:10)
    sync all
    tot = tot + asum + bmax
    sync all
    if (this_image() > 1) a(1) = tot(5)[this_image() - 1]
    sync all
  end subroutine

  subroutine share()
    call co_broadcast(tot, 1)
  end subroutine
end module

program main
  use bow
  implicit none
  integer :: round
  allocate (a(n)[*], b(n)[*])
  a = this_image()
  b = 2
  tot = 0
  do round = 1, 20
    call corner()
  end do
  call share()
  if (this_image() == 1) print '(a,f0.1)', 'tot: ', sum(tot)
end program
