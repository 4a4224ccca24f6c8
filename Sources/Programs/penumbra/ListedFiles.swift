import Glibc
import Planning

/// Reads what `--files-from` names.
enum ListedFiles {
    /// More than any list has, in bytes.
    private static let most = 1 << 32

    /// - Parameter path: `-` for the standard input.
    static func read(_ path: String) throws(CommandError) -> [UInt8] {
        do throws(GivenFile.Trouble) {
            let bytes = try GivenFile.read(path, limit: most)
            if bytes.count == most { throw GivenFile.Trouble.system(EFBIG) }
            return bytes
        } catch {
            throw error.error { "\(PathText.visible(path)): the list of files cannot be read: \($0)" }
        }
    }
}
