! Components, pointers and names by which Fortran reaches arrays.
module data_
    implicit none
    integer, parameter :: n = 4096
    type point
        real(8) :: x, y
        integer :: tag
    end type
    type field
        real(8), allocatable :: values(:)
        real(8), pointer :: view(:) => null()
        real(8) :: own(4096)
        type(point) :: points(4096)
    contains
        procedure :: relax
    end type
    type(field) :: one, two
    type(field), allocatable :: many(:)
    real(8), allocatable :: plain(:), plane(:, :)
    real(8), allocatable, target :: base(:)
    real(8) :: shaped(4096), masked(4096), done(4096), elemental_(4096), summed(4096), moved(4096), moved_to(4096)
    character(len=4096) :: letters
    complex(8) :: waves(4096)
contains
    subroutine relax(this, k)
        class(field), intent(inout) :: this
        integer, intent(in) :: k
        integer :: i
        do i = 1, n
            this%own(i) = this%own(i)*0.5d0 + k
        end do
    end subroutine
    elemental real(8) function half(x)
        real(8), intent(in) :: x
        half = x*0.5d0 + 1
    end function
    subroutine in_values(f, k)
        type(field), intent(inout) :: f
        integer, intent(in) :: k
        integer :: i
        do i = 1, n
            f%values(i) = f%values(i)*0.5d0 + k
        end do
    end subroutine
    subroutine in_view(k)
        integer, intent(in) :: k
        two%view(:) = two%view(:)*0.5d0 + k
    end subroutine
    subroutine in_points(k)
        integer, intent(in) :: k
        integer :: i
        do i = 1, n
            one%points(i)%x = one%points(i)%x*0.5d0 + k
        end do
    end subroutine
    subroutine in_many(k)
        integer, intent(in) :: k
        integer :: i
        associate (f => many(3))
            do i = 1, n
                f%points(i)%y = f%points(i)%y*0.5d0 + k
            end do
        end associate
    end subroutine
    subroutine in_plain(k)
        integer, intent(in) :: k
        integer :: i
        do concurrent (i=1:n)
            plain(i) = plain(i)*0.5d0 + k
        end do
    end subroutine
    subroutine in_plane(k)
        integer, intent(in) :: k
        integer :: i, j
        do j = 1, 64
            do i = 1, 64
                plane(i, j) = plane(i, j)*0.5d0 + k
            end do
        end do
    end subroutine
    subroutine in_shape(a, m, k)
        integer, intent(in) :: m, k
        real(8), intent(inout) :: a(m, m)
        a = a*0.5d0 + k
    end subroutine
    subroutine in_masked(k)
        integer, intent(in) :: k
        where (masked > -1)
            masked = masked*0.5d0 + k
        end where
    end subroutine
    subroutine in_elemental()
        elemental_ = half(elemental_)
    end subroutine
    real(8) function total()
        total = sum(summed, mask=summed > -1)
    end function
    subroutine move()
        moved_to(1:n:1) = moved(n:1:-1)
    end subroutine
    integer function in_letters()
        integer :: i
        in_letters = 0
        do i = 1, n
            if (letters(i:i) == 'x') in_letters = in_letters + i
        end do
    end function
    subroutine in_waves(k)
        integer, intent(in) :: k
        integer :: i
        do i = 1, n
            waves(i)%re = waves(i)%im*0.5d0 + k
        end do
    end subroutine
end module

program main
    use data_
    implicit none
    real(8) :: begins, spent(15), keep
    integer :: k, i
    allocate (one%values(n), plain(n), plane(64, 64), base(n), many(4))
    one%values = 0; plain = 0; plane = 0; base = 0; letters = ' '; waves = 0; shaped = 0; masked = 0; done = 0
    elemental_ = 0; summed = 1; moved = 1; keep = 0
    two%view => base
    do i = 1, 15
        k = 0
        call cpu_time(begins)
        do
            k = k + 1
            select case (i)
            case (1); call in_values(one, k)
            case (2); call in_view(k)
            case (3); call one%relax(k)
            case (4); call in_points(k)
            case (5); call in_many(k)
            case (6); call in_plain(k)
            case (7); call in_plane(k)
            case (8); call in_shape(shaped, 64, k)
            case (9); call in_masked(k)
            case (10); call in_elemental()
            case (11); keep = keep + total()
            case (12); call move()
            case (13); keep = keep + in_letters()
            case (14); call in_waves(k)
            case (15); call two%relax(k)
            end select
            if (mod(k, 64) == 0) then
                call cpu_time(spent(i))
                spent(i) = spent(i) - begins
                if (spent(i) > 0.04d0) exit
            end if
        end do
    end do
    print '(a, f8.4)', 'truth values = ', 100*spent(1)/sum(spent), 'truth view = ', 100*spent(2)/sum(spent), &
        'truth own = ', 100*spent(3)/sum(spent), 'truth points = ', 100*spent(4)/sum(spent), &
        'truth many = ', 100*spent(5)/sum(spent), 'truth plain = ', 100*spent(6)/sum(spent), &
        'truth plane = ', 100*spent(7)/sum(spent), 'truth shape = ', 100*spent(8)/sum(spent), &
        'truth mask = ', 100*spent(9)/sum(spent), 'truth elem = ', 100*spent(10)/sum(spent), &
        'truth summed = ', 100*spent(11)/sum(spent), 'truth moved = ', 100*spent(12)/sum(spent), &
        'truth letters = ', 100*spent(13)/sum(spent), 'truth waves = ', 100*spent(14)/sum(spent), &
        'truth own_two = ', 100*spent(15)/sum(spent)
    if (keep == 7) print *, 'no'
end program
