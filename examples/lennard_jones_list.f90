! SPDX-License-Identifier: BSD-3-Clause
!
! Molecular dynamics in Fortran: a Lennard-Jones liquid (density 0.8442, cutoff 2.5) with forces
! from a list of pairs that is kept over the steps (lennard_jones.c). Checks that the energy stays.
module liquid
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    use kith
    implicit none

    integer, parameter :: cells = 6, n = 4*cells**3, steps = 300
    real(real64), parameter :: density = 0.8442_real64, cutoff = 2.5_real64, skin = 0.35_real64, &
        step = 0.004_real64
    real(real64), target :: x(3, n) ! positions are never wrapped: the list allows it
    real(real64) :: v(3, n), f(3, n), side

contains

    ! A face-centred crystal with random velocities, whose mean is 0.
    subroutine make_crystal()
        real(real64), parameter :: corner(3, 4) = reshape([real(real64) :: 0, 0, 0, 0.5, 0.5, 0, &
                                                           0.5, 0, 0.5, 0, 0.5, 0.5], [3, 4])
        integer(int64) :: state
        integer :: p, k, cell(3)

        side = (n/density)**(1.0_real64/3)
        state = 1
        do p = 1, n
            cell = [mod((p - 1)/4, cells), mod((p - 1)/4/cells, cells), (p - 1)/4/cells**2]
            x(:, p) = (cell + corner(:, mod(p - 1, 4) + 1))*side/cells
            do k = 1, 3
                state = mod(16807*state, 2147483647_int64)
                v(k, p) = 4*(state/2147483647.0_real64 - 0.5_real64)
            end do
        end do
        do k = 1, 3
            v(k, :) = v(k, :) - sum(v(k, :))/n
        end do
    end subroutine make_crystal

    ! Forces of 4 (r^-12 - r^-6), cut and shifted. Returns the potential energy.
    function compute_forces(list) result(energy)
        type(kith_pair_list), intent(in) :: list
        real(real64) :: energy, d(3), r2, r6, push
        integer(int64) :: p

        energy = 0
        f = 0
        do p = 1, list%n
            d = list%vectors_real64(:, p) ! from i to the image of j that is the neighbour
            r2 = sum(d**2)
            r6 = 1/r2**3
            push = 24*r6*(2*r6 - 1)/r2
            energy = energy + 4*r6*(r6 - 1) - 4*(cutoff**(-12) - cutoff**(-6))
            f(:, list%i(p)) = f(:, list%i(p)) - push*d
            f(:, list%j(p)) = f(:, list%j(p)) + push*d
        end do
    end function compute_forces
end module liquid

program lennard_jones_list
    use liquid
    implicit none
    type(c_ptr) :: ctx
    type(kith_box) :: box
    type(kith_verlet_options) :: options
    type(kith_verlet) :: verlet
    type(kith_verlet_state) :: state
    type(kith_pair_list) :: list
    integer(c_int) :: status
    integer :: s
    real(real64) :: energy, first, farthest

    call make_crystal()
    box = kith_box_periodic(side, side, side)
    call kith_verlet_options_init(options)
    options%cutoff = cutoff
    options%skin = skin
    options%extras = KITH_VECTORS
    status = kith_open(ctx)
    if (status == KITH_OK) status = kith_verlet_open(ctx, options, verlet)
    if (status == KITH_OK) status = kith_verlet_update(verlet, x, list, box)
    first = 0
    farthest = 0
    if (status == KITH_OK) first = (compute_forces(list) + sum(v**2)/2)/n
    do s = 1, steps
        if (status /= KITH_OK) exit
        v = v + step/2*f
        x = x + step*v
        status = kith_verlet_update(verlet, x, list, box)
        if (status /= KITH_OK) exit
        energy = compute_forces(list)
        v = v + step/2*f
        farthest = max(farthest, abs((energy + sum(v**2)/2)/n - first))
    end do
    if (status == KITH_OK) status = kith_verlet_read(verlet, state)
    if (status /= KITH_OK) then
        print "(a)", kith_message(ctx)
        error stop 1
    end if
    print "(i0, a, i0, a, f0.4, a, es7.1)", n, " particles, ", steps, " steps: energy ", first, &
        " a particle, held within ", farthest
    print "(i0, a, i0, a)", state%rebuilds, " searches served ", state%updates, " steps"
    call kith_free(list)
    call kith_verlet_close(verlet)
    call kith_close(ctx)
    if (farthest > 3e-3 .or. state%rebuilds > steps/4) error stop "the energy or the list is wrong"
end program lennard_jones_list
