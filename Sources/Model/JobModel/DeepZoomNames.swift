/// The names of files in a Deep Zoom folder: `a.dzi`, `a_files/12/3_4.jpg` in the folder `a`.
package struct DeepZoomNames: FolderNames {
    package static let title = "Deep Zoom"

    /// The formats of tiles, as the option `tile_format` names them.
    package enum Tile: String, CaseIterable {
        case jpeg
        case png
        case webp

        package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
    }

    package static let descriptorEnding = ".dzi"
    package static let tilesEnding = "_files"

    private let folder: String
    private let name: String

    package init(of folder: String) {
        self.folder = folder
        name = PathNames.last(of: folder)
    }

    /// The path of the file that describes the picture.
    package var descriptor: String { "\(folder)/\(name)\(Self.descriptorEnding)" }

    /// The descriptor, and the smallest tile in each format.
    package var samples: [String] {
        [descriptor] + Tile.allCases.map { "\(folder)/\(name)\(Self.tilesEnding)/0/0_0.\($0.fileExtension)" }
    }

    package func holds(file: String) -> Bool {
        if PathKey(file) == PathKey("\(name)\(Self.descriptorEnding)") { return true }
        let parts = PathNames.all(in: file)
        guard parts.count == 3, PathKey(String(parts[0])) == PathKey("\(name)\(Self.tilesEnding)"), isNumber(parts[1]),
            let dot = parts[2].lastIndex(of: "."),
            Tile.allCases.contains(where: { $0.fileExtension == parts[2][parts[2].index(after: dot)...] })
        else { return false }
        let numbers = parts[2][..<dot].split(separator: "_", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy(isNumber)
    }

    /// `a_files`, and `a_files/12` in it.
    package func holds(folder: String) -> Bool {
        PathNames.all(in: folder).count < 3 && (holds(file: "\(folder)/0_0.jpg") || holds(file: "\(folder)/0/0_0.jpg"))
    }

    package static func globs(ofFolders folder: String) -> [String] {
        ["\(folder)/*\(tilesEnding)/**", "\(folder)/*\(descriptorEnding)"]
    }

    private func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } }
}
