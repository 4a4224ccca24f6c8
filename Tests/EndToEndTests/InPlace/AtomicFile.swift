import Foundation
import Glibc

/// A file as a person has it: its bytes, and what there is beside them.
struct AtomicFile: Hashable {
    let bytes: Data
    let mode: UInt32
    let user: UInt32
    let group: UInt32
    let modified: Int64
    /// The value of `user.penumbra-test`.
    let attribute: String?

    init(_ path: String) throws {
        bytes = try Data(contentsOf: URL(filePath: path))
        var found = stat()
        guard stat(path, &found) == 0 else { throw CocoaError(.fileNoSuchFile) }
        (mode, user, group) = (found.st_mode, found.st_uid, found.st_gid)
        modified = Int64(found.st_mtim.tv_sec) * 1_000_000_000 + Int64(found.st_mtim.tv_nsec)
        attribute = Attribute.read(path)
    }
}

/// One extended attribute, through calls that Swift's Glibc does not show.
enum Attribute {
    private typealias Set =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32
    private typealias Get =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int)
        -> Int
    private static let name = "user.penumbra-test"

    /// - Returns: false where the file system has none.
    static func write(_ text: String, to path: String) -> Bool {
        guard let symbol = dlsym(nil, "setxattr") else { return false }
        let bytes = Array(text.utf8)
        return unsafeBitCast(symbol, to: Set.self)(path, name, bytes, bytes.count, 0) == 0
    }

    static func read(_ path: String) -> String? {
        guard let symbol = dlsym(nil, "getxattr") else { return nil }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafeBitCast(symbol, to: Get.self)(path, name, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

extension Workspace {
    func whole(_ name: String) throws -> AtomicFile { try AtomicFile("\(path)/\(name)") }

    /// Gives a picture rights, a time, an owner (where this user may) and an attribute that no new file has.
    func adorn(_ name: String) throws {
        let path = "\(path)/\(name)"
        chmod(path, 0o640)
        if getuid() == 0 { chown(path, 1234, 4321) }
        _ = Attribute.write("kept", to: path)
        let time = timespec(tv_sec: 1_577_934_245, tv_nsec: 123_456_789)
        guard utimensat(AT_FDCWD, path, [time, time], 0) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Appends to a picture, as an editor might.
    func edit(_ name: String) throws { try write(try read(name) + Data("edited".utf8), to: name) }

    /// The originals that are kept in the state folder.
    var originals: [String] { files(below: "state/penumbra/originals/objects") }
}
