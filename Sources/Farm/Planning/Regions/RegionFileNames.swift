package import Catalogs

extension RegionFile {
    private var location: PathOfEachInput { PathOfEachInput(path: path) }

    /// Whether each picture has a file of its own.
    package var isOfEachPicture: Bool { location.hasFields }

    /// The folder that the files of all pictures are in or below.
    package var fixedFolder: String { location.fixedFolder }

    /// The file that has the regions of a picture.
    package func path(for input: InputFile) -> String { location.path(for: input) }
}
