! SPDX-License-Identifier: BSD-3-Clause
!
! The density step of smoothed particle hydrodynamics over the processes of MPI, as in
! sph_density_mpi.c, in Fortran: each process gives any particles, and kith_domain_open deals them
! to domains with ghosts.
!
!     include=$(pkg-config --variable=includedir kith)/kith
!     mpicc -c $include/transport_mpi.c $(pkg-config --cflags kith)
!     mpifort $include/kith.f90 sph_density_mpi.f90 transport_mpi.o $(pkg-config --libs kith) \
!         -o sph_density_mpi
!     mpirun -n 4 ./sph_density_mpi
!
! Checks the density of a lattice, which is equal for all particles; and that a value comes home to
! the particle that it is of.
module density_step
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi
    use kith
    implicit none

    integer, parameter :: side = 16, all = side**3
    real(real64), parameter :: spacing = 1.0_real64/side, smoothing = 1.2_real64/side, &
        pi = 3.14159265358979323846_real64

contains

    ! End all processes with a message, unless a call succeeded.
    subroutine need(status, ctx)
        integer(c_int), intent(in) :: status
        type(c_ptr), intent(in) :: ctx
        integer :: error
        if (status == KITH_OK) return
        print "(a)", kith_status_name(status)//": "//kith_message(ctx)
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine need

    ! The cubic spline in 3-D, 0 from r = 2 h on.
    elemental function kernel(r) result(w)
        real(real64), intent(in) :: r
        real(real64) :: w, q
        q = r/smoothing
        w = 0.25_real64*max(2 - q, 0.0_real64)**3 - max(1 - q, 0.0_real64)**3
        w = w/(pi*smoothing**3)
    end function kernel

    ! Compute the densities of the particles x that this process gives. Collective.
    subroutine compute_density(ctx, team, x, masses, density, ids)
        type(c_ptr), intent(in) :: ctx, team
        real(real64), intent(in) :: x(:, :)
        real(real64), intent(in), target :: masses(:)
        real(real64), intent(out), target :: density(:)
        integer(int64), intent(out), target :: ids(:)
        real(real64), allocatable, target :: m(:), total(:)
        integer(int64), allocatable, target :: here_ids(:)
        type(kith_box) :: box
        type(kith_domain) :: domain
        type(kith_domain_points) :: here
        type(kith_pairs_options) :: options
        type(kith_pair_list) :: list
        real(real64) :: w
        integer(int64) :: p

        box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
        call need(kith_domain_open(team, x, 2*smoothing, domain, box), ctx)
        call need(kith_domain_read(domain, here), ctx)
        call kith_pairs_options_init(options)
        options%extras = KITH_DISTANCES
        allocate (m(here%n + here%ghosts))
        call need(kith_domain_send(domain, c_loc(masses), c_sizeof(w), c_loc(m)), ctx)
        total = m*kernel(0.0_real64)
        call need(kith_pairs_find(ctx, here%x_real64, 2*smoothing, list, box, options), ctx)
        do p = 1, list%n
            w = kernel(list%distances_real64(p))
            total(list%i(p)) = total(list%i(p)) + m(list%j(p))*w
            total(list%j(p)) = total(list%j(p)) + m(list%i(p))*w
        end do
        ! The sums of ghosts are not complete; the step of forces needs those of their particles.
        call need(kith_domain_refresh(domain, c_loc(total), c_sizeof(w)), ctx)
        if (any(abs(total - 1) > 0.01_real64)) error stop "a ghost has another density"
        here_ids = here%ids
        call need(kith_domain_home(domain, c_loc(total), c_sizeof(w), c_loc(density)), ctx)
        call need(kith_domain_home(domain, c_loc(here_ids), c_sizeof(p), c_loc(ids)), ctx)
        call kith_free(list)
        call kith_domain_close(domain)
    end subroutine compute_density
end module density_step

program sph_density_mpi
    use density_step
    implicit none
    type(c_ptr) :: ctx, team
    type(kith_transport) :: transport
    real(real64), allocatable :: x(:, :), masses(:), density(:)
    integer(int64), allocatable :: ids(:)
    real(real64) :: range(2), total(2)
    integer :: offered, rank, ranks, n, k, p, error, before

    call MPI_Init_thread(MPI_THREAD_FUNNELED, offered, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call need(kith_open(ctx), c_null_ptr)
    call need(kith_transport_mpi_fortran(MPI_COMM_WORLD, transport), c_null_ptr)
    call need(kith_team_open(ctx, transport, team), ctx)

    n = (all - rank + ranks - 1)/ranks ! particles rank, rank + ranks, ..., from 0
    allocate (x(3, n), density(n), ids(n))
    allocate (masses(n), source=1.0_real64/all)
    do k = 1, n
        p = rank + (k - 1)*ranks
        x(:, k) = ([mod(p, side), mod(p/side, side), p/side**2] + 0.5_real64)*spacing
    end do
    call compute_density(ctx, team, x, masses, density, ids)

    range = [maxval(-density), maxval(density)]
    call MPI_Allreduce(range, total, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    if (rank == 0) then
        print "(a, f0.6, a, f0.6, a, i0, a)", "density ", -total(1), " to ", total(2), &
            ", expected 1, by ", ranks, " processes"
    end if
    before = sum([((all - p + ranks - 1)/ranks, p=0, rank - 1)]) ! particles of the ranks before
    if (any(ids /= [(int(before + k, int64), k=1, n)])) error stop "ids of other particles"
    call kith_team_close(team)
    call kith_close(ctx)
    call MPI_Finalize(error)
    if (abs(total(1) + 1) > 0.01_real64 .or. total(1) + total(2) > 1e-12_real64) error stop 1
end program sph_density_mpi
