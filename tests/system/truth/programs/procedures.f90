! Module procedures, contained and recursive ones; time by the processor's clock, calls by their own counters.
module work
    implicit none
    integer(8) :: n_spend = 0, n_depth = 0, n_inner = 0
contains
    subroutine spend(x, n)
        integer(8), intent(inout) :: x
        integer, intent(in) :: n
        integer :: i
        n_spend = n_spend + 1
        do i = 1, n ! @spend
            x = ieor(x * 6364136223846793005_8 + 1442695040888963407_8, ishft(x, -7))
        end do
    end subroutine

    recursive subroutine depth(x, n)
        integer(8), intent(inout) :: x
        integer, intent(in) :: n
        n_depth = n_depth + 1
        call spend(x, 400)
        if (n > 0) call depth(x, n - 1)
        x = x + 1
    end subroutine

    subroutine outer(x, n)
        integer(8), intent(inout) :: x
        integer, intent(in) :: n
        integer :: k
        do k = 1, n
            call inner(k)
        end do
    contains
        subroutine inner(by)
            integer, intent(in) :: by
            n_inner = n_inner + 1
            call spend(x, 300 + mod(by, 2))
        end subroutine
    end subroutine
end module

program procedures
    use work
    implicit none
    integer(8) :: x = 1
    integer :: turn
    real(8) :: t0, t1, t2, first = 0, second = 0
    do turn = 1, 180
        call cpu_time(t0)
        do while (mod(n_depth, 1050_8) /= 0 .or. n_depth < 1050_8 * turn)
            call depth(x, 20)
        end do
        call cpu_time(t1)
        call outer(x, 4000)
        call cpu_time(t2)
        first = first + (t1 - t0)
        second = second + (t2 - t1)
    end do
    if (x == 0) print *, x
    write (0, '(a,f20.6)') 'truth depth = ', 100 * first / (first + second)
    write (0, '(a,f20.6)') 'truth outer = ', 100 * second / (first + second)
    write (0, '(a,i0)') 'truth n_spend = ', n_spend
    write (0, '(a,i0)') 'truth n_depth = ', n_depth
    write (0, '(a,i0)') 'truth n_inner = ', n_inner
end program
