import Foundation

/// Small libraries in C that are built when they are needed.
enum Shims {
    /// The project's folder, four levels above this file.
    private static var project: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    private static var compiler: String? {
        ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang", "/opt/swift/usr/bin/clang"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// - Returns: the path of `lib<name>.so` in the workspace's folder `shims`.
    static func build(_ name: String, _ source: [UInt8], in workspace: Workspace, folder: String = "shims") throws
        -> String
    {
        guard let compiler else { throw Skip(reason: "needs a C compiler") }
        let place = "\(workspace.path)/\(folder)"
        try Folder.create(place)
        try Data(source).write(to: URL(filePath: "\(place)/\(name).c"))
        let library = "\(place)/lib\(name).so"
        let headers = project.appending(path: "Sources/Pixels/CPenumbraPlugin/include").path
        let child = try ChildProcess(
            compiler,
            ["-O1", "-shared", "-fPIC", "-I", headers, "\(place)/\(name).c", "-o", library, "-ldl", "-pthread"],
            environment: ["PATH": "/usr/bin:/bin"], output: .file("/dev/null"), errors: .file("\(place)/\(name).log"))
        guard child.wait(seconds: 60)?.code == 0 else {
            let words = (try? String(contentsOfFile: "\(place)/\(name).log", encoding: .utf8)) ?? ""
            throw StageProblem(description: "\(name).c cannot be built: \(words)")
        }
        return library
    }
}
