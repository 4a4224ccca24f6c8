import FoundationEssentials
import Glibc
import JobModel
import Planning

/// The path by which a program was called, such as `/usr/bin/penumbra`, where that is a link to the program's file.
///
/// Users write this path into their crontabs. A package may move the file, and keeps the link.
package struct CalledProgram: Sendable {
    /// The program's file, without links in its path.
    package var file: String
    /// The program's name in the call.
    package var name: String
    package var currentFolder: String
    /// The value of `PATH`.
    package var searchPath: String

    package init(file: String, name: String, currentFolder: String, searchPath: String) {
        (self.file, self.name) = (file, name)
        (self.currentFolder, self.searchPath) = (currentFolder, searchPath)
    }

    /// This process.
    package static func current(in folder: String) -> CalledProgram {
        CalledProgram(
            file: programPath(), name: CommandLine.arguments.first ?? "", currentFolder: folder,
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
    }

    /// An absolute path that leads to the program's file. It is the file itself unless the call leads to it.
    ///
    /// - Parameter resolve: The path without links. Two paths lead to the same file if they resolve to the same path.
    package func path(_ resolve: (String) -> String = realPath) -> String {
        candidates.first { resolve($0) == file } ?? file
    }

    /// A name without a slash is searched for in the folders of `PATH`, as the shell did.
    private var candidates: [String] {
        guard !name.isEmpty else { return [] }
        guard !name.contains("/") else { return [PathText.normalized(name, in: currentFolder)] }
        return searchPath.split(separator: ":").map(String.init).filter { PathNames.isAbsolute($0) }.map {
            PathNames.joined($0, name)
        }
    }
}
