import Foundation
import Testing

/// The files in `Corpus/accepted` and `Corpus/refused`.
enum Corpus {
    struct File: CustomTestStringConvertible {
        let url: URL

        var testDescription: String { url.lastPathComponent }

        func text() throws -> String {
            String(decoding: try Data(contentsOf: url), as: UTF8.self)
        }
    }

    static let accepted = files(in: "accepted")
    static let refused = files(in: "refused")

    private static func files(in folder: String) -> [File] {
        let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Corpus/\(folder)")
        let found = FileManager.default.enumerator(at: corpus, includingPropertiesForKeys: nil)?.allObjects ?? []
        return found.compactMap { $0 as? URL }.filter { $0.pathExtension == "yaml" }
            .sorted { $0.path < $1.path }.map(File.init)
    }
}
