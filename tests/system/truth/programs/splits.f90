! Statements that are several loops of the compiler's: each time one runs is one entry. Sizes that the compiler does not
! know, none at all now and then; and a procedure that is inlined twice. What the library does is no entry of what is around.
module splitting
  implicit none
contains
  subroutine masked(a, b, n_where, n_shift, n_forall, n_concurrent)
    real(8), intent(inout) :: a(:), b(:)
    integer, intent(inout) :: n_where, n_shift, n_forall, n_concurrent
    integer :: i
    where (a > 0.5d0) ! @where
      b = sqrt(a)
    elsewhere
      b = a + 1
    end where
    n_where = n_where + 1
    a(2:) = a(:size(a) - 1) * 0.5d0 + 1 ! @shift
    n_shift = n_shift + 1
    forall (i = 2:size(b), b(i) > 0.1d0) b(i) = b(i - 1) ! @forall
    n_forall = n_forall + 1
    do concurrent (i = 1:size(b), b(i) > 0.1d0) ! @concurrent
      b(i) = b(i) * 0.5d0
    end do
    n_concurrent = n_concurrent + 1
    b = cshift(b, 1)
  end subroutine
  subroutine halved(a, n)
    real(8), intent(inout) :: a(:)
    integer, intent(inout) :: n
    a(2:) = a(:size(a) - 1) * 0.5d0 + 1 ! @halved
    n = n + 1
  end subroutine
  subroutine planes(a, n)
    real(8), intent(inout) :: a(:, :)
    integer, intent(inout) :: n
    a(2:, 2:) = a(:size(a, 1) - 1, :size(a, 2) - 1) * 0.5d0 + 1 ! @planes
    n = n + 1
  end subroutine
  real(8) function both(a, b, n)
    real(8), intent(in) :: a(:), b(:)
    integer, intent(inout) :: n
    both = sum(a) + maxval(b) ! @both
    n = n + 1
  end function
end module
program splits
  use splitting
  implicit none
  real(8) :: a(300), b(300), c(40, 50), total
  integer :: n(7), turn
  a = 1
  b = 2
  c = 3
  n = 0
  total = 0
  do turn = 1, 1500 ! @turns
    a = cshift(a, 1)
    call masked(a, b, n(1), n(2), n(3), n(4))
    call halved(a, n(5))
    call halved(b, n(5))
    call planes(c, n(6))
    total = total + both(a(1:mod(turn, 3) * 50), b(1:mod(turn, 2) * 50 + 50), n(7)) * 1d-9
  end do
  print '(a, i0)', 'truth n_where = ', n(1), 'truth n_shift = ', n(2), 'truth n_forall = ', n(3), &
    'truth n_concurrent = ', n(4), 'truth n_halved = ', n(5), 'truth n_planes = ', n(6), 'truth n_both = ', n(7)
  if (a(7) + b(7) + c(2, 2) + total == 7.5d0) print *, 'x'
end program
