import Foundation
import Glibc
import JobModel
import Planning

/// A new folder that only this user may enter. It is removed with its contents when it is released, unless ``keep()`` was called.
final class TemporaryFolder {
    let path: String
    private var isKept = false

    /// - Parameters:
    ///   - place: an existing folder.
    ///   - name: the beginning of the new folder's name.
    ///   - remedy: what to do if the folder cannot be made.
    init(in place: String = standardPlace, named name: String, remedy: String) throws(FarmError) {
        var template = Array("\(place)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw FarmError(
                .storage,
                """
                \(PathText.visible(place)): no temporary folder can be made: \(String(cString: strerror(errno)))
                   = \(remedy)
                """)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // If the folder cannot be removed, its files stay in a place for temporary files.
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
    }

    func keep() { isKept = true }

    /// `$TMPDIR`, or `/tmp`.
    static var standardPlace: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { PathNames.isAbsolute($0) ? $0 : nil } ?? "/tmp"
    }
}
