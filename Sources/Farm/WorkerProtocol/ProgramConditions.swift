package import Catalogs

/// The programs that a worker may run, by the settings of its machine. The coordinator passes them to its workers as JSON in their
/// environment, as ``PluginConditions``.
package struct ProgramConditions: Hashable, Sendable, Codable {
    package var programs: [NamedProgram]
    /// Files and folders that the programs may read and execute, in addition to those of the system.
    package var readable: [String]

    /// The environment variable. A worker that is started without it runs no program.
    package static let variable = "PENUMBRA_WORKER_PROGRAMS"

    package init(programs: [NamedProgram] = [], readable: [String] = []) {
        self.programs = programs
        self.readable = readable
    }

    /// The conditions from the variable's value. Nil if it is from another version of Penumbra.
    package init?(text: String) {
        do {
            self = try FrameCodec.decode(ProgramConditions.self, from: Array(text.utf8))
        } catch {
            return nil
        }
    }

    package func text() throws -> String { String(decoding: try FrameCodec.json(self), as: UTF8.self) }
}
