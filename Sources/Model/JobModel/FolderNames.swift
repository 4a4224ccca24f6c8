/// The names of the files in an output that is a folder.
package protocol FolderNames {
    /// What people call such an output: `Deep Zoom`.
    static var title: String { get }

    /// - Parameter folder: the path of the output.
    init(of folder: String)

    /// The path of the file that describes the picture.
    var descriptor: String { get }

    /// The descriptor, and one file of each other kind.
    var samples: [String] { get }

    /// Whether a file has a name of such an output.
    ///
    /// - Parameter file: its path below the folder.
    func holds(file: String) -> Bool

    /// The same for a folder.
    func holds(folder: String) -> Bool

    /// Globs that match all files in such outputs.
    ///
    /// - Parameter folder: a glob that matches the outputs.
    static func globs(ofFolders folder: String) -> [String]
}

/// The formats whose outputs are folders, by their names in the catalog.
package enum FolderFormat: String, CaseIterable, Sendable {
    case deepZoom = "dzi"
    case iiif

    package var names: any FolderNames.Type {
        switch self {
        case .deepZoom: DeepZoomNames.self
        case .iiif: IIIFNames.self
        }
    }
}

/// A folder that may be an output of any format.
package struct FolderOutput {
    private let kinds: [any FolderNames]

    package init(at path: String) { kinds = FolderFormat.allCases.map { $0.names.init(of: path) } }

    /// The paths of the files that describe a picture. An output has one of them.
    package var descriptors: [String] { kinds.map(\.descriptor) }

    /// Whether all files have names of one format.
    ///
    /// - Parameter files: paths below the folder.
    package func holds(all files: [String]) -> Bool {
        kinds.contains { kind in files.allSatisfy { kind.holds(file: $0) } }
    }

    /// Whether a file has a name of a format.
    package func holds(any files: [String]) -> Bool {
        kinds.contains { kind in files.contains { kind.holds(file: $0) } }
    }
}
