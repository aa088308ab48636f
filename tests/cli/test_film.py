# SPDX-License-Identifier: BSD-3-Clause
"""Films: through an ffmpeg of ours that keeps or refuses frames, as PNG, through the real one."""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import cli
import needs

WIDTH, HEIGHT = 64, 48
FRAME = WIDTH * HEIGHT * 4
BRIEF = "KITH_TEST_BRIEF" in os.environ
RUN = ("flock", "--boids", "200", "--box", "20", "--threads", "1", "-q",
       "--film-size", f"{WIDTH}x{HEIGHT}")
KEEPS = 'for last; do :; done\nexec cat > "$last"\n'


def tool(script):
    """Environment in which ffmpeg is this script; none without one."""
    os.makedirs("bin", exist_ok=True)
    for name in ("cat", "sleep"):
        if not os.path.exists(f"bin/{name}"):
            os.symlink(shutil.which(name), f"bin/{name}")
    if os.path.exists("bin/ffmpeg"):
        os.remove("bin/ffmpeg")
    if script:
        with open("bin/ffmpeg", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod("bin/ffmpeg", 0o755)
    return dict(os.environ, PATH=os.path.abspath("bin"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def names():
    return sorted(name for name in os.listdir() if name != "bin")


def pixels(path):
    """Rows of a PNG of ours as bytes red, green, blue, whatever their filters."""
    data, at, packed = read(path), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            shape = struct.unpack(">IIBBBBB", data[at + 8:at + 21])
            assert shape == (WIDTH, HEIGHT, 8, 2, 0, 0, 0), shape
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw, rows = zlib.decompress(packed), []
    for j in range(HEIGHT):
        line = bytearray(raw[j * (3 * WIDTH + 1):(j + 1) * (3 * WIDTH + 1)])
        assert line[0] == 1, "a filter that we do not ask for"
        for k in range(4, len(line)):
            line[k] = (line[k] + line[k - 3]) & 255
        rows.append(bytes(line[1:]))
    return b"".join(rows)


def as_rgb(frame):
    """Blue, green, red, nothing, as it goes to ffmpeg, as red, green, blue."""
    return b"".join(frame[k:k + 3][::-1] for k in range(0, len(frame), 4))


def test_frames_reach_ffmpeg():
    keeps = tool(KEEPS)
    seen = set()
    for threads in ("1", "3") if BRIEF else ("1", "2", "3"):
        cli.ok(*RUN, "--steps", "20", "--record", "a.mp4", "--record-every", "4", "--threads",
               threads, env=keeps)
        seen.add(read("a.mp4"))
        assert names() == ["a.mp4"], names()
    assert len(seen) == 1, "other bits for other threads"
    film = seen.pop()
    assert len(film) == 6 * FRAME
    frames = [film[k:k + FRAME] for k in range(0, len(film), FRAME)]
    assert len(set(frames)) == 6
    assert all(max(frame) > 100 for frame in frames)
    for words in (("--film-colour", "speed", "--max-speed", "0"), ("--film-turn", "90"),
                  ("--film-colour", "density"), ("--dim", "2"), ("--periodic", "none")):
        cli.ok(*RUN, "--steps", "20", "--record", "a.mp4", "--record-every", "4", *words,
               env=keeps)
        assert len(read("a.mp4")) == 6 * FRAME and read("a.mp4") != film, words
    text = cli.ok(*RUN[:-3], *RUN[-2:], "--steps", "2", "--record", "-odd name.webm", env=keeps)
    assert "film       -odd name.webm" in text, text


def test_png_frames_are_the_same():
    keeps = tool(KEEPS)
    run = (*RUN, "--steps", "9", "--record-every", "4")
    cli.ok(*run, "--record", "a.mp4", env=keeps)
    film = read("a.mp4")
    frames = [as_rgb(film[k:k + FRAME]) for k in range(0, len(film), FRAME)]
    done = cli.run(*run, "--record", "new/")
    needs.built(done)
    assert done.returncode == 0, done.stderr
    cli.ok(*run, "--record", "p/f%03d.PNG")
    assert sorted(os.listdir("p")) == [f"f00{k}.PNG" for k in range(4)]
    for k, frame in enumerate(frames):
        assert pixels(f"new/00000{k}.png") == frame, k
        assert pixels(f"p/f00{k}.PNG") == frame, k
    done = cli.run(*run, "--record", "b.mp4", env=tool(None))
    assert done.returncode == 0, done.stderr
    assert "ffmpeg is not installed; frames go to b.mp4.frames/" in done.stderr, done.stderr
    assert [pixels(f"b.mp4.frames/00000{k}.png") for k in range(4)] == frames
    assert names() == ["a.mp4", "b.mp4.frames", "new", "p"], names()


def extremes(*things):
    """Around 60 boids in the middle of a box: the brightest pixel, and how many are not dark."""
    with open("p.xyz", "w", encoding="ascii") as file:
        file.write('60\nLattice="40 0 0 0 40 0 0 0 40" Origin="-20 -20 -20" '
                   'Properties=species:S:1:pos:R:3:velo:R:3\n')
        for k in range(60):
            file.write(f"A {k % 4 / 8} {k // 4 % 4 / 8} {k // 16 / 8} 1 0 0\n")
    needs.built(cli.run("flock", "p.xyz", "--steps", "0", "--record", "f/", "--film-turn", "0",
                        "--film-size", f"{WIDTH}x{HEIGHT}", "-q", *things))
    return middle("f/000000.png")


def middle(path):
    """The brightest pixel of the middle of a picture, and how many there are not dark."""
    rows = pixels(path)
    seen = [rows[3 * (j * WIDTH + k):3 * (j * WIDTH + k) + 3]
              for j in range(17, 24)
              for k in range(WIDTH // 2 - 3, WIDTH // 2 + 3)]
    return max(map(max, seen)), sum(max(p) > 50 for p in seen)


def test_spheres_hide_what_is_behind():
    plain, few = extremes()
    hidden, _ = extremes("--sphere", "0,-8,3,4,0,0")       # between the eye and the boids
    image, _ = extremes("--sphere", "0,32,3,4,0,0")        # its image is there
    behind, many = extremes("--sphere", "0,8,-3,4,0,0")
    assert plain > 200 and hidden < 130 and image == hidden, (plain, hidden, image)
    assert behind > 200 and many > few + 4, (behind, many, few)
    wall, all_of_it = extremes("--wall", "0,5,0,0,-1,0,0,0")
    assert wall > 200 and all_of_it == 42, (wall, all_of_it)


def test_things_of_recordings():
    """The film of a recording shows what acted: a sphere hides boids, a wall is behind them."""
    extremes()                              # makes p.xyz
    for kind in ("xyz", "gsd"):
        seen = []
        for things in ((), ("--sphere", "0,-8,3,4,0,0"), ("--wall", "0,5,0,0,-1,0,0,0")):
            cli.ok("flock", "p.xyz", "--steps", "0", "-o", f"t.{kind}", "-q", *things)
            cli.ok("view", f"t.{kind}", "--record", "g/", "--film-turn", "0", "--film-size",
                   f"{WIDTH}x{HEIGHT}", "-q")
            seen.append(middle("g/000000.png"))
        assert seen[0][0] > 200 and seen[1][0] < 130, (kind, seen)
        assert seen[2][1] == 42 > seen[0][1], (kind, seen)


def test_frames_of_files():
    """kith view --record: frames of a trajectory, and a still one seen from all sides."""
    keeps, size = tool(KEEPS), ("--film-size", f"{WIDTH}x{HEIGHT}")
    cli.ok(*RUN[:-2], "--steps", "8", "--record-every", "2", "-o", "t.gsd")
    text = cli.ok("view", "t.gsd", "--record", "a.mp4", *size, env=keeps)
    assert "film       a.mp4, 5 frames" in text, text
    film = read("a.mp4")
    assert len(film) == 5 * FRAME
    assert len({film[k:k + FRAME] for k in range(0, 5 * FRAME, FRAME)}) == 5
    cli.ok("view", "t.gsd", "--record", "b.mp4", "--frame", "3", "-q", *size, env=keeps)
    assert len(read("b.mp4")) == 2 * FRAME
    cli.fails(6, "view", "t.gsd", "--record", "b.mp4", "--frame", "5",
              says=("there is no frame 5", "frames '5:' chooses none"))
    cli.ok("make", "uniform", "200", "--seed", "3", "-o", "p.npy", "-q")
    still = ("view", "p.npy", "--box", "1", "--record", "c.mp4", "--film-rate", "2", *size)
    assert json.loads(cli.ok(*still, "--json", env=keeps))["frames"] == 24
    whole = read("c.mp4")
    frames = [whole[k:k + FRAME] for k in range(0, len(whole), FRAME)]
    assert len(frames) == len(set(frames)) == 24
    cli.ok(*still, "--film-turn", "0", env=keeps)
    assert read("c.mp4") == frames[0]
    cli.ok(*still, "--link", "0.2", "--members", "3", "--film-turn", "0", env=keeps)
    assert len(read("c.mp4")) == FRAME and read("c.mp4") != frames[0]
    cli.fails(2, "view", "p.npy", "--record", "c.avi", says=("no film",))


def test_broken_ffmpeg():
    with open("a.mp4", "wb") as file:
        file.write(b"earlier")
    run = (*RUN, "--steps", "20", "--record", "a.mp4")
    for script, says in (("exit 1", "exit status 1"),
                         ("echo Unknown encoder >&2; exit 3", "(exit status 3): Unknown encoder"),
                         ("kill -9 $$", "killed by signal 9"),
                         ('for last; do :; done\necho x > "$last"; echo "No space left" >&2\n'
                          "cat > /dev/null; exit 1", "No space left"),
                         (KEEPS.replace("exec cat", "read x; cat") + "exit 5", "exit status 5")):
        cli.fails(9, *run, says=("a.mp4", "ffmpeg failed", says), env=tool(script))
        assert read("a.mp4") == b"earlier" and names() == ["a.mp4"], names()
    done = cli.fails(9, *run, says=("a.mp4", "complained", "No space"),
                     env=tool(KEEPS.replace("exec cat", "echo No space left >&2; exec cat")))
    (part,) = [name for name in names() if name != "a.mp4"]
    assert part in done.stderr and read("a.mp4") == b"earlier", (part, done.stderr)
    os.remove(part)
    cli.fails(9, *RUN, "--steps", "5", "--record", "none/a.mp4", says=("none/a.mp4",),
              env=tool(KEEPS))
    cli.fails(9, *RUN, "--steps", "5", "--record", "a.mp4/", says=("a.mp4/",))
    assert names() == ["a.mp4"], names()


def test_interrupt_leaves_a_film():
    keeps = tool(KEEPS)
    command = [cli.KITH, *RUN, "--steps", "100000000", "--measure-every", "0", "--record-every",
               "5", "--record", "a.mp4", "--restart", "a.state"]
    with subprocess.Popen(command, env=keeps, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(1000):
            if any(name.endswith(".part") and os.path.getsize(name) > 3 * FRAME
                   for name in os.listdir()):
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=40)
    assert process.returncode == 130 and message.startswith("kith: interrupted"), message
    assert names() == ["a.mp4", "a.state"], names()
    size = os.path.getsize("a.mp4")
    assert size > 3 * FRAME and size % FRAME == 0, size
    step = int(message.split("step ")[1].split(";")[0])
    cli.ok(*RUN, "--steps", str(step + 20), "--record", "a.mp4", "--restart", "a.state",
           "--record-every", "5", env=keeps)
    assert os.path.getsize("a.mp4") == size  # the earlier part stays
    rest = [name for name in names() if name not in ("a.mp4", "a.state")]
    assert rest == [f"a.{step}.mp4"] and os.path.getsize(rest[0]) >= 4 * FRAME, rest


LARGE = ("--film-size", "2048x2048", "--record", "frames/")  # a frame takes some 0.1 s


def interrupt_frames(*arguments):
    """Interrupt a run that writes large frames; return its message and the frames' numbers. None
    is torn."""
    with subprocess.Popen([cli.KITH, *arguments], stderr=subprocess.PIPE, text=True) as process:
        for _ in range(2000):
            if os.path.exists("frames/000001.png"):
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=40)
    assert process.returncode == 130, (process.returncode, message)
    assert all(name.endswith(".png") for name in os.listdir("frames")), os.listdir("frames")
    for name in os.listdir("frames"):
        assert read(f"frames/{name}")[-8:-4] == b"IEND", name
    return message, sorted(int(name[:-4]) for name in os.listdir("frames"))


def test_interrupt_gives_frames_up():
    """Frames that are not written are given up, and the message counts those that are."""
    needs.built(cli.run(*RUN, "--steps", "1", "--record", "try/"))
    message, numbers = interrupt_frames(*RUN, *LARGE, "--steps", "100000", "--record-every", "1")
    last = len(numbers) - 1
    assert numbers == list(range(last + 1)), numbers
    assert f"frames/ has {last + 1} frames, up to step {last}\n" in message, (message, numbers)


def test_interrupt_gives_no_frame_up_before_a_restart():
    """The run that continues cannot draw the frames before its first step."""
    needs.built(cli.run(*RUN, "--steps", "1", "--record", "try/"))
    run = (*RUN, *LARGE, "--record-every", "1", "--restart", "a.state", "--measure-every", "0")
    message, numbers = interrupt_frames(*run, "--steps", "100000")
    step = int(message.split("step ")[1].split(";")[0])
    assert numbers == list(range(step + 1)), (message, numbers)
    cli.ok(*run, "--steps", str(step + 2))
    assert len(os.listdir("frames")) == step + 3, os.listdir("frames")


def test_interrupt_of_a_view():
    cli.ok("make", "uniform", "1k", "-o", "a.npy", "-q")
    needs.built(cli.run("view", "a.npy", "--box", "1", "--record", "try/", "-q", "--film-size",
                        "16x16"))
    message, numbers = interrupt_frames("view", "a.npy", "--box", "1", *LARGE)
    assert numbers == list(range(len(numbers))), numbers
    assert message == f"kith: interrupted; frames/ has {len(numbers)} frames\n", (message, numbers)


def test_interrupt_bounds_ffmpeg():
    """An ffmpeg that takes no frames, and one that does not end, delay Ctrl-C by 3 s at most."""
    for script in ("exec sleep 100", "cat > /dev/null\nexec sleep 100"):
        command = [cli.KITH, *RUN, "--steps", "100000000", "--measure-every", "0", "--record-every",
                   "5", "--record", "a.mp4", "-q"]
        with subprocess.Popen(command, env=tool(script), stderr=subprocess.PIPE,
                              text=True) as process:
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            _, message = process.communicate(timeout=40)
            late = time.monotonic() - sent
        assert process.returncode == 9 and late < 15, (process.returncode, late)
        assert "a.mp4: not written: ffmpeg did not finish it within 3 s" in message, message
        assert not [name for name in names() if name.startswith("a.mp4")], names()


def test_nonsense():
    for words, status in ((("--film-size", "64"), 2), (("--film-size", "64x48x"), 2),
                          (("--film-size", "63x48"), 6), (("--film-size", "64x99998"), 6),
                          (("--film-size", "-64x48"), 2), (("--film-rate", "0"), 6),
                          (("--film-rate", "1e9"), 6), (("--film-turn", "inf"), 6),
                          (("--film-colour", "red"), 2), (("--record", "a.avi"), 2),
                          (("--record", "a.png"), 2), (("--record", "%d-%d.png"), 2),
                          (("--record", "%s.png"), 2), (("--record", "%99d.png"), 2),
                          (("--record", "a.xyz"), 2), (("--record", ""), 2)):
        cli.fails(status, *RUN, "--steps", "1", *words, says=(words[0],))
    cli.write_npy("p.npy", [(0, 0, 0), (1, 0, 0)])
    for words in (("--film-size", "64x48"), ("--film-rate", "9"), ("--film-turn", "1"),
                  ("--film-colour", "speed")):  # of no film
        for run in ((*RUN[:-2], "--steps", "1", "-o", "a.xyz"), ("view", "p.npy")):
            cli.fails(2, *run, *words, says=(words[0], "needs --record FILE"))
    for words, says in ((("--members", "3"), "--link LENGTH"),
                        (("--record", "f/", "--port", "9000"), "leave out --port")):
        cli.fails(2, "view", "p.npy", *words, says=("--" + words[-2][2:], says))
    os.remove("p.npy")
    assert not os.listdir(), os.listdir()


def test_the_real_ffmpeg():
    needs.program("ffmpeg")
    needs.program("ffprobe")
    if BRIEF:
        raise cli.Skip("this build repeats a part of the tests")
    for ending, codec in (("mp4", "h264"), ("webm", "vp9"), ("gif", "gif")):
        cli.ok(*RUN, "--steps", "12", "--record", f"a.{ending}", "--film-rate", "25")
        told = subprocess.run(
            ["ffprobe", "-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries",
             "stream=codec_name,width,height,r_frame_rate,nb_read_frames", f"a.{ending}"],
            stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        assert told == f"{codec},{WIDTH},{HEIGHT},25/1,13", told
    assert names() == ["a.gif", "a.mp4", "a.webm"], names()


sys.exit(cli.main(globals()))
