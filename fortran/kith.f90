! SPDX-License-Identifier: BSD-3-Clause
!
! kith in Fortran 2018: contexts, neighbour lists, lists that are kept over the steps of a
! simulation, nearest neighbours, orders of particles, friends-of-friends groups and halos; domains
! of a team of processes.
!
! The bind(C) types are the structs of include/kith, field by field; the headers there are the
! manual. kith_pairs_find, kith_verlet_update, kith_nearest_find, kith_order_find, kith_fof_find and
! kith_halos_measure take coordinates x(3, n) in real32 or real64, or a kith_points. They return a
! status, KITH_OK or negative; kith_message(ctx) says what went wrong.
!
! Particles count from 1: i, j, offsets and particle are one more than in C. Results are pointers to
! arrays of the library, valid until the next call with that result, until kith_free, and while the
! context is open. Do not assign one result to another: both would free the same arrays.
module kith
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
    implicit none
    private

    ! Statuses, kith_status of core.h.
    integer(c_int), parameter, public :: KITH_OK = 0, KITH_INVALID = -1, KITH_NOT_FINITE = -2, &
        KITH_CAPACITY = -3, KITH_LIMIT = -4, KITH_NO_MEMORY = -5, KITH_CANCELLED = -6, &
        KITH_UNSUPPORTED = -7, KITH_NO_BACKEND = -8, KITH_DEVICE_LOST = -9, KITH_BUSY = -10, &
        KITH_TEAM_LOST = -11
    ! kith_points%precision, kith_points%memory.
    integer(c_int), parameter, public :: KITH_FLOAT = 4, KITH_DOUBLE = 8
    integer(c_int), parameter, public :: KITH_HOST = 0, KITH_DEVICE = 1
    ! kith_pairs_options%layout, kith_pairs_options%extras (a bit set: use ior), which
    ! kith_nearest_options has too.
    integer(c_int), parameter, public :: KITH_IJ = 0, KITH_CSR = 1, KITH_MATRIX = 2
    integer(c_int), parameter, public :: KITH_DISTANCES = 1, KITH_VECTORS = 2, KITH_SHIFTS = 4
    ! kith_pairs_options%radius_rule.
    integer(c_int), parameter, public :: KITH_RADIUS_NONE = 0, KITH_RADIUS_GATHER = 1, &
        KITH_RADIUS_SCATTER = 2, KITH_RADIUS_EITHER = 3, KITH_RADIUS_BOTH = 4, KITH_RADIUS_SUM = 5
    ! kith_verlet_state%reason: why a list was rebuilt (kith/verlet.h).
    integer(c_int), parameter, public :: KITH_VERLET_KEPT = 0, KITH_VERLET_FIRST = 1, &
        KITH_VERLET_ASKED = 2, KITH_VERLET_PARTICLES = 3, KITH_VERLET_BOX = 4, &
        KITH_VERLET_MOVED = 5, KITH_VERLET_ALWAYS = 6
    ! Elements of kith_fof_options%roles.
    integer(c_int8_t), parameter, public :: KITH_LINK = 0, KITH_ATTACH = 1, KITH_IGNORE = 2
    ! Lengths of arrays: types of particles, and densities that define spheres.
    integer, parameter, public :: KITH_TYPES = 8, KITH_SPHERES = 4

    ! How to open a context. Fill with kith_options_init.
    type, bind(c), public :: kith_options
        integer(c_size_t) :: size
        type(c_ptr) :: backend ! text that ends with c_null_char
        integer(c_int) :: threads
        type(c_funptr) :: watch
        type(c_ptr) :: user
        type(c_ptr) :: stream
    end type kith_options

    ! A borrowed set of coordinates.
    type, bind(c), public :: kith_points
        integer(c_int64_t) :: n
        type(c_ptr) :: x, y, z
        integer(c_int64_t) :: stride
        integer(c_int) :: precision
        integer(c_int) :: memory
    end type kith_points

    ! The space. Make with kith_box_open, kith_box_periodic or kith_box_triclinic.
    type, bind(c), public :: kith_box
        real(c_double) :: origin(3)
        real(c_double) :: row(3, 3) ! row(:, 1) is a, row(:, 2) b, row(:, 3) c
        integer(c_int) :: periodic(3)
        integer(c_int) :: dim
    end type kith_box

    ! Many systems in one call: c_loc of it is the batch of a call's options. Fill with
    ! kith_batch_init. Offsets count from 0 as in C: particles of system s, from 1 on, are
    ! offsets(s) + 1 to offsets(s + 1).
    type, bind(c), public :: kith_batch
        integer(c_size_t) :: size
        integer(c_int64_t) :: systems
        type(c_ptr) :: offsets ! c_loc of integer(int64), (systems + 1)
        type(c_ptr) :: against_offsets ! the same of a second set
        type(c_ptr) :: boxes ! c_loc of kith_box, (systems)
        integer(c_int) :: dim
        integer(c_int) :: memory
    end type kith_batch

    ! What list to make. Fill with kith_pairs_options_init.
    type, bind(c), public :: kith_pairs_options
        integer(c_size_t) :: size
        type(c_ptr) :: against ! c_loc of a kith_points
        integer(c_int) :: full
        integer(c_int) :: sorted
        integer(c_int) :: unordered
        integer(c_int) :: layout
        integer(c_int) :: extras
        integer(c_int64_t) :: block_pairs
        type(c_ptr) :: batch ! c_loc of a kith_batch
        integer(c_int64_t) :: width ! KITH_MATRIX: least entries of a row
        integer(c_int32_t) :: fill ! KITH_MATRIX: one less than j of entries without a neighbour
        integer(c_int) :: queued
        integer(c_int32_t) :: n_species
        integer(c_int) :: radius_rule ! KITH_RADIUS_GATHER, ...
        type(c_ptr) :: species ! c_loc of integer(int32), (n): from 0
        type(c_ptr) :: species_against
        type(c_ptr) :: cutoffs ! c_loc of real(real64), (n_species, n_species)
        type(c_ptr) :: radii ! c_loc of reals of the kind of the coordinates, (n)
        type(c_ptr) :: radii_against
        real(c_double) :: r_min
        type(c_ptr) :: molecules ! c_loc of integer(int32), (n)
        type(c_ptr) :: molecules_against
        type(c_ptr) :: bond_offsets ! c_loc of integer(int64), (n + 1): from 0
        type(c_ptr) :: bonds ! c_loc of integer(int32): particles from 0
        type(c_ptr) :: active ! c_loc of integer(int8), (n)
    end type kith_pairs_options

    ! A pair list, as in C. Programs use kith_pair_list.
    type, bind(c), public :: kith_pairs
        integer(c_int64_t) :: n = 0
        integer(c_int64_t) :: rows = 0
        type(c_ptr) :: i = c_null_ptr
        type(c_ptr) :: j = c_null_ptr
        type(c_ptr) :: offsets = c_null_ptr
        type(c_ptr) :: distances = c_null_ptr
        type(c_ptr) :: vectors = c_null_ptr
        type(c_ptr) :: shifts = c_null_ptr
        integer(c_int64_t) :: capacity = 0
        integer(c_int) :: memory = KITH_HOST
        integer(c_int32_t) :: size = 0
        type(c_ptr) :: owner = c_null_ptr
        type(c_ptr) :: counts = c_null_ptr
        integer(c_int64_t) :: width = 0
        integer(c_int64_t) :: widest = 0
        integer(c_int64_t) :: overflowed = 0
    end type kith_pairs

    ! What list to keep over steps. Fill with kith_verlet_options_init, then set cutoff and skin.
    type, bind(c), public :: kith_verlet_options
        integer(c_size_t) :: size
        real(c_double) :: cutoff
        real(c_double) :: skin
        integer(c_int) :: with_skin
        integer(c_int) :: full
        integer(c_int) :: layout ! KITH_IJ or KITH_CSR
        integer(c_int) :: extras
    end type kith_verlet_options

    ! What the last update of a kept list did, and what all of them did.
    type, bind(c), public :: kith_verlet_state
        integer(c_int64_t) :: updates
        integer(c_int64_t) :: rebuilds
        integer(c_int) :: reason ! KITH_VERLET_KEPT, ...
        integer(c_int) :: rebuilt
        integer(c_int64_t) :: kept
        real(c_double) :: displacement
        real(c_double) :: allowed
    end type kith_verlet_state

    ! How the ranks of a team exchange bytes. Made by kith_transport_mpi_fortran.
    type, bind(c), public :: kith_transport
        integer(c_size_t) :: size = 0
        type(c_ptr) :: self = c_null_ptr
        integer(c_int) :: rank = 0
        integer(c_int) :: ranks = 0
        integer(c_int) :: device = 0
        type(c_funptr) :: counts = c_null_funptr
        type(c_funptr) :: exchange = c_null_funptr
        type(c_funptr) :: gather = c_null_funptr
        type(c_funptr) :: combine = c_null_funptr
        type(c_funptr) :: abort = c_null_funptr
        type(c_funptr) :: close = c_null_funptr
    end type kith_transport

    ! The particles of a rank, as in C. Programs use kith_domain_points.
    type, bind(c), public :: kith_domain_view
        integer(c_size_t) :: size
        integer(c_int64_t) :: n
        integer(c_int64_t) :: ghosts
        type(c_ptr) :: xyz
        type(c_ptr) :: ids
    end type kith_domain_view

    ! Which neighbours to find. Fill with kith_nearest_options_init.
    type, bind(c), public :: kith_nearest_options
        integer(c_size_t) :: size
        type(c_ptr) :: against ! c_loc of a kith_points
        real(c_double) :: cutoff
        integer(c_int) :: extras
        type(c_ptr) :: batch ! c_loc of a kith_batch
        type(c_ptr) :: radii ! c_loc of reals of the kind of the coordinates, (n)
        type(c_ptr) :: radii_against
        integer(c_int) :: radius_rule ! KITH_RADIUS_GATHER, ...
    end type kith_nearest_options

    ! Nearest neighbours, as in C. Programs use kith_nearest_list.
    type, bind(c), public :: kith_nearest
        integer(c_int64_t) :: rows = 0
        integer(c_int64_t) :: k = 0
        type(c_ptr) :: counts = c_null_ptr
        type(c_ptr) :: j = c_null_ptr
        type(c_ptr) :: distances = c_null_ptr
        type(c_ptr) :: vectors = c_null_ptr
        type(c_ptr) :: shifts = c_null_ptr
        integer(c_int) :: memory = KITH_HOST
        integer(c_int32_t) :: size = 0
        type(c_ptr) :: owner = c_null_ptr
    end type kith_nearest

    ! An order of particles, as in C. Programs use kith_order_list.
    type, bind(c), public :: kith_order
        integer(c_int64_t) :: n = 0
        type(c_ptr) :: order = c_null_ptr
        integer(c_int) :: memory = KITH_HOST
        integer(c_int32_t) :: size = 0
        type(c_ptr) :: owner = c_null_ptr
    end type kith_order

    ! How to find groups. Fill with kith_fof_options_init.
    type, bind(c), public :: kith_fof_options
        integer(c_size_t) :: size
        integer(c_int64_t) :: min_members
        type(c_ptr) :: ids ! c_loc of integer(int64), (n)
        type(c_ptr) :: roles ! c_loc of integer(int8), (n)
        integer(c_int64_t) :: min_links
        type(c_ptr) :: velocities ! c_loc of reals of the kind of x, (3, n)
        real(c_double) :: velocity_length
        type(c_ptr) :: batch ! c_loc of a kith_batch
        integer(c_int) :: memory
    end type kith_fof_options

    ! Groups of particles, as in C. Programs use kith_group_list.
    type, bind(c), public :: kith_groups
        integer(c_int64_t) :: n = 0
        integer(c_int64_t) :: points = 0
        type(c_ptr) :: labels = c_null_ptr
        type(c_ptr) :: members = c_null_ptr
        integer(c_int) :: memory = KITH_HOST
        integer(c_int32_t) :: size = 0
        type(c_ptr) :: owner = c_null_ptr
        integer(c_int64_t) :: systems = 0
        type(c_ptr) :: offsets = c_null_ptr
    end type kith_groups

    ! Data of the particles beside their positions. Fill with kith_halo_input_init. Each pointer is
    ! c_loc of an array; reals are of the kind of x.
    type, bind(c), public :: kith_halo_input
        integer(c_size_t) :: size
        type(c_ptr) :: masses ! (n)
        type(c_ptr) :: velocities ! (3, n)
        type(c_ptr) :: types ! integer(int8), (n)
        type(c_ptr) :: potentials ! (n)
        type(c_ptr) :: densities ! (n)
        real(c_double) :: sphere_density(KITH_SPHERES)
    end type kith_halo_input

    ! One group. kith_halos_measure counts `particle` from 1; 0: there is none.
    type, bind(c), public :: kith_halo
        integer(c_int64_t) :: members
        integer(c_int64_t) :: members_of_type(KITH_TYPES)
        real(c_double) :: mass
        real(c_double) :: mass_of_type(KITH_TYPES)
        real(c_double) :: centre_of_mass(3)
        real(c_double) :: centre(3)
        integer(c_int64_t) :: particle
        real(c_double) :: velocity(3)
        real(c_double) :: dispersion
        real(c_double) :: radius_rms
        real(c_double) :: radius_max
        real(c_double) :: angular_momentum(3)
        real(c_double) :: inertia(6)
        real(c_double) :: axis_length(3)
        real(c_double) :: axis(3, 3) ! axis(:, 1) is the unit vector along the longest axis
        real(c_double) :: sphere_radius(KITH_SPHERES)
        real(c_double) :: sphere_mass(KITH_SPHERES)
    end type kith_halo

    ! Halos, as in C. Programs use kith_halo_list.
    type, bind(c), public :: kith_halos
        integer(c_int64_t) :: n = 0
        type(c_ptr) :: halo = c_null_ptr
        integer(c_int) :: memory = KITH_HOST
        integer(c_int32_t) :: size = 0
        type(c_ptr) :: owner = c_null_ptr
        real(c_double) :: sphere_seconds = 0
        integer(c_int64_t) :: stride = 0
    end type kith_halos

    ! The result of kith_pairs_find. What the options did not ask for is not associated; distances
    ! and vectors are in the kind of the coordinates. With KITH_MATRIX j, distances, vectors and
    ! shifts have width * rows elements instead of n. The neighbours of particle i are the first
    ! counts(i) of neighbours(:, i), which is j(width * (i - 1) + 1:width * i); distances, vectors
    ! and shifts have this order too. The entries behind them have j = options%fill + 1, infinite
    ! distances, and 0 for vectors and shifts.
    type, public :: kith_pair_list
        integer(int64) :: n = 0 ! pairs
        integer(int64) :: rows = 0 ! particles of x
        integer(int64) :: width = 0 ! KITH_MATRIX: entries of a column of neighbours
        integer(int32), pointer, contiguous :: i(:) => null() ! (n), KITH_IJ
        integer(int32), pointer, contiguous :: j(:) => null() ! (n)
        integer(int32), pointer, contiguous :: counts(:) => null() ! (rows), KITH_MATRIX
        integer(int32), pointer, contiguous :: neighbours(:, :) => null() ! (width, rows)
        ! (rows + 1), KITH_CSR: the neighbours of i are j(offsets(i):offsets(i + 1) - 1)
        integer(int64), pointer, contiguous :: offsets(:) => null()
        real(real32), pointer, contiguous :: distances_real32(:) => null() ! (n)
        real(real64), pointer, contiguous :: distances_real64(:) => null() ! (n)
        real(real32), pointer, contiguous :: vectors_real32(:, :) => null() ! (3, n)
        real(real64), pointer, contiguous :: vectors_real64(:, :) => null() ! (3, n)
        integer(int32), pointer, contiguous :: shifts(:, :) => null() ! (3, n)
        type(kith_pairs), private :: c
    end type kith_pair_list

    ! A list that is kept over steps: made by kith_verlet_open, closed by kith_verlet_close. Do not
    ! assign one to another: both would close the same list.
    type, public :: kith_verlet
        private
        type(c_ptr) :: c = c_null_ptr
        integer(c_int) :: layout = KITH_IJ
        integer(c_int) :: extras = 0
    end type kith_verlet

    ! A decomposition of the particles of a team: made by kith_domain_open, closed by
    ! kith_domain_close. Do not assign one to another: both would close the same domain.
    type, public :: kith_domain
        private
        type(c_ptr) :: c = c_null_ptr
        integer(c_int) :: precision = KITH_DOUBLE
    end type kith_domain

    ! The result of kith_domain_read: the n particles that this rank was dealt, and after them the
    ! ghosts, copies of particles of other ranks. Coordinates are in the kind of those given to
    ! kith_domain_open, not to be changed, and valid until the domain is closed; those of the other
    ! kind are not associated.
    type, public :: kith_domain_points
        integer(int64) :: n = 0
        integer(int64) :: ghosts = 0
        real(real32), pointer, contiguous :: x_real32(:, :) => null() ! (3, n + ghosts)
        real(real64), pointer, contiguous :: x_real64(:, :) => null() ! (3, n + ghosts)
        integer(int64), allocatable :: ids(:) ! (n + ghosts) global index of each particle, from 1
    end type kith_domain_points

    ! The result of kith_nearest_find: column i has the neighbours of particle i, in the order of
    ! their distances. Where there are fewer than k, it ends in j = 0, infinite distances, and 0 for
    ! vectors and shifts. What the options did not ask for is not associated; distances and vectors
    ! are in the kind of the coordinates.
    type, public :: kith_nearest_list
        integer(int64) :: rows = 0 ! particles
        integer(int64) :: k = 0 ! entries of a column
        integer(int32), pointer, contiguous :: counts(:) => null() ! (rows), k at most
        integer(int32), pointer, contiguous :: j(:, :) => null() ! (k, rows)
        real(real32), pointer, contiguous :: distances_real32(:, :) => null() ! (k, rows)
        real(real64), pointer, contiguous :: distances_real64(:, :) => null() ! (k, rows)
        real(real32), pointer, contiguous :: vectors_real32(:, :, :) => null() ! (3, k, rows)
        real(real64), pointer, contiguous :: vectors_real64(:, :, :) => null() ! (3, k, rows)
        integer(int32), pointer, contiguous :: shifts(:, :, :) => null() ! (3, k, rows)
        type(kith_nearest), private :: c
    end type kith_nearest_list

    ! The result of kith_order_find: particle order(k) comes k-th.
    type, public :: kith_order_list
        integer(int64) :: n = 0 ! particles
        integer(int32), pointer, contiguous :: order(:) => null() ! (n)
        type(kith_order), private :: c
    end type kith_order_list

    ! The result of kith_fof_find.
    type, public :: kith_group_list
        integer(int64) :: n = 0 ! groups
        integer(int32), pointer, contiguous :: labels(:) => null() ! group of each particle, or 0
        ! (n) linking particles of each group; attached ones are not counted
        integer(int64), pointer, contiguous :: members(:) => null()
        type(kith_groups), private :: c
    end type kith_group_list

    ! The result of kith_halos_measure.
    type, public :: kith_halo_list
        integer(int64) :: n = 0 ! groups
        type(kith_halo), pointer, contiguous :: halo(:) => null() ! (n); halo(1) is group 1
        real(real64) :: sphere_seconds = 0 ! time that finding the spheres took [s]
        type(kith_halos), private :: c
    end type kith_halo_list

    interface
        ! Open space without any boundary.
        function kith_box_open() result(box) bind(c)
            import :: kith_box
            type(kith_box) :: box
        end function kith_box_open

        ! A box [0, lx) x [0, ly) x [0, lz), periodic on all axes.
        function kith_box_periodic(lx, ly, lz) result(box) bind(c)
            import :: kith_box, c_double
            real(c_double), value :: lx, ly, lz
            type(kith_box) :: box
        end function kith_box_periodic

        ! A box with rows (lx, 0, 0), (xy, ly, 0), (xz, yz, lz), periodic on all axes.
        function kith_box_triclinic(lx, ly, lz, xy, xz, yz) result(box) bind(c)
            import :: kith_box, c_double
            real(c_double), value :: lx, ly, lz, xy, xz, yz
            type(kith_box) :: box
        end function kith_box_triclinic

        ! Number of CPU threads that a context uses; 0 where ctx is c_null_ptr.
        function kith_threads(ctx) result(threads) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: ctx
            integer(c_int) :: threads
        end function kith_threads
    end interface

    interface
        ! Make a transport between the processes of a communicator: the integer of `use mpi`, or
        ! MPI_VAL of mpi_f08's type(MPI_Comm). In the source kith/transport_mpi.c, which a program
        ! compiles with its MPI (kith_mpi.h). Collective. transport: for kith_team_open.
        function kith_transport_mpi_fortran(communicator, transport) result(status) bind(c)
            import :: kith_transport, c_int
            integer(c_int), value :: communicator
            type(kith_transport), intent(out) :: transport
            integer(c_int) :: status
        end function kith_transport_mpi_fortran
    end interface

    interface
        subroutine options_init_sized(options, size) bind(c, name="kith_options_init_sized")
            import :: kith_options, c_size_t
            type(kith_options), intent(out) :: options
            integer(c_size_t), value :: size
        end subroutine options_init_sized

        subroutine batch_init_sized(batch, size) bind(c, name="kith_batch_init_sized")
            import :: kith_batch, c_size_t
            type(kith_batch), intent(out) :: batch
            integer(c_size_t), value :: size
        end subroutine batch_init_sized

        subroutine pairs_options_init_sized(options, size) &
            bind(c, name="kith_pairs_options_init_sized")
            import :: kith_pairs_options, c_size_t
            type(kith_pairs_options), intent(out) :: options
            integer(c_size_t), value :: size
        end subroutine pairs_options_init_sized

        subroutine verlet_options_init_sized(options, size) &
            bind(c, name="kith_verlet_options_init_sized")
            import :: kith_verlet_options, c_size_t
            type(kith_verlet_options), intent(out) :: options
            integer(c_size_t), value :: size
        end subroutine verlet_options_init_sized

        subroutine nearest_options_init_sized(options, size) &
            bind(c, name="kith_nearest_options_init_sized")
            import :: kith_nearest_options, c_size_t
            type(kith_nearest_options), intent(out) :: options
            integer(c_size_t), value :: size
        end subroutine nearest_options_init_sized

        subroutine fof_options_init_sized(options, size) bind(c, name="kith_fof_options_init_sized")
            import :: kith_fof_options, c_size_t
            type(kith_fof_options), intent(out) :: options
            integer(c_size_t), value :: size
        end subroutine fof_options_init_sized

        subroutine halo_input_init_sized(input, size) bind(c, name="kith_halo_input_init_sized")
            import :: kith_halo_input, c_size_t
            type(kith_halo_input), intent(out) :: input
            integer(c_size_t), value :: size
        end subroutine halo_input_init_sized

        function c_open(options, ctx) result(status) bind(c, name="kith_open")
            import :: kith_options, c_ptr, c_int
            type(kith_options), intent(in) :: options
            type(c_ptr), intent(out) :: ctx
            integer(c_int) :: status
        end function c_open

        subroutine c_close(ctx) bind(c, name="kith_close")
            import :: c_ptr
            type(c_ptr), value :: ctx
        end subroutine c_close

        ! Queue the work of later calls on another CUDA stream, which waits for all work that
        ! earlier calls have queued. stream: a cudaStream_t of the context's device; c_null_ptr: the
        ! default stream. CUDA Fortran's streams are integers: transfer(stream, c_null_ptr).
        ! KITH_UNSUPPORTED on a CPU, and where a capture forbids the change.
        function kith_set_stream(ctx, stream) result(status) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: ctx, stream
            integer(c_int) :: status
        end function kith_set_stream

        function c_message(ctx) result(text) bind(c, name="kith_message")
            import :: c_ptr
            type(c_ptr), value :: ctx
            type(c_ptr) :: text
        end function c_message

        function c_backend(ctx) result(text) bind(c, name="kith_backend")
            import :: c_ptr
            type(c_ptr), value :: ctx
            type(c_ptr) :: text
        end function c_backend

        function c_status_name(status) result(text) bind(c, name="kith_status_name")
            import :: c_ptr, c_int
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function c_status_name

        function c_version() result(text) bind(c, name="kith_version")
            import :: c_ptr
            type(c_ptr) :: text
        end function c_version

        function c_pairs_find(ctx, points, box, cutoff, options, out) result(status) &
            bind(c, name="kith_pairs_find")
            import :: kith_points, kith_box, kith_pairs_options, kith_pairs, c_ptr, c_double, c_int
            type(c_ptr), value :: ctx
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            real(c_double), value :: cutoff
            type(kith_pairs_options), intent(in), optional :: options
            type(kith_pairs), intent(inout) :: out
            integer(c_int) :: status
        end function c_pairs_find

        subroutine c_pairs_free(pairs) bind(c, name="kith_pairs_free")
            import :: kith_pairs
            type(kith_pairs), intent(inout) :: pairs
        end subroutine c_pairs_free

        function c_verlet_open(ctx, options, out) result(status) bind(c, name="kith_verlet_open")
            import :: kith_verlet_options, c_ptr, c_int
            type(c_ptr), value :: ctx
            type(kith_verlet_options), intent(in) :: options
            type(c_ptr), intent(out) :: out
            integer(c_int) :: status
        end function c_verlet_open

        function c_verlet_update(verlet, points, box, list) result(status) &
            bind(c, name="kith_verlet_update")
            import :: kith_points, kith_box, kith_pairs, c_ptr, c_int
            type(c_ptr), value :: verlet
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            type(kith_pairs), intent(inout) :: list
            integer(c_int) :: status
        end function c_verlet_update

        function c_verlet_update_batch(verlet, points, box, batch, list) result(status) &
            bind(c, name="kith_verlet_update_batch")
            import :: kith_points, kith_box, kith_batch, kith_pairs, c_ptr, c_int
            type(c_ptr), value :: verlet
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            type(kith_batch), intent(in) :: batch
            type(kith_pairs), intent(inout) :: list
            integer(c_int) :: status
        end function c_verlet_update_batch

        function c_verlet_reasons(verlet, systems, reasons) result(status) &
            bind(c, name="kith_verlet_reasons")
            import :: c_ptr, c_int, c_int32_t, c_int64_t
            type(c_ptr), value :: verlet
            integer(c_int64_t), value :: systems
            integer(c_int32_t), intent(inout) :: reasons(*)
            integer(c_int) :: status
        end function c_verlet_reasons

        function c_verlet_rebuild(verlet) result(status) bind(c, name="kith_verlet_rebuild")
            import :: c_ptr, c_int
            type(c_ptr), value :: verlet
            integer(c_int) :: status
        end function c_verlet_rebuild

        function c_verlet_read(verlet, out, size) result(status) &
            bind(c, name="kith_verlet_read_sized")
            import :: kith_verlet_state, c_ptr, c_size_t, c_int
            type(c_ptr), value :: verlet
            type(kith_verlet_state), intent(out) :: out
            integer(c_size_t), value :: size
            integer(c_int) :: status
        end function c_verlet_read

        subroutine c_verlet_close(verlet) bind(c, name="kith_verlet_close")
            import :: c_ptr
            type(c_ptr), value :: verlet
        end subroutine c_verlet_close

        function c_team_open(ctx, transport, options, out) result(status) &
            bind(c, name="kith_team_open")
            import :: kith_transport, c_ptr, c_int
            type(c_ptr), value :: ctx
            type(kith_transport), intent(in) :: transport
            type(c_ptr), value :: options
            type(c_ptr), intent(out) :: out
            integer(c_int) :: status
        end function c_team_open

        subroutine c_team_close(team) bind(c, name="kith_team_close")
            import :: c_ptr
            type(c_ptr), value :: team
        end subroutine c_team_close

        function c_domain_open(team, points, box, width, out) result(status) &
            bind(c, name="kith_domain_open")
            import :: kith_points, kith_box, c_ptr, c_double, c_int
            type(c_ptr), value :: team
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            real(c_double), value :: width
            type(c_ptr), intent(out) :: out
            integer(c_int) :: status
        end function c_domain_open

        function c_domain_read(domain, out) result(status) bind(c, name="kith_domain_read")
            import :: kith_domain_view, c_ptr, c_int
            type(c_ptr), value :: domain
            type(kith_domain_view), intent(inout) :: out
            integer(c_int) :: status
        end function c_domain_read

        function c_domain_send(domain, given, size, out) result(status) &
            bind(c, name="kith_domain_send")
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value :: domain, given
            integer(c_size_t), value :: size
            type(c_ptr), value :: out
            integer(c_int) :: status
        end function c_domain_send

        function c_domain_refresh(domain, values, size) result(status) &
            bind(c, name="kith_domain_refresh")
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value :: domain, values
            integer(c_size_t), value :: size
            integer(c_int) :: status
        end function c_domain_refresh

        function c_domain_home(domain, values, size, out) result(status) &
            bind(c, name="kith_domain_home")
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value :: domain, values
            integer(c_size_t), value :: size
            type(c_ptr), value :: out
            integer(c_int) :: status
        end function c_domain_home

        subroutine c_domain_close(domain) bind(c, name="kith_domain_close")
            import :: c_ptr
            type(c_ptr), value :: domain
        end subroutine c_domain_close

        function c_nearest_find(ctx, points, box, k, options, out) result(status) &
            bind(c, name="kith_nearest_find")
            import :: kith_points, kith_box, kith_nearest_options, kith_nearest, c_ptr, &
                c_int64_t, c_int
            type(c_ptr), value :: ctx
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            integer(c_int64_t), value :: k
            type(kith_nearest_options), intent(in), optional :: options
            type(kith_nearest), intent(inout) :: out
            integer(c_int) :: status
        end function c_nearest_find

        subroutine c_nearest_free(nearest) bind(c, name="kith_nearest_free")
            import :: kith_nearest
            type(kith_nearest), intent(inout) :: nearest
        end subroutine c_nearest_free

        function c_order_find(ctx, points, box, cell, out) result(status) &
            bind(c, name="kith_order_find")
            import :: kith_points, kith_box, kith_order, c_ptr, c_double, c_int
            type(c_ptr), value :: ctx
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            real(c_double), value :: cell
            type(kith_order), intent(inout) :: out
            integer(c_int) :: status
        end function c_order_find

        subroutine c_order_free(order) bind(c, name="kith_order_free")
            import :: kith_order
            type(kith_order), intent(inout) :: order
        end subroutine c_order_free

        function c_fof_find(ctx, points, box, length, options, out) result(status) &
            bind(c, name="kith_fof_find")
            import :: kith_points, kith_box, kith_fof_options, kith_groups, c_ptr, c_double, c_int
            type(c_ptr), value :: ctx
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            real(c_double), value :: length
            type(kith_fof_options), intent(in), optional :: options
            type(kith_groups), intent(inout) :: out
            integer(c_int) :: status
        end function c_fof_find

        subroutine c_groups_free(groups) bind(c, name="kith_groups_free")
            import :: kith_groups
            type(kith_groups), intent(inout) :: groups
        end subroutine c_groups_free

        function c_halos_measure(ctx, points, box, groups, input, out) result(status) &
            bind(c, name="kith_halos_measure")
            import :: kith_points, kith_box, kith_groups, kith_halo_input, kith_halos, c_ptr, c_int
            type(c_ptr), value :: ctx
            type(kith_points), intent(in) :: points
            type(kith_box), intent(in), optional :: box
            type(kith_groups), intent(in) :: groups
            type(kith_halo_input), intent(in), optional :: input
            type(kith_halos), intent(inout) :: out
            integer(c_int) :: status
        end function c_halos_measure

        subroutine c_halos_free(halos) bind(c, name="kith_halos_free")
            import :: kith_halos
            type(kith_halos), intent(inout) :: halos
        end subroutine c_halos_free

        function c_strlen(text) result(length) bind(c, name="strlen")
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function c_strlen
    end interface

    ! status = kith_pairs_find(ctx, x, cutoff, list, box, options): all pairs within the cutoff.
    ! Without box: open space. Without options: a half list, KITH_IJ.
    interface kith_pairs_find
        module procedure pairs_find_points, pairs_find_real32, pairs_find_real64
    end interface kith_pairs_find

    ! status = kith_verlet_update(verlet, x, list, box, batch): the pairs of the present positions,
    ! sorted, from those that are kept where that is possible. Without box: open space. With batch:
    ! many systems in one call.
    interface kith_verlet_update
        module procedure verlet_update_points, verlet_update_real32, verlet_update_real64
    end interface kith_verlet_update

    ! status = kith_domain_open(team, x, width, domain, box): deal the particles x of all ranks to
    ! domains, with copies of the particles within the width of each domain. Collective. Without
    ! box: open space. x is not needed after the call.
    interface kith_domain_open
        module procedure domain_open_points, domain_open_real32, domain_open_real64
    end interface kith_domain_open

    ! status = kith_nearest_find(ctx, x, k, list, box, options): the k nearest neighbours of each
    ! particle. Without box: open space. Without options: at any distance, j and counts alone.
    interface kith_nearest_find
        module procedure nearest_find_points, nearest_find_real32, nearest_find_real64
    end interface kith_nearest_find

    ! status = kith_order_find(ctx, x, list, box, cell): an order in which particles near each other
    ! follow each other. Without box: open space. Without cell: along a curve, for any cutoff.
    interface kith_order_find
        module procedure order_find_points, order_find_real32, order_find_real64
    end interface kith_order_find

    ! status = kith_fof_find(ctx, x, length, groups, box, options): groups by friends-of-friends.
    ! Without options: groups of 20 and more.
    interface kith_fof_find
        module procedure fof_find_points, fof_find_real32, fof_find_real64
    end interface kith_fof_find

    ! status = kith_halos_measure(ctx, x, groups, halos, box, input): measure groups.
    ! Without input: each mass is 1, velocities are unknown.
    interface kith_halos_measure
        module procedure halos_measure_points, halos_measure_real32, halos_measure_real64
    end interface kith_halos_measure

    ! points = kith_points_packed(x): describe x(3, n), or x(2, n) for a 2-D box. x is borrowed: it
    ! must have the attribute target, be contiguous, and outlive the points.
    interface kith_points_packed
        module procedure points_packed_real32, points_packed_real64
    end interface kith_points_packed

    ! call kith_free(result): free what the library allocated, before kith_close.
    interface kith_free
        module procedure free_pairs, free_nearest, free_order, free_groups, free_halos
    end interface kith_free

    public :: kith_open, kith_close, kith_set_stream, kith_message, kith_backend, kith_threads, &
        kith_status_name, kith_version, kith_box_open, kith_box_periodic, kith_box_triclinic, &
        kith_points_packed, kith_options_init, kith_batch_init, kith_pairs_options_init, &
        kith_verlet_options_init, kith_nearest_options_init, kith_fof_options_init, &
        kith_halo_input_init, kith_pairs_find, kith_verlet_open, kith_verlet_update, &
        kith_verlet_reasons, kith_verlet_rebuild, kith_verlet_read, kith_verlet_close, &
        kith_transport_mpi_fortran, kith_team_open, kith_team_close, kith_domain_open, &
        kith_domain_read, kith_domain_send, kith_domain_refresh, kith_domain_home, &
        kith_domain_close, &
        kith_nearest_find, kith_order_find, kith_fof_find, kith_halos_measure, kith_free

contains

    ! Copy a string of C.
    function fortran_text(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(:), allocatable :: copy
        character(kind=c_char), pointer :: letters(:)
        integer :: k

        call c_f_pointer(text, letters, [c_strlen(text)])
        allocate (character(size(letters)) :: copy)
        do k = 1, size(letters)
            copy(k:k) = letters(k)
        end do
    end function fortran_text

    ! Set every field to its default.
    subroutine kith_options_init(options)
        type(kith_options), intent(out) :: options
        call options_init_sized(options, c_sizeof(options))
    end subroutine kith_options_init

    ! Set every field to its default: no systems, arrays in host memory.
    subroutine kith_batch_init(batch)
        type(kith_batch), intent(out) :: batch
        call batch_init_sized(batch, c_sizeof(batch))
    end subroutine kith_batch_init

    ! Set every field to its default: half (i, j), unsorted, no extras.
    subroutine kith_pairs_options_init(options)
        type(kith_pairs_options), intent(out) :: options
        call pairs_options_init_sized(options, c_sizeof(options))
    end subroutine kith_pairs_options_init

    ! Set every field to its default: half (i, j), no extras; cutoff and skin 0.
    subroutine kith_verlet_options_init(options)
        type(kith_verlet_options), intent(out) :: options
        call verlet_options_init_sized(options, c_sizeof(options))
    end subroutine kith_verlet_options_init

    ! Set every field to its default: one set, any distance, no extras.
    subroutine kith_nearest_options_init(options)
        type(kith_nearest_options), intent(out) :: options
        call nearest_options_init_sized(options, c_sizeof(options))
    end subroutine kith_nearest_options_init

    ! Set every field to its default: groups of 20 and more by positions alone; all link.
    subroutine kith_fof_options_init(options)
        type(kith_fof_options), intent(out) :: options
        call fof_options_init_sized(options, c_sizeof(options))
    end subroutine kith_fof_options_init

    ! Set every field to its default: no data beside positions, no spheres.
    subroutine kith_halo_input_init(input)
        type(kith_halo_input), intent(out) :: input
        call halo_input_init_sized(input, c_sizeof(input))
    end subroutine kith_halo_input_init

    ! Open a context. backend: "auto", "cpu", "cuda", see core.h; absent: the environment's
    ! KITH_BACKEND, else "auto". threads: CPU threads; absent or 0: all cores available. options:
    ! defaults for both, and callbacks. On failure kith_message(ctx) says why.
    function kith_open(ctx, backend, threads, options) result(status)
        type(c_ptr), intent(out) :: ctx
        character(*), intent(in), optional :: backend
        integer, intent(in), optional :: threads
        type(kith_options), intent(in), optional :: options
        integer(c_int) :: status
        type(kith_options) :: used
        character(kind=c_char), allocatable, target :: letters(:)
        integer :: k

        call kith_options_init(used)
        if (present(options)) used = options
        if (present(threads)) used%threads = int(threads, c_int)
        if (present(backend)) then
            allocate (letters(len_trim(backend) + 1))
            do k = 1, len_trim(backend)
                letters(k) = backend(k:k)
            end do
            letters(len_trim(backend) + 1) = c_null_char
            used%backend = c_loc(letters)
        end if
        status = c_open(used, ctx)
    end function kith_open

    ! Close a context and free its scratch memory. Free results first.
    subroutine kith_close(ctx)
        type(c_ptr), intent(inout) :: ctx
        call c_close(ctx)
        ctx = c_null_ptr
    end subroutine kith_close

    ! The message of the last call on a context, "" after success. c_null_ptr: of the last kith_open
    ! that failed.
    function kith_message(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        text = fortran_text(c_message(ctx))
    end function kith_message

    ! Name of the backend chosen, for example "cpu:avx512".
    function kith_backend(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        text = fortran_text(c_backend(ctx))
    end function kith_backend

    ! Name of a status, for example "KITH_CAPACITY".
    function kith_status_name(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        text = fortran_text(c_status_name(status))
    end function kith_status_name

    ! Version of the library that is running, for example "0.1.0".
    function kith_version() result(text)
        character(:), allocatable :: text
        text = fortran_text(c_version())
    end function kith_version

    function points_packed_real32(x) result(points)
        real(real32), intent(in), target, contiguous :: x(:, :)
        type(kith_points) :: points

        points = kith_points(size(x, 2, int64), c_null_ptr, c_null_ptr, c_null_ptr, &
                             size(x, 1, int64), KITH_FLOAT, KITH_HOST)
        if (size(x) == 0) then
            points%stride = max(points%stride, 1_int64)
            return
        end if
        points%x = c_loc(x(1, 1))
        if (size(x, 1) > 1) points%y = c_loc(x(2, 1))
        if (size(x, 1) > 2) points%z = c_loc(x(3, 1))
    end function points_packed_real32

    function points_packed_real64(x) result(points)
        real(real64), intent(in), target, contiguous :: x(:, :)
        type(kith_points) :: points

        points = kith_points(size(x, 2, int64), c_null_ptr, c_null_ptr, c_null_ptr, &
                             size(x, 1, int64), KITH_DOUBLE, KITH_HOST)
        if (size(x) == 0) then
            points%stride = max(points%stride, 1_int64)
            return
        end if
        points%x = c_loc(x(1, 1))
        if (size(x, 1) > 1) points%y = c_loc(x(2, 1))
        if (size(x, 1) > 2) points%z = c_loc(x(3, 1))
    end function points_packed_real64

    function pairs_find_real32(ctx, x, cutoff, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real32), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: cutoff
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_pairs_options), intent(in), optional :: options
        integer(c_int) :: status
        status = pairs_find_points(ctx, kith_points_packed(x), cutoff, list, box, options)
    end function pairs_find_real32

    function pairs_find_real64(ctx, x, cutoff, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real64), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: cutoff
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_pairs_options), intent(in), optional :: options
        integer(c_int) :: status
        status = pairs_find_points(ctx, kith_points_packed(x), cutoff, list, box, options)
    end function pairs_find_real64

    function pairs_find_points(ctx, x, cutoff, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_points), intent(in) :: x
        real(real64), intent(in) :: cutoff
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_pairs_options), intent(in), optional :: options
        integer(c_int) :: status
        type(kith_pairs) :: c
        type(kith_pairs_options) :: used

        call kith_pairs_options_init(used)
        if (present(options)) used = options
        c = list%c
        list = kith_pair_list()
        c%size = int(c_sizeof(c), c_int32_t)
        status = c_pairs_find(ctx, x, box, cutoff, used, c)
        list%c = c
        if (status == KITH_OK) call view_pairs(list, used, x%precision)
    end function pairs_find_points

    ! Open a list that is kept over steps. ctx outlives it. Close with kith_verlet_close.
    function kith_verlet_open(ctx, options, verlet) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_verlet_options), intent(in) :: options
        type(kith_verlet), intent(out) :: verlet
        integer(c_int) :: status
        status = c_verlet_open(ctx, options, verlet%c)
        verlet%layout = options%layout
        verlet%extras = options%extras
    end function kith_verlet_open

    function verlet_update_real32(verlet, x, list, box, batch) result(status)
        type(kith_verlet), intent(in) :: verlet
        real(real32), intent(in), target, contiguous :: x(:, :)
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_batch), intent(in), optional :: batch
        integer(c_int) :: status
        status = verlet_update_points(verlet, kith_points_packed(x), list, box, batch)
    end function verlet_update_real32

    function verlet_update_real64(verlet, x, list, box, batch) result(status)
        type(kith_verlet), intent(in) :: verlet
        real(real64), intent(in), target, contiguous :: x(:, :)
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_batch), intent(in), optional :: batch
        integer(c_int) :: status
        status = verlet_update_points(verlet, kith_points_packed(x), list, box, batch)
    end function verlet_update_real64

    function verlet_update_points(verlet, x, list, box, batch) result(status)
        type(kith_verlet), intent(in) :: verlet
        type(kith_points), intent(in) :: x
        type(kith_pair_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_batch), intent(in), optional :: batch
        integer(c_int) :: status
        type(kith_pairs) :: c
        type(kith_pairs_options) :: made

        c = list%c
        list = kith_pair_list()
        c%size = int(c_sizeof(c), c_int32_t)
        if (present(batch)) then
            status = c_verlet_update_batch(verlet%c, x, box, batch, c)
        else
            status = c_verlet_update(verlet%c, x, box, c)
        end if
        list%c = c
        call kith_pairs_options_init(made)
        made%layout = verlet%layout
        made%extras = verlet%extras
        if (status == KITH_OK) call view_pairs(list, made, x%precision)
    end function verlet_update_points

    ! Read why the last update of a batch rebuilt each system: KITH_VERLET_KEPT where it did not.
    ! reasons has an element for each system.
    function kith_verlet_reasons(verlet, reasons) result(status)
        type(kith_verlet), intent(in) :: verlet
        integer(int32), intent(inout), contiguous :: reasons(:)
        integer(c_int) :: status
        status = c_verlet_reasons(verlet%c, size(reasons, kind=int64), reasons)
    end function kith_verlet_reasons

    ! Search at the next update, whatever it is given.
    function kith_verlet_rebuild(verlet) result(status)
        type(kith_verlet), intent(in) :: verlet
        integer(c_int) :: status
        status = c_verlet_rebuild(verlet%c)
    end function kith_verlet_rebuild

    ! Read what the last update did.
    function kith_verlet_read(verlet, state) result(status)
        type(kith_verlet), intent(in) :: verlet
        type(kith_verlet_state), intent(out) :: state
        integer(c_int) :: status
        status = c_verlet_read(verlet%c, state, c_sizeof(state))
    end function kith_verlet_read

    ! Close a list that is kept, before kith_close. Lists that its updates made stay valid.
    subroutine kith_verlet_close(verlet)
        type(kith_verlet), intent(inout) :: verlet
        call c_verlet_close(verlet%c)
        verlet%c = c_null_ptr
    end subroutine kith_verlet_close

    ! Join a team. Collective. The transport is taken over, also on failure.
    function kith_team_open(ctx, transport, team) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_transport), intent(in) :: transport
        type(c_ptr), intent(out) :: team
        integer(c_int) :: status
        status = c_team_open(ctx, transport, c_null_ptr, team)
    end function kith_team_open

    ! Leave a team, before kith_close and MPI_Finalize.
    subroutine kith_team_close(team)
        type(c_ptr), intent(inout) :: team
        call c_team_close(team)
        team = c_null_ptr
    end subroutine kith_team_close

    function domain_open_real32(team, x, width, domain, box) result(status)
        type(c_ptr), intent(in) :: team
        real(real32), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: width
        type(kith_domain), intent(out) :: domain
        type(kith_box), intent(in), optional :: box
        integer(c_int) :: status
        status = domain_open_points(team, kith_points_packed(x), width, domain, box)
    end function domain_open_real32

    function domain_open_real64(team, x, width, domain, box) result(status)
        type(c_ptr), intent(in) :: team
        real(real64), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: width
        type(kith_domain), intent(out) :: domain
        type(kith_box), intent(in), optional :: box
        integer(c_int) :: status
        status = domain_open_points(team, kith_points_packed(x), width, domain, box)
    end function domain_open_real64

    function domain_open_points(team, x, width, domain, box) result(status)
        type(c_ptr), intent(in) :: team
        type(kith_points), intent(in) :: x
        real(real64), intent(in) :: width
        type(kith_domain), intent(out) :: domain
        type(kith_box), intent(in), optional :: box
        integer(c_int) :: status
        status = c_domain_open(team, x, box, width, domain%c)
        domain%precision = x%precision
    end function domain_open_points

    ! Say which particles this rank has.
    function kith_domain_read(domain, points) result(status)
        type(kith_domain), intent(in) :: domain
        type(kith_domain_points), intent(out) :: points
        integer(c_int) :: status
        type(kith_domain_view) :: view
        real(real32), target, save :: none_real32(3, 0)
        real(real64), target, save :: none_real64(3, 0)
        integer(int64), pointer :: ids(:)
        integer(int64) :: all

        view = kith_domain_view(c_sizeof(view), 0, 0, c_null_ptr, c_null_ptr)
        status = c_domain_read(domain%c, view)
        if (status /= KITH_OK) return
        points%n = view%n
        points%ghosts = view%ghosts
        all = view%n + view%ghosts
        allocate (points%ids(all))
        if (all == 0) then
            if (domain%precision == KITH_FLOAT) points%x_real32 => none_real32
            if (domain%precision /= KITH_FLOAT) points%x_real64 => none_real64
            return
        end if
        call c_f_pointer(view%ids, ids, [all])
        points%ids = ids + 1
        if (domain%precision == KITH_FLOAT) then
            call c_f_pointer(view%xyz, points%x_real32, [3_int64, all])
        else
            call c_f_pointer(view%xyz, points%x_real64, [3_int64, all])
        end if
    end function kith_domain_read

    ! Send a value of each particle to where it was dealt, and to its copies. Collective. given and
    ! out: c_loc of the arrays, of all particles in the order of x, and of n + ghosts; bytes: of a
    ! value, equal on all ranks.
    function kith_domain_send(domain, given, bytes, out) result(status)
        type(kith_domain), intent(in) :: domain
        type(c_ptr), intent(in) :: given, out
        integer(c_size_t), intent(in) :: bytes
        integer(c_int) :: status
        status = c_domain_send(domain%c, given, bytes, out)
    end function kith_domain_send

    ! Give copies the values that their particles have now. Collective. values: c_loc of an array of
    ! n + ghosts, of which the last are written.
    function kith_domain_refresh(domain, values, bytes) result(status)
        type(kith_domain), intent(in) :: domain
        type(c_ptr), intent(in) :: values
        integer(c_size_t), intent(in) :: bytes
        integer(c_int) :: status
        status = c_domain_refresh(domain%c, values, bytes)
    end function kith_domain_refresh

    ! Send a value of each particle back to the rank that gave it. Collective. values and out: c_loc
    ! of the arrays, of n, and of all particles in the order of x.
    function kith_domain_home(domain, values, bytes, out) result(status)
        type(kith_domain), intent(in) :: domain
        type(c_ptr), intent(in) :: values, out
        integer(c_size_t), intent(in) :: bytes
        integer(c_int) :: status
        status = c_domain_home(domain%c, values, bytes, out)
    end function kith_domain_home

    ! Close a domain, before its team.
    subroutine kith_domain_close(domain)
        type(kith_domain), intent(inout) :: domain
        call c_domain_close(domain%c)
        domain%c = c_null_ptr
    end subroutine kith_domain_close

    ! Point to the arrays that the options ask for, and let particles count from 1.
    subroutine view_pairs(list, options, precision)
        type(kith_pair_list), intent(inout) :: list
        type(kith_pairs_options), intent(in) :: options
        integer(c_int), intent(in) :: precision
        integer(int64) :: n ! elements of an array

        list%n = list%c%n
        list%rows = list%c%rows
        list%width = list%c%width
        n = list%n
        if (options%layout == KITH_MATRIX) n = list%width * list%rows
        call view_int32(list%c%j, n, list%j)
        list%j = list%j + 1_int32
        if (options%layout == KITH_CSR) then
            call c_f_pointer(list%c%offsets, list%offsets, [list%rows + 1])
            list%offsets = list%offsets + 1_int64
        else if (options%layout == KITH_MATRIX) then
            call view_int32(list%c%counts, list%rows, list%counts)
            list%neighbours(1:list%width, 1:list%rows) => list%j
        else
            call view_int32(list%c%i, list%n, list%i)
            list%i = list%i + 1_int32
        end if
        if (n == 0) return
        if (iand(options%extras, KITH_SHIFTS) /= 0) then
            call c_f_pointer(list%c%shifts, list%shifts, [3_int64, n])
        end if
        if (iand(options%extras, KITH_DISTANCES) /= 0 .and. precision == KITH_FLOAT) then
            call c_f_pointer(list%c%distances, list%distances_real32, [n])
        else if (iand(options%extras, KITH_DISTANCES) /= 0) then
            call c_f_pointer(list%c%distances, list%distances_real64, [n])
        end if
        if (iand(options%extras, KITH_VECTORS) /= 0 .and. precision == KITH_FLOAT) then
            call c_f_pointer(list%c%vectors, list%vectors_real32, [3_int64, n])
        else if (iand(options%extras, KITH_VECTORS) /= 0) then
            call c_f_pointer(list%c%vectors, list%vectors_real64, [3_int64, n])
        end if
    end subroutine view_pairs

    ! Point to an array of n >= 0 integers of C; for n = 0, to an array of size 0.
    subroutine view_int32(array, n, view)
        type(c_ptr), intent(in) :: array
        integer(int64), intent(in) :: n
        integer(int32), pointer, contiguous, intent(out) :: view(:)
        integer(int32), target, save :: none(0)

        view => none
        if (n > 0) call c_f_pointer(array, view, [n])
    end subroutine view_int32

    function nearest_find_real32(ctx, x, k, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real32), intent(in), target, contiguous :: x(:, :)
        integer, intent(in) :: k
        type(kith_nearest_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_nearest_options), intent(in), optional :: options
        integer(c_int) :: status
        status = nearest_find_points(ctx, kith_points_packed(x), k, list, box, options)
    end function nearest_find_real32

    function nearest_find_real64(ctx, x, k, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real64), intent(in), target, contiguous :: x(:, :)
        integer, intent(in) :: k
        type(kith_nearest_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_nearest_options), intent(in), optional :: options
        integer(c_int) :: status
        status = nearest_find_points(ctx, kith_points_packed(x), k, list, box, options)
    end function nearest_find_real64

    function nearest_find_points(ctx, x, k, list, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_points), intent(in) :: x
        integer, intent(in) :: k
        type(kith_nearest_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        type(kith_nearest_options), intent(in), optional :: options
        integer(c_int) :: status
        type(kith_nearest) :: c
        type(kith_nearest_options) :: used

        call kith_nearest_options_init(used)
        if (present(options)) used = options
        c = list%c
        list = kith_nearest_list()
        c%size = int(c_sizeof(c), c_int32_t)
        status = c_nearest_find(ctx, x, box, int(k, c_int64_t), used, c)
        list%c = c
        if (status == KITH_OK) call view_nearest(list, used, x%precision)
    end function nearest_find_points

    ! Point to the arrays that the options ask for, and let particles count from 1.
    subroutine view_nearest(list, options, precision)
        type(kith_nearest_list), intent(inout) :: list
        type(kith_nearest_options), intent(in) :: options
        integer(c_int), intent(in) :: precision
        integer(int32), target, save :: none(0, 0)

        list%rows = list%c%rows
        list%k = list%c%k
        call view_int32(list%c%counts, list%rows, list%counts)
        list%j => none
        if (list%rows == 0) return
        call c_f_pointer(list%c%j, list%j, [list%k, list%rows])
        list%j = list%j + 1_int32
        if (iand(options%extras, KITH_SHIFTS) /= 0) then
            call c_f_pointer(list%c%shifts, list%shifts, [3_int64, list%k, list%rows])
        end if
        if (iand(options%extras, KITH_DISTANCES) /= 0 .and. precision == KITH_FLOAT) then
            call c_f_pointer(list%c%distances, list%distances_real32, [list%k, list%rows])
        else if (iand(options%extras, KITH_DISTANCES) /= 0) then
            call c_f_pointer(list%c%distances, list%distances_real64, [list%k, list%rows])
        end if
        if (iand(options%extras, KITH_VECTORS) /= 0 .and. precision == KITH_FLOAT) then
            call c_f_pointer(list%c%vectors, list%vectors_real32, [3_int64, list%k, list%rows])
        else if (iand(options%extras, KITH_VECTORS) /= 0) then
            call c_f_pointer(list%c%vectors, list%vectors_real64, [3_int64, list%k, list%rows])
        end if
    end subroutine view_nearest

    function order_find_real32(ctx, x, list, box, cell) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real32), intent(in), target, contiguous :: x(:, :)
        type(kith_order_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        real(real64), intent(in), optional :: cell
        integer(c_int) :: status
        status = order_find_points(ctx, kith_points_packed(x), list, box, cell)
    end function order_find_real32

    function order_find_real64(ctx, x, list, box, cell) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real64), intent(in), target, contiguous :: x(:, :)
        type(kith_order_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        real(real64), intent(in), optional :: cell
        integer(c_int) :: status
        status = order_find_points(ctx, kith_points_packed(x), list, box, cell)
    end function order_find_real64

    function order_find_points(ctx, x, list, box, cell) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_points), intent(in) :: x
        type(kith_order_list), intent(inout) :: list
        type(kith_box), intent(in), optional :: box
        real(real64), intent(in), optional :: cell
        integer(c_int) :: status
        type(kith_order) :: c
        real(real64) :: width

        width = 0
        if (present(cell)) width = cell
        c = list%c
        list = kith_order_list()
        c%size = int(c_sizeof(c), c_int32_t)
        status = c_order_find(ctx, x, box, width, c)
        list%c = c
        if (status == KITH_OK) then
            list%n = c%n
            call view_int32(c%order, list%n, list%order)
            list%order = list%order + 1_int32
        end if
    end function order_find_points

    function fof_find_real32(ctx, x, length, groups, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real32), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: length
        type(kith_group_list), intent(inout) :: groups
        type(kith_box), intent(in), optional :: box
        type(kith_fof_options), intent(in), optional :: options
        integer(c_int) :: status
        status = fof_find_points(ctx, kith_points_packed(x), length, groups, box, options)
    end function fof_find_real32

    function fof_find_real64(ctx, x, length, groups, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real64), intent(in), target, contiguous :: x(:, :)
        real(real64), intent(in) :: length
        type(kith_group_list), intent(inout) :: groups
        type(kith_box), intent(in), optional :: box
        type(kith_fof_options), intent(in), optional :: options
        integer(c_int) :: status
        status = fof_find_points(ctx, kith_points_packed(x), length, groups, box, options)
    end function fof_find_real64

    function fof_find_points(ctx, x, length, groups, box, options) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_points), intent(in) :: x
        real(real64), intent(in) :: length
        type(kith_group_list), intent(inout) :: groups
        type(kith_box), intent(in), optional :: box
        type(kith_fof_options), intent(in), optional :: options
        integer(c_int) :: status
        type(kith_groups) :: c
        integer(int64), target, save :: none(0)

        c = groups%c
        groups = kith_group_list()
        c%size = int(c_sizeof(c), c_int32_t)
        status = c_fof_find(ctx, x, box, length, options, c)
        groups%c = c
        if (status == KITH_OK) then
            groups%n = c%n
            call view_int32(c%labels, c%points, groups%labels)
            groups%members => none
            if (c%n > 0) call c_f_pointer(c%members, groups%members, [c%n])
        end if
    end function fof_find_points

    function halos_measure_real32(ctx, x, groups, halos, box, input) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real32), intent(in), target, contiguous :: x(:, :)
        type(kith_group_list), intent(in) :: groups
        type(kith_halo_list), intent(inout) :: halos
        type(kith_box), intent(in), optional :: box
        type(kith_halo_input), intent(in), optional :: input
        integer(c_int) :: status
        status = halos_measure_points(ctx, kith_points_packed(x), groups, halos, box, input)
    end function halos_measure_real32

    function halos_measure_real64(ctx, x, groups, halos, box, input) result(status)
        type(c_ptr), intent(in) :: ctx
        real(real64), intent(in), target, contiguous :: x(:, :)
        type(kith_group_list), intent(in) :: groups
        type(kith_halo_list), intent(inout) :: halos
        type(kith_box), intent(in), optional :: box
        type(kith_halo_input), intent(in), optional :: input
        integer(c_int) :: status
        status = halos_measure_points(ctx, kith_points_packed(x), groups, halos, box, input)
    end function halos_measure_real64

    function halos_measure_points(ctx, x, groups, halos, box, input) result(status)
        type(c_ptr), intent(in) :: ctx
        type(kith_points), intent(in) :: x
        type(kith_group_list), intent(in) :: groups
        type(kith_halo_list), intent(inout) :: halos
        type(kith_box), intent(in), optional :: box
        type(kith_halo_input), intent(in), optional :: input
        integer(c_int) :: status
        type(kith_halos) :: c
        type(kith_halo), target, save :: none(0)
        type(kith_halo) :: one

        c = halos%c
        halos = kith_halo_list()
        c%size = int(c_sizeof(c), c_int32_t)
        c%stride = int(c_sizeof(one), c_int64_t)
        status = c_halos_measure(ctx, x, box, groups%c, input, c)
        halos%c = c
        if (status == KITH_OK) then
            halos%n = c%n
            halos%sphere_seconds = c%sphere_seconds
            halos%halo => none
            if (c%n > 0) call c_f_pointer(c%halo, halos%halo, [c%n])
            halos%halo%particle = halos%halo%particle + 1
        end if
    end function halos_measure_points

    subroutine free_pairs(list)
        type(kith_pair_list), intent(inout) :: list
        call c_pairs_free(list%c)
        list = kith_pair_list()
    end subroutine free_pairs

    subroutine free_nearest(list)
        type(kith_nearest_list), intent(inout) :: list
        call c_nearest_free(list%c)
        list = kith_nearest_list()
    end subroutine free_nearest

    subroutine free_order(list)
        type(kith_order_list), intent(inout) :: list
        call c_order_free(list%c)
        list = kith_order_list()
    end subroutine free_order

    subroutine free_groups(groups)
        type(kith_group_list), intent(inout) :: groups
        call c_groups_free(groups%c)
        groups = kith_group_list()
    end subroutine free_groups

    subroutine free_halos(halos)
        type(kith_halo_list), intent(inout) :: halos
        call c_halos_free(halos%c)
        halos = kith_halo_list()
    end subroutine free_halos
end module kith
