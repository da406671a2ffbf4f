! Derived types and allocatable arrays: time by loop and by what is read or written.
module types
    implicit none
    type :: cell
        real(8) :: heat, mass
        integer :: kind
    end type
contains
    function sum_heat(cells, scale) result(s)
        type(cell), intent(in) :: cells(:)
        real(8), intent(in) :: scale
        real(8) :: s
        integer :: i
        s = 0
        do i = 1, size(cells) ! @heat
            s = s + cells(i)%heat
        end do
        s = s * scale
    end function

    subroutine set_mass(cells, to)
        type(cell), intent(inout) :: cells(:)
        real(8), intent(in) :: to
        integer :: i
        do i = 1, size(cells) ! @mass
            cells(i)%mass = to
        end do
    end subroutine

    subroutine smooth(u, v)
        real(8), intent(in) :: u(:)
        real(8), intent(out) :: v(:)
        integer :: i
        do i = 2, size(u) - 1 ! @smooth
            v(i) = 0.5d0 * u(i) + 0.25d0 * (u(i - 1) + u(i + 1))
        end do
    end subroutine
end module

program fields
    use types
    implicit none
    type(cell), allocatable :: cells(:)
    real(8), allocatable :: u(:), v(:)
    real(8) :: t(4), ms(3) = 0, s = 0
    integer :: k
    allocate (cells(4000), u(4000), v(4000))
    cells%heat = 1
    u = 2
    v = 0
    do while (sum(ms) < 0.4d0)
        call cpu_time(t(1))
        do k = 1, 250
            s = s + sum_heat(cells, real(k, 8))
        end do
        call cpu_time(t(2))
        do k = 1, 400
            call set_mass(cells, real(k, 8))
        end do
        call cpu_time(t(3))
        do k = 1, 250
            call smooth(u, v)
            u(3) = v(4) + k
        end do
        call cpu_time(t(4))
        ms = ms + (t(2:4) - t(1:3))
    end do
    if (s + v(3) == 0) print *, s
    write (0, '(a,f20.6)') 'truth heat = ', 100 * ms(1) / sum(ms)
    write (0, '(a,f20.6)') 'truth mass = ', 100 * ms(2) / sum(ms)
    write (0, '(a,f20.6)') 'truth smooth = ', 100 * ms(3) / sum(ms)
end program
