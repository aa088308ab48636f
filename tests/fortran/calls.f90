! SPDX-License-Identifier: BSD-3-Clause
!
! The calls of the Fortran module: lists of both kinds of reals and all layouts, and nearest
! neighbours, compared with a double loop over all particles; kept lists, compared with sorted
! searches; orders; indices that count from 1; empty sets; messages of failed calls.
module cases
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
    use kith
    implicit none

    integer, parameter :: n = 200
    real(real64), parameter :: cutoff = 0.2_real64
    integer :: faults = 0

contains

    subroutine check(right, what)
        logical, intent(in) :: right
        character(*), intent(in) :: what
        if (right) return
        print "(a)", "wrong: "//what
        faults = faults + 1
    end subroutine check

    ! Coordinates on a lattice of 1/1024: sums and squares are exact in both kinds.
    subroutine scatter(x)
        real(real64), intent(out) :: x(3, n)
        integer :: p
        do p = 1, n
            x(:, p) = mod(p*[389, 631, 877], 1024)/1024.0_real64
        end do
    end subroutine scatter

    ! Minimum-image vectors of a unit box.
    function from(x, i, j) result(d)
        real(real64), intent(in) :: x(3, n)
        integer(int32), intent(in) :: i, j
        real(real64) :: d(3)
        d = x(:, j) - x(:, i)
        d = d - anint(d)
    end function from

    subroutine check_full(list, x, kind_name)
        type(kith_pair_list), intent(in) :: list
        real(real64), intent(in) :: x(3, n)
        character(*), intent(in) :: kind_name
        integer(int32) :: i, j
        integer(int64) :: p, pairs
        real(real64) :: d(3)

        p = 0
        pairs = 0
        do i = 1, n
            call check(list%offsets(i) == pairs + 1, "offsets, "//kind_name)
            do j = 1, n
                d = from(x, i, j)
                if (i == j .or. sum(d**2) > cutoff**2) cycle
                pairs = pairs + 1
                p = min(pairs, list%n)
                call check(list%j(p) == j, "j, "//kind_name)
                if (associated(list%vectors_real64)) then
                    call check(all(list%vectors_real64(:, p) == d), "vectors")
                else
                    call check(all(list%vectors_real32(:, p) == real(d, real32)), "vectors_real32")
                    call check(abs(list%distances_real32(p) - norm2(d)) < 1e-6, "distances_real32")
                end if
            end do
        end do
        call check(list%n == pairs .and. pairs > 0, "number of pairs, "//kind_name)
        call check(list%rows == n .and. list%offsets(n + 1) == pairs + 1, "rows, "//kind_name)
    end subroutine check_full

    subroutine check_pairs(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real64) :: x(3, n)
        type(kith_box) :: box
        type(kith_pairs_options) :: options
        type(kith_pair_list) :: list
        integer(int64) :: full, p

        call scatter(x)
        box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
        call kith_pairs_options_init(options)
        options%layout = KITH_CSR
        options%full = 1
        options%sorted = 1
        options%extras = ior(KITH_DISTANCES, KITH_VECTORS)
        call check(kith_pairs_find(ctx, x, cutoff, list, box, options) == KITH_OK, "real64")
        call check_full(list, x, "real64")
        call check(kith_pairs_find(ctx, real(x, real32), cutoff, list, box, options) == KITH_OK, &
                   "real32")
        call check_full(list, x, "real32")
        full = list%n

        call check(kith_pairs_find(ctx, x, cutoff, list, box) == KITH_OK, "half list")
        call check(2*list%n == full, "number of pairs of the half list")
        call check(.not. associated(list%offsets), "offsets of an (i, j) list")
        do p = 1, list%n
            call check(sum(from(x, list%i(p), list%j(p))**2) <= cutoff**2, "a pair (i, j)")
        end do
        call check(kith_pairs_find(ctx, x(:, :0), cutoff, list, box) == KITH_OK, "no particles")
        call check(list%n == 0 .and. size(list%i) == 0 .and. size(list%j) == 0, "an empty list")
        call kith_free(list)
        call check(.not. associated(list%j), "a freed list")
    end subroutine check_pairs

    ! Columns of a fixed length against those of the list by rows.
    subroutine check_matrix(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real64) :: x(3, n)
        type(kith_box) :: box
        type(kith_pairs_options) :: options
        type(kith_pair_list) :: list, rows
        integer(int64) :: i, k, p, e

        call scatter(x)
        box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
        call kith_pairs_options_init(options)
        options%full = 1
        options%sorted = 1
        options%extras = ior(KITH_DISTANCES, KITH_SHIFTS)
        options%layout = KITH_CSR
        call check(kith_pairs_find(ctx, x, cutoff, rows, box, options) == KITH_OK, "rows")
        options%layout = KITH_MATRIX
        options%width = 40
        options%fill = n
        call check(kith_pairs_find(ctx, x, cutoff, list, box, options) == KITH_OK, "matrix")
        call check(list%width == 40 .and. list%n == rows%n .and. list%rows == n, "width")
        call check(all(shape(list%neighbours) == [40, n]) .and. size(list%j) == 40*n, "shape")
        do i = 1, n
            p = rows%offsets(i)
            call check(list%counts(i) == rows%offsets(i + 1) - p, "counts")
            do k = 1, list%width
                e = (i - 1)*list%width + k
                if (k > list%counts(i)) then
                    call check(list%neighbours(k, i) == n + 1, "an entry without a neighbour")
                    call check(list%distances_real64(e) > huge(1.0_real64), "its distance")
                    cycle
                end if
                call check(list%neighbours(k, i) == rows%j(p), "a neighbour")
                call check(list%distances_real64(e) == rows%distances_real64(p), "its distance")
                call check(all(list%shifts(:, e) == rows%shifts(:, p)), "its shift")
                p = p + 1
            end do
        end do
        options%width = 0
        options%extras = 0
        call check(kith_pairs_find(ctx, x, cutoff, list, box, options) == KITH_OK, "any width")
        call check(list%width == maxval(list%counts) .and. list%width > 0, "the widest")
        call kith_free(list)
        call kith_free(rows)
    end subroutine check_matrix

    ! A kept list against a sorted search, pair by pair.
    subroutine check_kept(ctx, list, x, box, what)
        type(c_ptr), intent(in) :: ctx
        type(kith_pair_list), intent(in) :: list
        real(real64), intent(in) :: x(3, n)
        type(kith_box), intent(in) :: box
        character(*), intent(in) :: what
        type(kith_pairs_options) :: options
        type(kith_pair_list) :: found

        call kith_pairs_options_init(options)
        options%sorted = 1
        options%extras = KITH_VECTORS
        call check(kith_pairs_find(ctx, x, cutoff, found, box, options) == KITH_OK, what)
        call check(list%n == found%n .and. found%n > 0, "number of pairs, "//what)
        if (list%n == found%n) then
            call check(all(list%i == found%i) .and. all(list%j == found%j), "pairs, "//what)
            call check(all(list%vectors_real64 == found%vectors_real64), "vectors, "//what)
        end if
        call kith_free(found)
    end subroutine check_kept

    subroutine check_verlet(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real64) :: x(3, n)
        integer(int64), target :: offsets(3)
        integer(int32) :: reasons(2)
        type(kith_box) :: box
        type(kith_batch) :: batch
        type(kith_verlet_options) :: options
        type(kith_verlet) :: verlet
        type(kith_verlet_state) :: state
        type(kith_pair_list) :: list

        call scatter(x)
        box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
        call kith_verlet_options_init(options)
        options%cutoff = cutoff
        options%skin = 0.05_real64
        options%extras = KITH_VECTORS
        call check(kith_verlet_open(ctx, options, verlet) == KITH_OK, "kith_verlet_open")
        call check(kith_verlet_update(verlet, x, list, box) == KITH_OK, "first update")
        call check_kept(ctx, list, x, box, "first update")
        x(1, ::2) = x(1, ::2) + 0.01_real64
        call check(kith_verlet_update(verlet, x, list, box) == KITH_OK, "second update")
        call check_kept(ctx, list, x, box, "second update")
        call check(kith_verlet_read(verlet, state) == KITH_OK, "kith_verlet_read")
        call check(state%updates == 2 .and. state%rebuilds == 1 .and. state%kept > list%n .and. &
                   state%reason == KITH_VERLET_KEPT, "a list that is kept")
        call check(kith_verlet_rebuild(verlet) == KITH_OK, "kith_verlet_rebuild")
        call check(kith_verlet_update(verlet, x, list, box) == KITH_OK, "third update")
        call check(kith_verlet_read(verlet, state) == KITH_OK, "kith_verlet_read")
        call check(state%rebuilds == 2 .and. state%reason == KITH_VERLET_ASKED, "rebuilt, asked")
        x(1, 1) = x(1, 1) + 0.1_real64
        call check(kith_verlet_update(verlet, x, list, box) == KITH_OK, "fourth update")
        call check_kept(ctx, list, x, box, "fourth update")
        call check(kith_verlet_read(verlet, state) == KITH_OK, "kith_verlet_read")
        call check(state%reason == KITH_VERLET_MOVED, "rebuilt, moved")
        call kith_verlet_close(verlet)
        call check(kith_verlet_update(verlet, x, list, box) == KITH_INVALID, "a closed list")
        call check(list%n == 0 .and. .not. associated(list%j), "the list of a failed update")

        options%layout = KITH_CSR
        options%extras = KITH_DISTANCES
        call check(kith_verlet_open(ctx, options, verlet) == KITH_OK, "rows")
        offsets = [0, n/2, n]
        call kith_batch_init(batch)
        batch%systems = 2
        batch%offsets = c_loc(offsets)
        call check(kith_verlet_update(verlet, real(x, real32), list, box, batch) == KITH_OK, &
                   "batch")
        call check(list%rows == n .and. list%offsets(n + 1) == list%n + 1, "rows of a batch")
        call check(size(list%distances_real32, kind=int64) == list%n, "distances of a batch")
        call check(all(list%j(:list%offsets(n/2 + 1) - 1) <= n/2), "pairs within a system")
        x(1, n) = x(1, n) + 0.1_real64
        call check(kith_verlet_update(verlet, real(x, real32), list, box, batch) == KITH_OK, &
                   "second batch")
        call check(kith_verlet_reasons(verlet, reasons) == KITH_OK, "kith_verlet_reasons")
        call check(all(reasons == [KITH_VERLET_KEPT, KITH_VERLET_MOVED]), "reasons")
        call kith_verlet_close(verlet)
        options%cutoff = -1
        call check(kith_verlet_open(ctx, options, verlet) == KITH_INVALID, "a cutoff below 0")
        call check(index(kith_message(ctx), "cutoff") > 0, "message: "//kith_message(ctx))
        call kith_free(list)
    end subroutine check_verlet

    subroutine check_order(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real64) :: x(3, n), moved(3, n)
        type(kith_order_list) :: list
        logical :: seen(n)

        call scatter(x)
        call check(kith_order_find(ctx, x, list) == KITH_OK, "order")
        seen = .false.
        seen(list%order) = .true.
        call check(list%n == n .and. size(list%order) == n .and. all(seen), "each particle once")
        call check(kith_order_find(ctx, x, list, cell=0.25_real64) == KITH_OK, "order, cell")
        moved = x(:, list%order)
        seen(2:) = floor((moved(3, 2:) - minval(x(3, :)))*4) >= &
                   floor((moved(3, :n - 1) - minval(x(3, :)))*4)
        call check(all(seen(2:)), "layers of cells")
        call check(kith_order_find(ctx, real(x(:, :0), real32), list) == KITH_OK, "no particles")
        call check(list%n == 0 .and. size(list%order) == 0, "an empty order")
        call check(kith_order_find(ctx, x, list, cell=-1.0_real64) == KITH_INVALID, "cell")
        call kith_free(list)
        call check(.not. associated(list%order), "a freed order")
    end subroutine check_order

    ! Each column of a result against all others: no particle that it leaves out is nearer than its
    ! last, and its entries are in the order of distance and index.
    subroutine check_columns(list, x, k, kind_name)
        type(kith_nearest_list), intent(in) :: list
        real(real64), intent(in) :: x(3, n)
        integer, intent(in) :: k
        character(*), intent(in) :: kind_name
        integer(int32) :: i, j, e
        real(real64) :: r2(n), d(3)
        logical :: left(n)

        call check(list%rows == n .and. list%k == k, "rows and k, "//kind_name)
        call check(all(shape(list%j) == [k, n]) .and. all(list%counts == k), "shape, "//kind_name)
        do i = 1, n
            do j = 1, n
                r2(j) = sum(from(x, i, j)**2)
            end do
            left = .true.
            left(i) = .false.
            do e = 1, k
                j = list%j(e, i)
                call check(j == minloc(r2, 1, left), "j, "//kind_name)
                left(j) = .false.
                d = from(x, i, j)
                call check(all(x(:, j) - x(:, i) + list%shifts(:, e, i) == d), "shifts")
                if (associated(list%vectors_real64)) then
                    call check(all(list%vectors_real64(:, e, i) == d), "vectors")
                    call check(abs(list%distances_real64(e, i) - norm2(d)) < 1e-15, "distances")
                else
                    call check(all(list%vectors_real32(:, e, i) == real(d, real32)), "vectors")
                    call check(abs(list%distances_real32(e, i) - norm2(d)) < 1e-6, "distances")
                end if
            end do
        end do
    end subroutine check_columns

    subroutine check_nearest(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real64) :: x(3, n)
        real(real64), target :: others(3, 2)
        type(kith_points), target :: against
        type(kith_box) :: box
        type(kith_nearest_options) :: options
        type(kith_nearest_list) :: list

        call scatter(x)
        box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
        call kith_nearest_options_init(options)
        options%extras = ior(KITH_DISTANCES, ior(KITH_VECTORS, KITH_SHIFTS))
        call check(kith_nearest_find(ctx, x, 6, list, box, options) == KITH_OK, "nearest, real64")
        call check_columns(list, x, 6, "nearest, real64")
        call check(kith_nearest_find(ctx, real(x, real32), 5, list, box, options) == KITH_OK, &
                   "nearest, real32")
        call check_columns(list, x, 5, "nearest, real32")

        others(:, 1) = [0.0, 0.0, 0.0]
        others(:, 2) = [3.0, 0.0, 0.0]
        against = kith_points_packed(others)
        options%against = c_loc(against)
        options%extras = KITH_DISTANCES
        options%cutoff = 1.5_real64
        call check(kith_nearest_find(ctx, others(:, 2:2) - 1, 2, list, options=options) &
                   == KITH_OK, "against")
        call check(list%counts(1) == 0 .and. all(list%j == 0), "j where there is none")
        call check(all(list%distances_real64 > huge(1.0_real64)), "an infinite distance")
        call check(kith_nearest_find(ctx, others(:, 1:1) + 0.5_real64, 2, list, options=options) &
                   == KITH_OK, "against again")
        call check(list%counts(1) == 1 .and. all(list%j(:, 1) == [1, 0]), "one neighbour")
        call check(.not. associated(list%vectors_real64) .and. .not. associated(list%shifts), &
                   "arrays that are not asked for")
        call check(kith_nearest_find(ctx, x(:, :0), 3, list) == KITH_OK, "nearest of none")
        call check(list%rows == 0 .and. size(list%j) == 0 .and. size(list%counts) == 0, &
                   "no columns")
        call check(kith_nearest_find(ctx, x, 0, list) == KITH_INVALID, "k of 0")
        call check(index(kith_message(ctx), "k is 0") > 0, "message: "//kith_message(ctx))
        call check(.not. associated(list%j), "the neighbours of a failed call")
        call kith_free(list)
    end subroutine check_nearest

    subroutine check_halos(ctx)
        type(c_ptr), intent(in) :: ctx
        real(real32) :: x(3, 5)
        real(real32), target :: potentials(5)
        type(kith_fof_options) :: options
        type(kith_halo_input) :: input
        type(kith_group_list) :: groups
        type(kith_halo_list) :: halos

        x = 0
        x(1, :) = [9.0, 1.0, 1.5, 2.0, 9.5]
        potentials = [0, 0, 0, -1, 0]
        call kith_fof_options_init(options)
        call check(options%min_members == 20, "default of min_members")
        options%min_members = 2
        call kith_halo_input_init(input)
        input%potentials = c_loc(potentials)
        call check(kith_fof_find(ctx, x, 0.6_real64, groups, options=options) == KITH_OK, "groups")
        call check(all(groups%labels == [2, 1, 1, 1, 2]), "labels")
        call check(kith_halos_measure(ctx, x, groups, halos, input=input) == KITH_OK, "halos")
        call check(all(halos%halo%particle == [4, 1]), "particle")
        call check(kith_halos_measure(ctx, x, groups, halos) == KITH_OK, "halos again")
        call check(all(halos%halo%particle == 0), "no particle")
        call check(kith_fof_find(ctx, x, 0.6_real64, groups) == KITH_OK, "no groups")
        call check(groups%n == 0 .and. size(groups%members) == 0, "groups of 20")
        call kith_free(halos)
        call kith_free(groups)
    end subroutine check_halos

    subroutine check_failures(ctx)
        type(c_ptr), intent(in) :: ctx
        type(c_ptr) :: no_ctx
        real(real64) :: x(3, 2)
        type(kith_pair_list) :: list
        type(kith_domain) :: domain
        type(kith_domain_points) :: points

        x = 0
        call check(kith_pairs_find(ctx, x, -1.0_real64, list) == KITH_INVALID, "a cutoff below 0")
        call check(index(kith_message(ctx), "cutoff") > 0, "message: "//kith_message(ctx))
        call check(kith_pairs_find(ctx, x(:1, :), 1.0_real64, list) == KITH_INVALID, "x(1, n)")
        call check(index(kith_message(ctx), "y") > 0, "message: "//kith_message(ctx))
        call check(list%n == 0 .and. .not. associated(list%j), "the list of a failed call")
        call kith_free(list)
        call check(kith_set_stream(ctx, c_null_ptr) == KITH_UNSUPPORTED, "a stream of a CPU")
        call check(index(kith_message(ctx), "needs a GPU") > 0, "message: "//kith_message(ctx))
        call check(kith_open(no_ctx, "abacus") == KITH_INVALID, "an unknown backend")
        call check(index(kith_message(no_ctx), "abacus") > 0, "message: "//kith_message(no_ctx))
        call check(kith_domain_open(c_null_ptr, x, 1.0_real64, domain) == KITH_INVALID, "no team")
        call check(index(kith_message(c_null_ptr), "team is NULL") > 0, &
                   "message: "//kith_message(c_null_ptr))
        call check(kith_domain_read(domain, points) == KITH_INVALID, "no domain")
        call check(.not. allocated(points%ids), "the particles of no domain")
        call kith_domain_close(domain)
        call check(kith_status_name(KITH_NO_MEMORY) == "KITH_NO_MEMORY", "kith_status_name")
    end subroutine check_failures
end module cases

program fortran_calls
    use cases
    implicit none
    type(c_ptr) :: ctx

    call check(kith_open(ctx, "cpu", 2) == KITH_OK, "kith_open")
    call check(index(kith_backend(ctx), "cpu:") == 1, "kith_backend")
    call check(kith_threads(ctx) == 2, "kith_threads")
    call check_pairs(ctx)
    call check_matrix(ctx)
    call check_verlet(ctx)
    call check_nearest(ctx)
    call check_order(ctx)
    call check_halos(ctx)
    call check_failures(ctx)
    call kith_close(ctx)
    if (faults > 0) error stop 1
end program fortran_calls
