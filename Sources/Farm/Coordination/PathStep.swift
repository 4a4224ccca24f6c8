import Glibc
import JobModel

/// One name in a path, and the folder that holds it. If the name is moved or replaced, the path leads to
/// another file.
struct PathStep: Hashable {
    /// An absolute path without links.
    let folder: String
    let name: String
    /// Whether it is the last name of the path.
    let isLast: Bool

    /// The kernel follows as many links.
    private static let mostLinks = 40
    /// `PATH_MAX`
    private static let longestTarget = 4096

    /// All steps to a path, including the steps through links.
    ///
    /// - Parameter path: an absolute path. The file may be missing.
    static func all(to path: String) -> [PathStep] {
        var (steps, folder, links) = ([PathStep](), "/", 0)
        var rest = Array(PathNames.all(in: path).map(String.init).reversed())
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..": folder = PathNames.folder(of: folder) ?? "/"
            default:
                let path = PathNames.joined(folder, name)
                guard links < mostLinks, let target = target(ofLink: path) else {
                    steps.append(PathStep(folder: folder, name: name, isLast: rest.isEmpty))
                    folder = path
                    continue
                }
                links += 1
                steps.append(PathStep(folder: folder, name: name, isLast: false))
                if PathNames.isAbsolute(target) { folder = "/" }
                rest += PathNames.all(in: target).map(String.init).reversed()
            }
        }
        return steps
    }

    /// The target of a link; nil if the path is not a link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: longestTarget)
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
