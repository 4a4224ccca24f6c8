import JobModel

/// Makes the paths of settings absolute.
struct PathBase {
    /// The absolute folder that a relative path starts from.
    let folder: String
    /// The home folder of the user who runs the command. In the file of the machine it differs from user to user.
    let home: String

    /// A path that begins with `~/` starts from the home folder. No shell has expanded it in a config file.
    func absolute(_ path: String) -> String {
        if path == "~" { return home }
        if path.hasPrefix("~/") { return home + path.dropFirst() }
        return PathNames.isAbsolute(path) ? path : "\(folder)/\(path)"
    }
}
