import Catalogs
import JobModel

/// Makes paths of pictures in a manifest absolute, and finds out whether the files can be used.
package struct PictureLookup {
    /// The absolute path of a relative one, and the reason why the file cannot be used. The reason is nil if it can be
    /// read.
    package typealias Inspection = @Sendable (_ path: String, _ folder: String) -> (path: String, trouble: String?)

    /// Relative paths start from it.
    var folder = "."
    var inspect = nowhere

    /// Inspects no file.
    package static let nowhere: Inspection = { path, folder in
        (PathNames.isAbsolute(path) ? path : PathNames.joined(folder, path), nil)
    }

    /// - Parameter isTable: whether the file is a table of colours.
    func reader(isTable: Bool = false) -> ValueReader<ParameterValue> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            let (path, trouble) = inspect(text, folder)
            if let trouble {
                let problem = FilterProblem.pictureUnusable(
                    parameter: name, path: text, whole: path, isTable: isTable, reason: trouble)
                log.error(.filter(problem), at: node.span)
                return nil
            }
            log.mention(
                PictureMention(
                    path: path, isTable: isTable, parameter: name, written: text, span: node.span))
            return .picture(PictureReference(path: path))
        }
    }
}

/// A picture in a manifest, with its position.
package struct PictureMention: Hashable, Sendable {
    /// Absolute.
    package let path: String
    /// Whether the file is a table of colours.
    package let isTable: Bool
    let parameter: String
    let written: String
    package let span: SourceSpan
}
