import Catalogs
import JobModel

/// Reads the address of an output on a site: `https://example.org/iiif/{dir}/{stem}`.
enum AddressReader {
    static var address: ValueReader<ParameterValue> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            if let remedy = remedy(for: text) {
                log.error(.value(.unfitArgument(name: name, text: text.cut(to: 60), reason: remedy)), at: node.span)
                return nil
            }
            do throws(Diagnostic) {
                let names = fields(in: try TemplateParser.pieces(of: node, text: text))
                if let unfit = names.first(where: { !AddressTemplate.fields.contains($0) }) {
                    log.error(.job(.unfitFieldOfAddress(unfit, name: name)), at: node.span)
                    return nil
                }
                return .text(text)
            } catch {
                log.add(error)
                return nil
            }
        }
    }

    /// What is to be changed in a text that is no address. Nil for an address.
    private static func remedy(for text: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix), text.utf8.count > scheme.utf8.count,
            !text.dropFirst(scheme.count).hasPrefix("/")
        else { return "begin it with https:// or http:// and the name of the site" }
        if let unfit = text.unicodeScalars.first(where: { !isOfAddress($0) }) {
            return "an address has no \(String(unfit).quoted); write it as %20, for example, or leave it out"
        }
        return text.hasSuffix("/") ? "leave out the slash at its end" : nil
    }

    /// Whether a character may stand in the path of an address, or belongs to a field.
    private static func isOfAddress(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.value > 0x20 && scalar.value < 0x7f && !"?#\"<>\\^`|[]".unicodeScalars.contains(scalar)
    }

    /// What ``address`` accepts, for editors.
    static let pattern = #"https?://[^/?#\s]([^?#\s]*[^/?#\s])?"#

    private static func fields(in pieces: [OutputTemplate.Piece]) -> [String] {
        pieces.compactMap { if case .field(let field) = $0 { name(of: field) } else { nil } }
    }

    private static func name(of field: OutputTemplate.Field) -> String {
        switch field {
        case .dir: "dir"
        case .stem: "stem"
        case .ext: "ext"
        case .job: "job"
        case .width: "width"
        case .height: "height"
        case .index: "index"
        case .frame: "frame"
        case .date: "date"
        case .hash8: "hash8"
        }
    }

    /// The first field that tells a path's outputs apart, and that its address lacks. Then two outputs would have one address.
    static func missingField(_ address: String, of template: OutputTemplate) -> String? {
        let distinguishing = fields(in: template.pieces).filter { $0 != "job" && AddressTemplate.fields.contains($0) }
        return distinguishing.first { !address.contains("{\($0)}") && !address.contains("{\($0):") }
    }
}
