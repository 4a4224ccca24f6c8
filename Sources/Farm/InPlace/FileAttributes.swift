import FoundationEssentials
import Glibc
import Planning
package import SafeFiles

/// The attributes of a file that can be copied to another file. The calls of C stay in this file.
package struct FileAttributes: Hashable, Sendable, Codable {
    /// The rights, with the set-user, set-group and sticky bits.
    package let mode: UInt32
    package let user: UInt32
    package let group: UInt32
    /// In nanoseconds since 1970.
    package let modified: Int64
    let accessed: Int64
    /// Includes access control lists, which are extended attributes.
    let extended: [ExtendedAttribute]
}

extension FileAttributes {
    /// Reads the attributes of an open file.
    package init(of file: Int32, path: String) throws(FileError) {
        var found = stat()
        guard fstat(file, &found) == 0 else { throw FileError(path: path, code: errno, action: "examine") }
        (mode, user, group) = (found.st_mode & 0o7777, found.st_uid, found.st_gid)
        (modified, accessed) = (found.st_mtim.nanoseconds, found.st_atim.nanoseconds)
        // A later time could not be restored.
        guard (Int64.min + 1..<Int64.max).contains(modified) else {
            throw FileError(
                path: path, code: EOVERFLOW, action: "keep its time",
                remedy: "give it a time before 2262: touch '\(path)'")
        }
        extended = try ExtendedAttribute.all(of: file, path: path)
    }

    /// The attributes that may be applied if another user wrote the record: none that grants rights. Otherwise
    /// root could be made to create a program that runs as root.
    func restricted(to user: UInt32, _ group: UInt32) -> FileAttributes {
        FileAttributes(
            mode: mode & 0o777, user: user, group: group, modified: modified, accessed: accessed,
            extended: extended.filter { $0.name.hasPrefix("user.") })
    }

    private static func time(_ nanoseconds: Int64) -> timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0
            ? timespec(tv_sec: Int(seconds) - 1, tv_nsec: Int(rest + 1_000_000_000))
            : timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    }

    /// Applies the attributes to an open file.
    ///
    /// - Returns: the attributes that could not be applied, in words: `its owner`.
    func give(to file: Int32, path: String, withTimes: Bool) throws(FileError) -> [String] {
        var missing: [String] = []
        var found = stat()
        guard fstat(file, &found) == 0 else { throw FileError(path: path, code: errno, action: "examine") }
        if found.st_uid != user, fchown(file, user, gid_t.max) != 0 { missing.append("its owner") }
        if found.st_gid != group, fchown(file, uid_t.max, group) != 0 { missing.append("its group") }
        missing += try ExtendedAttribute.replaceAll(of: file, path: path, by: extended).map { "its attribute \($0)" }
        // The rights are set after the owner, whose change clears bits, and after access control lists, which
        // contain the same bits.
        guard fchmod(file, mode) == 0 else { throw FileError(path: path, code: errno, action: "set the rights") }
        if withTimes {
            let times = [Self.time(accessed), Self.time(modified)]
            guard futimens(file, times) == 0 else {
                throw FileError(path: path, code: errno, action: "set the time")
            }
        }
        return missing
    }
}

/// An extended attribute of a file.
struct ExtendedAttribute: Hashable, Sendable, Codable {
    let name: String
    let value: Data

    // C's headers of these are not part of Swift's Glibc. <https://man7.org/linux/man-pages/man7/xattr.7.html>
    private typealias List = @convention(c) (Int32, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias Get = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    private typealias Set = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
    private typealias Remove = @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

    private static func call<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }

    /// Empty if the file system has none.
    static func all(of file: Int32, path: String) throws(FileError) -> [ExtendedAttribute] {
        guard let get = call("fgetxattr", as: Get.self) else { return [] }
        var attributes: [ExtendedAttribute] = []
        for name in try names(of: file, path: path) {
            let size = get(file, name, nil, 0)
            var value = [UInt8](repeating: 0, count: max(0, size))
            let read = size > 0 ? get(file, name, &value, size) : size
            // An attribute that this user may not read cannot be copied.
            guard read == value.count else {
                throw FileError(path: path, code: read < 0 ? errno : ERANGE, action: "read the attribute \(name)")
            }
            attributes.append(ExtendedAttribute(name: name, value: Data(value)))
        }
        return attributes
    }

    private static func names(of file: Int32, path: String) throws(FileError) -> [String] {
        guard let list = call("flistxattr", as: List.self) else { return [] }
        let size = list(file, nil, 0)
        guard size != 0, size > 0 || errno != EOPNOTSUPP else { return [] }
        var bytes = [CChar](repeating: 0, count: max(1, size))
        let read = size < 0 ? size : list(file, &bytes, size)
        guard read >= 0 else { throw FileError(path: path, code: errno, action: "list the attributes") }
        return try bytes.prefix(read).split(separator: 0).map { (name) throws(FileError) in
            guard let text = String(validating: name.map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
                throw FileError(path: path, code: EILSEQ, action: "read an attribute's name")
            }
            return text
        }.sorted()
    }

    /// Sets these attributes and removes all others.
    ///
    /// - Returns: the names of the attributes that this user or the file system refuses.
    static func replaceAll(
        of file: Int32, path: String, by wanted: [ExtendedAttribute]
    ) throws(FileError) -> [String] {
        let there = try all(of: file, path: path)
        if there == wanted { return [] }
        guard let set = call("fsetxattr", as: Set.self), let remove = call("fremovexattr", as: Remove.self) else {
            return wanted.map(\.name)
        }
        // New files inherit the default access control list of their folder. Labels of the system stay.
        for extra in there where !wanted.contains(where: { $0.name == extra.name }) { _ = remove(file, extra.name) }
        return wanted.filter { attribute in
            guard !there.contains(attribute) else { return false }
            return attribute.value.withUnsafeBytes { set(file, attribute.name, $0.baseAddress, $0.count, 0) } != 0
        }.map(\.name)
    }
}
