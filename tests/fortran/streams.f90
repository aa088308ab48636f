! SPDX-License-Identifier: BSD-3-Clause
!
! The streams of a context in Fortran: one that is set, also as an integer of CUDA Fortran's kind,
! the default stream, and the one that a new context has of its own. A call ends after a function
! that sleeps on a stream exactly if its work waits for that stream.
module runtime
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: real64
    use kith
    implicit none

    integer(c_int), volatile, bind(c) :: slept = 0
    integer :: faults = 0

    interface
        function cuda_stream_create(stream, flags) result(error) &
            bind(c, name="cudaStreamCreateWithFlags")
            import :: c_int, c_ptr
            type(c_ptr), intent(out) :: stream
            integer(c_int), value :: flags
            integer(c_int) :: error
        end function cuda_stream_create
        function cuda_launch_host_func(stream, fn, user) result(error) &
            bind(c, name="cudaLaunchHostFunc")
            import :: c_int, c_ptr, c_funptr
            type(c_ptr), value :: stream
            type(c_funptr), value :: fn
            type(c_ptr), value :: user
            integer(c_int) :: error
        end function cuda_launch_host_func
        function cuda_device_synchronize() result(error) bind(c, name="cudaDeviceSynchronize")
            import :: c_int
            integer(c_int) :: error
        end function cuda_device_synchronize
        function usleep(microseconds) result(error) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
            integer(c_int) :: error
        end function usleep
        function setenv(name, value, overwrite) result(error) bind(c)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*), value(*)
            integer(c_int), value :: overwrite
            integer(c_int) :: error
        end function setenv
    end interface

contains

    subroutine check(right, what)
        logical, intent(in) :: right
        character(*), intent(in) :: what
        if (right) return
        print "(a)", "wrong: "//what
        faults = faults + 1
    end subroutine check

    ! Function of a stream: what is queued behind it waits.
    subroutine sleep_long(user) bind(c)
        type(c_ptr), value :: user
        if (c_associated(user)) return
        if (usleep(150000) == 0) slept = 1
    end subroutine sleep_long

    ! Whether a call of a context waits for the work that is on a stream.
    function waits(ctx, stream) result(waited)
        type(c_ptr), intent(in) :: ctx, stream
        real(real64) :: x(3, 3)
        type(kith_pair_list) :: list
        logical :: waited
        x = reshape([0, 0, 0, 1, 0, 0, 5, 5, 5], [3, 3])
        call check(cuda_device_synchronize() == 0, "the device fails")
        slept = 0
        call check(cuda_launch_host_func(stream, c_funloc(sleep_long), c_null_ptr) == 0, &
                   "nothing is queued")
        call check(kith_pairs_find(ctx, x, 2.0_real64, list) == KITH_OK, "a call")
        waited = slept == 1
        call check(list%n == 1, "one pair")
        call kith_free(list)
        call check(cuda_device_synchronize() == 0, "the device fails")
    end function waits

end module runtime

program streams
    use runtime
    implicit none

    integer(c_int), parameter :: ordered = 0, non_blocking = 1
    type(kith_options) :: options
    type(c_ptr) :: ctx, stream, blocking
    integer(c_intptr_t) :: number
    integer(c_int) :: status
    logical :: waited

    ! Else streams may wait for one another.
    status = setenv("CUDA_DEVICE_MAX_CONNECTIONS"//c_null_char, "32"//c_null_char, 1)
    status = kith_open(ctx, "cuda")
    if (status == KITH_NO_BACKEND) then
        print "(a)", "skipped: "//kith_message(ctx)
        stop 77
    end if
    call check(status == KITH_OK, "kith_open")
    call check(cuda_stream_create(stream, non_blocking) == 0 .and. &
               cuda_stream_create(blocking, ordered) == 0, "no streams")

    waited = waits(ctx, c_null_ptr) ! makes the scratch memory: allocations wait for all streams
    call check(waits(ctx, c_null_ptr), "a new context is not ordered with the default stream")
    call check(.not. waits(ctx, blocking), "a new context has no stream of its own")
    call check(kith_set_stream(ctx, stream) == KITH_OK, "kith_set_stream")
    call check(waits(ctx, stream), "the stream that was set")
    call check(.not. waits(ctx, blocking), "the stream that was set is not the one")
    call check(kith_set_stream(ctx, c_null_ptr) == KITH_OK, "the default stream")
    call check(waits(ctx, blocking), "c_null_ptr is not the default stream")
    number = transfer(stream, number)
    call check(kith_set_stream(ctx, transfer(number, c_null_ptr)) == KITH_OK, "an integer")
    call check(waits(ctx, stream), "the stream of an integer")
    call check(.not. waits(ctx, blocking), "the stream of an integer is not the one")
    call kith_close(ctx)

    call kith_options_init(options)
    options%stream = stream
    call check(kith_open(ctx, "cuda", options=options) == KITH_OK, "kith_open with a stream")
    waited = waits(ctx, stream)
    call check(waits(ctx, stream), "the stream of the options")
    call check(.not. waits(ctx, blocking), "the stream of the options is not the one")
    call kith_close(ctx)
    if (faults > 0) error stop "streams are not as docs/library.md says"
end program streams
