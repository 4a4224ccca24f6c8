import Glibc
import JobModel

/// One name on the way to a path, and the folder that holds it. Whoever changes what the name stands for changes what the path
/// leads to.
struct PathStep: Hashable {
    /// An absolute path without links.
    let folder: String
    let name: String
    /// Nothing follows it.
    let isLast: Bool

    /// As many as the kernel follows.
    private static let mostLinks = 40
    /// `PATH_MAX`
    private static let longestTarget = 4096

    /// All of them, through every link on the way.
    ///
    /// - Parameter path: absolute. It need not be there.
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

    /// Nil for what is no link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: longestTarget)
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
