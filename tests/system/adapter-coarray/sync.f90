! Events, locks, critical, atomics, images that synchronise, put, get and a reduction, as often as check-sync.py knows: 3 images, 5 rounds.
module m
    use iso_fortran_env
    implicit none
    integer, parameter :: rounds = 5
    type(event_type) :: ready[*]
    type(lock_type) :: door[*]
    integer :: counter[*], box(4)[*], copy(4)
    integer(atomic_int_kind) :: tally[*]
contains
    pure function add(a, b) result(c)
        integer, intent(in) :: a, b
        integer :: c
        c = a + b
    end function
    subroutine ring()
        integer :: i, next, previous
        next = merge(1, this_image() + 1, this_image() == num_images())
        previous = merge(num_images(), this_image() - 1, this_image() == 1)
        do i = 1, rounds
            event post (ready[next])
            event wait (ready)
            sync images ([next, previous])
        end do
    end subroutine
    subroutine count_up()
        integer :: i
        do i = 1, rounds
            lock (door[1])
            counter[1] = counter[1] + 1
            unlock (door[1])
            critical
                box(:)[1] = this_image()
            end critical
            call atomic_add(tally[1], 2)
        end do
    end subroutine
end module
program p
    use m
    implicit none
    integer :: n, v
    counter = 0
    call atomic_define(tally, 0)
    sync all
    call ring()
    call count_up()
    call event_query(ready, n)
    sync all
    call atomic_ref(v, tally[1])
    copy = box(:)[2]
    if (this_image() == 1) print '(a, 4(i0, 1x))', 'done ', counter, v, n, copy(1) * 0
    v = this_image()
    call co_reduce(v, add)
    if (this_image() == 1) print '(a, i0)', 'reduced ', v
end program
