! Internal units, intrinsics of texts, arrays of a NAMELIST: in contained procedures.
program letters
    implicit none
    character(len=4096) :: written, searched
    real(8) :: numbers(128), read_back(128), listed(2048), spent(4), a, b
    integer :: i, turn, found, status
    namelist /settings/ listed
    spent = 0
    found = 0
    numbers = [(i * 1.5d0, i=1, 128)]
    listed = 1
    searched = repeat('abcdefgh', 511)//'needle'
    do turn = 1, 2000
        call cpu_time(a)
        call write_text(turn)
        call cpu_time(b)
        spent(1) = spent(1) + b - a
        call read_text()
        call cpu_time(a)
        spent(2) = spent(2) + a - b
        do i = 1, 4
            found = found + look(i)
        end do
        call cpu_time(b)
        spent(3) = spent(3) + b - a
        call relax(turn)
        call relax(turn)
        call relax(turn)
        call cpu_time(a)
        spent(4) = spent(4) + a - b
    end do
    if (found == 1) print *, read_back(1), listed(3)
    spent = 100 * spent / sum(spent)
    write (0, '(a,f12.6)') 'truth writing = ', spent(1)
    write (0, '(a,f12.6)') 'truth reading = ', spent(2)
    write (0, '(a,f12.6)') 'truth looking = ', spent(3)
    write (0, '(a,f12.6)') 'truth relaxing = ', spent(4)
contains
    subroutine write_text(k)
        integer, intent(in) :: k
        numbers(1) = k
        write (written, '(128f12.4)', iostat=status) numbers
    end subroutine
    subroutine read_text()
        read (written, '(128f12.4)') read_back
    end subroutine
    integer function look(k)
        integer, intent(in) :: k
        look = index(searched(k:), 'needle') + scan(searched(k:), 'xyz') + verify(searched, 'abcdefghnl ')
    end function
    subroutine relax(k)
        integer, intent(in) :: k
        integer :: j
        do j = 2, 2048
            listed(j) = listed(j - 1) * 0.5d0 + k
        end do
    end subroutine
end program
