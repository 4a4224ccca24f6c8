import CConfinement
import Glibc
import JobModel

/// The folders and files that a process may open, and its refusal to open sockets. The kernel keeps it within them,
/// whatever paths, links or races it meets, and whatever code runs in it.
///
/// The service runs the jobs of a token with folders like this. It does not hide names, sizes and times of other files.
/// Whatever the process starts is confined, too.
package struct Confinement: Hashable, Sendable {
    package struct Place: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// Must exist. None of its parts may be a symbolic link, because whoever can write to a folder above could
            /// exchange the link.
            case exact
            /// Like ``exact``, but may be missing.
            case exactIfPresent
            /// A place of the system. Links in its path are root's own, and it may be missing.
            case system
        }

        /// Absolute.
        package let path: String
        package let kind: Kind

        package init(_ path: String, _ kind: Kind = .exact) {
            self.path = path
            self.kind = kind
        }
    }

    /// To read, and to execute programs. A folder stands for everything below it.
    package private(set) var readable: [Place]
    /// To read, write, create, move and remove. Programs in these cannot be executed.
    package private(set) var writable: [Place]

    package init(readable: [Place] = [], writable: [Place] = []) {
        self.readable = readable
        self.writable = writable
    }

    package mutating func add(_ other: Confinement) {
        readable += other.readable
        writable += other.writable
    }

    // MARK: Rights

    private static let reading = CONFINEMENT_READ_FILE | CONFINEMENT_READ_FOLDER | CONFINEMENT_EXECUTE

    /// Sockets, pipes, links and devices are not created by any run.
    static let writing =
        CONFINEMENT_READ_FILE | CONFINEMENT_READ_FOLDER | CONFINEMENT_WRITE_FILE | CONFINEMENT_TRUNCATE
        | CONFINEMENT_MAKE_FILE | CONFINEMENT_MAKE_FOLDER | CONFINEMENT_REMOVE_FILE | CONFINEMENT_REMOVE_FOLDER
        | CONFINEMENT_MOVE

    /// The rights that a rule for a file can have. The kernel refuses others.
    private static let rightsOfFiles =
        CONFINEMENT_READ_FILE | CONFINEMENT_WRITE_FILE | CONFINEMENT_TRUNCATE | CONFINEMENT_EXECUTE

    static func handled(_ version: Int) -> UInt64 {
        CONFINEMENT_ALL_OF_VERSION_2 | (version >= 3 ? CONFINEMENT_TRUNCATE : 0)
    }

    // MARK: Applying

    /// Executes a program in place of this one, confined. The process, its descriptors and its environment stay.
    ///
    /// - Parameter command: The program, found in `PATH` if its name has no slash, and its arguments, as bytes without
    ///   zeros.
    package func execute(_ command: [[UInt8]]) throws(ConfinementError) -> Never {
        let program = String(decoding: command.first ?? [], as: UTF8.self)
        // They are not freed, because the process is replaced or ends.
        let words = command.compactMap { word in (word + [0]).withUnsafeBytes { copy(of: $0) } }
        // A missing word would end the list of arguments.
        guard let file = words.first, words.count == command.count else {
            throw ConfinementError(.notStarted(program: program, code: command.isEmpty ? ENOENT : ENOMEM))
        }
        try restrictThread()
        var arguments: [UnsafeMutablePointer<CChar>?] = words + [nil]
        execvp(file, &arguments)
        throw ConfinementError(.notStarted(program: program, code: errno))
    }

    /// - Parameter word: ends with a zero.
    private func copy(of word: UnsafeRawBufferPointer) -> UnsafeMutablePointer<CChar>? {
        word.baseAddress.flatMap { strdup($0.assumingMemoryBound(to: CChar.self)) }
    }

    /// Confines the calling thread for ever, with everything that it starts or executes. Other threads of the process
    /// keep their rights. So this is only of use before a program is executed, or in a process with one thread.
    package func restrictThread() throws(ConfinementError) {
        let handled: UInt64
        switch Landlock.support {
        case .version(let version): handled = Self.handled(version)
        case .missing(let reason): throw ConfinementError(.noLandlock(reason))
        }
        let rules = confinement_make_rules(handled)
        guard rules >= 0 else { throw ConfinementError(.refused(action: "make rules of Landlock", code: -rules)) }
        defer { close(rules) }
        for place in readable { try Self.allow(place, Self.reading & handled, in: rules) }
        for place in writable { try Self.allow(place, Self.writing & handled, in: rules) }
        var code = confinement_enter(rules)
        guard code == 0 else { throw ConfinementError(.refused(action: "restrict this process", code: -code)) }
        code = confinement_drop_capabilities()
        guard code == 0 else { throw ConfinementError(.refused(action: "give up root's capabilities", code: -code)) }
        code = confinement_refuse_sockets()
        guard code == 0 else { throw ConfinementError(.refused(action: "give up sockets", code: -code)) }
    }

    private static func allow(_ place: Place, _ rights: UInt64, in rules: Int32) throws(ConfinementError) {
        guard PathNames.isAbsolute(place.path) else { throw ConfinementError(.notAbsolute(place.path)) }
        let opened = confinement_open(place.path, place.kind == .system ? 1 : 0)
        guard opened >= 0 else {
            switch (-opened, place.kind) {
            case (ENOENT, .exact), (ENOTDIR, .exact): throw ConfinementError(.missing(place.path))
            // What cannot be opened needs no rule.
            case (ENOENT, _), (ENOTDIR, _), (_, .system): return
            case (ELOOP, _): throw ConfinementError(.link(place.path))
            case (let code, _): throw ConfinementError(.unusable(place.path, code: code))
            }
        }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw ConfinementError(.unusable(place.path, code: errno)) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let code = confinement_allow(rules, opened, isFolder ? rights : rights & rightsOfFiles)
        // Some files of the system have no place in a hierarchy of folders, so no rule can name them.
        if code == -EBADFD, place.kind == .system { return }
        guard code == 0 else { throw ConfinementError(.unusable(place.path, code: -code)) }
    }
}
