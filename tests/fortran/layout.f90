! SPDX-License-Identifier: BSD-3-Clause
!
! Compare the layouts of the module's bind(C) types with those of the C compiler, which
! tests/common/struct_layout.c prints:  struct_layout | fortran_layout
! Sizes of types, and offsets and sizes of fields, must be equal. A field that C has and the module
! has not is a fault, and so is one that C has not.
module layout
    use, intrinsic :: iso_c_binding
    use kith
    implicit none

    type :: entry
        character(64) :: name
        integer(c_intptr_t) :: offset ! of a field; 0: a type
        integer(c_intptr_t) :: bytes ! size
        logical :: found = .false. ! C has it
    end type entry

    type(entry), allocatable :: entries(:)
    character(64) :: current ! type whose fields are added
    integer(c_intptr_t) :: start ! its address

contains

    ! Begin a type: its name, an object of it, its size in bytes.
    subroutine add_type(name, object, bytes)
        character(*), intent(in) :: name
        type(c_ptr), intent(in) :: object
        integer(c_size_t), intent(in) :: bytes
        current = name
        start = transfer(object, start)
        entries = [entries, entry(current, 0_c_intptr_t, int(bytes, c_intptr_t))]
    end subroutine add_type

    ! Add a field of the type that was begun last.
    subroutine add(name, field, bytes)
        character(*), intent(in) :: name
        type(c_ptr), intent(in) :: field
        integer(c_size_t), intent(in) :: bytes
        character(64) :: whole
        whole = trim(current)//"."//name
        entries = [entries, entry(whole, transfer(field, start) - start, int(bytes, c_intptr_t))]
    end subroutine add

    subroutine list_options()
        type(kith_options), target :: o
        call add_type("kith_options", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("backend", c_loc(o%backend), c_sizeof(o%backend))
        call add("threads", c_loc(o%threads), c_sizeof(o%threads))
        call add("watch", c_loc(o%watch), c_sizeof(o%watch))
        call add("user", c_loc(o%user), c_sizeof(o%user))
        call add("stream", c_loc(o%stream), c_sizeof(o%stream))
    end subroutine list_options

    subroutine list_points()
        type(kith_points), target :: o
        call add_type("kith_points", c_loc(o), c_sizeof(o))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("x", c_loc(o%x), c_sizeof(o%x))
        call add("y", c_loc(o%y), c_sizeof(o%y))
        call add("z", c_loc(o%z), c_sizeof(o%z))
        call add("stride", c_loc(o%stride), c_sizeof(o%stride))
        call add("precision", c_loc(o%precision), c_sizeof(o%precision))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
    end subroutine list_points

    subroutine list_box()
        type(kith_box), target :: o
        call add_type("kith_box", c_loc(o), c_sizeof(o))
        call add("origin", c_loc(o%origin), c_sizeof(o%origin))
        call add("row", c_loc(o%row), c_sizeof(o%row))
        call add("periodic", c_loc(o%periodic), c_sizeof(o%periodic))
        call add("dim", c_loc(o%dim), c_sizeof(o%dim))
    end subroutine list_box

    subroutine list_batch()
        type(kith_batch), target :: o
        call add_type("kith_batch", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("systems", c_loc(o%systems), c_sizeof(o%systems))
        call add("offsets", c_loc(o%offsets), c_sizeof(o%offsets))
        call add("against_offsets", c_loc(o%against_offsets), c_sizeof(o%against_offsets))
        call add("boxes", c_loc(o%boxes), c_sizeof(o%boxes))
        call add("dim", c_loc(o%dim), c_sizeof(o%dim))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
    end subroutine list_batch

    subroutine list_pairs_options()
        type(kith_pairs_options), target :: o
        call add_type("kith_pairs_options", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("against", c_loc(o%against), c_sizeof(o%against))
        call add("full", c_loc(o%full), c_sizeof(o%full))
        call add("sorted", c_loc(o%sorted), c_sizeof(o%sorted))
        call add("unordered", c_loc(o%unordered), c_sizeof(o%unordered))
        call add("layout", c_loc(o%layout), c_sizeof(o%layout))
        call add("extras", c_loc(o%extras), c_sizeof(o%extras))
        call add("block_pairs", c_loc(o%block_pairs), c_sizeof(o%block_pairs))
        call add("batch", c_loc(o%batch), c_sizeof(o%batch))
        call add("width", c_loc(o%width), c_sizeof(o%width))
        call add("fill", c_loc(o%fill), c_sizeof(o%fill))
        call add("queued", c_loc(o%queued), c_sizeof(o%queued))
        call add("n_species", c_loc(o%n_species), c_sizeof(o%n_species))
        call add("radius_rule", c_loc(o%radius_rule), c_sizeof(o%radius_rule))
        call add("species", c_loc(o%species), c_sizeof(o%species))
        call add("species_against", c_loc(o%species_against), c_sizeof(o%species_against))
        call add("cutoffs", c_loc(o%cutoffs), c_sizeof(o%cutoffs))
        call add("radii", c_loc(o%radii), c_sizeof(o%radii))
        call add("radii_against", c_loc(o%radii_against), c_sizeof(o%radii_against))
        call add("r_min", c_loc(o%r_min), c_sizeof(o%r_min))
        call add("molecules", c_loc(o%molecules), c_sizeof(o%molecules))
        call add("molecules_against", c_loc(o%molecules_against), c_sizeof(o%molecules_against))
        call add("bond_offsets", c_loc(o%bond_offsets), c_sizeof(o%bond_offsets))
        call add("bonds", c_loc(o%bonds), c_sizeof(o%bonds))
        call add("active", c_loc(o%active), c_sizeof(o%active))
    end subroutine list_pairs_options

    subroutine list_pairs()
        type(kith_pairs), target :: o
        call add_type("kith_pairs", c_loc(o), c_sizeof(o))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("rows", c_loc(o%rows), c_sizeof(o%rows))
        call add("i", c_loc(o%i), c_sizeof(o%i))
        call add("j", c_loc(o%j), c_sizeof(o%j))
        call add("offsets", c_loc(o%offsets), c_sizeof(o%offsets))
        call add("distances", c_loc(o%distances), c_sizeof(o%distances))
        call add("vectors", c_loc(o%vectors), c_sizeof(o%vectors))
        call add("shifts", c_loc(o%shifts), c_sizeof(o%shifts))
        call add("capacity", c_loc(o%capacity), c_sizeof(o%capacity))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("owner", c_loc(o%owner), c_sizeof(o%owner))
        call add("counts", c_loc(o%counts), c_sizeof(o%counts))
        call add("width", c_loc(o%width), c_sizeof(o%width))
        call add("widest", c_loc(o%widest), c_sizeof(o%widest))
        call add("overflowed", c_loc(o%overflowed), c_sizeof(o%overflowed))
    end subroutine list_pairs

    subroutine list_verlet_options()
        type(kith_verlet_options), target :: o
        call add_type("kith_verlet_options", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("cutoff", c_loc(o%cutoff), c_sizeof(o%cutoff))
        call add("skin", c_loc(o%skin), c_sizeof(o%skin))
        call add("with_skin", c_loc(o%with_skin), c_sizeof(o%with_skin))
        call add("full", c_loc(o%full), c_sizeof(o%full))
        call add("layout", c_loc(o%layout), c_sizeof(o%layout))
        call add("extras", c_loc(o%extras), c_sizeof(o%extras))
    end subroutine list_verlet_options

    subroutine list_verlet_state()
        type(kith_verlet_state), target :: o
        call add_type("kith_verlet_state", c_loc(o), c_sizeof(o))
        call add("updates", c_loc(o%updates), c_sizeof(o%updates))
        call add("rebuilds", c_loc(o%rebuilds), c_sizeof(o%rebuilds))
        call add("reason", c_loc(o%reason), c_sizeof(o%reason))
        call add("rebuilt", c_loc(o%rebuilt), c_sizeof(o%rebuilt))
        call add("kept", c_loc(o%kept), c_sizeof(o%kept))
        call add("displacement", c_loc(o%displacement), c_sizeof(o%displacement))
        call add("allowed", c_loc(o%allowed), c_sizeof(o%allowed))
    end subroutine list_verlet_state

    subroutine list_transport()
        type(kith_transport), target :: o
        call add_type("kith_transport", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("self", c_loc(o%self), c_sizeof(o%self))
        call add("rank", c_loc(o%rank), c_sizeof(o%rank))
        call add("ranks", c_loc(o%ranks), c_sizeof(o%ranks))
        call add("device", c_loc(o%device), c_sizeof(o%device))
        call add("counts", c_loc(o%counts), c_sizeof(o%counts))
        call add("exchange", c_loc(o%exchange), c_sizeof(o%exchange))
        call add("gather", c_loc(o%gather), c_sizeof(o%gather))
        call add("combine", c_loc(o%combine), c_sizeof(o%combine))
        call add("abort", c_loc(o%abort), c_sizeof(o%abort))
        call add("close", c_loc(o%close), c_sizeof(o%close))
    end subroutine list_transport

    subroutine list_domain_view()
        type(kith_domain_view), target :: o
        call add_type("kith_domain_view", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("ghosts", c_loc(o%ghosts), c_sizeof(o%ghosts))
        call add("xyz", c_loc(o%xyz), c_sizeof(o%xyz))
        call add("ids", c_loc(o%ids), c_sizeof(o%ids))
    end subroutine list_domain_view

    subroutine list_nearest_options()
        type(kith_nearest_options), target :: o
        call add_type("kith_nearest_options", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("against", c_loc(o%against), c_sizeof(o%against))
        call add("cutoff", c_loc(o%cutoff), c_sizeof(o%cutoff))
        call add("extras", c_loc(o%extras), c_sizeof(o%extras))
        call add("batch", c_loc(o%batch), c_sizeof(o%batch))
        call add("radii", c_loc(o%radii), c_sizeof(o%radii))
        call add("radii_against", c_loc(o%radii_against), c_sizeof(o%radii_against))
        call add("radius_rule", c_loc(o%radius_rule), c_sizeof(o%radius_rule))
    end subroutine list_nearest_options

    subroutine list_nearest()
        type(kith_nearest), target :: o
        call add_type("kith_nearest", c_loc(o), c_sizeof(o))
        call add("rows", c_loc(o%rows), c_sizeof(o%rows))
        call add("k", c_loc(o%k), c_sizeof(o%k))
        call add("counts", c_loc(o%counts), c_sizeof(o%counts))
        call add("j", c_loc(o%j), c_sizeof(o%j))
        call add("distances", c_loc(o%distances), c_sizeof(o%distances))
        call add("vectors", c_loc(o%vectors), c_sizeof(o%vectors))
        call add("shifts", c_loc(o%shifts), c_sizeof(o%shifts))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("owner", c_loc(o%owner), c_sizeof(o%owner))
    end subroutine list_nearest

    subroutine list_order()
        type(kith_order), target :: o
        call add_type("kith_order", c_loc(o), c_sizeof(o))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("order", c_loc(o%order), c_sizeof(o%order))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("owner", c_loc(o%owner), c_sizeof(o%owner))
    end subroutine list_order

    subroutine list_fof_options()
        type(kith_fof_options), target :: o
        call add_type("kith_fof_options", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("min_members", c_loc(o%min_members), c_sizeof(o%min_members))
        call add("ids", c_loc(o%ids), c_sizeof(o%ids))
        call add("roles", c_loc(o%roles), c_sizeof(o%roles))
        call add("min_links", c_loc(o%min_links), c_sizeof(o%min_links))
        call add("velocities", c_loc(o%velocities), c_sizeof(o%velocities))
        call add("velocity_length", c_loc(o%velocity_length), c_sizeof(o%velocity_length))
        call add("batch", c_loc(o%batch), c_sizeof(o%batch))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
    end subroutine list_fof_options

    subroutine list_groups()
        type(kith_groups), target :: o
        call add_type("kith_groups", c_loc(o), c_sizeof(o))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("points", c_loc(o%points), c_sizeof(o%points))
        call add("labels", c_loc(o%labels), c_sizeof(o%labels))
        call add("members", c_loc(o%members), c_sizeof(o%members))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("owner", c_loc(o%owner), c_sizeof(o%owner))
        call add("systems", c_loc(o%systems), c_sizeof(o%systems))
        call add("offsets", c_loc(o%offsets), c_sizeof(o%offsets))
    end subroutine list_groups

    subroutine list_halo_input()
        type(kith_halo_input), target :: o
        call add_type("kith_halo_input", c_loc(o), c_sizeof(o))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("masses", c_loc(o%masses), c_sizeof(o%masses))
        call add("velocities", c_loc(o%velocities), c_sizeof(o%velocities))
        call add("types", c_loc(o%types), c_sizeof(o%types))
        call add("potentials", c_loc(o%potentials), c_sizeof(o%potentials))
        call add("densities", c_loc(o%densities), c_sizeof(o%densities))
        call add("sphere_density", c_loc(o%sphere_density), c_sizeof(o%sphere_density))
    end subroutine list_halo_input

    subroutine list_halo()
        type(kith_halo), target :: o
        call add_type("kith_halo", c_loc(o), c_sizeof(o))
        call add("members", c_loc(o%members), c_sizeof(o%members))
        call add("members_of_type", c_loc(o%members_of_type), c_sizeof(o%members_of_type))
        call add("mass", c_loc(o%mass), c_sizeof(o%mass))
        call add("mass_of_type", c_loc(o%mass_of_type), c_sizeof(o%mass_of_type))
        call add("centre_of_mass", c_loc(o%centre_of_mass), c_sizeof(o%centre_of_mass))
        call add("centre", c_loc(o%centre), c_sizeof(o%centre))
        call add("particle", c_loc(o%particle), c_sizeof(o%particle))
        call add("velocity", c_loc(o%velocity), c_sizeof(o%velocity))
        call add("dispersion", c_loc(o%dispersion), c_sizeof(o%dispersion))
        call add("radius_rms", c_loc(o%radius_rms), c_sizeof(o%radius_rms))
        call add("radius_max", c_loc(o%radius_max), c_sizeof(o%radius_max))
        call add("angular_momentum", c_loc(o%angular_momentum), c_sizeof(o%angular_momentum))
        call add("inertia", c_loc(o%inertia), c_sizeof(o%inertia))
        call add("axis_length", c_loc(o%axis_length), c_sizeof(o%axis_length))
        call add("axis", c_loc(o%axis), c_sizeof(o%axis))
        call add("sphere_radius", c_loc(o%sphere_radius), c_sizeof(o%sphere_radius))
        call add("sphere_mass", c_loc(o%sphere_mass), c_sizeof(o%sphere_mass))
    end subroutine list_halo

    subroutine list_halos()
        type(kith_halos), target :: o
        call add_type("kith_halos", c_loc(o), c_sizeof(o))
        call add("n", c_loc(o%n), c_sizeof(o%n))
        call add("halo", c_loc(o%halo), c_sizeof(o%halo))
        call add("memory", c_loc(o%memory), c_sizeof(o%memory))
        call add("size", c_loc(o%size), c_sizeof(o%size))
        call add("owner", c_loc(o%owner), c_sizeof(o%owner))
        call add("sphere_seconds", c_loc(o%sphere_seconds), c_sizeof(o%sphere_seconds))
        call add("stride", c_loc(o%stride), c_sizeof(o%stride))
    end subroutine list_halos

    ! Compare one line of C. Returns the number of faults, each of which is printed.
    integer function faults_of(name, offset, bytes)
        character(*), intent(in) :: name
        integer(c_intptr_t), intent(in) :: offset, bytes
        integer :: k

        faults_of = 0
        do k = 1, size(entries)
            if (entries(k)%name == name) then
                entries(k)%found = .true.
                if (entries(k)%offset /= offset .or. entries(k)%bytes /= bytes) then
                    print "(a, 4(a, i0))", trim(name), ": offset ", entries(k)%offset, ", size ", &
                        entries(k)%bytes, "; in C ", offset, ", ", bytes
                    faults_of = 1
                end if
                return
            end if
        end do
        k = index(name, ".")
        if (k > 0) then
            if (any(entries%name == name(:k - 1))) then
                print "(a)", trim(name)//": not in the module"
                faults_of = 1
            end if
        end if
    end function faults_of
end module layout

program fortran_layout
    use layout
    implicit none
    character(200) :: line
    character(64) :: name
    integer(c_intptr_t) :: offset, bytes
    integer :: k, faults, error

    allocate (entries(0))
    call list_options()
    call list_points()
    call list_box()
    call list_batch()
    call list_pairs_options()
    call list_pairs()
    call list_verlet_options()
    call list_verlet_state()
    call list_transport()
    call list_domain_view()
    call list_nearest_options()
    call list_nearest()
    call list_order()
    call list_fof_options()
    call list_groups()
    call list_halo_input()
    call list_halo()
    call list_halos()

    faults = 0
    do
        read (*, "(a)", iostat=error) line
        if (error /= 0) exit
        offset = 0
        if (index(line, ".") > 0) then
            read (line, *) name, offset, bytes
        else
            read (line, *) name, bytes
        end if
        faults = faults + faults_of(name, offset, bytes)
    end do
    do k = 1, size(entries)
        if (.not. entries(k)%found) then
            print "(a)", trim(entries(k)%name)//": not in C"
            faults = faults + 1
        end if
    end do
    if (faults > 0) error stop 1
end program fortran_layout
