import CConfinement
import Glibc
import Testing

/// The programs that the kernel runs for each system call, line by line.
@Suite struct FilterProgramTests {
    private static let process: Int32 = 4321

    #if arch(x86_64)
        private static let machine: UInt32 = 0xC000_003E
    #elseif arch(arm64)
        private static let machine: UInt32 = 0xC000_00B7
    #endif

    private static func program(_ filter: calls_filter) -> [calls_line] {
        var lines = Array(repeating: calls_line(), count: 2000)
        let count = calls_program(filter, process, &lines, Int32(lines.count))
        return Array(lines.prefix(Int(count)))
    }

    private struct Call {
        var number: Int32
        var arguments: [UInt64] = []
        var machine = FilterProgramTests.machine

        /// The word at an offset of `struct seccomp_data`.
        func word(at offset: UInt32) -> UInt32? {
            switch offset {
            case 0: return UInt32(bitPattern: number)
            case 4: return machine
            case 16..<64 where offset.isMultiple(of: 4):
                let index = Int(offset - 16) / 8
                let value = index < arguments.count ? arguments[index] : 0
                return UInt32(truncatingIfNeeded: offset.isMultiple(of: 8) ? value : value >> 32)
            default: return nil
            }
        }
    }

    private enum Answer: Equatable {
        case allowed
        case error(Int32)
        case trap
        case killed
    }

    /// Runs a program as the kernel does. Nil if it leaves its lines, or has a line that is not known here.
    private static func answer(_ program: [calls_line], to call: Call) -> Answer? {
        var (position, accumulator): (Int, UInt32) = (0, 0)
        while program.indices.contains(position) {
            let line = program[position]
            position += 1
            let isTrue: Bool
            switch line.code {
            case 0x20:
                guard let word = call.word(at: line.value) else { return nil }
                accumulator = word
                continue
            case 0x05:
                position += Int(line.value)
                continue
            case 0x06: return answer(line.value)
            case 0x15: isTrue = accumulator == line.value
            case 0x25: isTrue = accumulator > line.value
            case 0x35: isTrue = accumulator >= line.value
            case 0x45: isTrue = accumulator & line.value != 0
            default: return nil
            }
            position += Int(isTrue ? line.jump_if_true : line.jump_if_false)
        }
        return nil
    }

    private static func answer(_ verdict: UInt32) -> Answer? {
        switch verdict & 0xFFFF_0000 {
        case 0x7FFF_0000: .allowed
        case 0x0005_0000: .error(Int32(verdict & 0xFFFF))
        case 0x0003_0000: .trap
        case 0x8000_0000: .killed
        default: nil
        }
    }

    @Test(arguments: [CALLS_FILTER, CALLS_FILTER_WRITING, CALLS_FILTER_CHANGES, CALLS_FILTER_PROGRAMS])
    func `each jump leads to a line of the program`(filter: calls_filter) {
        let program = Self.program(filter)
        #expect((10..<1000).contains(program.count))
        for (index, line) in program.enumerated() where line.code & 7 == 5 {
            let steps = line.code == 5 ? [Int(line.value)] : [Int(line.jump_if_true), Int(line.jump_if_false)]
            for step in steps { #expect(index + 1 + step < program.count, "line \(index)") }
        }
    }

    @Test func `the program gives each number the answer of the list`() {
        let program = Self.program(CALLS_FILTER)
        for number in Int32(0)...600 {
            let answer = Self.answer(program, to: Call(number: number))
            switch calls_verdict(number) {
            case CALLS_ALLOWED: #expect(answer == .allowed, "\(number)")
            case CALLS_FATAL: #expect(answer == .trap, "\(number)")
            case CALLS_REFUSED:
                guard case .error(let code) = answer else { Issue.record("\(number) is not refused"); continue }
                #expect(code > 0)
            default: #expect(answer != nil && answer != .trap && answer != .killed, "\(number)")
            }
        }
    }

    @Test func `the second program refuses each call that writes, and no other`() {
        let program = Self.program(CALLS_FILTER_WRITING)
        for number in Int32(0)...467 {
            let isRefused = Self.answer(program, to: Call(number: number)) != .allowed
            #expect(isRefused == (calls_is_writing(number) != 0), "\(number)")
        }
    }

    @Test(arguments: [CALLS_FILTER, CALLS_FILTER_WRITING, CALLS_FILTER_CHANGES, CALLS_FILTER_PROGRAMS])
    func `numbers that the list does not know do not exist`(filter: calls_filter) {
        let program = Self.program(filter)
        // The numbers of x32 have a bit of their own.
        for number in [468, 1000, 0x4000_0000, 0x4000_0001, .max, -1, .min] as [Int32] {
            #expect(Self.answer(program, to: Call(number: number)) == .error(ENOSYS), "\(number)")
        }
    }

    @Test(arguments: [CALLS_FILTER, CALLS_FILTER_WRITING, CALLS_FILTER_CHANGES, CALLS_FILTER_PROGRAMS])
    func `a call by the numbers of another machine ends the process`(filter: calls_filter) {
        let program = Self.program(filter)
        // i386, arm, and the big-endian brother of arm64.
        for machine in [0x4000_0003, 0x4000_0028, 0x8000_00B7, 0] as [UInt32] {
            #expect(Self.answer(program, to: Call(number: 0, machine: machine)) == .killed)
        }
    }

    private static func isAllowed(_ number: Int, _ arguments: UInt64...) -> Bool {
        answer(program(CALLS_FILTER), to: Call(number: Int32(number), arguments: arguments)) == .allowed
    }

    private static func mayProgram(_ number: Int, _ arguments: UInt64...) -> Bool {
        answer(program(CALLS_FILTER_PROGRAMS), to: Call(number: Int32(number), arguments: arguments)) == .allowed
    }

    #if arch(x86_64)
        /// The numbers of x86_64: the macros of the C library cannot be imported.
        private enum Number {
            static let (open, ioctl, clone, kill, fcntl, prctl, setrlimit) = (2, 16, 56, 62, 72, 157, 160)
            static let (affinity, tgkill, openat, prlimit) = (203, 234, 257, 302)
        }

        @Test func `threads may be made, and no processes or namespaces`() {
            // As glibc does: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID.
            let thread: UInt64 = 0x3D0F00
            #expect(Self.isAllowed(Number.clone, thread))
            #expect(!Self.isAllowed(Number.clone, UInt64(SIGCHLD)))
            #expect(!Self.isAllowed(Number.clone, 0))
            for namespace in [
                0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
            ] {
                #expect(!Self.isAllowed(Number.clone, thread | UInt64(namespace)), "\(namespace)")
            }
        }

        @Test func `a program may do what a worker may, and start programs and processes`() {
            let more = Set([56, 57, 58, 59, 62, 322])  // clone, fork, vfork, execve, kill, execveat
            let (worker, program) = (Self.program(CALLS_FILTER), Self.program(CALLS_FILTER_PROGRAMS))
            for number in 0...467 {
                let call = Call(number: Int32(number))
                if more.contains(number) {
                    #expect(Self.answer(program, to: call) == .allowed, "\(number)")
                } else {
                    #expect(Self.answer(program, to: call) == Self.answer(worker, to: call), "\(number)")
                }
            }
            #expect(Self.mayProgram(Number.clone, UInt64(SIGCHLD)))
            for namespace in [
                0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
            ] {
                #expect(!Self.mayProgram(Number.clone, UInt64(namespace) | UInt64(SIGCHLD)), "\(namespace)")
            }
        }

        @Test func `a program sends signals to itself and to its group, which it cannot leave`() {
            let own = UInt64(Self.process)
            for target in [0, own] { #expect(Self.mayProgram(Number.kill, target, 9)) }
            #expect(Self.mayProgram(Number.tgkill, own, own, 9))
            for other in [1, own + 1, UInt64(bitPattern: -1), UInt64(UInt32(bitPattern: -1))] {
                #expect(!Self.mayProgram(Number.kill, other, 9), "\(other)")
                #expect(!Self.mayProgram(Number.tgkill, other, other, 9), "\(other)")
            }
            let (setpgid, setsid) = (109, 112)
            #expect(!Self.mayProgram(setpgid, 0, 0) && !Self.mayProgram(setsid))
        }

        @Test func `signals reach the process itself and no other`() {
            let own = UInt64(Self.process)
            for number in [Number.kill, Number.tgkill] {
                #expect(Self.isAllowed(number, own, 9))
                for other in [0, 1, own + 1, UInt64(bitPattern: -1), UInt64(UInt32(bitPattern: -1))] {
                    #expect(!Self.isAllowed(number, other, 9), "\(other)")
                }
            }
        }

        @Test func `the limits of memory and of files stay, and can be read`() {
            let (data, files, stack): (UInt64, UInt64, UInt64) = (2, 1, 3)
            for limit in [data, files] {
                #expect(!Self.isAllowed(Number.setrlimit, limit, 0x7000))
                #expect(Self.isAllowed(Number.prlimit, 0, limit, 0))
                #expect(!Self.isAllowed(Number.prlimit, 0, limit, 0x7000))
                // The lower half of this address is 0.
                #expect(!Self.isAllowed(Number.prlimit, 0, limit, 0x7F00_0000_0000))
            }
            #expect(Self.isAllowed(Number.setrlimit, stack, 0x7000))
            #expect(Self.isAllowed(Number.prlimit, 0, stack, 0x7000))
            #expect(!Self.isAllowed(Number.prlimit, 1, stack, 0))
            #expect(!Self.isAllowed(Number.prlimit, UInt64(Self.process), stack, 0))
        }

        @Test func `files can be opened to read them alone`() {
            let program = Self.program(CALLS_FILTER_WRITING)
            let changes = Self.program(CALLS_FILTER_CHANGES)
            func answers(_ flags: Int32, _ program: [calls_line]) -> [Answer?] {
                [
                    Call(number: Int32(Number.open), arguments: [0, UInt64(flags)]),
                    Call(number: Int32(Number.openat), arguments: [0, 0, UInt64(flags)]),
                ].map { Self.answer(program, to: $0) }
            }
            let temporary: Int32 = 0x41_0000
            for flags in [O_RDONLY, O_RDONLY | O_CLOEXEC, O_RDONLY | O_DIRECTORY, O_RDONLY | O_NOFOLLOW | O_NONBLOCK] {
                #expect(answers(flags, program) == [.allowed, .allowed], "\(flags)")
                #expect(answers(flags, changes) == [.allowed, .allowed], "\(flags)")
            }
            for flags in [
                O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_RDWR | O_CLOEXEC, temporary | O_RDWR,
            ] {
                #expect(answers(flags, program) == [.error(EACCES), .error(EACCES)], "\(flags)")
            }
            // Rules of Landlock decide about the other ones.
            #expect(answers(O_RDONLY | O_TRUNC, changes) == [.error(EACCES), .error(EACCES)])
            for flags in [O_WRONLY | O_TRUNC, O_RDWR | O_CREAT | O_TRUNC, O_WRONLY] {
                #expect(answers(flags, changes) == [.allowed, .allowed], "\(flags)")
            }
        }

        @Test func `a file is opened to be read or written, and not only to be named`() {
            let (path, both): (Int32, Int32) = (0x20_0000, O_WRONLY | O_RDWR)
            for flags in [O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_DIRECTORY | O_CLOEXEC, O_RDWR | O_CREAT | O_TRUNC] {
                #expect(Self.isAllowed(Number.open, 0, UInt64(flags)), "\(flags)")
                #expect(Self.isAllowed(Number.openat, 0, 0, UInt64(flags)), "\(flags)")
            }
            for flags in [path, path | O_CLOEXEC, path | O_DIRECTORY, both, both | O_CLOEXEC, both | path] {
                #expect(!Self.isAllowed(Number.open, 0, UInt64(flags)), "\(flags)")
                #expect(!Self.isAllowed(Number.openat, 0, 0, UInt64(flags)), "\(flags)")
            }
        }

        @Test func `owners, locks and signals of descriptors stay`() {
            for command in [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK] {
                #expect(Self.isAllowed(Number.fcntl, 3, UInt64(command)), "\(command)")
            }
            // SETOWN, SETSIG, SETOWN_EX, SETLEASE, NOTIFY, SETLK, SETLKW, OFD_SETLK, OFD_SETLKW.
            for command in [8, 10, 15, 1024, 1026, 6, 7, 37, 38] as [UInt64] {
                #expect(!Self.isAllowed(Number.fcntl, 3, command), "\(command)")
            }
            let async: UInt64 = 0x2000
            #expect(!Self.isAllowed(Number.fcntl, 3, UInt64(F_SETFL), async))
            #expect(!Self.isAllowed(Number.fcntl, 3, UInt64(F_SETFL), async | UInt64(O_NONBLOCK)))
            #expect(Self.isAllowed(Number.fcntl, 3, UInt64(F_SETFL), UInt64(O_NONBLOCK)))
            // The flag is an argument of this command alone.
            #expect(Self.isAllowed(Number.fcntl, 3, UInt64(F_DUPFD), async))
        }

        @Test func `terminals are asked, and not written to`() {
            #expect(Self.isAllowed(Number.ioctl, 0, 0x5401))
            #expect(Self.isAllowed(Number.ioctl, 0, 0x5413))
            // TIOCSTI types into a terminal. TIOCLINUX pastes into a console.
            for request in [0x5412, 0x541C, 0] as [UInt64] { #expect(!Self.isAllowed(Number.ioctl, 0, request)) }
            // The kernel reads only the lower half.
            #expect(!Self.isAllowed(Number.ioctl, 0, 0x1_0000_5412))
        }

        @Test func `other processes keep their cores, and this one its rights`() {
            #expect(Self.isAllowed(Number.affinity, 0))
            #expect(!Self.isAllowed(Number.affinity, 1))
            // SET_NAME, SET_NO_NEW_PRIVS.
            for option in [15, 38] as [UInt64] { #expect(Self.isAllowed(Number.prctl, option), "\(option)") }
            // SET_PDEATHSIG, SET_DUMPABLE, CAPBSET_DROP, SET_PTRACER.
            for option in [1, 4, 24, 0x5961_6D61] as [UInt64] {
                #expect(!Self.isAllowed(Number.prctl, option), "\(option)")
            }
        }
    #endif
}
