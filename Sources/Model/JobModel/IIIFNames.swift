/// The names of files in a folder of the IIIF Image API: `info.json`, `0,0,512,512/512,512/0/default.jpg`,
/// `full/max/0/default.jpg`.
package struct IIIFNames: FolderNames {
    package static let title = "IIIF"

    package static let descriptorName = "info.json"
    package static let whole = "full"
    package static let largest = "max"

    /// The name of each picture. Its folders say which part of the picture it shows, and its size.
    private static let file = "default.jpg"
    /// Pictures are not rotated.
    private static let rotation = "0"

    private let folder: String

    package init(of folder: String) { self.folder = folder }

    package var descriptor: String { "\(folder)/\(Self.descriptorName)" }

    package var samples: [String] {
        [descriptor]
            + [Self.path(Self.whole, Self.largest), Self.path("0,0,1,1", "1,1")].map { "\(folder)/\($0)" }
    }

    /// The path of a picture in the folder.
    ///
    /// - Parameters:
    ///   - region: ``whole``, or `x,y,width,height` in pixels of the whole picture.
    ///   - size: ``largest``, or `width,height`.
    package static func path(_ region: String, _ size: String) -> String { "\(region)/\(size)/\(rotation)/\(file)" }

    package func holds(file: String) -> Bool {
        let parts = PathNames.all(in: file)
        return parts.count == 1 && parts[0] == Self.descriptorName
            || parts.count == 4 && parts[3] == Self.file && areFolders(parts.dropLast())
    }

    package func holds(folder: String) -> Bool { areFolders(PathNames.all(in: folder)[...]) }

    private func areFolders(_ parts: ArraySlice<Substring>) -> Bool {
        zip(parts, 0...).allSatisfy { part, level in
            switch level {
            case 0: part == Self.whole || isNumbers(part, 4)
            case 1: part == Self.largest || isNumbers(part, 2)
            case 2: part == Self.rotation
            default: false
            }
        }
    }

    private func isNumbers(_ text: Substring, _ count: Int) -> Bool {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
        return numbers.count == count
            && numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } }
    }

    package static func globs(ofFolders folder: String) -> [String] {
        ["\(folder)/**/\(file)", "\(folder)/\(descriptorName)"]
    }
}
