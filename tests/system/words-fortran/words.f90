! Sentences of a Fortran program's own, by its calling threads, nested, by variables that leave by themselves, from a recursion. Prints "NAME entries"
! lines, which the archive must have.
module counts
    implicit none
    integer, parameter :: n_grids = 4
    integer :: entered(n_grids) = 0, held = 0, begun = 0
    integer(8) :: cells_done = 0
    real(8), volatile :: sink = 0
end module

program words
    use perfmap
    use counts
    implicit none
    type(pm_level) :: level
    type(pm_verb) :: solves, smooths
    type(pm_metric) :: cells
    type(pm_sentence) :: phase
    type(pm_point) :: point
    integer :: i

    level = pm_define_level('Grids', 'Source')
    solves = pm_define_verb(level, 'Solves  ')
    smooths = pm_define_verb(level, 'Smooths')
    cells = pm_define_metric('cells', 'cells', 'count')
    point = pm_define_point('fortran-grids')
    phase = pm_define_phase('warm up')
    if (any([level%id, solves%id, smooths%id] == 0) .eqv. pm_is_measured()) error stop 'definitions'
    call maps
    !$omp parallel do
    do i = 1, 400
        call nested(mod(i, 3), i)
    end do
    do i = 1, 50
        call leaves_by_itself(i)
        call leaves_by_itself(-i)
    end do
    call nonsense
    call hand_over
    call exports
    do i = 1, n_grids
        print '(a,i0,a,i0)', 'grid ', i, ',', entered(i)
    end do
    print '(a,i0)', 'smoothed,', held
    print '(a,i0)', 'cells,', cells_done

contains

    type(pm_sentence) function grid(i, verb) result(sentence)
        integer, intent(in) :: i
        type(pm_verb), intent(in) :: verb
        character(len=20) :: name
        write (name, '(a,i0)') 'grid ', i
        sentence = pm_define_sentence(verb, pm_define_noun(level, name, 'grid', file='input.nml', line_no=i))
    end function

    subroutine work(n)
        integer, intent(in) :: n
        integer :: k
        real(8) :: sum
        sum = 0
        do k = 1, n
            sum = sum + sqrt(real(k, 8))
        end do
        sink = sum
    end subroutine

    recursive subroutine nested(depth, seed)
        integer, intent(in) :: depth, seed
        type(pm_sentence) :: s
        integer :: i
        i = 1 + mod(seed, n_grids)
        s = grid(i, solves)
        call pm_enter(s)
        call pm_cost(cells, seed)
        !$omp atomic
        entered(i) = entered(i) + 1
        !$omp atomic
        cells_done = cells_done + seed
        call work(200)
        if (depth > 0) call nested(depth - 1, seed * 3 + 1)
        call pm_leave(s)
    end subroutine

    ! Two at once in one frame, one in a block, and a way out in the middle.
    subroutine leaves_by_itself(n)
        integer, intent(in) :: n
        type(pm_active) :: first, second
        call pm_activate(first, grid(1, smooths))
        call pm_activate(second, grid(2, smooths))
        held = held + 2
        call work(100)
        if (n < 0) return
        block
            type(pm_active) :: inner
            call pm_activate(inner, grid(3, smooths))
            held = held + 1
            call work(100)
        end block
        call pm_activate(second, grid(4, smooths)) ! ends what it held
        held = held + 1
        call work(100)
    end subroutine

    subroutine maps
        type(pm_sentence) :: both
        both = pm_define_sentence(solves, [pm_define_noun(level, 'coarse', 'grid'), pm_define_noun(level, 'fine', 'grid')])
        call pm_map(grid(1, smooths), grid(1, solves))
        call pm_map(grid(2, smooths), both, 0.5d0)
        if (pm_point_is_on(point)) call pm_map_at(point, grid(3, smooths), grid(3, solves))
        if (pm_point_is_on(point) .neqv. pm_is_measured()) error stop 'the point is off'
    end subroutine

    ! Does no harm.
    subroutine nonsense
        call pm_leave(grid(1, solves))
        call pm_enter(pm_sentence(0))
        call pm_enter(pm_sentence(1234567))
        call pm_cost(cells, -1)
        call pm_begin(pm_sentence(0))
        call pm_end(phase)
        call pm_release(pm_cause(77))
        call pm_begin_process(phase)
        call solve_once
        call pm_end_process(phase)
    end subroutine

    subroutine solve_once
        type(pm_sentence) :: s
        s = grid(1, solves)
        call pm_enter(s)
        entered(1) = entered(1) + 1
        call work(1000)
        call pm_leave(s)
    end subroutine

    ! What is done for the adopted cause is done for what was active when it was captured.
    subroutine hand_over
        type(pm_cause) :: cause
        call capture_within(grid(2, smooths), cause)
        call do_for(cause)
    end subroutine

    subroutine capture_within(s, cause)
        type(pm_sentence), intent(in) :: s
        type(pm_cause), intent(out) :: cause
        type(pm_active) :: here
        call pm_activate(here, s)
        held = held + 1
        cause = pm_capture()
    end subroutine

    subroutine do_for(cause)
        type(pm_cause), intent(in) :: cause
        type(pm_adopted) :: here
        type(pm_sentence) :: s
        call pm_adopt_in(here, cause)
        s = grid(3, solves)
        call pm_enter(s)
        entered(3) = entered(3) + 1
        call work(100)
        call pm_leave(s)
    end subroutine

    subroutine exports
        type(pm_cause) :: here, there
        type(pm_adopted) :: adopted
        character(len=pm_export_bytes) :: text
        integer :: n
        here = pm_capture()
        call pm_context_export(here, text, n)
        there = pm_context_import(text(1:n))
        call pm_adopt_in(adopted, there)
        call work(100)
        call pm_adopt(here)
        call pm_release(here)
    end subroutine
end program
