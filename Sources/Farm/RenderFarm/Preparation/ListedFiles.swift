package import Coordination
import Glibc
package import JobModel
package import Planning

/// Reads what `--files-from` names.
package enum ListedFiles {
    /// More than any list has, in bytes.
    private static let most = 1 << 32

    /// - Parameters:
    ///   - name: `-` for the standard input; nil for no list.
    ///   - folder: where relative paths start.
    /// - Throws: with all problems of the list.
    package static func list(
        _ name: String?, in folder: String, control: RunControl?
    ) throws(FarmError) -> FileList? {
        guard let name else { return nil }
        let bytes = try read(name, in: folder, control: control)
        do {
            return try FileList(bytes, name: name, folder: folder)
        } catch {
            throw FarmError(.badManifest, error.message)
        }
    }

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - folder: where a relative path starts.
    package static func read(_ path: String, in folder: String, control: RunControl?) throws(FarmError) -> [UInt8] {
        do throws(InputArgument.Trouble) {
            let bytes = try InputArgument.read(path, in: folder, limit: most, control: control)
            if bytes.count == most { throw InputArgument.Trouble.system(EFBIG) }
            return bytes
        } catch {
            throw error.error { "\(PathText.visible(path)): the list of files cannot be read: \($0)" }
        }
    }
}
