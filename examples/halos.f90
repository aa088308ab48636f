! SPDX-License-Identifier: BSD-3-Clause
!
! Halos in Fortran: a cube of particles across a face of the periodic box, a rod, and two particles
! that belong to neither.
program halos
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use kith
    implicit none

    integer, parameter :: cube = 125, rod = 40, n = cube + rod + 2
    real(real64), parameter :: spacing = 0.01_real64
    real(real64), target :: x(3, n), velocities(3, n)
    type(c_ptr) :: ctx
    type(kith_box) :: box
    type(kith_group_list) :: groups
    type(kith_halo_list) :: found
    type(kith_halo_input) :: input
    integer(c_int) :: status
    integer :: p
    integer(int64) :: h
    logical :: right

    do p = 1, cube ! 5 x 5 x 5 particles, centred on (0, 0.5, 0.5)
        x(:, p) = spacing*[mod(p - 1, 5) - 2, mod((p - 1)/5, 5) - 2, (p - 1)/25 - 2] &
                  + [0.0_real64, 0.5_real64, 0.5_real64]
    end do
    x(1, :cube) = modulo(x(1, :cube), 1.0_real64)
    do p = 1, rod ! along y, its middle at 0.2 + 19.5 * spacing
        x(:, cube + p) = [0.5_real64, 0.2_real64 + spacing*(p - 1), 0.25_real64]
    end do
    x(:, n - 1) = [0.8_real64, 0.8_real64, 0.8_real64]
    x(:, n) = [0.8_real64, 0.1_real64, 0.8_real64]
    velocities = 0
    velocities(3, cube + 1:cube + rod) = 100

    box = kith_box_periodic(1.0_real64, 1.0_real64, 1.0_real64)
    call kith_halo_input_init(input)
    input%velocities = c_loc(velocities)

    status = kith_open(ctx)
    if (status == KITH_OK) status = kith_fof_find(ctx, x, 1.2_real64*spacing, groups, box)
    if (status == KITH_OK) status = kith_halos_measure(ctx, x, groups, found, box, input)
    if (status /= KITH_OK) print "(a)", kith_message(ctx)
    do h = 1, found%n
        print "(a, i0, a, i0, a, 3f8.4, a, f0.4, a, f0.1)", "halo ", h, ": ", &
            found%halo(h)%members, " members around", found%halo(h)%centre, ", rms radius ", &
            found%halo(h)%radius_rms, ", moving at ", found%halo(h)%velocity(3)
    end do

    right = status == KITH_OK .and. found%n == 2
    if (right) then
        associate (first => found%halo(1), second => found%halo(2))
            right = all(groups%members == [cube, rod]) .and. all(groups%labels(:cube) == 1) &
                    .and. all(groups%labels(cube + 1:cube + rod) == 2) &
                    .and. all(groups%labels(n - 1:) == 0) &
                    .and. abs(first%radius_rms - sqrt(6.0_real64)*spacing) < 1e-12_real64 &
                    .and. abs(second%centre(2) - 0.2_real64 - 19.5_real64*spacing) < 1e-12_real64 &
                    .and. abs(second%axis(2, 1)) > 1 - 1e-12_real64 &
                    .and. abs(second%velocity(3) - 100) < 1e-9_real64
        end associate
    end if
    call kith_free(found)
    call kith_free(groups)
    call kith_close(ctx)
    if (.not. right) error stop "the halos are not the cube and the rod"
end program halos
