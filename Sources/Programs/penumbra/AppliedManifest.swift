import Manifests
import JobModel
import Planning

/// The manifest that stands for a command line of `penumbra apply`.
struct AppliedManifest {
    /// Filters as a manifest has them, divided by `|`.
    let chain: String
    /// As they were given, in the letters of ``NonUTF8Name/text(of:)``; relative ones start from the current folder.
    let inputs: [String]
    let output: String
    /// Whether a path is a folder that exists.
    let isFolder: (String) -> Bool

    /// Why there is none.
    enum Problem: Error, Hashable {
        case emptyChain
        /// Counted from 1.
        case emptyFilter(place: Int, count: Int)
        case oneFileForMany(count: Int)

        var message: String {
            switch self {
            case .emptyChain: "the chain has no filter; write it like 'gaussian: {radius: 12}'"
            case .emptyFilter(let place, let count):
                "filter \(place) of \(count) in the chain is empty; write one there, or remove a '|'"
            case .oneFileForMany(let count):
                "--output is one file, and there are \(count) pictures; end it with / for a folder, or use fields "
                    + "such as out/{stem}.png"
            }
        }
    }

    func text() throws(Problem) -> String {
        let filters = chain.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard !filters.allSatisfy(\.isEmpty) else { throw .emptyChain }
        if let empty = filters.firstIndex(of: "") { throw .emptyFilter(place: empty + 1, count: filters.count) }
        var lines = ["job: apply", "inputs:"]
        lines += inputs.map { "  - \(Self.quoted(GlobPattern.matching($0)))" }
        lines += ["filters:"] + filters.map { "  - \($0)" }
        lines += ["output: \(Self.quoted(try template()))"]
        return lines.map { $0 + "\n" }.joined()
    }

    /// A folder keeps the pictures' names; a text with fields is a template already.
    private func template() throws(Problem) -> String {
        if PathNames.endsWithSlash(output) || isFolder(output) {
            return (PathNames.endsWithSlash(output) ? output : output + "/") + "{stem}.{ext}"
        }
        guard inputs.count == 1 || output.contains("{") else { throw .oneFileForMany(count: inputs.count) }
        return output
    }

    /// As a double-quoted text, with JSON's escapes.
    static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20:
                "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                    + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

extension AppliedManifest {
    /// The text of a manifest with whole paths in place of those that it names pictures by.
    static func withWholePaths(_ text: String, _ mentions: [PictureMention]) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // From the right to the left, so that places stay what they are.
        let mentions = mentions.filter { $0.span.source == .file }.sorted { $0.span.start > $1.span.start }
        for mention in mentions where lines.indices.contains(mention.span.start.line - 1) {
            let line = Array(lines[mention.span.start.line - 1].unicodeScalars)
            let start = min(mention.span.start.column - 1, line.count)
            let end = min(start + mention.span.length, line.count)
            var changed = String.UnicodeScalarView(line[..<start])
            changed.append(contentsOf: AppliedManifest.quoted(mention.path).unicodeScalars)
            changed.append(contentsOf: line[end...])
            lines[mention.span.start.line - 1] = String(changed)
        }
        return lines.joined(separator: "\n")
    }
}
