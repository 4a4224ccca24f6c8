package import Catalogs
import JobModel

/// A path that may have the fields `{dir}`, `{stem}` and `{ext}`. With one of them, each input has a file of its own.
struct PathOfEachInput {
    /// Absolute.
    let path: String

    private static let fields = ["{dir}", "{stem}", "{ext}"]

    var hasFields: Bool { Self.fields.contains(where: path.contains) }

    /// The folder that the files of all inputs are in or below.
    var fixedFolder: String {
        let names = PathText.components(path).dropLast()
        return PathText.joined(names.prefix { name in !Self.fields.contains(where: name.contains) })
    }

    /// The path of the file of an input. It is below ``fixedFolder``.
    ///
    /// The picture `...png` has the stem `..`, which could lead out of that folder. Then this returns the path with its fields, where no
    /// file is.
    func path(for input: InputFile) -> String {
        guard hasFields else { return path }
        let found = PathText.normalized(filled(for: input), in: "/")
        return PathNames.isBelow(found, fixedFolder) ? found : path
    }

    private func filled(for input: InputFile) -> String {
        let parts = PathText.nameParts(of: input.path)
        let values = [input.dir, String(parts.stem), parts.ext.lowercased()]
        var (rest, whole) = (path[...], "")
        while let first = rest.first {
            if let (field, value) = zip(Self.fields, values).first(where: { rest.hasPrefix($0.0) }) {
                whole += value
                rest = rest.dropFirst(field.count)
            } else {
                whole.append(first)
                rest = rest.dropFirst()
            }
        }
        return whole
    }
}

extension PictureTemplate {
    /// The folder that the pictures of all inputs are in or below.
    package var fixedFolder: String { PathOfEachInput(path: path).fixedFolder }

    /// The path of the picture of an input.
    package func path(for input: InputFile) -> String { PathOfEachInput(path: path).path(for: input) }
}
