import CConfinement
package import Catalogs
import Glibc
import JobModel
import Planning

/// Keeps a program that a worker has started from the rest of the machine. It decodes pictures of strangers, too.
///
/// As a worker, it sees no other file than those of the system and of `sandbox_read`, and reaches no network, no other process and no
/// place to write to. Unlike a worker, it may execute what it may read, start processes, and write in a folder of its own.
package struct ProgramSandbox: Hashable, Sendable {
    private let mode: SandboxMode
    /// What the settings let workers read.
    private let readable: [String]

    package init(mode: SandboxMode, readable: [String]) {
        self.mode = mode
        var places = WorkerPlaces(named: readable.filter(PathNames.isAbsolute))
        // The worker has reported those that are refused.
        _ = places.removeUnfit()
        self.readable = places.named
    }

    /// Confines this process for ever, before it executes the program.
    ///
    /// Without Landlock, the process may write nowhere, because a filter of system calls cannot see paths.
    ///
    /// - Parameters:
    ///   - program: the program's path.
    ///   - folder: the only folder that it may write in.
    /// - Throws: if a part is missing that the settings require.
    package func enter(program: String, folder: String) throws(ConfinementError) {
        guard mode != .off else { return }
        var writesInFolder = true
        do {
            try confinement(program, folder).restrictThread()
        } catch {
            // Where there is Landlock, no program runs without it.
            if case .version = Landlock.support { throw error }
            guard mode != .require else { throw error }
            writesInFolder = false
        }
        let codes = [calls_refuse_to_programs(), writesInFolder ? calls_refuse_changes() : calls_refuse_writing()]
        if mode == .require, let code = codes.first(where: { $0 < 0 }) {
            throw ConfinementError(.refused(action: "filter the system calls of a program", code: -code))
        }
    }

    private func confinement(_ program: String, _ folder: String) -> Confinement {
        // A link leads to the program, and the kernel opens both names.
        let files = Set([program, realPath(program)]).sorted()
        return Confinement(
            readable: (Self.system + Self.settings + WorkerPlaces.ofThisProcess + files + readable).map {
                Confinement.Place($0, .system)
            }, writable: ["/dev/null", folder].map { Confinement.Place($0, .system) })
    }

    /// Programs, libraries, and the files of the system that they read. Those of a worker, with programs.
    private static let system =
        ["/usr", "/bin", "/sbin"]
        + WorkerPlaces.system.filter { !$0.hasPrefix("/usr/") && $0 != "/dev/null" }

    /// Settings of languages and of programs for pictures, which no user may write to. Their names have versions.
    private static var settings: [String] {
        guard let folder = opendir("/etc") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { name in ["python3", "perl", "ImageMagick-"].contains { name.hasPrefix($0) } }.sorted()
            .map { "/etc/\($0)" }
    }
}
