package import Catalogs

extension RegionFile {
    private static let fields = ["{dir}", "{stem}", "{ext}"]

    /// Whether each picture has a file of its own.
    package var isOfEachPicture: Bool { Self.fields.contains(where: path.contains) }

    /// The folder that the files of all pictures are in or below.
    package var fixedFolder: String {
        let names = PathText.components(path).dropLast()
        return PathText.joined(names.prefix { name in !Self.fields.contains(where: name.contains) })
    }

    /// The file that has the regions of a picture.
    package func path(for input: InputFile) -> String {
        guard isOfEachPicture else { return path }
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
        return PathText.normalized(whole, in: "/")
    }
}
