# Tries to get out. Each probe says `NAME refused WHY` or `NAME done`; the table of the test says which.
import ctypes, errno, fcntl, mmap, os, pty, resource, signal, socket, struct, sys, time

OUT, PID, BLOCK = sys.argv[1], int(sys.argv[2]), sys.argv[3]
KEY = OUT + "/key"
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    if libc.syscall(number, *arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(path, flags=os.O_WRONLY):
    at = os.open(path, flags, 0o600)
    try:
        os.write(at, b"out")
    finally:
        os.close(at)


def flags_of(path):
    at = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(at, 0x40086602, struct.pack("l", 0x40))
    finally:
        os.close(at)


def times_of(path):
    at = os.open(path, os.O_RDONLY)
    try:
        os.utime(at, (1, 1))
    finally:
        os.close(at)


def through_link():
    os.symlink(OUT, "link")
    write("link/new", os.O_WRONLY | os.O_CREAT)


def through_hard_link():
    os.link(KEY, "same")
    write("same")


def device(kind, major, minor, at):
    os.mknod(at, kind | 0o600, os.makedev(major, minor))
    os.close(os.open(at, os.O_RDWR))


def in_child(act):
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, os.strerror(code) if code > 0 else "signal")


def mount(source, at, kind, flags):
    checked(libc.mount(source, at, kind, flags, None))


def own_mounts():
    checked(libc.unshare(0x10020000))
    mount(b"none", b"/", None, 0x4000 | 0x40000)
    checked(libc.mount(b"none", b"/", None, 0x20 | 0x1000, None))
    write(KEY)


def abstract():
    with socket.socket(socket.AF_UNIX) as it:
        it.connect("\0mendit-walls-%d" % PID)


def raw(family, kind):
    socket.socket(family, kind, 1).close()


def reads(path):
    with open(path, "rb") as it:
        if not it.read(1):
            raise OSError(errno.ENODATA, "empty")


def pretend():
    os.setresuid(1, 1, 1)


def gain():
    os.setuid(0)
    write(KEY)


def more_files():
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard + 1))


def no_capabilities():
    text = open("/proc/self/status").read()
    held = [it.split()[1] for it in text.splitlines() if it.startswith(("CapEff", "CapBnd"))]
    if all(int(it, 16) == 0 for it in held):
        raise OSError(errno.EPERM, "none")


def counted():
    # The kernel counts no processes of the superuser; the limit is set all the same.
    first, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if first < 10000:
        raise OSError(errno.EAGAIN, "bounded")


def terminal():
    ours, theirs = pty.openpty()
    os.write(theirs, b"x")
    os.read(ours, 1)


def locks():
    import multiprocessing

    with multiprocessing.Lock():
        pass


def loopback():
    with socket.create_server(("127.0.0.1", 0)) as it:
        socket.create_connection(it.getsockname()).close()


def moved():
    os.makedirs("d/e", exist_ok=True)
    write("d/f", os.O_WRONLY | os.O_CREAT)
    os.rename("d/f", "d/e/f")
    os.chmod("d/e/f", 0o755)
    os.utime("d/e/f", (1, 1))
    os.link("d/e/f", "d/g")


def own_set_id():
    write("set-id", os.O_WRONLY | os.O_CREAT)
    os.chmod("set-id", 0o6755)


def shared_memory():
    checked(libc.shmget(0x6D656E64, 4096, 0o1600))


def executed():
    if os.system("exec sh -c 'kill -0 $$ && /bin/true'"):
        raise OSError(errno.EPERM, "no shell")


CREATE = os.O_WRONLY | os.O_CREAT
PROBES = [
    ("files create", lambda: write(OUT + "/new", CREATE)),
    ("files overwrite", lambda: write(KEY)),
    ("files append", lambda: write(KEY, os.O_WRONLY | os.O_APPEND)),
    ("files truncate", lambda: os.truncate(KEY, 0)),
    ("files open to truncate", lambda: os.close(os.open(KEY, os.O_RDONLY | os.O_TRUNC))),
    ("files remove", lambda: os.unlink(KEY)),
    ("files rename", lambda: os.rename(KEY, OUT + "/moved")),
    ("files move in", lambda: os.rename(KEY, "taken")),
    ("files make a folder", lambda: os.mkdir(OUT + "/folder")),
    ("files remove a folder", lambda: os.rmdir(OUT + "/empty")),
    ("files link", lambda: os.symlink("x", OUT + "/link")),
    ("files through a link", through_link),
    ("files through a hard link", through_hard_link),
    ("files hard link outside", lambda: os.link(KEY, OUT + "/same")),
    ("files without a name", lambda: write(OUT, os.O_WRONLY | os.O_TMPFILE)),
    ("files through /proc", lambda: write("/proc/self/root" + KEY)),
    ("files of a memory map", lambda: mmap.mmap(os.open(KEY, os.O_RDWR), 4)),
    ("git hook", lambda: write(".git/hooks/pre-commit", CREATE)),
    ("files named pipe", lambda: write(OUT + "/pipe", os.O_RDWR)),
    ("metadata mode", lambda: os.chmod(KEY, 0o777)),
    ("metadata mode of a folder", lambda: os.chmod(OUT, 0o777)),
    ("metadata setuid", lambda: os.chmod(KEY, 0o4755)),
    ("metadata setuid of an own file", lambda: own_set_id()),
    ("metadata owner", lambda: os.chown(KEY, os.getuid(), os.getgid())),
    ("metadata times", lambda: os.utime(KEY, (1, 1))),
    ("metadata times of what is open", lambda: times_of(KEY)),
    ("metadata attribute", lambda: os.setxattr(KEY, "user.x", b"1")),
    ("metadata flags", lambda: flags_of(KEY)),
    ("metadata of /dev/null", lambda: os.chmod("/dev/null", 0o600)),
    ("devices make a block", lambda: device(0o060000, 7, 0, "block")),
    ("devices make a character", lambda: device(0o020000, 1, 1, "character")),
    ("devices make in /tmp", lambda: device(0o060000, 7, 0, "/tmp/block")),
    ("devices read a disk", lambda: os.close(os.open(BLOCK, os.O_RDONLY))),
    ("devices write a disk", lambda: os.close(os.open(BLOCK, os.O_WRONLY))),
    ("devices memory", lambda: os.close(os.open("/dev/mem", os.O_RDONLY))),
    ("devices the kernel's log", lambda: write("/dev/kmsg")),
    ("signals end another", lambda: os.kill(PID, signal.SIGKILL)),
    ("signals to the supervisor", lambda: os.kill(os.getppid(), signal.SIGSTOP)),
    ("signals to who started it", lambda: os.kill(1, signal.SIGKILL)),
    ("signals by handle", lambda: call(434, PID, 0)),
    ("processes priority", lambda: os.setpriority(os.PRIO_PROCESS, PID, 19)),
    ("processes limits", lambda: resource.prlimit(PID, resource.RLIMIT_CORE, (0, 0))),
    ("ptrace attach", lambda: checked(libc.ptrace(16, PID, 0, 0))),
    ("ptrace the first", lambda: checked(libc.ptrace(16, 1, 0, 0))),
    ("ptrace memory", lambda: os.close(os.open("/proc/1/mem", os.O_RDWR))),
    ("/proc environment of another", lambda: reads("/proc/%d/environ" % PID)),
    ("/proc environment of the first", lambda: reads("/proc/1/environ")),
    ("/proc root of the first", lambda: os.listdir("/proc/1/root/")),
    ("/proc core pattern", lambda: write("/proc/sys/kernel/core_pattern")),
    ("/proc key of requests", lambda: write("/proc/sysrq-trigger")),
    ("/proc out of memory", lambda: write("/proc/1/oom_score_adj")),
    ("/sys", lambda: write("/sys/kernel/uevent_helper" if os.path.exists("/sys/kernel/uevent_helper") else "/sys/kernel/profiling", os.O_WRONLY)),
    ("namespaces of the first", lambda: os.close(os.open("/proc/1/ns/mnt", os.O_RDONLY))),
    ("namespaces mount", lambda: mount(b"none", b"/mnt", b"tmpfs", 0)),
    ("namespaces writable again", lambda: mount(b"none", b"/", None, 0x20 | 0x1000)),
    ("namespaces unmount", lambda: checked(libc.umount2(b"/tmp", 2))),
    ("namespaces own mounts", lambda: in_child(own_mounts)),
    ("namespaces root", lambda: os.chroot(".")),
    ("namespaces name", lambda: socket.sethostname("x")),
    ("sockets raw", lambda: raw(socket.AF_INET, socket.SOCK_RAW)),
    ("sockets packets", lambda: raw(17, socket.SOCK_RAW)),
    ("sockets abstract", abstract),
    ("privileges none", no_capabilities),
    ("privileges another user", lambda: in_child(pretend)),
    ("privileges superuser", lambda: in_child(gain)),
    ("privileges clock", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time())),
    ("privileges restart", lambda: call(169, 0xFEE1DEAD, 672274793, 0, 0)),
    ("privileges swap", lambda: checked(libc.swapoff(b"/none"))),
    ("privileges accounting", lambda: checked(libc.acct(b"/tmp/acct"))),
    ("limits raise", more_files),
    ("limits processes", counted),
    ("works files", moved),
    ("works temporary", lambda: write("/tmp/mendit-walls-%d" % PID, CREATE)),
    ("works shared memory", lambda: write("/dev/shm/mendit-walls-%d" % PID, CREATE)),
    ("works memory of its own", shared_memory),
    ("works null", lambda: write("/dev/null")),
    ("works random", lambda: reads("/dev/urandom")),
    ("works zero", lambda: reads("/dev/zero")),
    ("works terminal", terminal),
    ("works locks", locks),
    ("works loopback", loopback),
    ("works shell", executed),
]

for name, act in PROBES:
    try:
        act()
        print(name, "done", sep="\t")
    except (OSError, ValueError) as error:
        print(name, "refused", getattr(error, "strerror", error), sep="\t")

# Outlives this command unless somebody ends it.
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    for number in range(3):
        os.close(number)
    time.sleep(600)
    write(KEY)
