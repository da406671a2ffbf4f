! A multigrid solver of u'' = f in one dimension. To the compiler it is four procedures; the program itself knows on which of its grids each of them
! works, and says so with perfmap.f90: the report has a row for each grid.
module grids
    use perfmap
    implicit none
    private
    public :: cycle_down, residual_of, n_levels

    integer, parameter :: n_levels = 12
    type(pm_sentence) :: smoothing(n_levels), moving(n_levels)
    type(pm_metric) :: points
    logical :: defined = .false.

contains

    subroutine define_words
        type(pm_level) :: level
        type(pm_noun) :: grid
        character(len=40) :: name
        integer :: l
        level = pm_define_level('Multigrid')
        points = pm_define_metric('points', 'points', 'count')
        do l = 1, n_levels
            write (name, '(a,i0)') 'grid of ', 2**l - 1
            grid = pm_define_noun(level, name, 'grid')
            smoothing(l) = pm_define_sentence(pm_define_verb(level, 'Smooths'), grid)
            moving(l) = pm_define_sentence(pm_define_verb(level, 'Moves'), grid)
        end do
        defined = .true.
    end subroutine

    subroutine smooth(l, u, f)
        integer, intent(in) :: l
        real(8), intent(inout) :: u(0:)
        real(8), intent(in) :: f(0:)
        type(pm_active) :: here ! until the end of this procedure
        integer :: i, k, n
        real(8) :: h2
        call pm_activate(here, smoothing(l))
        n = ubound(u, 1)
        h2 = (1d0 / n)**2
        do k = 1, 4
            do i = 1, n - 1
                u(i) = 0.5d0 * (u(i - 1) + u(i + 1) - h2 * f(i))
            end do
        end do
        call pm_cost(points, 4 * (n - 1))
    end subroutine

    real(8) function residual_of(u, f) result(largest)
        real(8), intent(in) :: u(0:), f(0:)
        integer :: i, n
        n = ubound(u, 1)
        largest = 0
        do i = 1, n - 1
            largest = max(largest, abs(f(i) - (u(i - 1) - 2 * u(i) + u(i + 1)) * real(n, 8)**2))
        end do
    end function

    recursive subroutine cycle_down(l, u, f)
        integer, intent(in) :: l
        real(8), intent(inout) :: u(0:)
        real(8), intent(in) :: f(0:)
        real(8) :: r(0:ubound(u, 1)), f_coarse(0:ubound(u, 1) / 2), u_coarse(0:ubound(u, 1) / 2)
        integer :: i, n
        if (.not. defined) call define_words
        n = ubound(u, 1)
        call smooth(l, u, f)
        if (l == 1) return
        call pm_enter(moving(l))
        r = 0
        do i = 1, n - 1
            r(i) = f(i) - (u(i - 1) - 2 * u(i) + u(i + 1)) * real(n, 8)**2
        end do
        f_coarse = 0
        do i = 1, n / 2 - 1
            f_coarse(i) = 0.25d0 * (r(2 * i - 1) + 2 * r(2 * i) + r(2 * i + 1))
        end do
        u_coarse = 0
        call pm_leave(moving(l))
        call cycle_down(l - 1, u_coarse, f_coarse)
        call pm_enter(moving(l))
        do i = 1, n / 2 - 1
            u(2 * i) = u(2 * i) + u_coarse(i)
        end do
        do i = 1, n - 1, 2
            u(i) = u(i) + 0.5d0 * (u_coarse(i / 2) + u_coarse(i / 2 + 1))
        end do
        call pm_leave(moving(l))
        call smooth(l, u, f)
    end subroutine
end module

program main
    use grids
    implicit none
    integer, parameter :: n = 2**n_levels
    real(8) :: u(0:n), f(0:n)
    integer :: i
    u = 0
    f = [(sin(20d0 * i / n), i=0, n)]
    do i = 1, 2000
        call cycle_down(n_levels, u, f)
    end do
    print '(a,es9.2)', 'largest residual: ', residual_of(u, f)
end program
