! Finite volumes: derived types with allocatable components, type-bound procedures, extension, sections, elementals, pointers.
module mesh_mod
    implicit none
    integer, parameter :: dp = kind(1d0), n = 2048
    type :: cell_t
        real(dp) :: volume = 1, centre(3) = 0
        integer :: faces(6) = 0
    end type
    type :: mesh_t
        type(cell_t), allocatable :: cells(:)
        integer, allocatable :: owner(:), neighbour(:)
        real(dp), allocatable :: area(:)
    contains
        procedure :: total_volume => mesh_total
    end type
    type, abstract :: field_t
        real(dp), allocatable :: v(:)
        character(len=16) :: name = ' '
    contains
        procedure(update_i), deferred :: update
        procedure :: norm
    end type
    abstract interface
        subroutine update_i(self, k)
            import
            class(field_t), intent(inout) :: self
            integer, intent(in) :: k
        end subroutine
    end interface
    type, extends(field_t) :: scalar_t
        real(dp), allocatable :: old(:)
    contains
        procedure :: update => scalar_update
    end type
    type, extends(field_t) :: vector_t
        real(dp), allocatable :: w(:, :)
    contains
        procedure :: update => vector_update
    end type
    type :: node_t
        real(dp) :: payload = 1
        type(node_t), pointer :: next => null()
    end type
    type :: box_t
        class(field_t), allocatable :: f
    end type
contains
    real(dp) function mesh_total(self)
        class(mesh_t), intent(in) :: self
        integer :: i
        mesh_total = 0
        do i = 1, size(self%cells)
            mesh_total = mesh_total*0.5_dp + self%cells(i)%volume
        end do
    end function
    real(dp) function norm(self)
        class(field_t), intent(in) :: self
        norm = sqrt(sum(self%v**2))
    end function
    subroutine scalar_update(self, k)
        class(scalar_t), intent(inout) :: self
        integer, intent(in) :: k
        integer :: i
        do i = 2, n - 1
            self%v(i) = 0.5_dp*(self%old(i - 1) + self%old(i + 1)) + k
        end do
    end subroutine
    subroutine vector_update(self, k)
        class(vector_t), intent(inout) :: self
        integer, intent(in) :: k
        self%w(:, 2) = self%w(:, 1)*0.5_dp + k
    end subroutine
    subroutine fluxes(m, phi, flux)
        type(mesh_t), intent(in) :: m
        real(dp), intent(in) :: phi(:)
        real(dp), intent(out) :: flux(:)
        integer :: i
        do i = 1, size(flux)
            flux(i) = m%area(i)*(phi(m%owner(i)) - phi(m%neighbour(i)))
        end do
    end subroutine
    pure elemental function limiter(r) result(phi)
        real(dp), intent(in) :: r
        real(dp) :: phi
        phi = (r + abs(r))/(1 + abs(r))
    end function
    subroutine limit(a, b)
        real(dp), intent(in) :: a(:)
        real(dp), intent(out) :: b(:)
        b = limiter(a)
    end subroutine
    subroutine shift(a)
        real(dp), intent(inout) :: a(:, :)
        a(:, 2:) = a(:, :size(a, 2) - 1)*0.5_dp + 1
    end subroutine
    real(dp) function walk(head)
        type(node_t), pointer, intent(in) :: head
        type(node_t), pointer :: p
        walk = 0
        p => head
        do while (associated(p))
            walk = walk*0.5_dp + p%payload
            p => p%next
        end do
    end function
    subroutine centres(m, k)
        type(mesh_t), intent(inout) :: m
        integer, intent(in) :: k
        integer :: i
        do i = 1, size(m%cells)
            associate (c => m%cells(i))
                c%centre(2) = c%centre(2)*0.5_dp + k
            end associate
        end do
    end subroutine
    real(dp) function pick(c, t) result(s)
        real(dp), intent(in) :: c(:)
        real(dp), intent(in) :: t(0:)
        integer :: i
        s = 0
        do i = 1, size(c)
            s = s*0.5_dp + t(iand(i, 63))*c(i)
        end do
    end function
end module

program volumes
    use mesh_mod
    implicit none
    type(mesh_t) :: mesh
    type(scalar_t) :: temp
    type(vector_t), target :: velo
    type(box_t) :: boxes(2)
    real(dp), allocatable :: flux(:), ratio(:), limited(:), plane(:, :), coeff(:), table(:)
    real(dp), pointer :: row(:)
    type(node_t), pointer :: head, q
    real(dp) :: begins, spent(12), keep
    integer :: i, k
    allocate (mesh%cells(n), mesh%owner(n), mesh%neighbour(n), mesh%area(n))
    allocate (temp%v(n), temp%old(n), velo%w(n, 2), velo%v(n), flux(n), ratio(n), limited(n), plane(64, 64), coeff(n), table(0:63))
    mesh%owner = [(mod(i*37, n) + 1, i=1, n)]; mesh%neighbour = [(mod(i*11, n) + 1, i=1, n)]; mesh%area = 1
    temp%v = 1; temp%old = 1; velo%w = 1; velo%v = 1; ratio = 2; plane = 0; coeff = 1; table = 1
    allocate (boxes(1)%f, source=temp)
    nullify (head)
    do i = 1, n
        allocate (q)
        q%next => head
        head => q
    end do
    row => velo%w(:, 1)
    keep = 0
    do i = 1, 12
        k = 0
        call cpu_time(begins)
        do
            k = k + 1
            select case (i)
            case (1); keep = keep + mesh%total_volume()
            case (2); keep = keep + temp%norm()
            case (3); call temp%update(k)
            case (4); call velo%update(k)
            case (5); call fluxes(mesh, temp%v, flux)
            case (6); call limit(ratio, limited)
            case (7); call shift(plane)
            case (8); keep = keep + walk(head)
            case (9); call centres(mesh, k)
            case (10); keep = keep + pick(coeff, table)
            case (11); call boxes(1)%f%update(k)
            case (12); call rows(row, k)
            end select
            if (mod(k, 64) == 0) then
                call cpu_time(spent(i))
                spent(i) = spent(i) - begins
                if (spent(i) > 0.04d0) exit
            end if
        end do
    end do
    spent = 100*spent/sum(spent)
    do i = 1, 12
        if (i < 10) print '(a, i1, a, f8.4)', 'truth p', i, ' = ', spent(i)
        if (i >= 10) print '(a, i2, a, f8.4)', 'truth p', i, ' = ', spent(i)
    end do
    if (keep == 7) print *, 'no'
contains
    subroutine rows(r, k)
        real(dp), pointer, intent(in) :: r(:)
        integer, intent(in) :: k
        integer :: j
        do j = 1, size(r)
            r(j) = r(j)*0.5_dp + k
        end do
    end subroutine
end program
