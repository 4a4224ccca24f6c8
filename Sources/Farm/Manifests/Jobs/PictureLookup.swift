import Catalogs
package import JobModel

/// Makes paths of pictures and other files in a manifest absolute, and finds out whether the files can be used.
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

    func reader(_ kind: NamedFileKind = .picture) -> ValueReader<ParameterValue> {
        reference(kind).map(ParameterValue.picture)
    }

    /// One picture for all inputs, or one for each: `masks/{stem}.png`.
    ///
    /// A path with braces that are no fields is a name like any other, as long as there is such a file.
    var pictureOrTemplate: ValueReader<ParameterValue> {
        ValueReader { node, name, log in
            guard let text = node.text, text.contains("{"), inspect(text, folder).trouble != nil || Self.hasFields(text)
            else { return reader().read(node, for: name, log: log) }
            do throws(Diagnostic) {
                let pieces = try TemplateParser.pieces(of: node, text: text)
                let fields = pieces.filter { if case .field = $0 { true } else { false } }
                guard fields.allSatisfy({ RegionFile.fields.contains($0) }) else {
                    throw Diagnostic(.filter(.fieldOfPicture(parameter: name)), at: node.span)
                }
                guard !folderHasFields(beside: text) else {
                    throw Diagnostic(.filter(.fieldInFolder(parameter: name, folder: folder)), at: node.span)
                }
                let path = inspect(text, folder).path
                // `{dir}/..` leads nowhere.
                guard Self.hasFields(path) else { return reader().read(node, for: name, log: log) }
                log.mention(
                    PictureMention(
                        path: path, kind: .picture, isTemplate: true, parameter: name, written: text, span: node.span))
                return .pictureTemplate(PictureTemplate(path: path))
            } catch {
                log.add(error)
                return nil
            }
        }
    }

    private static func hasFields(_ path: String) -> Bool {
        ["{dir}", "{stem}", "{ext}"].contains(where: path.contains)
    }

    /// Whether the folder of a relative path is called like a field. It would be filled in for each picture, too.
    func folderHasFields(beside path: String) -> Bool { !PathNames.isAbsolute(path) && Self.hasFields(folder) }

    func reference(_ kind: NamedFileKind) -> ValueReader<PictureReference> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            let (path, trouble) = inspect(text, folder)
            if let trouble {
                let problem = FilterProblem.pictureUnusable(
                    parameter: name, path: text, whole: path, kind: kind, reason: trouble)
                log.error(.filter(problem), at: node.span)
                return nil
            }
            log.mention(
                PictureMention(
                    path: path, kind: kind, parameter: name, written: text, span: node.span))
            return PictureReference(path: path)
        }
    }
}

/// A picture in a manifest, or another file that a job reads, with its position.
package struct PictureMention: Hashable, Sendable {
    /// Absolute.
    package let path: String
    package let kind: NamedFileKind
    /// Whether each input has a picture of its own, so that the path has fields.
    package var isTemplate = false
    let parameter: String
    let written: String
    package let span: SourceSpan
}
