import FoundationEssentials
import Glibc
import SystemPackage

/// A file that no folder names: what a command prints goes there. It is gone with its last descriptor.
final class UnlinkedTempFile: Sendable {
    let descriptor: FileDescriptor

    init() throws(Errno) {
        let folder = FilePath(FileManager.default.temporaryDirectory.path)
        let path = folder.appending(".penumbra-\(UInt64.random(in: .min ... .max))")
        do {
            descriptor = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch {
            throw error as? Errno ?? .ioError
        }
        unlink(path.string)
    }

    deinit { close(descriptor.rawValue) }

    /// All that was written, whoever wrote it.
    func text() throws -> String {
        var bytes = [UInt8](repeating: 0, count: Int(try descriptor.seek(offset: 0, from: .end)))
        var count = 0
        while count < bytes.count {
            let read = try bytes.withUnsafeMutableBytes { buffer in
                try descriptor.read(
                    fromAbsoluteOffset: Int64(count), into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            }
            if read == 0 { break }
            count += read
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
