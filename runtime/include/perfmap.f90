! The words of your own program, for PerfMap: perfmap.h for Fortran (2003 and later, gfortran 11 and later).
!
!     use perfmap
!     type(pm_sentence), save :: solving
!     type(pm_noun) :: grid
!     type(pm_active) :: here                        ! in procedures and blocks: leaves by itself at their end
!
!     if (solving%id == 0) then                      ! made once, kept
!         grid = pm_define_noun(pm_define_level('Heat'), 'coarse grid', 'grid')
!         solving = pm_define_sentence(pm_define_verb(pm_define_level('Heat'), 'Solves'), grid)
!     end if
!     call pm_enter(solving)                         ! or, without pm_leave: call pm_activate(here, solving)
!     call solve()
!     call pm_leave(solving)
!
! Compile this file with your program; nothing else is needed, nothing is linked: gfortran perfmap.f90 heat.f90. Without `perfmap run` definitions
! return 0, the rest does nothing: a call and its return. A procedure that entered must leave, or hold what it entered; a recursive one with
! pm_leave at its end is compiled with -fno-optimize-sibling-calls, or holds. What each call means is said in perfmap.h, which has the same names.
!
! How it works: the first definition looks for PerfMap's runtime by dlsym(3). Calls that need the stack pointer of their caller are procedure pointers,
! which then lead into the runtime.
module perfmap
    use, intrinsic :: iso_c_binding
    implicit none
    private

    type, bind(C), public :: pm_level
        integer(c_int32_t) :: id = 0
    end type
    type, bind(C), public :: pm_noun
        integer(c_int32_t) :: id = 0
    end type
    type, bind(C), public :: pm_verb
        integer(c_int32_t) :: id = 0
    end type
    type, bind(C), public :: pm_sentence
        integer(c_int32_t) :: id = 0
    end type
    type, bind(C), public :: pm_metric
        integer(c_int32_t) :: id = 0
    end type
    type, bind(C), public :: pm_cause
        integer(c_int64_t) :: id = 0
    end type

    type, public :: pm_point
        integer(c_int32_t) :: id = 0
        integer(c_int8_t), pointer, private :: is_on => null()
    end type

    ! What is active, or adopted, until the variable goes out of scope. Written by the runtime.
    type, public :: pm_active
        private
        integer(c_int64_t) :: sentence = 0
        integer(c_intptr_t) :: sp = 0
    contains
        final :: end_active
    end type
    type, public :: pm_adopted
        private
        integer(c_int64_t) :: cause = 0
        integer(c_intptr_t) :: sp = 0
    contains
        final :: end_adopted
    end type

    integer, parameter, public :: pm_export_bytes = 1024

    public :: pm_is_measured, pm_define_level, pm_define_noun, pm_define_verb, pm_define_sentence, pm_define_phase, pm_define_metric
    public :: pm_map, pm_cost, pm_begin, pm_end, pm_begin_process, pm_end_process, pm_context_export, pm_context_import
    public :: pm_define_point, pm_point_is_on, pm_map_at

    ! format/pm_words.h
    type, bind(C) :: noun_facts
        type(c_ptr) :: name, kind, file
        integer(c_int32_t) :: parent, line_no
        integer(c_int64_t) :: address, size_bytes
    end type
    type, bind(C) :: words_api
        integer(c_int32_t) :: version, bytes
        type(c_funptr) :: level, noun, verb, sentence, map, enter, leave, metric, cost
        type(c_funptr) :: begin, end, capture, adopt, release, export_cause, import_cause
        type(c_funptr) :: enter_here, leave_here, cost_here, capture_here, adopt_here, release_here, activate, adopt_in
        type(c_funptr) :: point, map_at
    end type
    integer(c_int32_t), parameter :: version = 2

    abstract interface
        function of_level(name, above) bind(C) result(id)
            import :: c_char, c_int32_t
            character(kind=c_char), intent(in) :: name(*), above(*)
            integer(c_int32_t) :: id
        end function
        function of_noun(level, facts) bind(C) result(id)
            import :: noun_facts, c_int32_t
            integer(c_int32_t), value :: level
            type(noun_facts), intent(in) :: facts
            integer(c_int32_t) :: id
        end function
        function of_verb(level, name) bind(C) result(id)
            import :: c_char, c_int32_t
            integer(c_int32_t), value :: level
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int32_t) :: id
        end function
        function of_nouns(verb, nouns, n_nouns) bind(C) result(id)
            import :: pm_noun, c_int32_t
            integer(c_int32_t), value :: verb, n_nouns
            type(pm_noun), intent(in) :: nouns(*)
            integer(c_int32_t) :: id
        end function
        subroutine of_mapping(source, destination, weight) bind(C)
            import :: c_int32_t, c_double
            integer(c_int32_t), value :: source, destination
            real(c_double), intent(in) :: weight
        end subroutine
        function of_point(name, is_on) bind(C) result(id)
            import :: c_char, c_int32_t, c_ptr
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), intent(out) :: is_on
            integer(c_int32_t) :: id
        end function
        subroutine of_mapping_at(point, source, destination, weight) bind(C)
            import :: c_int32_t, c_double
            integer(c_int32_t), value :: point, source, destination
            real(c_double), intent(in) :: weight
        end subroutine
        function of_metric(name, unit, kind) bind(C) result(id)
            import :: c_char, c_int32_t
            character(kind=c_char), intent(in) :: name(*), unit(*), kind(*)
            integer(c_int32_t) :: id
        end function
        subroutine of_frame(id, sp) bind(C)
            import :: c_int32_t, c_intptr_t
            integer(c_int32_t), value :: id
            integer(c_intptr_t), value :: sp
        end subroutine
        subroutine of_cause_frame(cause, sp) bind(C)
            import :: c_int64_t, c_intptr_t
            integer(c_int64_t), value :: cause
            integer(c_intptr_t), value :: sp
        end subroutine
        subroutine of_ambient(sentence, whole_process) bind(C)
            import :: c_int32_t
            integer(c_int32_t), value :: sentence, whole_process
        end subroutine
        function of_export(cause, text, text_bytes) bind(C) result(n)
            import :: c_int64_t, c_char, c_size_t
            integer(c_int64_t), value :: cause
            character(kind=c_char), intent(out) :: text(*)
            integer(c_size_t), value :: text_bytes
            integer(c_size_t) :: n
        end function
        function of_import(text, text_bytes) bind(C) result(cause)
            import :: c_int64_t, c_char, c_size_t
            character(kind=c_char), intent(in) :: text(*)
            integer(c_size_t), value :: text_bytes
            integer(c_int64_t) :: cause
        end function
        subroutine of_sentence(sentence) bind(C)
            import :: pm_sentence
            type(pm_sentence), value :: sentence
        end subroutine
        subroutine of_cost(metric, amount) bind(C)
            import :: pm_metric, c_int64_t
            type(pm_metric), value :: metric
            integer(c_int64_t), value :: amount
        end subroutine
        function of_capture() bind(C) result(cause)
            import :: pm_cause
            type(pm_cause) :: cause
        end function
        subroutine of_cause(cause) bind(C)
            import :: pm_cause
            type(pm_cause), value :: cause
        end subroutine
        subroutine of_active(here, sentence)
            import :: pm_active, pm_sentence
            type(pm_active), intent(inout) :: here
            type(pm_sentence), intent(in) :: sentence
        end subroutine
        subroutine of_adopted(here, cause)
            import :: pm_adopted, pm_cause
            type(pm_adopted), intent(inout) :: here
            type(pm_cause), intent(in) :: cause
        end subroutine
        function of_runtime(wanted) bind(C) result(api)
            import :: c_ptr, c_int32_t
            integer(c_int32_t), value :: wanted
            type(c_ptr) :: api
        end function
    end interface

    ! Called like procedures. The frame that calls is that in which the sentence lives.
    procedure(of_sentence), pointer, protected, public :: pm_enter => no_sentence, pm_leave => no_sentence
    procedure(of_capture), pointer, protected, public :: pm_capture => no_capture
    procedure(of_cause), pointer, protected, public :: pm_adopt => no_cause, pm_release => no_cause
    ! call pm_activate(here, sentence), call pm_adopt_in(here, cause): until `here` goes out of scope, a variable of a procedure or a block.
    procedure(of_active), pointer, protected, public :: pm_activate => no_active
    procedure(of_adopted), pointer, protected, public :: pm_adopt_in => no_adopted
    procedure(of_cost), pointer :: cost_here => no_cost

    interface pm_cost
        module procedure cost_32, cost_64
    end interface

    interface pm_define_sentence
        module procedure define_short_sentence, define_sentence
    end interface

    interface
        function dlsym(handle, name) bind(C, name='dlsym') result(address)
            import :: c_ptr, c_char, c_funptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: address
        end function
    end interface

    logical :: looked = .false.
    procedure(of_level), pointer :: level_ => null()
    procedure(of_noun), pointer :: noun_ => null()
    procedure(of_verb), pointer :: verb_ => null()
    procedure(of_nouns), pointer :: sentence_ => null()
    procedure(of_mapping), pointer :: map_ => null()
    procedure(of_point), pointer :: point_ => null()
    procedure(of_mapping_at), pointer :: map_at_ => null()
    procedure(of_metric), pointer :: metric_ => null()
    procedure(of_frame), pointer :: leave_ => null()
    procedure(of_cause_frame), pointer :: release_ => null()
    procedure(of_ambient), pointer :: begin_ => null(), end_ => null()
    procedure(of_export), pointer :: export_ => null()
    procedure(of_import), pointer :: import_ => null()

contains

    ! --- without PerfMap ---

    subroutine no_sentence(sentence) bind(C, name='')
        type(pm_sentence), value :: sentence
        if (.false.) sentence%id = 0
    end subroutine

    function no_capture() bind(C, name='') result(cause)
        type(pm_cause) :: cause
        cause = pm_cause(0)
    end function

    subroutine no_cause(cause) bind(C, name='')
        type(pm_cause), value :: cause
        if (.false.) cause%id = 0
    end subroutine

    subroutine no_cost(metric, amount) bind(C, name='')
        type(pm_metric), value :: metric
        integer(c_int64_t), value :: amount
        if (.false.) metric%id = int(amount, c_int32_t)
    end subroutine

    subroutine no_active(here, sentence)
        type(pm_active), intent(inout) :: here
        type(pm_sentence), intent(in) :: sentence
        if (.false.) here%sentence = sentence%id
    end subroutine

    subroutine no_adopted(here, cause)
        type(pm_adopted), intent(inout) :: here
        type(pm_cause), intent(in) :: cause
        if (.false.) here%cause = cause%id
    end subroutine

    ! --- with it ---

    ! By any number of threads at once: all write the same.
    subroutine look
        procedure(of_runtime), pointer :: runtime
        type(words_api), pointer :: api
        type(c_funptr) :: address
        type(c_ptr) :: table
        address = dlsym(c_null_ptr, 'pm_words_of_process' // c_null_char)
        table = c_null_ptr
        if (c_associated(address)) then
            call c_f_procpointer(address, runtime)
            table = runtime(version)
        end if
        if (c_associated(table)) then
            call c_f_pointer(table, api)
            call take(api)
        end if
        looked = .true.
    end subroutine

    subroutine take(api)
        type(words_api), intent(in) :: api
        call c_f_procpointer(api%level, level_)
        call c_f_procpointer(api%noun, noun_)
        call c_f_procpointer(api%verb, verb_)
        call c_f_procpointer(api%sentence, sentence_)
        call c_f_procpointer(api%map, map_)
        call c_f_procpointer(api%point, point_)
        call c_f_procpointer(api%map_at, map_at_)
        call c_f_procpointer(api%metric, metric_)
        call c_f_procpointer(api%leave, leave_)
        call c_f_procpointer(api%release, release_)
        call c_f_procpointer(api%begin, begin_)
        call c_f_procpointer(api%end, end_)
        call c_f_procpointer(api%export_cause, export_)
        call c_f_procpointer(api%import_cause, import_)
        call c_f_procpointer(api%enter_here, pm_enter)
        call c_f_procpointer(api%leave_here, pm_leave)
        call c_f_procpointer(api%cost_here, cost_here)
        call c_f_procpointer(api%capture_here, pm_capture)
        call c_f_procpointer(api%adopt_here, pm_adopt)
        call c_f_procpointer(api%release_here, pm_release)
        call c_f_procpointer(api%activate, pm_activate)
        call c_f_procpointer(api%adopt_in, pm_adopt_in)
    end subroutine

    logical function pm_is_measured()
        if (.not. looked) call look
        pm_is_measured = associated(level_)
    end function

    ! --- definitions; names without the blanks at their end ---

    type(pm_level) function pm_define_level(name, above) result(level)
        character(len=*), intent(in) :: name
        character(len=*), intent(in), optional :: above
        level = pm_level(0)
        if (.not. pm_is_measured()) return
        if (present(above)) then
            level%id = level_(trim(name) // c_null_char, trim(above) // c_null_char)
        else
            level%id = level_(trim(name) // c_null_char, c_null_char)
        end if
    end function

    ! address: c_loc of its memory, of so many bytes.
    type(pm_noun) function pm_define_noun(level, name, kind, parent, file, line_no, address, size_bytes) result(noun)
        type(pm_level), intent(in) :: level
        character(len=*), intent(in) :: name, kind
        type(pm_noun), intent(in), optional :: parent
        character(len=*), intent(in), optional :: file
        integer, intent(in), optional :: line_no
        type(c_ptr), intent(in), optional :: address
        integer(c_int64_t), intent(in), optional :: size_bytes
        character(kind=c_char, len=:), allocatable, target :: texts
        type(noun_facts) :: facts
        noun = pm_noun(0)
        if (.not. pm_is_measured()) return
        ! No function gives texts of its own length here: gfortran keeps that length in one place for all threads.
        texts = trim(name) // c_null_char // trim(kind) // c_null_char
        if (present(file)) texts = texts // trim(file)
        texts = texts // c_null_char
        facts = noun_facts(at(texts, 1), at(texts, len_trim(name) + 2), at(texts, len_trim(name) + len_trim(kind) + 3), 0, 0, 0, 0)
        if (present(parent)) facts%parent = parent%id
        if (present(line_no)) facts%line_no = int(line_no, c_int32_t)
        if (present(address)) facts%address = transfer(address, facts%address)
        if (present(size_bytes)) facts%size_bytes = size_bytes
        noun%id = noun_(level%id, facts)
    end function

    type(c_ptr) function at(texts, i)
        character(kind=c_char, len=*), intent(in), target :: texts
        integer, intent(in) :: i
        at = c_loc(texts(i:i))
    end function

    type(pm_verb) function pm_define_verb(level, name) result(verb)
        type(pm_level), intent(in) :: level
        character(len=*), intent(in) :: name
        verb = pm_verb(0)
        if (pm_is_measured()) verb%id = verb_(level%id, trim(name) // c_null_char)
    end function

    type(pm_sentence) function define_short_sentence(verb, noun) result(sentence)
        type(pm_verb), intent(in) :: verb
        type(pm_noun), intent(in) :: noun
        sentence = define_sentence(verb, [noun])
    end function

    type(pm_sentence) function define_sentence(verb, nouns) result(sentence)
        type(pm_verb), intent(in) :: verb
        type(pm_noun), intent(in) :: nouns(:)
        sentence = pm_sentence(0)
        if (pm_is_measured()) sentence%id = sentence_(verb%id, nouns, size(nouns, kind=c_int32_t))
    end function

    type(pm_sentence) function pm_define_phase(name) result(phase)
        character(len=*), intent(in) :: name
        type(pm_level) :: level
        level = pm_define_level('Phases')
        phase = pm_define_sentence(pm_define_verb(level, 'Runs'), pm_define_noun(level, name, 'phase'))
    end function

    type(pm_metric) function pm_define_metric(name, unit, kind) result(metric)
        character(len=*), intent(in) :: name, unit, kind
        metric = pm_metric(0)
        if (pm_is_measured()) metric%id = &
            metric_(trim(name) // c_null_char, trim(unit) // c_null_char, trim(kind) // c_null_char)
    end function

    ! --- mappings ---

    subroutine pm_map(source, destination, weight)
        type(pm_sentence), intent(in) :: source, destination
        real(c_double), intent(in), optional :: weight
        real(c_double) :: w
        w = 0
        if (present(weight)) w = weight
        if (associated(map_)) call map_(source%id, destination%id, w)
    end subroutine

    type(pm_point) function pm_define_point(name) result(point)
        character(len=*), intent(in) :: name
        type(c_ptr) :: is_on
        if (.not. pm_is_measured()) return
        is_on = c_null_ptr
        point%id = point_(trim(name) // c_null_char, is_on)
        if (c_associated(is_on)) call c_f_pointer(is_on, point%is_on)
    end function

    logical function pm_point_is_on(point)
        type(pm_point), intent(in) :: point
        pm_point_is_on = .false.
        if (associated(point%is_on)) pm_point_is_on = point%is_on /= 0
    end function

    subroutine pm_map_at(point, source, destination, weight)
        type(pm_point), intent(in) :: point
        type(pm_sentence), intent(in) :: source, destination
        real(c_double), intent(in), optional :: weight
        real(c_double) :: w
        if (.not. pm_point_is_on(point)) return
        w = 0
        if (present(weight)) w = weight
        call map_at_(point%id, source%id, destination%id, w)
    end subroutine

    ! --- costs, and what does not nest ---

    subroutine cost_32(metric, amount)
        type(pm_metric), intent(in) :: metric
        integer(c_int32_t), intent(in) :: amount
        if (amount > 0) call cost_here(metric, int(amount, c_int64_t))
    end subroutine

    subroutine cost_64(metric, amount)
        type(pm_metric), intent(in) :: metric
        integer(c_int64_t), intent(in) :: amount
        if (amount > 0) call cost_here(metric, amount)
    end subroutine

    subroutine pm_begin(sentence)
        type(pm_sentence), intent(in) :: sentence
        if (associated(begin_)) call begin_(sentence%id, 0)
    end subroutine

    subroutine pm_end(sentence)
        type(pm_sentence), intent(in) :: sentence
        if (associated(end_)) call end_(sentence%id, 0)
    end subroutine

    subroutine pm_begin_process(sentence)
        type(pm_sentence), intent(in) :: sentence
        if (associated(begin_)) call begin_(sentence%id, 1)
    end subroutine

    subroutine pm_end_process(sentence)
        type(pm_sentence), intent(in) :: sentence
        if (associated(end_)) call end_(sentence%id, 1)
    end subroutine

    subroutine end_active(here)
        type(pm_active), intent(inout) :: here
        if (here%sentence /= 0) call leave_(int(here%sentence, c_int32_t), here%sp)
        here%sentence = 0
    end subroutine

    subroutine end_adopted(here)
        type(pm_adopted), intent(inout) :: here
        if (here%sp /= 0) call release_(here%cause, here%sp)
        here%sp = 0
    end subroutine

    ! --- causes as text ---

    ! text(1:n): a member of a W3C baggage header; n = 0: does not fit (pm_export_bytes always do), or nobody measures.
    subroutine pm_context_export(cause, text, n)
        type(pm_cause), intent(in) :: cause
        character(len=*), intent(out) :: text
        integer, intent(out) :: n
        character(kind=c_char) :: bytes(pm_export_bytes)
        integer :: i
        n = 0
        text = ''
        if (.not. associated(export_)) return
        n = int(export_(cause%id, bytes, int(pm_export_bytes, c_size_t)))
        if (n > len(text)) n = 0
        do i = 1, n
            text(i:i) = bytes(i)
        end do
    end subroutine

    type(pm_cause) function pm_context_import(text) result(cause)
        character(len=*), intent(in) :: text
        cause = pm_cause(0)
        if (.not. pm_is_measured()) return
        if (associated(import_)) cause%id = import_(text // c_null_char, int(len_trim(text), c_size_t))
    end function
end module
