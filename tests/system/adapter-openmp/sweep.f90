! The same of Fortran; check.py has the numbers.
module m
    use omp_lib
    implicit none
    real(8) :: u(100) = 0
    integer(omp_lock_kind) :: door
contains
    subroutine sweep()
        integer :: i
        !$omp parallel num_threads(2)
        !$omp do schedule(dynamic, 7)
        do i = 1, 100
            u(i) = u(i) + i
        end do
        !$omp end do
        !$omp critical (totals)
        u(1) = u(1) + 1
        !$omp end critical (totals)
        call omp_set_lock(door)
        u(2) = u(2) + 1
        call omp_unset_lock(door)
        !$omp barrier
        !$omp single
        do i = 1, 10
            !$omp task firstprivate(i)
            call leaf(i)
            !$omp end task
        end do
        !$omp taskwait
        !$omp end single
        !$omp end parallel
    end subroutine
    subroutine leaf(i)
        integer, intent(in) :: i
        !$omp atomic
        u(i) = u(i) + 1
    end subroutine
end module
program p
    use m
    implicit none
    integer :: round
    call omp_init_lock(door)
    do round = 1, 3
        call sweep()
    end do
    print '(a, f0.1)', 'done ', sum(u)
end program
