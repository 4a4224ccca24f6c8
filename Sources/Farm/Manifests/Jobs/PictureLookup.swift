import Catalogs
import JobModel

/// How paths of pictures in a manifest become whole ones, and what is known of the files there.
package struct PictureLookup {
    /// Where a relative path leads, and why the file there is of no use; nil when it can be read.
    package typealias Inspection = @Sendable (_ path: String, _ folder: String) -> (path: String, trouble: String?)

    /// Relative paths start from it.
    var folder = "."
    var inspect = nowhere

    /// Looks at no file.
    package static let nowhere: Inspection = { path, folder in
        (PathNames.isAbsolute(path) ? path : PathNames.joined(folder, path), nil)
    }

    var reader: ValueReader<ParameterValue> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            let (path, trouble) = inspect(text, folder)
            if let trouble {
                let problem = FilterProblem.pictureUnusable(
                    parameter: name, path: text, whole: path, reason: trouble)
                log.error(.filter(problem), at: node.span)
                return nil
            }
            log.mention(PictureMention(path: path, parameter: name, written: text, span: node.span))
            return .picture(PictureReference(path: path))
        }
    }
}

/// Where a manifest names a picture.
package struct PictureMention: Hashable, Sendable {
    /// Whole.
    package let path: String
    let parameter: String
    let written: String
    package let span: SourceSpan
}
