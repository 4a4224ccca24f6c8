import Foundation
import Glibc

/// What lies tempt Penumbra to move, change or remove: things of the user that no run has to do with.
struct Decoys {
    let home: String

    private static let key = "secret\n"

    init(home: String) { self.home = home }

    init(_ workspace: Workspace) throws {
        home = "\(workspace.path)/home"
        try Folder.create("\(home)/folder/below")
        for name in Self.files { try Data((Self.key + name).utf8).write(to: URL(filePath: "\(home)/\(name)")) }
    }

    private static let files = ["key", "folder/letter.txt", "folder/below/a.png"]

    var paths: [String] { ["\(home)/key", "\(home)/folder", "\(home)/folder/letter.txt", home] }

    /// What is not as it was.
    var changes: [String] {
        let found = Folder.files(home)
        let wrong = Self.files.filter { name in
            FileManager.default.contents(atPath: "\(home)/\(name)") != Data((Self.key + name).utf8)
        }
        return wrong.map { "home/\($0) was changed, moved or removed" }
            + Set(found).subtracting(Self.files).sorted().map { "home/\($0) is new" }
    }
}
