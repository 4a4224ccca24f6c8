import Glibc

/// The path with every symbolic link resolved, as far as it exists.
package func realPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else {
        let parent = PathText.folder(of: path)
        return parent == path
            ? path : PathText.joined(PathText.components(realPath(parent)) + [PathText.name(of: path)])
    }
    defer { free(resolved) }
    return String(cString: resolved)
}
