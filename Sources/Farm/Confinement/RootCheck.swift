import Glibc
import JobModel
import Planning

/// Says which paths of a job lie outside of some folders, in words.
///
/// The kernel enforces the folders, see ``Confinement``. This check comes first, so that a job is refused when it is
/// handed in, with a reason. Somebody may exchange a folder or a link afterwards.
package struct RootCheck: Hashable, Sendable {
    /// The folders' real paths, sorted. None of them lies below another.
    package let roots: [String]

    /// - Parameters:
    ///   - roots: Absolute paths of folders that exist.
    ///   - kept: Folders that no root may hold or lie in, such as the service's own.
    package init(_ roots: [String], apartFrom kept: [String] = []) throws(RootError) {
        let kept = kept.map { RealPath.resolve($0) }
        var found: [PathKey] = []
        for root in roots {
            let real = try Self.folder(root)
            guard real != "/" else { throw RootError(.everything(root)) }
            for kept in kept where Self.holds(real, kept) || Self.holds(kept, real) {
                throw RootError(.overlap(root, with: kept))
            }
            found.append(PathKey(real))
        }
        let all = Set(found).sorted().map(\.path)
        self.roots = all.filter { root in !all.contains { PathNames.isBelow(root, $0) } }
    }

    private static func folder(_ root: String) throws(RootError) -> String {
        guard PathNames.isAbsolute(root) else { throw RootError(.relative(root)) }
        let real = RealPath.resolve(root)
        var status = stat()
        guard stat(real, &status) == 0 else { throw RootError(.unusable(root, code: errno)) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw RootError(.unusable(root, code: ENOTDIR)) }
        return real
    }

    /// The paths that lie outside, each once, in the job's order.
    package func outside(_ paths: [JobPath]) -> [OutsidePath] {
        var seen: Set<JobPath> = []
        return paths.compactMap { path in
            let real = RealPath.resolve(path.path)
            guard !roots.contains(where: { Self.holds($0, real) }), seen.insert(path).inserted else { return nil }
            return OutsidePath(path: path, realPath: real, folder: Self.folder(around: real), roots: roots)
        }
    }

    /// The folder of a file, because tokens have folders. If the path is no file, it is returned unchanged.
    private static func folder(around path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return path }
        let folder = PathText.folder(of: path)
        return folder == "/" ? path : folder
    }

    /// Whether a path is a folder, or below it. `/srv/ab` is not below `/srv/a`.
    private static func holds(_ folder: String, _ path: String) -> Bool {
        PathKey(folder) == PathKey(path) || PathNames.isBelow(path, folder)
    }
}

/// A path of a job outside of all roots.
package struct OutsidePath: Hashable, Sendable {
    package let path: JobPath
    /// Where links in the path lead to.
    package let realPath: String
    /// The folder of a file, which is what a token takes. Otherwise the same path.
    package let folder: String
    package let roots: [String]

    package var message: String {
        let shown = VisibleText.line(path.path)
        let link = PathKey(path.path) == PathKey(realPath) ? "" : " leads to '\(VisibleText.line(realPath))', which"
        let folders = roots.map { VisibleText.line($0) }.joined(separator: ", ")
        let action = path.access == .read ? "read from" : "write to"
        return """
            \(path.origin): '\(shown)'\(link) is outside of the token's folders\(roots.isEmpty ? ", of which it has none" : ": \(folders)")
               = \(action) one of these folders, or ask an administrator for a token with '--root \(VisibleText.line(folder))'
            """
    }
}

/// Why folders cannot be the roots of a token.
package struct RootError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case relative(String)
        /// The folder is `/`.
        case everything(String)
        case unusable(String, code: Int32)
        case overlap(String, with: String)
    }

    package let problem: Problem

    package init(_ problem: Problem) { self.problem = problem }

    package var message: String {
        switch problem {
        case .relative(let root):
            "the folder \(VisibleText.line(root)): the path is relative\n   = give an absolute path, because the service has another folder"
        case .everything(let root):
            "the folder \(VisibleText.line(root)): this is the whole file system\n   = name a folder in it, or none for a token without limits"
        case .unusable(let root, let code):
            "the folder \(VisibleText.line(root)) cannot be used: \(String(cString: strerror(code)))\n   = name a folder that exists"
        case .overlap(let root, let kept):
            "the folder \(VisibleText.line(root)): jobs of the token could change '\(VisibleText.line(kept))', which belongs to the service\n   = name a folder that neither holds it nor lies in it"
        }
    }
}

/// Paths as the kernel will follow them.
package enum RealPath {
    /// The kernel's own limit of links in one path.
    private static let mostLinks = 40

    /// The path with every link resolved, also of links whose target does not exist yet: whoever writes there creates the
    /// target. Names that do not exist are kept. The path is absolute.
    package static func resolve(_ path: String) -> String {
        var path = PathText.normalized(path, in: "/")
        for _ in 0..<mostLinks {
            let real = realPath(path)
            guard let next = followingDeadLink(in: real) else { return real }
            path = next
        }
        return path
    }

    private static func followingDeadLink(in path: String) -> String? {
        let names = PathText.components(path)
        for count in names.indices.map({ $0 + 1 }) {
            let link = PathText.joined(names.prefix(count))
            guard let target = target(ofLink: link) else { continue }
            let rest = names.dropFirst(count)
            return PathText.normalized(([target] + rest).joined(separator: "/"), in: PathText.folder(of: link))
        }
        return nil
    }

    private static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
