! Arrays that are passed as class(*), and what "select type" makes of them.
module any_type
    implicit none
contains
    subroutine smooth(what, k)
        class(*), intent(inout) :: what(:)
        integer, intent(in) :: k
        integer :: i
        select type (what)
        type is (real(8))
            do i = 2, size(what)
                what(i) = what(i - 1) * 0.5d0 + k
            end do
        type is (integer)
            do i = 2, size(what)
                what(i) = ieor(what(i), what(i - 1) * 5 + k)
            end do
        end select
    end subroutine
end module

program selected
    use any_type
    implicit none
    real(8), allocatable :: reals(:)
    integer, allocatable :: counts(:)
    real(8) :: fixed(4096) = 1, spent(3), a, b
    integer :: turn
    allocate (reals(4096), source=1d0)
    allocate (counts(4096), source=3)
    spent = 0
    do turn = 1, 2000
        call cpu_time(a)
        call smooth(reals, turn)
        call smooth(reals, turn)
        call cpu_time(b)
        spent(1) = spent(1) + b - a
        call smooth(counts, turn)
        call smooth(counts, turn)
        call smooth(counts, turn)
        call cpu_time(a)
        spent(2) = spent(2) + a - b
        call smooth(fixed, turn)
        call smooth(fixed, turn)
        call cpu_time(b)
        spent(3) = spent(3) + b - a
    end do
    spent = 100 * spent / sum(spent)
    write (0, '(a,f12.6)') 'truth reals_ = ', spent(1)
    write (0, '(a,f12.6)') 'truth counts_ = ', spent(2)
    write (0, '(a,f12.6)') 'truth fixed_ = ', spent(3)
end program
