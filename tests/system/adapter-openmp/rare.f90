! As rare.c: what is met a known number of times, and says itself what level OpenMP has to say.
module m
    implicit none
    real :: a(100, 50) = 0
    integer :: n_done = 0
contains
    subroutine even(n, first)
        integer, intent(in) :: n, first
        integer :: i, j
        !$omp parallel num_threads(2) private(i, j)
        !$omp do
        do i = first, n
            a(i, 1) = a(i, 1) + 1
        end do
        !$omp end do nowait
        !$omp do schedule(static, 4)
        do i = n, 1, -3
            a(i, 2) = a(i, 2) + 1
        end do
        !$omp do collapse(2)
        do j = 1, 7
            do i = 1, n
                a(i, j) = a(i, j) + 1
            end do
        end do
        !$omp end parallel
        !$omp parallel do num_threads(2)
        do i = 1, n
            a(i, 1) = a(i, 1) * 2
        end do
        !$omp end parallel do
    end subroutine

    subroutine parts()
        integer :: i
        !$omp parallel num_threads(2)
        !$omp master
        n_done = n_done + 1
        !$omp end master
        !$omp single
        n_done = n_done + 1
        !$omp end single
        !$omp sections
        !$omp section
        a(1, 1) = 1
        !$omp section
        a(1, 2) = 2
        !$omp end sections
        !$omp single
        !$omp taskgroup
        do i = 1, 5
            !$omp task
            call leaf(i)
            !$omp end task
        end do
        !$omp end taskgroup
        !$omp taskloop num_tasks(3)
        do i = 1, 9
            call leaf(i)
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    subroutine leaf(i)
        integer, intent(in) :: i
        !$omp atomic
        n_done = n_done + i
    end subroutine

    subroutine arrays()
        !$omp parallel num_threads(2)
        !$omp workshare
        a(:, 3) = a(:, 4) + 1
        !$omp end workshare
        !$omp barrier
        !$omp end parallel
    end subroutine
end module

program rare
    use m
    implicit none
    call even(60, 3)
    call parts()
    call arrays()
    print '(a)', 'is loop in m::even|Loop|8|11|558'
    print '(a)', 'is barrier of loop in m::even|Barrier|4|-|-'
    print '(a)', 'is master in m::parts|Masked|1|-|-'
    print '(a)', 'is sections in m::parts|Sections|2|2|-'
    print '(a)', 'is single in m::parts|Single|2|-|-'
    print '(a)', 'is taskgroup in m::parts|TaskWait|1|-|-'
    print '(a)', 'is task in m::parts|Task|5|-|-'
    print '(a)', 'is taskloop in m::parts|Task|3|-|-'
    print '(a)', 'is barrier in m::arrays|Barrier|2|-|-'
    print '(a)', 'switches 0'
    print '(a, i0)', 'done ', n_done
end program
