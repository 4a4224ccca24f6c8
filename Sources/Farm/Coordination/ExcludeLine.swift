import JobModel
import Planning

/// A line for a manifest that leaves out some pictures, and no others.
///
/// The manifest ignores the case of an extension: a line for `cat.jpg` also leaves out a `cat.JPG` beside it.
package struct ExcludeLine: Hashable, Sendable {
    /// `exclude: [photos/a.png]`. Nil if no picture can be named.
    package let text: String?
    /// How many pictures the line names.
    package let count: Int
    /// The pictures that no manifest can name, because their names are not UTF-8 or have a byte order mark.
    package let unnamed: [String]

    /// - Parameters:
    ///   - inputs: Absolute paths, as runs record them.
    ///   - manifest: The path of the manifest. Names start at its folder if they can.
    ///   - exists: Whether a file has exactly this path.
    package init(leavingOut inputs: [String], manifest: String, exists: (String) -> Bool) {
        let folder = PathText.folder(of: manifest)
        var (entries, unnamed): ([String], [String]) = ([], [])
        for input in inputs {
            guard Self.canBeNamed(input, exists) else {
                unnamed.append(input)
                continue
            }
            let path = PathNames.relative(input, to: folder) ?? input
            entries.append(ManifestWord.text(GlobPattern.matching(path)))
        }
        text = entries.isEmpty ? nil : "exclude: [\(entries.joined(separator: ", "))]"
        count = entries.count
        self.unnamed = unnamed
    }

    /// A record shows a byte that is not UTF-8 as `%FF`. A file may also have these three characters in its name.
    private static func canBeNamed(_ input: String, _ exists: (String) -> Bool) -> Bool {
        ManifestWord.canHold(input) && (NonUTF8Name.possibleBytes(of: input) == nil || exists(input))
    }
}
