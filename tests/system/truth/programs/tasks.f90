! OpenMP tasks that get arguments by reference and copies: each is no call of the procedure around it.
module work
  implicit none
  integer(8) :: n_fibo = 0, n_spread = 0
contains
  recursive integer function fibo(k) result(f)
    integer, intent(in) :: k
    integer :: a, b
    !$omp atomic
    n_fibo = n_fibo + 1
    if (k < 2) then
      f = k
      return
    end if
    !$omp task shared(a) if(k > 12)
    a = fibo(k - 1)
    !$omp end task
    !$omp task shared(b) if(k > 12)
    b = fibo(k - 2)
    !$omp end task
    !$omp taskwait
    f = a + b
  end function
  subroutine spread_out(parts)
    integer, intent(inout) :: parts(:)
    integer :: i, list(4)
    !$omp atomic
    n_spread = n_spread + 1
    list = [1, 2, 3, 4]
    do i = 1, size(parts)
      !$omp task firstprivate(list, i)
      parts(i) = parts(i) + sum(list) * i
      !$omp end task
    end do
    !$omp taskwait
  end subroutine
end module
program tasks
  use work
  implicit none
  integer :: turn, total = 0, parts(20) = 0
  do turn = 1, 20
    !$omp parallel num_threads(2)
    !$omp single
    total = total + fibo(14)
    call spread_out(parts)
    !$omp end single
    !$omp end parallel
  end do
  print '(a, i0)', 'truth n_fibo = ', n_fibo
  print '(a, i0)', 'truth n_spread = ', n_spread
  if (total + sum(parts) == 7) print *, total
end program
